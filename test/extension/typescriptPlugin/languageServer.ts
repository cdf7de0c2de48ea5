import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  type RenameEdit,
  type RenameRequest,
  renameCommand,
} from '../../../src/extension/typescriptPlugin/renameRequest.ts';

type Reply = { type: string; request_seq?: number; success?: boolean; message?: string; body?: unknown };

/** A TypeScript server as VS Code starts it: its own process, spoken to over standard input and output. */
export class LanguageServer {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #seq = 0;

  /** @param probe folder whose node_modules holds the plugin */
  constructor(tsserver: string, probe: string) {
    const plugin = ['--globalPlugins', 'rehearsal-typescript-plugin', '--pluginProbeLocations', probe];
    const quiet = ['--disableAutomaticTypingAcquisition', '--suppressDiagnosticEvents'];
    this.#process = spawn(process.execPath, [tsserver, ...plugin, ...quiet], { stdio: ['pipe', 'pipe', 'inherit'] });
    let rest = '';
    this.#process.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('{')) this.#take(JSON.parse(line) as Reply);
    });
  }

  open(file: string): void {
    this.#send('open', { file, projectRootPath: undefined });
  }

  /** Codes of the semantic errors of a file. */
  async errors(file: string): Promise<string[]> {
    const reply = await this.#ask('semanticDiagnosticsSync', { file });
    return (reply.body as { text: string; start: { line: number }; code: number }[]).map(
      ({ text, start, code }) => `${start.line}: TS${code} ${text}`,
    );
  }

  /** The signature that hovering shows. */
  async hover(file: string, line: number, offset: number): Promise<string> {
    const reply = await this.#ask('quickinfo', { file, line, offset });
    return reply.success ? (reply.body as { displayString: string }).displayString : `(${reply.message})`;
  }

  /** Returns the edits of a rename by the plugin's own command, as `line:offset text`. */
  async renamed(file: string, line: number, offset: number, name: string): Promise<string[]> {
    const reply = await this.#ask(renameCommand, { file, line, offset, name } satisfies RenameRequest);
    return (reply.body as RenameEdit[]).map(({ start, text }) => `${start.line}:${start.offset} ${text}`);
  }

  async close(): Promise<void> {
    const closed = once(this.#process, 'close');
    this.#send('exit', {});
    await closed;
  }

  #send(command: string, args: unknown): number {
    const seq = ++this.#seq;
    this.#process.stdin?.write(`${JSON.stringify({ seq, type: 'request', command, arguments: args })}\n`);
    return seq;
  }

  #ask(command: string, args: unknown): Promise<Reply> {
    return new Promise((resolve) => this.#waiting.set(this.#send(command, args), resolve));
  }

  #take(reply: Reply): void {
    if (reply.type !== 'response' || reply.request_seq === undefined) return;
    this.#waiting.get(reply.request_seq)?.(reply);
    this.#waiting.delete(reply.request_seq);
  }
}
