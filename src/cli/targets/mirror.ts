import { createHash } from 'node:crypto';
import { createReadStream, lstatSync } from 'node:fs';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import * as z from 'zod';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import type { RemoteCall } from './ssh/remoteAgent.ts';
import { cutFault, environmentFault } from './targetFaults.ts';

const messageSchema = z.union([
  z.object({ path: z.string(), offset: z.int().min(0), size: z.int().min(0) }),
  z.object({ gone: z.string() }),
  z.object({ running: z.literal(true) }),
  z.object({ over: z.literal(true) }),
]);

/** Files that each side of a run's folder has for itself, as `remote_agent.py` lists them, too. */
export const own: ReadonlySet<string> = new Set([
  runFiles.pid,
  runFiles.stop,
  runFiles.lock,
  runFiles.launch,
  runFiles.target,
  runFiles.connection,
  runFiles.rayJob,
]);

/** Folders that never come back with a run, as in `remote_agent.py`: a checkpoint comes when it is asked for. */
export const weights: readonly string[] = [`${runFiles.checkpoints}/`, `${runFiles.serving}/`];

/** Returns what a folder here has of a run's folder there: size and hash of each file, by its path. */
export async function had(folder: string): Promise<Record<string, [number, string]>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const have: Record<string, [number, string]> = {};
  for (const entry of entries.filter((each) => each.isFile())) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(folder, file).split(sep).join('/');
    if (own.has(path) || weights.some((each) => path.startsWith(each))) continue;
    have[path] = [(await stat(file)).size, await digestOf(file)];
  }
  return have;
}

/** The SHA-256 of a file, in hexadecimal digits. */
export async function digestOf(file: string): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(file)) digest.update(chunk);
  return digest.digest('hex');
}

/**
 * Writes what the remote agent says about a run's folder into a folder here, until it says that the run is over. A
 * stream that ends before is an error; what came until then is kept, and the next stream continues behind it.
 */
export async function mirror(folder: string, call: RemoteCall, onMessage: () => void): Promise<void> {
  for (;;) {
    const line = await call.answers.line();
    if (line === null) {
      await call.end();
      throw cutFault('the connection ended');
    }
    const message = messageSchema.parse(JSON.parse(line));
    onMessage();
    if ('over' in message) return call.end();
    // Only rollouts are ever played again; what else is only here was made here.
    if ('gone' in message && message.gone.startsWith(`${runFiles.trajectories}/`))
      await rm(inside(folder, message.gone), { force: true });
    if ('path' in message) await write(inside(folder, message.path), message, call);
  }
}

async function write(
  path: string,
  { offset, size }: { readonly offset: number; readonly size: number },
  { answers }: RemoteCall,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, offset === 0 ? 'w' : 'r+');
  try {
    let at = offset;
    for await (const chunk of answers.bytes(size)) {
      await file.write(chunk, 0, chunk.length, at);
      at += chunk.length;
    }
  } finally {
    await file.close();
  }
}

/** A machine elsewhere writes into the run's folder and nowhere else, also where the folder has links. */
export function inside(folder: string, path: string): string {
  const parts = path.split('/');
  if (parts.some((part) => part === '' || part === '..' || part === '.' || /[\\:]/.test(part)) || own.has(path))
    throw environmentFault('target/path', `the target sends a file that does not belong in a run's folder: ${path}`);
  const link = parts
    .map((_, at) => join(folder, ...parts.slice(0, at + 1)))
    .find((each) => lstatSync(each, { throwIfNoEntry: false })?.isSymbolicLink());
  if (link !== undefined)
    throw environmentFault(
      'target/path',
      `${link} is a symbolic link. Rehearsal does not write through links. Remove it`,
    );
  return join(folder, ...parts);
}
