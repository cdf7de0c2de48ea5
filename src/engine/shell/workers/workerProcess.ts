import type { ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Failure } from '../../core/events/event.ts';
import { messageOf } from '../files/fault.ts';
import { redactedPart } from '../keys/secrets.ts';
import { confinedPid, signalOf } from '../processes/sandbox.ts';
import { scanTools } from '../source/scan.ts';
import { readSource } from '../source/source.ts';
import { type Relay, relayInspector } from './inspectorRelay.ts';
import { Watchdog } from './watchdog.ts';
import { UnreadableMessage, WorkerReader } from './workerChannel.ts';
import { defaultHeapMb, permissionFlags, workerChild } from './workerChild.ts';
import { type Mark, readMark, readSpool } from './workerMarker.ts';
import type { FromInspector, FromWorker, ToInspector, ToWorker, WorkerOpening } from './workerMessage.ts';
import { workerFiles } from './workerSettings.ts';

/** Describes how a worker ended by itself. */
export type WorkerEnded = {
  readonly failure: Failure;
  /** The rollout that was last in domain code. */
  readonly culprit: number | null;
  /** It said something that cannot be, so nothing that it says about its rollouts is believed. */
  readonly isForged?: boolean;
};

export type WorkerHandlers = {
  readonly onMessage: (message: Exclude<FromWorker, FromInspector>) => void;
  /** The worker is gone without having been asked to go. */
  readonly onDeath: (death: WorkerEnded) => void;
};

export type WorkerOptions = {
  readonly folder: string;
  /** Inside the folder; the domain has no code tools when it is not there. */
  readonly toolsFile?: string;
  readonly heapMb?: number;
  /** Whether its inspector can be opened. It stays closed until it is requested. */
  readonly inspectable?: boolean;
  /** Whether its sandbox has the network of this machine. */
  readonly network?: boolean | undefined;
  /** Of tools that declare none. */
  readonly timeoutMs: number;
  /** The time that the domain's code may take to load, in ms; a minute by default. */
  readonly loadMs?: number | undefined;
  /** The time its event loop may be blocked outside of a call, in ms of processor time; 10 s by default. */
  readonly silenceMs?: number;
  /** The runtime of the worker; by default the one of this process. */
  readonly nodePath?: string;
};

export type WorkerProcess = {
  readonly send: (message: ToWorker) => void;
  /** Ends the worker without calling `onDeath`. */
  readonly kill: () => void;
  /** Of the runtime itself, not of the sandbox around it. */
  readonly pid: number | undefined;
  /** Whether its inspector is open. No call times out meanwhile. */
  readonly isInspected: boolean;
  /** Opens its inspector for one JavaScript debugger. The worker does nothing more until that is there. */
  readonly inspect: () => Promise<Inspector | string>;
  readonly uninspect: () => void;
};

/** An open inspector: its address, and when a debugger is there or the worker has ended. */
export type Inspector = { readonly url: string; readonly attached: Promise<void> };

/** A minute: code that loads this long waits for something that does not happen. */
const longestLoadMs = 60_000;

/**
 * Starts a child process for a domain: a heap limit, an empty environment, no permission outside its folder. A worker whose
 * code does not load in time dies.
 */
export function startWorker(options: WorkerOptions, handlers: WorkerHandlers): WorkerProcess {
  return new ChildWorker(options, handlers);
}

class ChildWorker implements WorkerProcess {
  readonly #options: WorkerOptions;
  readonly #handlers: WorkerHandlers;
  readonly #reader: WorkerReader;
  readonly #marker: number;
  readonly #child: ChildProcess;
  readonly #isWrapped: boolean;
  readonly #kill: () => void;
  readonly #watchdog: Watchdog;
  readonly #unguard: () => void;
  /** Ends the worker unless its code has loaded before. */
  readonly #loading: NodeJS.Timeout;
  isInspected = false;
  #inspecting: Inspecting | null = null;
  #relay: Relay | null = null;
  /** The requests that the inspector has not answered yet. */
  readonly #toInspector: ToInspector['type'][] = [];
  #isAttachDue = false;
  #isKilled = false;
  #isOver = false;
  #hung: Mark | null = null;
  /** The last of what it printed on standard error: how a runtime says why it died. */
  #stderr = '';

  constructor(options: WorkerOptions, handlers: WorkerHandlers) {
    this.#options = options;
    this.#handlers = handlers;
    this.#reader = new WorkerReader((message) => this.#deliver(message));
    const { process, marker, isWrapped, kill, unguard } = workerChild(options);
    this.#child = process;
    this.#isWrapped = isWrapped;
    this.#kill = kill;
    this.#marker = marker;
    this.#unguard = unguard;
    this.#connect();
    this.#send({ type: 'open', toolsFile: options.toolsFile ?? 'tools.ts', timeoutMs: options.timeoutMs });
    const { loadMs = longestLoadMs } = options;
    this.#loading = setTimeout(() => this.#die(slowFailure(options, loadMs), false), loadMs).unref();
    this.#watchdog = new Watchdog(
      this.#marker,
      () => this.pid,
      (mark) => this.#killHung(mark),
      () => this.#die(forgedFailure('it filled the status file of its process'), true),
      options.silenceMs,
    );
    if (permissionFlags([], options.inspectable ?? false).length === 0) queueMicrotask(() => this.#log(unprotected));
  }

  get pid(): number | undefined {
    const { pid } = this.#child;
    return pid === undefined || !this.#isWrapped ? pid : confinedPid(pid);
  }

  send(message: ToWorker): void {
    this.#send(message);
  }

  inspect(): Promise<Inspector | string> {
    const opening: Inspecting = { opened: Promise.withResolvers(), attached: Promise.withResolvers() };
    this.#inspecting = opening;
    this.#watchdog.rest(true);
    this.isInspected = true;
    this.#sendToInspector('inspect');
    return opening.opened.promise;
  }

  kill(): void {
    this.#isKilled = true;
    this.#kill();
  }

  uninspect(): void {
    this.#sendToInspector('uninspect');
  }

  #sendToInspector(type: ToInspector['type']): void {
    this.#toInspector.push(type);
    this.#send({ type });
  }

  #send(message: ToWorker | ToInspector | WorkerOpening): void {
    if (this.#child.stdin?.writable) this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #connect(): void {
    const child = this.#child;
    const channel = child.stdio[workerFiles.channel] as NodeJS.ReadableStream;
    channel.setEncoding('utf8');
    channel.on('data', (text: string) => this.#read(() => this.#reader.read(text)));
    child.stdin?.on('error', () => undefined);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#log(text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#heard(text));
    child.on('error', (error) => this.#ended({ code: null, signal: null, spawnError: error }));
    child.on('close', (code, signal) => this.#ended({ code, signal, spawnError: null }));
  }

  #read(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof UnreadableMessage)) throw error;
      this.#die(forgedFailure(error.message), true);
    }
  }

  #die(failure: Failure, isForged: boolean): void {
    if (this.#isKilled) return;
    this.kill();
    this.#handlers.onDeath({ failure, culprit: null, isForged });
  }

  #deliver(message: FromWorker): void {
    if (message.type === 'inspected') {
      const asked = this.#toInspector.shift();
      if (asked === undefined || (asked === 'uninspect' && message.url !== null)) throw unasked(message);
      this.#isAttachDue = message.url !== null;
      this.#relayed(message);
    } else if (message.type === 'attached') {
      if (!this.#isAttachDue) throw unasked(message);
      this.#isAttachDue = false;
      this.#inspecting?.attached.resolve();
    } else if (!this.#isKilled) {
      if (message.type === 'described' || message.type === 'notDescribed') clearTimeout(this.#loading);
      this.#handlers.onMessage(message);
    }
  }

  /** The inspector of a confined worker listens where only the worker is: a relay leads there while it is open. */
  #relayed(message: Inspected): void {
    this.#relay?.close();
    this.#relay = null;
    const { pid } = this;
    const inspecting = this.#inspecting;
    if (message.url === null || !this.#isWrapped || pid === undefined) {
      this.#inspected(message);
      return;
    }
    relayInspector(pid, message.url).then(
      (relay) => {
        if (this.#isOver || this.#inspecting !== inspecting) return relay.close();
        this.#relay = relay;
        this.#inspected({ ...message, url: relay.url });
      },
      (error: unknown) => {
        this.#sendToInspector('uninspect');
        this.#inspected({ ...message, url: null, problem: messageOf(error) });
      },
    );
  }

  #inspected({ url, problem }: Inspected): void {
    const { opened, attached } = this.#inspecting ?? {};
    if (url !== null && attached) {
      opened?.resolve({ url, attached: attached.promise });
      return;
    }
    this.isInspected = false;
    this.#watchdog.rest(false);
    opened?.resolve(problem ?? 'it was closed again');
    attached?.resolve();
  }

  #log(text: string): void {
    for (const line of text.trimEnd().split('\n')) this.#deliver({ type: 'log', rollout: null, text: line });
  }

  /** The runtime's own words stay out of the log; they matter only when the worker dies. */
  #heard(text: string): void {
    this.#stderr = redactedPart(this.#stderr + text, -20_000);
  }

  #killHung(mark: Mark): void {
    this.#hung = mark;
    this.#kill();
  }

  #ended(end: WorkerEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#loading);
    this.#watchdog.stop();
    this.#unguard();
    this.#relay?.close();
    this.#inspecting?.opened.resolve('the worker has ended');
    this.#inspecting?.attached.resolve();
    if (this.#isKilled) {
      closeSync(this.#marker);
      return;
    }
    const mark = this.#hung ?? readMark(this.#marker);
    if (mark.phase !== 'outside')
      this.#read(() => this.#reader.readSpool(mark.firstSpooled, readSpool(this.#marker, mark)));
    this.#isKilled = true;
    closeSync(this.#marker);
    const failure = this.#failure(mark, end);
    const place = this.#reader.exitCause?.file === undefined ? toolLocation(this.#options, mark.tool) : null;
    this.#handlers.onDeath({ failure: place ? { ...failure, ...place } : failure, culprit: mark.rollout });
  }

  #failure(mark: Mark, { code, signal: direct, spawnError }: WorkerEnd): Failure {
    const signal = direct ?? (this.#isWrapped ? signalOf(code) : null);
    const who = 'environment' as const;
    const tool = mark.rollout === null || mark.tool === '' ? theCode : `the tool ${mark.tool}`;
    if (spawnError)
      return {
        who: 'infrastructure',
        code: 'worker/start',
        message: `a worker can't be started: ${spawnError.message}`,
      };
    if (this.#hung) {
      const isInside = this.#hung.phase === 'inside';
      const limit = isInside ? this.#hung.timeoutMs : longestSilence(this.#options);
      const longer = tool === theCode ? 'a longer toolTimeoutMs in domain.yaml' : 'a longer timeoutMs';
      const of = isInside ? '' : ' of processor time';
      return {
        who,
        code: 'tool/hung',
        message: `${tool} did not return within ${limit} ms${of} and was stopped; look for an endless loop, or declare ${longer}`,
      };
    }
    // The sandbox speaks first, and only when it could not start what it was to run.
    if (this.#isWrapped && code === 1 && this.#stderr.startsWith('bwrap: '))
      return {
        who: 'infrastructure',
        code: 'worker/start',
        message: `a worker can't be started: ${this.#stderr.trim()}`,
      };
    if (/heap out of memory|Reached heap limit|Allocation failed|bad_alloc/.test(this.#stderr)) {
      return {
        who,
        code: 'worker/memory',
        message: `${tool} needed more than the ${this.#options.heapMb ?? defaultHeapMb} MB of memory that a worker has`,
      };
    }
    const cause = this.#reader.exitCause;
    if (cause) return { who, code: 'worker/exited', ...cause, message: `${tool} ${cause.message}` };
    const lines = this.#stderr.split('\n').filter((line) => line.trim() !== '' && !isRuntimesOwn(line));
    const last = lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.slice(0, 3).join(' | ');
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    return {
      who,
      code: 'worker/exited',
      message: `the process that runs ${tool} ended with ${how}${last === '' ? '' : `: ${last}`}`,
    };
  }
}

const unasked = ({ type }: FromInspector) => new UnreadableMessage(`it said "${type}", which nothing waits for`);

/** Returns what becomes of the rollouts of a worker that said something which cannot be. */
export function forgedFailure(message: string): Failure {
  return { who: 'environment', code: 'worker/forged', message: `${theCode} interferes with the rollout: ${message}` };
}

const theCode = "the domain's code";

function slowFailure({ folder, toolsFile = 'tools.ts' }: WorkerOptions, ms: number): Failure {
  return {
    who: 'environment',
    code: 'tool/load-time',
    message: `${theCode} did not load within ${ms / 1000} s; look for a top-level await whose promise never settles`,
    file: join(folder, toolsFile),
  };
}

const unprotected =
  "this runtime can't limit what a domain's code may read, write and start here; run only code that you trust";

/** Whether a line is a frame of the runtime's own stacks or is about its inspector, and so says nothing about a tool. */
function isRuntimesOwn(line: string): boolean {
  return /^\s*(?:-+ .* -+|\d+: .*)\s*$|^(?:Debugger (?:listening|attached|ending)|For help, see:|Waiting for the debugger)/.test(
    line,
  );
}

type Inspected = Extract<FromWorker, { readonly type: 'inspected' }>;

type Inspecting = {
  readonly opened: PromiseWithResolvers<Inspector | string>;
  readonly attached: PromiseWithResolvers<void>;
};

type WorkerEnd = { readonly code: number | null; readonly signal: string | null; readonly spawnError: Error | null };

function longestSilence({ timeoutMs, silenceMs = Watchdog.silenceMs }: WorkerOptions): number {
  return Math.max(timeoutMs, silenceMs);
}

/** Returns where a code tool is exported, found without running anything; null when the file does not say. */
function toolLocation(
  { folder, toolsFile = 'tools.ts' }: WorkerOptions,
  tool: string,
): { readonly file: string; readonly line: number } | null {
  const read = readSource(resolve(folder, toolsFile), 'tool', undefined, undefined, folder);
  if (!('source' in read)) return null;
  const found = scanTools(resolve(folder), read.source).tools.get(tool);
  return found ? { file: found.file, line: found.line } : null;
}
