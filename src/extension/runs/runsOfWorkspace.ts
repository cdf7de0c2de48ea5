import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Run } from '../../webview/messages/protocol.ts';
import { workPlaces } from './runPlaces.ts';

/** A training run of the workspace: its configuration, its folder, and whether it is running. */
export type TrainingRun = Run & { readonly folder: string; readonly running: boolean };

/**
 * Training runs of all folders of the workspace, newest first. A run lives on when the editor closes, so this reads the
 * disk. Where two folders have a run of the same name, its id also names the folder. The reader is loaded when there is
 * something to read, so that activation does not wait for it.
 */
export async function trainingRuns(): Promise<readonly TrainingRun[]> {
  const places = workPlaces('training').filter((place) => existsSync(place));
  if (places.length === 0) return [];
  const { isRunning, listRuns } = await import('./runReader.ts');
  const runsIn = async (place: string) => (await listRuns(place)).map((run) => ({ ...run, place }));
  const found = (await Promise.all(places.map(runsIn))).flat();
  const byName = Map.groupBy(found, ({ id }) => id);
  return found
    .toSorted((one, other) => other.id.localeCompare(one.id))
    .map(({ place, ...run }) => {
      const folder = join(place, run.id);
      const id = byName.get(run.id)?.length === 1 ? run.id : `${run.id} (${resolve(place, '..', '..')})`;
      return { ...run, id, folder, running: isRunning(folder) };
    });
}
