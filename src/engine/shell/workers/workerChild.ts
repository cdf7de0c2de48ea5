import { closeSync, existsSync, mkdtempSync, openSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Fault } from '../files/fault.ts';
import { asNode } from '../processes/childEnvironment.ts';
import { knowsFlag, rolloutFlags, withoutInspector } from '../processes/runtimeFlags.ts';
import { type ConfinedProcess, findSandbox, spawnConfined } from '../processes/sandbox.ts';
import { guardWorker } from '../processes/workerGuard.ts';
import { type WorkerSettings, workerProgram } from './workerSettings.ts';

/** The process of a worker, and the open file in which it says what it is doing. */
export type WorkerChild = ConfinedProcess & {
  readonly marker: number;
  /** To be called when the process has ended on its own. */
  readonly unguard: () => void;
};

type ChildOptions = {
  readonly folder: string;
  readonly heapMb?: number;
  readonly inspectable?: boolean;
  readonly network?: boolean | undefined;
  readonly nodePath?: string;
};

export const defaultHeapMb = 512;

/** Memory of a worker besides its heap: array buffers, thread stacks, and the runtime's reserve (about 580), in MB. */
const besideHeapMb = 1536;

type EarlyChild = WorkerChild & { readonly inspectable: boolean };

/** Processes that no worker has taken yet, by folder. */
const early = new Map<string, EarlyChild>();

/**
 * Starts the process of a folder's next worker, unless one waits already, before its domain is read: a runtime takes as
 * long to start as a domain to be read. Nothing of the domain runs before the worker is there. Gives what to call when
 * it will not be needed.
 */
export function startWorkerEarly(folder: string, inspectable = false): () => void {
  const path = resolve(folder);
  if (!existsSync(path) || path.includes('*')) return () => undefined;
  const child = early.get(path) ?? spawnEarly(path, inspectable);
  return () => {
    if (early.get(path) !== child) return;
    child.kill();
    early.delete(path);
  };
}

function spawnEarly(path: string, inspectable: boolean): WorkerChild {
  const child = { ...spawnWorker({ folder: path, inspectable }, true), inspectable };
  const forget = () => {
    if (early.get(path) === child) early.delete(path);
  };
  early.set(path, child);
  child.process.once('error', forget).once('exit', () => {
    forget();
    child.unguard();
    closeSync(child.marker);
  });
  return child;
}

/** A process for a worker: the one that was started early where it fits, else a new one. */
export function workerChild(options: ChildOptions): WorkerChild {
  const { folder, heapMb = defaultHeapMb, inspectable = false, network = false, nodePath } = options;
  const path = resolve(folder);
  const waiting = early.get(path);
  const isUsual = heapMb === defaultHeapMb && nodePath === undefined && !network;
  const child = isUsual && waiting?.inspectable === inspectable ? waiting : undefined;
  if (!child) return spawnWorker(options, false);
  early.delete(path);
  child.process.removeAllListeners('error').removeAllListeners('exit');
  return child;
}

/** An open file that has no name left; a worker inherits it and it goes away with the last process that has it. */
function openMarker(): number {
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-worker-'));
  const marker = openSync(join(folder, 'mark'), 'w+');
  try {
    rmSync(folder, { recursive: true });
  } catch {
    // A system that can't remove an open file leaves it to its own cleaning of temporary files.
  }
  return marker;
}

function spawnWorker(options: ChildOptions, isEarly: boolean): WorkerChild {
  const marker = openMarker();
  const program = workerProgram(import.meta.url);
  const folder = resolve(options.folder);
  const { inspectable = false, heapMb = defaultHeapMb, network = false, nodePath = process.execPath } = options;
  const settings: WorkerSettings = { folder, isInspectable: inspectable, isEarly };
  const readable = [folder, realpathSync(folder), program.readable];
  const flags = [
    `--max-old-space-size=${heapMb}`,
    ...rolloutFlags,
    // V8's own logs go to any file, whatever Node permits: no code turns them on later.
    '--freeze-flags-after-init',
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=SecurityWarning',
    ...withoutInspector(),
    ...permissionFlags(readable, inspectable),
    ...(network && knowsFlag('--allow-net') ? ['--allow-net'] : []),
  ];
  const confinement = { readable, memoryMb: heapMb + besideHeapMb, network };
  const programArgs = [...flags, program.file, JSON.stringify(settings)];
  if (findSandbox().name !== 'bubblewrap') refuseWildcards(folder);
  const confined = spawnConfined(nodePath, programArgs, confinement, {
    cwd: folder,
    env: {
      TZ: 'UTC',
      // One heap of glibc's for all threads: V8's helpers otherwise open their own heaps, 8 MB a worker.
      MALLOC_ARENA_MAX: '1',
      ...asNode,
      ...(process.env['SystemRoot'] ? { SystemRoot: process.env['SystemRoot'] } : {}),
    },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', marker],
  });
  return { ...confined, marker, unguard: guardWorker(confined.target) };
}

/** Node reads an asterisk in a permitted path as "everything that begins like this". */
function refuseWildcards(folder: string): void {
  if (!folder.includes('*')) return;
  const message = `the path of the domain, ${folder}, has an asterisk, which would permit its code to read the folders beside it. Rename the folder.`;
  throw new Fault({ who: 'environment', code: 'worker/start', message });
}

/** No reading outside the domain and the product, no writing, no processes, where the runtime can refuse them. */
export function permissionFlags(readable: readonly string[], inspectable: boolean): readonly string[] {
  if (!knowsFlag('--permission') || (inspectable && !knowsFlag('--allow-inspector'))) return [];
  return [
    '--permission',
    ...(inspectable ? ['--allow-inspector'] : []),
    ...[...new Set(readable)].map((path) => `--allow-fs-read=${path}`),
  ];
}

/** Returns where the engine's own code in a worker lies: nothing to stop in for who debugs the domain's. */
export function workerFolder(): string {
  return dirname(workerProgram(import.meta.url).file);
}

/** Whether a worker of this runtime can have an inspector without losing what protects it from its domain's code. */
export function canInspectSafely(): boolean {
  return !knowsFlag('--permission') || knowsFlag('--allow-inspector');
}
