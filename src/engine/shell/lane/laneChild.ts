import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { smallYoungHeap } from '../youngHeap.ts';
import { type LaneSettings, laneProgram } from './laneSettings.ts';

/** The process of a lane, and the open file in which it says what it is doing. */
export type LaneChild = { readonly process: ChildProcess; readonly marker: number };

type ChildOptions = {
  readonly folder: string;
  readonly heapMb?: number;
  readonly inspectable?: boolean;
  readonly nodePath?: string;
};

export const defaultHeapMb = 512;

type EarlyChild = LaneChild & { readonly inspectable: boolean };

/** Processes that no lane has taken yet, by folder. */
const early = new Map<string, EarlyChild>();

/**
 * Starts the process of a folder's next lane, unless one waits already, before its domain is read: a runtime takes as
 * long to start as a domain to be read. Nothing of the domain runs before the lane is there. Gives what to call when
 * it will not be needed.
 */
export function startLaneEarly(folder: string, inspectable = false): () => void {
  const path = resolve(folder);
  if (!existsSync(path)) return () => undefined;
  const child = early.get(path) ?? spawnEarly(path, inspectable);
  return () => {
    if (early.get(path) !== child) return;
    child.process.kill('SIGKILL');
    early.delete(path);
  };
}

function spawnEarly(path: string, inspectable: boolean): LaneChild {
  const child = { ...spawnLane({ folder: path, inspectable }, true), inspectable };
  const forget = () => {
    if (early.get(path) === child) early.delete(path);
  };
  early.set(path, child);
  child.process.once('error', forget).once('exit', () => {
    forget();
    closeSync(child.marker);
  });
  return child;
}

/** A process for a lane: the one that was started early where it fits, else a new one. */
export function laneChild({ folder, heapMb = defaultHeapMb, inspectable = false, nodePath }: ChildOptions): LaneChild {
  const path = resolve(folder);
  const waiting = early.get(path);
  const fits = heapMb === defaultHeapMb && nodePath === undefined && waiting?.inspectable === inspectable;
  const child = fits ? waiting : undefined;
  if (!child) return spawnLane({ folder, heapMb, inspectable, ...(nodePath === undefined ? {} : { nodePath }) }, false);
  early.delete(path);
  child.process.removeAllListeners('error').removeAllListeners('exit');
  return child;
}

/** An open file that has no name any more; a lane inherits it and it goes away with the last process that has it. */
function openMarker(): number {
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-lane-'));
  const marker = openSync(join(folder, 'mark'), 'w+');
  try {
    rmSync(folder, { recursive: true });
  } catch {
    // A system that can't remove an open file leaves it to its own cleaning of temporary files.
  }
  return marker;
}

function spawnLane(options: ChildOptions, isEarly: boolean): LaneChild {
  const marker = openMarker();
  const program = laneProgram(import.meta.url);
  const folder = resolve(options.folder);
  const { inspectable = false, heapMb = defaultHeapMb, nodePath = process.execPath } = options;
  const settings: LaneSettings = { folder, isInspectable: inspectable, isEarly };
  const flags = [
    `--max-old-space-size=${heapMb}`,
    smallYoungHeap,
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=SecurityWarning',
    ...permissionFlags([folder, realpathSync(folder), program.readable], inspectable),
  ];
  const child = spawn(nodePath, [...flags, program.file, JSON.stringify(settings)], {
    cwd: folder,
    env: {
      TZ: 'UTC',
      // One heap of glibc's for all threads: V8's helpers otherwise open some of their own, 8 MB a lane.
      MALLOC_ARENA_MAX: '1',
      ...(process.versions['electron'] ? { ELECTRON_RUN_AS_NODE: '1' } : {}),
      ...(process.env['SystemRoot'] ? { SystemRoot: process.env['SystemRoot'] } : {}),
    },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', marker],
    windowsHide: true,
  });
  return { process: child, marker };
}

/** No reading outside the domain and the product, no writing, no processes, where the runtime can refuse them. */
export function permissionFlags(readable: readonly string[], inspectable: boolean): readonly string[] {
  if (!knows('--permission') || (inspectable && !knows('--allow-inspector'))) return [];
  return [
    '--permission',
    ...(inspectable ? ['--allow-inspector'] : []),
    ...[...new Set(readable)].map((path) => `--allow-fs-read=${path}`),
  ];
}

/** Where the engine's own code in a lane lies: nothing to stop in for who debugs the domain's. */
export function laneFolder(): string {
  return dirname(laneProgram(import.meta.url).file);
}

/** Whether a lane of this runtime can have an inspector without losing what protects it from its domain's code. */
export function canInspectSafely(): boolean {
  return !knows('--permission') || knows('--allow-inspector');
}

const knows = (flag: string) => process.allowedNodeEnvironmentFlags.has(flag);
