import { appendFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { picture, pictured } from './support/picture.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** The dashboard and the tree beside it, over a run folder that this test writes as a trainer would. */
const domain = copyDomain('parcel-desk');
const training = join(domain.folder, '.rehearsal', 'training');
const run = join(training, '20260101-000000-grpo');
/** The folder of a run that was trained elsewhere, to be drawn for the README. */
const trained = process.env['REHEARSAL_TRAINING_RUN'];
let workbench: Workbench;

beforeAll(async () => {
  mkdirSync(run, { recursive: true });
  const config = { kind: 'grpo', model: 'tiny', domain: domain.folder, steps: 3 };
  writeFileSync(join(run, 'config.json'), JSON.stringify(config));
  for (const step of [1, 2])
    append('metrics.jsonl', { step, time: step, reward: step / 4, loss: 0.1, kl: 0, turns: 5 });
  append('events.jsonl', { time: 1, type: 'started' });
  // A process that lives, as the trainer does for a moment after its last word.
  writeFileSync(join(run, 'pid'), `${process.pid}\n`);
  if (trained) copyRun(resolve(trained));
  workbench = await Workbench.open(domain.folder, pictured);
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

test('the tree and the dashboard never say different things of a run for long', async () => {
  await workbench.showViews();
  await treeRow().click();
  const status = (type: string) => workbench.webviewFrame().locator(`.status.${type}`).waitFor();
  await status('running');
  expect(await treeRow().textContent()).toContain('grpo, running');
  for (let time = 2; time < 6; time += 1) {
    append('events.jsonl', { time, type: 'finished' });
    await status('finished');
    await until('the tree', async () => expect(await treeRow().textContent()).not.toContain('running'), 500);
    if (time === 2) await workbench.screenshot('dashboard-and-tree');
    append('events.jsonl', { time, type: 'resumed' });
    await status('running');
    await until('the tree', async () => expect(await treeRow().textContent()).toContain('running'), 500);
  }
});

/**
 * The README's picture is of a run of an hour, which no test makes:
 *
 *     REHEARSAL_PICTURES=1 REHEARSAL_TRAINING_RUN=.rehearsal/training/<id> npm run test:e2e -- dashboard
 */
test.runIf(trained)('a run that was trained is drawn, with the rollouts of its last step', async () => {
  const name = basename(resolve(trained ?? ''));
  await workbench.page.locator(`.pane-body .monaco-list-row[aria-label^="${name} "]`).click();
  const frame = workbench.webviewFrame();
  await frame.locator('section[aria-label="Loss"] canvas').waitFor();
  const plot = frame.locator('section[aria-label="Reward"] .u-over');
  if ((await plot.count()) > 0) {
    const box = await plot.boundingBox();
    if (!box) throw new Error('Reward has no plot');
    await plot.click({ position: { x: box.width - 5, y: box.height / 2 } });
    await frame.getByText('Rollouts of optimizer step').waitFor();
  }
  await picture(workbench, 'dashboard');
});

/** Of the view of training runs: the one of runs names it, too. */
function treeRow() {
  const { page } = workbench;
  const view = page.locator('.pane', { has: page.locator('.pane-header[aria-label="Training Section"]') });
  return view.locator('.monaco-list-row', { hasText: basename(run) });
}

function append(file: string, line: object): void {
  appendFileSync(join(run, file), `${JSON.stringify(line)}\n`);
}

/** All of a run but its weights. */
function copyRun(from: string): void {
  cpSync(from, join(training, basename(from)), { recursive: true, filter: (path) => basename(path) !== 'checkpoints' });
}
