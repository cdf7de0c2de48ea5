import type { ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Failure } from '../../core/event.ts';
import { LaneReader } from './laneChannel.ts';
import { defaultHeapMb, laneChild, permissionFlags } from './laneChild.ts';
import { guardLane } from './laneGuard.ts';
import { type Mark, readMark, readSpool } from './laneMarker.ts';
import type { FromLane, LaneOpening, ToLane } from './laneMessage.ts';
import { laneFiles } from './laneSettings.ts';
import { toolLocation } from './toolLocation.ts';
import { Watchdog } from './watchdog.ts';

export type LaneHandlers = {
  readonly onMessage: (message: FromLane) => void;
  /** The lane is gone without having been asked to go. `culprit` is the rollout that was last in domain code. */
  readonly onDeath: (death: { readonly failure: Failure; readonly culprit: number | null }) => void;
};

export type LaneOptions = {
  readonly folder: string;
  /** Inside the folder; the domain has no code tools when it is not there. */
  readonly toolsFile?: string;
  readonly heapMb?: number;
  /** Starts the runtime's inspector and suspends every time-out. */
  readonly inspect?: boolean;
  /** Of tools that declare none. */
  readonly timeoutMs: number;
  /** The runtime of the lane; by default the one of this process. */
  readonly nodePath?: string;
};

export type LaneProcess = {
  readonly send: (message: ToLane) => void;
  /** Ends the lane without a word to `onDeath`. */
  readonly kill: () => void;
  readonly pid: number | undefined;
  /** Address for a JavaScript debugger, or null when there is none. */
  readonly inspectUrl: Promise<string | null>;
};

/** Starts a child process for a domain: a heap limit, an empty environment, no permission outside its folder. */
export function startLane(options: LaneOptions, handlers: LaneHandlers): LaneProcess {
  return new ChildLane(options, handlers);
}

class ChildLane implements LaneProcess {
  readonly inspectUrl: Promise<string | null>;
  readonly #options: LaneOptions;
  readonly #handlers: LaneHandlers;
  readonly #reader: LaneReader;
  readonly #marker: number;
  readonly #child: ChildProcess;
  readonly #watchdog: Watchdog | null;
  readonly #unguard: () => void;
  readonly #foundInspector: (url: string | null) => void;
  #isKilled = false;
  #isOver = false;
  #hung: Mark | null = null;
  /** The last of what it printed on standard error: how a runtime says why it died. */
  #stderr = '';

  constructor(options: LaneOptions, handlers: LaneHandlers) {
    this.#options = options;
    this.#handlers = handlers;
    this.#reader = new LaneReader((message) => this.#deliver(message));
    const { promise, resolve: found } = Promise.withResolvers<string | null>();
    this.inspectUrl = promise;
    this.#foundInspector = found;
    const { process, marker } = laneChild(options);
    this.#child = process;
    this.#marker = marker;
    this.#unguard = guardLane(this.#child.pid);
    this.#connect();
    this.#send({ type: 'open', toolsFile: options.toolsFile ?? 'tools.ts', timeoutMs: options.timeoutMs });
    this.#watchdog = options.inspect ? null : new Watchdog(this.#marker, (mark) => this.#killHung(mark));
    if (!options.inspect) found(null);
    if (permissionFlags([], options.inspect ?? false).length === 0) queueMicrotask(() => this.#log(unprotected));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  send(message: ToLane): void {
    this.#send(message);
  }

  kill(): void {
    this.#isKilled = true;
    this.#child.kill('SIGKILL');
  }

  #send(message: ToLane | LaneOpening): void {
    if (this.#child.stdin?.writable) this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #connect(): void {
    const child = this.#child;
    const channel = child.stdio[laneFiles.channel] as NodeJS.ReadableStream;
    channel.setEncoding('utf8');
    channel.on('data', (text: string) => this.#reader.read(text));
    child.stdin?.on('error', () => undefined);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#log(text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#heard(text));
    child.on('error', (error) => this.#ended({ code: null, signal: null, spawnError: error }));
    child.on('close', (code, signal) => this.#ended({ code, signal, spawnError: null }));
  }

  #deliver(message: FromLane): void {
    if (!this.#isKilled) this.#handlers.onMessage(message);
  }

  #log(text: string): void {
    for (const line of text.trimEnd().split('\n')) this.#deliver({ type: 'log', rollout: null, text: line });
  }

  /** The runtime's own words stay out of the log; they matter only when the lane dies. */
  #heard(text: string): void {
    this.#stderr = (this.#stderr + text).slice(-20_000);
    const url = /Debugger listening on (ws:\/\/\S+)/.exec(this.#stderr)?.[1];
    if (url) this.#foundInspector(url);
  }

  #killHung(mark: Mark): void {
    this.#hung = mark;
    this.#child.kill('SIGKILL');
  }

  #ended(end: LaneEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watchdog?.stop();
    this.#unguard();
    this.#foundInspector(null);
    if (this.#isKilled) {
      closeSync(this.#marker);
      return;
    }
    const mark = this.#hung ?? readMark(this.#marker);
    if (mark.place !== 'outside') this.#reader.readSpool(mark.firstSpooled, readSpool(this.#marker, mark));
    this.#isKilled = true;
    closeSync(this.#marker);
    const failure = this.#failure(mark, end);
    const place = this.#reader.exitCause?.file === undefined ? toolLocation(this.#options, mark.tool) : null;
    this.#handlers.onDeath({ failure: place ? { ...failure, ...place } : failure, culprit: mark.rollout });
  }

  #failure(mark: Mark, { code, signal, spawnError }: LaneEnd): Failure {
    const who = 'environment' as const;
    const tool = mark.rollout === null || mark.tool === '' ? "the domain's code" : `the tool ${mark.tool}`;
    if (spawnError)
      return { who: 'infrastructure', code: 'lane/start', message: `a lane can't be started: ${spawnError.message}` };
    if (this.#hung) {
      const limit = this.#hung.place === 'inside' ? this.#hung.timeoutMs : silenceMs(this.#options);
      return {
        who,
        code: 'tool/hung',
        message: `${tool} did not come back within ${limit} ms and was stopped; look for a loop without an end, or declare a longer timeoutMs`,
      };
    }
    if (/heap out of memory|Reached heap limit/.test(this.#stderr)) {
      return {
        who,
        code: 'lane/memory',
        message: `${tool} needed more than the ${this.#options.heapMb ?? defaultHeapMb} MB of memory that a lane has`,
      };
    }
    const cause = this.#reader.exitCause;
    if (cause) return { who, code: 'lane/exited', ...cause, message: `${tool} ${cause.message}` };
    const lines = this.#stderr.split('\n').filter((line) => line.trim() !== '' && !isNativeStack(line));
    const last = lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.slice(0, 3).join(' | ');
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    return {
      who,
      code: 'lane/exited',
      message: `the process that runs ${tool} ended with ${how}${last === '' ? '' : `: ${last}`}`,
    };
  }
}

const unprotected =
  "this runtime can't limit what a domain's code may read, write and start here; run only code that you trust";

/** Frames of the runtime's own stacks, which say nothing to anybody who reads of a tool. */
function isNativeStack(line: string): boolean {
  return /^\s*(?:-+ .* -+|\d+: .*)\s*$/.test(line);
}

type LaneEnd = { readonly code: number | null; readonly signal: string | null; readonly spawnError: Error | null };

function silenceMs({ timeoutMs }: LaneOptions): number {
  return Math.max(timeoutMs, Watchdog.silenceMs);
}
