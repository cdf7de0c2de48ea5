import { cpSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { picture, pictured } from './support/picture.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** The folder of a run of GRPO. */
const trained = process.env['REHEARSAL_TRAINING_RUN'];
if (!trained) console.warn('SKIPPED: the README shows a run of an hour; REHEARSAL_TRAINING_RUN names its folder');

describe.skipIf(!trained)('a run that was trained', () => {
  const domain = copyDomain('parcel-desk');
  const name = basename(resolve(trained ?? ''));
  let workbench: Workbench;

  beforeAll(async () => {
    const isLeftOut = (path: string) => basename(path) === 'checkpoints';
    const run = join(domain.folder, '.rehearsal', 'training', name);
    cpSync(resolve(trained ?? ''), run, { recursive: true, filter: (path) => !isLeftOut(path) });
    workbench = await Workbench.open(domain.folder, pictured);
  });

  afterAll(async () => {
    await workbench?.close();
    domain.remove();
  });

  test('is drawn, with the rollouts of its last optimizer step', async () => {
    await workbench.showViews();
    await workbench.page.locator(`.pane-body .monaco-list-row[aria-label^="${name},"]`).click();
    const frame = workbench.webviewFrame();
    await frame.locator('section[aria-label="Loss"] canvas').waitFor();
    const plot = frame.locator('section[aria-label="Reward"] .u-over');
    const box = await plot.boundingBox();
    if (!box) throw new Error('Reward has no plot');
    await plot.click({ position: { x: box.width - 5, y: box.height / 2 } });
    await frame.getByText('Rollouts of optimizer step').waitFor();
    await picture(workbench, 'dashboard');
  });
});
