import inspector from 'node:inspector';
import type { CodeTool } from '../../authoring.ts';
import { messageOf } from '../files/fault.ts';
import type { WorkerWriter } from './workerChannel.ts';

/**
 * The worker's end of a JavaScript debugger. It listens on loopback, at a random port, from when it is asked to until it
 * is asked to stop; a worker that was not started for it refuses.
 */
export class WorkerInspector {
  readonly #isAllowed: boolean;
  readonly #writer: Pick<WorkerWriter, 'send'>;
  /** The rollout whose next call stops on its first line. */
  #stopIn: number | null = null;

  constructor(isAllowed: boolean, writer: Pick<WorkerWriter, 'send'>) {
    this.#isAllowed = isAllowed;
    this.#writer = writer;
  }

  /** Nothing times out meanwhile: a person may be looking at a line. */
  get isOpen(): boolean {
    return this.#isAllowed && inspector.url() !== undefined;
  }

  /** Opens it, says where, and blocks until a debugger is there and has placed its breakpoints. */
  open(): void {
    try {
      if (!this.#isAllowed) throw new Error('this worker was started without an inspector');
      if (!this.isOpen) inspector.open(0, '127.0.0.1');
    } catch (error) {
      this.#writer.send({ type: 'inspected', url: null, problem: messageOf(error) });
      return;
    }
    this.#writer.send({ type: 'inspected', url: inspector.url() ?? null });
    inspector.waitForDebugger();
    this.#writer.send({ type: 'attached' });
  }

  close(): void {
    this.#stopIn = null;
    if (this.isOpen) inspector.close();
    this.#writer.send({ type: 'inspected', url: null });
  }

  stopInside(rollout: number): void {
    this.#stopIn = rollout;
  }

  /** The tool as it is to be called now: with a stop on its first line, where that was asked for. */
  prepared(rollout: number, tool: CodeTool): CodeTool {
    if (this.#stopIn !== rollout || !this.isOpen) return tool;
    this.#stopIn = null;
    const { run } = tool;
    return { ...tool, run: (...given: Parameters<typeof run>) => stopping(run, () => run(...given)) } as CodeTool;
  }
}

/** The symbol under which a debugger of this thread finds the function to stop in. */
const handle = Symbol.for('rehearsal.stopInside');

/**
 * Calls a function that stops once, on its first line. The stop is set by a session of this thread, and seen by every
 * debugger that is there; where none is, the runtime does not stop.
 */
function stopping<Result>(entered: unknown, call: () => Result): Result {
  const session = new inspector.Session();
  session.connect();
  const known = globalThis as unknown as Record<symbol, unknown>;
  known[handle] = entered;
  try {
    session.post('Debugger.enable');
    const expression = `globalThis[Symbol.for('${handle.description}')]`;
    session.post('Runtime.evaluate', { expression }, (problem, found) => {
      const objectId = problem ? undefined : found.result.objectId;
      if (objectId !== undefined) session.post('Debugger.setBreakpointOnFunctionCall', { objectId });
    });
    return call();
  } finally {
    delete known[handle];
    session.disconnect();
  }
}
