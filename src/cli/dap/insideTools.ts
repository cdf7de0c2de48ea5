import { basename } from 'node:path';
import type { Step } from '../../engine/shell/rollout/ports.ts';
import { workerFolder } from '../../engine/shell/workers/workerChild.ts';
import type { Inspector } from '../../engine/shell/workers/workerProcess.ts';
import type { Debuggee } from './rollout/debuggee.ts';

/** A session of the client's JavaScript debugger, as the reverse request `startDebugging` asks for it. */
export type ChildConfiguration = {
  readonly type: 'pwa-node';
  /** The same again: VS Code gives a child the type of its parent, and the extension gives it this one back. */
  readonly childType: 'pwa-node';
  readonly request: 'attach';
  readonly name: string;
  readonly websocketAddress: string;
  readonly cwd: string;
  readonly [option: string]: unknown;
};

type Client = {
  /** Asks the client to start a session. Returns false, or an error message, if the client does not start one. */
  readonly startDebugging: (configuration: ChildConfiguration) => Promise<true | string>;
  /** Whether a breakpoint is in code that only a JavaScript debugger stops in. */
  readonly hasBreakpoints: () => boolean;
  readonly print: (text: string) => void;
};

/** The time a client has to attach its debugger to the worker, in milliseconds. */
const patienceMs = 20_000;

/**
 * Attaches the client's JavaScript debugger to the worker when a person steps into a tool or has a breakpoint in its
 * code, and detaches it when it is no longer needed.
 */
export class InsideTools {
  readonly #client: Client;
  readonly #patienceMs: number;
  /** Whether the person requested the next step, so that a call is entered. */
  #isSteppingIn = false;
  /** A client that could not start a debugger once is not asked again. */
  #isRefused = false;

  constructor(client: Client, patience = patienceMs) {
    this.#client = client;
    this.#patienceMs = patience;
  }

  /** @param request the request that the rollout moves for */
  noteControl(request: string): void {
    this.#isSteppingIn = request === 'stepIn';
  }

  /** To be awaited before a live rollout continues from its last step. */
  async before(debuggee: Debuggee, last: Step): Promise<void> {
    const { inside } = debuggee;
    const isEntering = this.#isSteppingIn && last.event.type === 'toolCalled';
    if (!inside || this.#isRefused || !debuggee.runsCodeAfter(last)) return;
    if (!isEntering && !this.#client.hasBreakpoints()) return;
    if (!inside.isOpen()) {
      const opened = await inside.open();
      const problem = typeof opened === 'string' ? opened : await this.#attach(opened, debuggee.domain.folder);
      if (problem !== null) {
        this.#isRefused = true;
        if (inside.isOpen()) inside.close();
        this.#client.print(`Stepping stays outside of the tool's source: ${problem}`);
        return;
      }
    }
    if (isEntering) inside.stopAtCall();
  }

  /** The rollout came to a step: the inspector is closed when the call is over and nothing else needs it. */
  after(debuggee: Debuggee): void {
    const { inside, current, cursor, steps } = debuggee;
    if (!inside?.isOpen() || cursor < steps.length - 1 || this.#client.hasBreakpoints()) return;
    if (current?.event.type !== 'toolCalled') inside.close();
  }

  /** Waits until the client's debugger is attached; returns an error message if it does not attach. */
  async #attach({ url, attached }: Inspector, folder: string): Promise<string | null> {
    const { promise: late, resolve: giveUp } = Promise.withResolvers<string>();
    const timer = setTimeout(() => giveUp('no JavaScript debugger attached in time'), this.#patienceMs);
    const refused = this.#client
      .startDebugging(childConfiguration(url, folder))
      .then((answer) => (answer === true ? late : answer));
    const problem = await Promise.race([attached.then(() => null), refused, late]);
    clearTimeout(timer);
    if (problem !== null) await letGo(url);
    return problem;
  }
}

function childConfiguration(url: string, folder: string): ChildConfiguration {
  return {
    type: 'pwa-node',
    childType: 'pwa-node',
    request: 'attach',
    name: `tools of ${basename(folder)}`,
    websocketAddress: url,
    cwd: folder,
    continueOnAttach: true,
    autoAttachChildProcesses: false,
    attachExistingChildren: false,
    restart: false,
    // Types are stripped in place: every line and column is where it is in the file, which has no map and other bytes.
    enableContentValidation: false,
    sourceMaps: false,
    // Patterns of whole paths: one that takes something out again is not understood for files outside of a workspace.
    skipFiles: ['<node_internals>/**', `${workerFolder()}/**`],
  };
}

/** Lets a worker continue that waits for a debugger, as one would that came. */
async function letGo(url: string): Promise<void> {
  const socket = new WebSocket(url);
  await new Promise<void>((resolve) => {
    socket.onerror = () => resolve();
    socket.onclose = () => resolve();
    socket.onmessage = () => socket.close();
    socket.onopen = () => socket.send(JSON.stringify({ id: 1, method: 'Runtime.runIfWaitingForDebugger' }));
  });
}
