import { createInterface } from 'node:readline';
import { loadDomain } from '../../engine/shell/domain/loadDomain.ts';
import { baseHashOf } from '../../engine/shell/replay.ts';
import { warmWhileIdle } from '../../engine/shell/workers/idleWarming.ts';
import { canInspectSafely, startWorkerEarly } from '../../engine/shell/workers/workerChild.ts';

/**
 * Makes each domain ready whose folder is a line of `input`: its files are read, its database is hashed and the process
 * of its next worker is started, so that a launch does not wait for that. Nothing of the domain runs, and only the last one
 * has a worker waiting. Resolves when `input` ends.
 */
export async function standBy(input: NodeJS.ReadableStream): Promise<void> {
  warmWhileIdle(() => true);
  let ready = { folder: '', discard: (): void => undefined };
  for await (const folder of createInterface({ input })) {
    if (folder !== ready.folder) ready.discard();
    ready = { folder, discard: startWorkerEarly(folder, canInspectSafely()) };
    // The launch reports whatever is wrong with the domain; what was read is remembered until a file changes.
    baseHashOf(loadDomain(folder, { soundness: false }));
  }
  ready.discard();
}
