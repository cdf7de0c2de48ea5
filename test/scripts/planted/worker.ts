/** Starts the process of a rollout's worker, and does not end. Its environment and command line lack the folder. */
import { startWorkerEarly } from '../../../src/engine/shell/workers/workerChild.ts';

process.once('message', ({ folder, temporary }: { folder: string; temporary: string }) => {
  process.env['TMPDIR'] = temporary;
  startWorkerEarly(folder);
  process.send?.('started');
  setInterval(() => {}, 60_000);
});
