import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import type { Lifecycle, RunEvent } from '../../engine/shell/records/trainingRun.ts';
import { trainerOf } from '../../training/trainerProcess.ts';
import type { RunStatus } from '../../webview/messages/protocol.ts';

/**
 * Returns how a run is.
 * @param event the last of its beginnings and ends, null where it said none
 */
export async function statusAfter(event: RunEvent | null, hasPoints: boolean, folder: string): Promise<RunStatus> {
  switch (event?.type as Lifecycle | undefined) {
    case 'paused':
      return { type: 'paused', message: event?.message ?? 'An alarm paused the run and did not say why.' };
    case 'stopped':
      return { type: 'stopped' };
    case 'finished':
      return { type: 'finished' };
    case 'error':
      return { type: 'failed', message: event?.message ?? 'The training failed and did not say why.' };
    case undefined:
    case 'started':
    case 'resumed':
      break;
  }
  const trainer = trainerOf(folder);
  if (trainer && !trainer.isRunning) {
    if (await exists(join(folder, runFiles.target)))
      return {
        type: 'failed',
        message: `Rehearsal no longer follows this run. Follow it again with: npx rehearsal train follow ${folder}. If its trainer has ended there, it can be resumed.`,
      };
    return {
      type: 'failed',
      message: `The training process (${trainer.pid}) ended unexpectedly. Its log says more; the run can be resumed.`,
    };
  }
  if (await exists(join(folder, runFiles.stop))) return { type: 'stopping' };
  return event === null && !hasPoints ? { type: 'waiting' } : { type: 'running' };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
