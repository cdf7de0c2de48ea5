import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type * as z from 'zod';
import type { HostedEnvironment } from '../../core/domain/domain.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { longestLine, readLines } from '../files/boundedLines.ts';
import { Fault } from '../files/fault.ts';
import { shippedFolder } from '../files/shippedFolder.ts';
import { redactedPart } from '../keys/secrets.ts';
import { childEnvironment } from '../processes/childEnvironment.ts';
import { type ConfinedProcess, findSandbox, signalOf, spawnConfined } from '../processes/sandbox.ts';
import { type BridgeAnswer, type BridgeTool, bridgeAnswerSchema, openedSchema } from './bridgeAnswer.ts';
import { askInterpreter, type Interpreter } from './interpreter.ts';

export type BridgeSettings = {
  /** The name for people: `tools.py`, or the name of the environment. */
  readonly label: string;
  readonly kind: 'tools' | 'environment' | 'database';
  readonly folder: string;
  /** Absolute path of the Python file. */
  readonly file: string;
  /** The interpreter; by default the first one that is there. */
  readonly python?: string | undefined;
  /** The adapter of the bridge that drives it, if it has no Python file. */
  readonly adapter?: { readonly name: string; readonly settings: Readonly<Record<string, string>> };
  /** Both sides of the database, for tools and environments that work on it. */
  readonly base?: { readonly agent: JsonObject; readonly user: JsonObject };
  /** Advice if there is no interpreter: a sentence for messages, without its full stop. */
  readonly pythonHint: string;
  /** Whether its sandbox has the network of this machine. */
  readonly network?: boolean | undefined;
  readonly log: (text: string) => void;
};

export type BridgeCall<T> = {
  /** The form of the answer. */
  readonly answer: z.ZodType<T>;
  readonly timeoutMs: number;
  /** A description of the action, for the message if it never ends. */
  readonly what: string;
  readonly signal?: AbortSignal;
};

/** The names of the interpreter, in the order in which they are tried. */
export const pythonNames: readonly string[] = process.platform === 'win32' ? ['python', 'py'] : ['python3', 'python'];

/** Loading a module and validating its base may take long, once. */
const openTimeoutMs = 120_000;
const keptWords = 4000;

type Hosted = Omit<HostedEnvironment, 'name'>;

/**
 * One Python process that serves many rollouts, a request at a time. It starts with the first request and again after
 * it was killed or has died; what it knew of rollouts is gone then.
 */
export class BridgeProcess {
  readonly settings: BridgeSettings;
  /** The adapter's description of its environment, from when it was opened. */
  hosted: Hosted = { sync: false, goldSyncs: true, prompts: {} };
  #child: ChildProcess | null = null;
  #kill = () => {};
  #tools: readonly BridgeTool[] = [];
  #tail: Promise<unknown> = Promise.resolve();
  #nextId = 1;
  #answer: ((answer: BridgeAnswer) => void) | null = null;
  #fail: ((fault: Fault) => void) | null = null;
  #lastOutput = '';
  /** The interpreter of the process, and whether it has said that it is one. */
  #interpreter = '';
  #isPython = false;
  /** The tool that runs, where one does. */
  #place: { readonly file?: string; readonly line?: number } = {};
  #isClosed = false;

  constructor(settings: BridgeSettings) {
    this.settings = settings;
  }

  /** The tools; starts the process. */
  describe(): Promise<readonly BridgeTool[]> {
    return this.#inTurn(async () => {
      await this.#ready();
      return this.#tools;
    });
  }

  /** Sends a request when those before it are answered. A call that does not end in time costs the process its life. */
  request<T>(method: string, params: object, call: BridgeCall<T>): Promise<T> {
    return this.#inTurn(async () => {
      call.signal?.throwIfAborted();
      await this.#ready();
      return await this.#exchange(method, params, call);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#kill();
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(act);
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  async #ready(): Promise<void> {
    if (this.#child) return;
    if (this.#isClosed) throw this.#fault('python/closed', 'is closed');
    const { folder, file, kind, adapter } = this.settings;
    const base = this.settings.base ?? (kind === 'database' ? null : { agent: {}, user: {} });
    this.#child = await this.#spawn();
    try {
      const call = { answer: openedSchema, timeoutMs: openTimeoutMs, what: 'loading it' };
      const named = adapter ? { adapter: adapter.name, settings: adapter.settings } : {};
      const { tools, ...hosted } = await this.#exchange('open', { kind, folder, file, base, ...named }, call);
      this.#tools = tools;
      this.hosted = hosted;
    } catch (error) {
      this.#kill();
      throw error;
    }
  }

  async #spawn(): Promise<ChildProcess> {
    const { python, folder } = this.settings;
    const candidates = python ? [python] : pythonNames;
    for (const command of candidates) {
      this.#interpreter = command;
      const asked = await askInterpreter(command, folder, ownEnvironment());
      if (asked === null) continue;
      if ('problem' in asked) throw this.#noPython(asked.problem);
      const child = await started(asked, this.settings);
      if (child) return this.#connected(child);
    }
    const name = python
      ? `${python} is not a Python interpreter`
      : `none of ${candidates.join(' and ')} is on the PATH`;
    throw this.#fault('python/missing', `needs Python 3.10 or newer, and ${name}. ${this.settings.pythonHint}`);
  }

  #connected({ process: child, isWrapped, kill }: ConfinedProcess): ChildProcess {
    this.#kill = () => {
      if (this.#child === child) this.#child = null;
      kill();
    };
    this.#lastOutput = '';
    this.#isPython = false;
    if (child.stdout)
      readLines(child.stdout, (line) => this.#heard(line), {
        onTooLong: () => {
          this.#kill();
          const what = `answered with more than ${longestLine} characters and was stopped`;
          this.#fail?.(this.#fault('python/too-long', what, this.#place));
        },
      });
    if (child.stderr)
      readLines(child.stderr, (line) => {
        this.#lastOutput = redactedPart(`${this.#lastOutput}${line}\n`, -keptWords);
        this.settings.log(`${this.settings.label}: ${line}`);
      });
    child.stdin?.on('error', () => undefined);
    child.on('close', (code, direct) => {
      if (this.#child !== child) return;
      const signal = direct ?? (isWrapped ? signalOf(code) : null);
      this.#child = null;
      const words = this.#lastOutput.trim().split('\n').at(-1);
      const how = signal ? `signal ${signal}` : `exit code ${code}`;
      const end = `ended with ${how}${words ? `: ${words}` : ''}`;
      this.#fail?.(
        this.#isPython || signal
          ? this.#fault('python/died', `its process ${end}`, this.#place)
          : this.#noPython(`it ${end}`),
      );
    });
    return child;
  }

  /** Code that finds the bridge's own way out and writes to it can't be served any longer. */
  #heard(line: string): void {
    let answer: BridgeAnswer;
    try {
      answer = bridgeAnswerSchema.parse(JSON.parse(line));
    } catch {
      this.#kill();
      if (!this.#isPython) {
        this.#fail?.(this.#noPython(`it says ${redactedPart(line, 0, 80)}`));
        return;
      }
      const what = 'wrote to the output of the bridge itself, so its answers cannot be distinguished from other text';
      this.#fail?.(this.#fault('python/rubbish', `${what}: ${redactedPart(line, 0, 80)}`, this.#place));
      return;
    }
    if (answer.python) this.#isPython = true;
    else this.#answer?.(answer);
  }

  /** A program that runs and does not do what any Python 3 does first. */
  #noPython(why: string): Fault {
    const what = `needs Python 3.10 or newer, and ${this.#interpreter} is not a Python interpreter: ${why}. ${this.settings.pythonHint}`;
    return this.#fault('python/missing', what);
  }

  #exchange<T>(method: string, params: object, { answer: form, timeoutMs, what, signal }: BridgeCall<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const id = this.#nextId++;
    this.#place = this.#toolLocation(params);
    const timer = setTimeout(() => {
      this.#kill();
      reject(this.#fault('tool/hung', `${what} did not end within ${timeoutMs} ms and was stopped`, this.#place));
    }, timeoutMs);
    const abort = () => {
      this.#kill();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    this.#fail = reject;
    this.#answer = (answer) => {
      if (answer.error) reject(this.#refused(answer.error));
      if (answer.error || answer.id !== id) return;
      const read = form.safeParse(answer.result);
      if (read.success) return resolve(read.data);
      this.#kill();
      const [issue] = read.error.issues;
      const where = issue?.path.join('.') ?? '';
      const problem = `gave an invalid answer: ${where === '' ? '' : `${where}: `}${issue?.message}`;
      reject(this.#fault('python/rubbish', redactedPart(problem, 0, 200), this.#place));
    };
    this.#child?.stdin?.write(`${JSON.stringify({ id, method, params })}\n`);
    return promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      this.#answer = null;
      this.#fail = null;
    });
  }

  #toolLocation(params: object): { readonly file?: string; readonly line?: number } {
    const { file, line } = this.#tools.find(({ name }) => name === (params as { tool?: string }).tool) ?? {};
    return { ...(file ? { file } : {}), ...(line ? { line } : {}) };
  }

  #refused({ code, message, file, line }: NonNullable<BridgeAnswer['error']>): Fault {
    return this.#fault(code, message, { ...(file ? { file } : {}), ...(line ? { line } : {}) });
  }

  #fault(code: string, message: string, place: { readonly file?: string; readonly line?: number } = {}): Fault {
    return new Fault({ who: 'environment', code, message: `${this.settings.label}: ${message}`, ...place });
  }
}

/** Of data: libraries of numbers reserve much of it for their threads. */
const memoryMb = 4096;

/** Returns what an interpreter needs to be found and to start, where nothing confines it. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const version = process.env['PYENV_VERSION'];
  return { ...childEnvironment(), ...(version ? { PYENV_VERSION: version } : {}) };
}

/** Starts the bridge with an interpreter; null where it does not start. */
async function started(interpreter: Interpreter, settings: BridgeSettings): Promise<ConfinedProcess | null> {
  const { folder, network } = settings;
  const bridge = shippedFolder('bridge');
  const args = ['-u', '-B', join(bridge, 'serve.py')];
  const readable = [...interpreter.readable, folder, bridge, ...pathsOf(settings)];
  const started = spawnConfined(
    interpreter.program,
    args,
    { readable, memoryMb, network },
    {
      cwd: folder,
      env: {
        ...(findSandbox().name === null ? ownEnvironment() : confinedEnvironment(interpreter)),
        TZ: 'UTC',
        PYTHONHASHSEED: '0',
        PYTHONUTF8: '1',
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  return new Promise((resolve) => {
    started.process.once('spawn', () => resolve(started));
    started.process.once('error', () => resolve(null));
  });
}

const confinedEnvironment = ({ userBase }: Interpreter): NodeJS.ProcessEnv => ({
  HOME: '/tmp',
  PATH: '/usr/bin:/bin',
  ...(userBase === null ? {} : { PYTHONUSERBASE: userBase }),
});

/** The copy of a benchmark that an adapter drives. The files of a domain are in its folder; a link out of it leads nowhere. */
function pathsOf({ adapter }: BridgeSettings): readonly string[] {
  return Object.values(adapter?.settings ?? {}).filter((path) => isAbsolute(path) && existsSync(path));
}
