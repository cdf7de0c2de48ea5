/** Starts the process of a rollout's worker, and does not end. Its environment and command line lack the folder. */
import { startLaneEarly } from '../../../src/engine/shell/lanes/laneChild.ts';

process.once('message', ({ folder, temporary }: { folder: string; temporary: string }) => {
  process.env['TMPDIR'] = temporary;
  startLaneEarly(folder);
  process.send?.('started');
  setInterval(() => {}, 60_000);
});
