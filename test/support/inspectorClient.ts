type Frame = {
  readonly functionName: string;
  readonly location: { readonly scriptId: string; readonly lineNumber: number };
  readonly scopeChain: readonly { readonly type: string; readonly object: { readonly objectId: string } }[];
};
export type Paused = { readonly file: string; readonly line: number; readonly frames: readonly Frame[] };

/** A JavaScript debugger over the Chrome DevTools Protocol. Like an editor, it attaches, waits for stops, resumes. */
export class InspectorClient {
  readonly #socket: WebSocket;
  readonly #scripts = new Map<string, string>();
  readonly #waiting = new Map<number, (result: Record<string, unknown>) => void>();
  readonly #pauses: Paused[] = [];
  #wake: () => void = () => undefined;
  #id = 0;
  /** Resolves when the other end is closed. */
  readonly closed: Promise<void>;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.addEventListener('close', () => resolve()));
    socket.addEventListener('message', ({ data }) => this.#received(JSON.parse(String(data))));
  }

  static async connect(url: string): Promise<InspectorClient> {
    const socket = new WebSocket(url);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve());
      socket.addEventListener('error', () => reject(new Error(`no inspector at ${url}`)));
    });
    return new InspectorClient(socket);
  }

  /** Attaches, sets breakpoints (file and line from 1), and resumes a process that waits for a debugger. */
  async attach(...breakpoints: readonly (readonly [string, number])[]): Promise<void> {
    await this.send('Runtime.enable');
    await this.send('Debugger.enable');
    for (const [url, line] of breakpoints)
      await this.send('Debugger.setBreakpointByUrl', { url, lineNumber: line - 1 });
    await this.send('Runtime.runIfWaitingForDebugger');
  }

  send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    this.#id += 1;
    const id = this.#id;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  /** Returns the next stop and waits for it if necessary. */
  async paused(): Promise<Paused> {
    for (;;) {
      const pause = this.#pauses.shift();
      if (pause) return pause;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Returns the names of the local variables in the top frame of a stop. */
  async locals({ frames }: Paused): Promise<readonly string[]> {
    const scopes = frames[0]?.scopeChain.filter(({ type }) => type === 'local' || type === 'block') ?? [];
    const found = await Promise.all(
      scopes.map(({ object: { objectId } }) => this.send('Runtime.getProperties', { objectId, ownProperties: true })),
    );
    return found.flatMap(({ result }) => (result as { readonly name: string }[]).map(({ name }) => name));
  }

  close(): void {
    this.#socket.close();
  }

  #received(message: {
    readonly id?: number;
    readonly result?: Record<string, unknown>;
    readonly method?: string;
    readonly params?: Record<string, unknown>;
  }): void {
    const { id, result = {}, method, params = {} } = message;
    if (id !== undefined) this.#waiting.get(id)?.(result);
    else if (method === 'Debugger.scriptParsed') this.#scripts.set(String(params['scriptId']), String(params['url']));
    else if (method === 'Debugger.paused') {
      const frames = params['callFrames'] as readonly Frame[];
      const { scriptId = '', lineNumber = -1 } = frames[0]?.location ?? {};
      this.#pauses.push({ file: this.#scripts.get(scriptId) ?? '', line: lineNumber + 1, frames });
      this.#wake();
    }
  }
}
