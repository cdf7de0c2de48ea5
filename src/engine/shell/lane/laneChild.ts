import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type LaneSettings, laneProgram } from './laneSettings.ts';

/** The process of a lane, and the open file in which it says what it is doing. */
export type LaneChild = { readonly process: ChildProcess; readonly marker: number };

type ChildOptions = {
  readonly folder: string;
  readonly heapMb?: number;
  readonly inspect?: boolean;
  readonly nodePath?: string;
};

export const defaultHeapMb = 512;

/** Processes that no lane has taken yet, by folder. */
const early = new Map<string, LaneChild>();

/**
 * Starts the process of a folder's next lane before its domain is read: a runtime takes as long to start as a domain
 * to be read. Nothing of the domain runs before the lane is there. Gives what to call when it will not be needed.
 */
export function startLaneEarly(folder: string): () => void {
  const path = resolve(folder);
  if (early.has(path) || !existsSync(path)) return () => undefined;
  const child = spawnLane({ folder: path }, true);
  const forget = () => {
    if (early.get(path) === child) early.delete(path);
  };
  early.set(path, child);
  child.process.once('error', forget).once('exit', () => {
    forget();
    closeSync(child.marker);
  });
  return () => {
    if (early.get(path) === child) child.process.kill('SIGKILL');
    forget();
  };
}

/** A process for a lane: the one that was started early where it fits, else a new one. */
export function laneChild({ folder, heapMb = defaultHeapMb, inspect = false, nodePath }: ChildOptions): LaneChild {
  const path = resolve(folder);
  const fits = heapMb === defaultHeapMb && !inspect && nodePath === undefined;
  const child = fits ? early.get(path) : undefined;
  if (!child) return spawnLane({ folder, heapMb, inspect, ...(nodePath === undefined ? {} : { nodePath }) }, false);
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
  const { inspect = false, heapMb = defaultHeapMb, nodePath = process.execPath } = options;
  const settings: LaneSettings = { folder, isDebugged: inspect, isEarly };
  const flags = [
    `--max-old-space-size=${heapMb}`,
    // What a rollout leaves is garbage soon: more room for the young costs memory and saves no time.
    '--max-semi-space-size=4',
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=SecurityWarning',
    ...(inspect ? ['--inspect=127.0.0.1:0'] : []),
    ...permissionFlags([folder, realpathSync(folder), program.readable], inspect),
  ];
  const child = spawn(nodePath, [...flags, program.file, JSON.stringify(settings)], {
    cwd: folder,
    env: {
      TZ: 'UTC',
      ...(process.versions['electron'] ? { ELECTRON_RUN_AS_NODE: '1' } : {}),
      ...(process.env['SystemRoot'] ? { SystemRoot: process.env['SystemRoot'] } : {}),
    },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', marker],
    windowsHide: true,
  });
  return { process: child, marker };
}

/** No reading outside the domain and the product, no writing, no processes, where the runtime can refuse them. */
export function permissionFlags(readable: readonly string[], inspect: boolean): readonly string[] {
  const has = (flag: string) => process.allowedNodeEnvironmentFlags.has(flag);
  if (!has('--permission') || (inspect && !has('--allow-inspector'))) return [];
  return [
    '--permission',
    ...(inspect ? ['--allow-inspector'] : []),
    ...[...new Set(readable)].map((path) => `--allow-fs-read=${path}`),
  ];
}
