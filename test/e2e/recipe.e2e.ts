import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { linesOf } from '../support/jsonLines.ts';
import { clickPoint, stepsInTable } from './support/dashboard.ts';
import { picture, pictured } from './support/picture.ts';
import { newestRun } from './support/runs.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

const model = process.env['REHEARSAL_RECIPE_MODEL'];
if (!model) console.warn('SKIPPED: the recipe with a real model takes long; npm run test:full follows it');

describe.skipIf(!model)('from the palette to a better model', () => {
  const domain = copyDomain('parcel-desk');
  const synth = join(domain.folder, '.rehearsal', 'synth');
  const training = join(domain.folder, '.rehearsal', 'training');
  const minutes = 60_000;
  let workbench: Workbench;

  beforeAll(async () => {
    const settings = { ...pictured.settings, 'rehearsal.trainer.model': model };
    workbench = await Workbench.open(domain.folder, { ...pictured, settings });
  });

  afterAll(async () => {
    await workbench?.close();
    domain.remove();
  });

  const activeTab = () => workbench.page.locator('.editor-group-container.active .tab.active').textContent();

  const selection = () =>
    linesOf<{ readonly accepted: boolean }>(join(synth, readdirSync(synth)[0] ?? '', 'selection.jsonl'));

  test('trajectories are synthesized, and a person takes out one of them', { timeout: 5 * minutes }, async () => {
    await workbench.runCommand('Rehearsal: Synthesize Cold-Start Trajectories…');
    await workbench.pick('The gold seat');
    await workbench.answer('64');
    await workbench.notification('64 of 64 trajectories to learn from', 'Spot-Check');
    await workbench.webviewFrame().locator('article').first().waitFor();
    const first = await activeTab();
    await workbench.press('Control+Enter');
    await workbench.waitForText('.pane-body', /\b1 of \d+ checked/);
    await until('the next one', async () => expect(await activeTab()).not.toBe(first));
    await workbench.webviewFrame().locator('article').first().waitFor();
    await workbench.press('Control+Backspace');
    await workbench.waitForText('.pane-body', /\b2 of \d+ checked/);
    await picture(workbench, 'recipe-1-spot-check');
    expect(selection().filter(({ accepted }) => accepted).length).toBe(63);
  });

  test('SFT learns from what was accepted', { timeout: 15 * minutes }, async () => {
    await workbench.runCommand('View: Close All Editors');
    await workbench.runCommand('Rehearsal: Train with SFT…');
    await workbench.pick('63 accepted trajectories of');
    await workbench.pick('from the settings');
    await workbench.answer('12');
    await workbench.page.locator('.monaco-dialog-box', { hasText: 'Start SFT?' }).waitFor({ timeout: 2 * minutes });
    await workbench.screenshot('recipe-plan');
    await workbench.confirm('Start SFT?', 'Start');
    const frame = workbench.webviewFrame();
    await frame.locator('.status.finished').waitFor({ timeout: 14 * minutes });
    const run = newestRun(training);
    const data = linesOf<{ recordings?: number }>(join(run, 'events.jsonl')).find(({ recordings }) => recordings);
    expect(data?.recordings).toBe(63);
    const losses = linesOf<{ loss: number }>(join(run, 'metrics.jsonl')).map(({ loss }) => loss);
    expect(losses.length).toBe(12);
    expect(losses.at(-1)).toBeLessThan((losses[0] ?? 0) / 2);
    await picture(workbench, 'recipe-2-sft');
  });

  test('GRPO continues from there with a configuration, and an alarm is raised', {
    timeout: 25 * minutes,
  }, async () => {
    const configuration = {
      ...{ kind: 'grpo', domain: '.', model: join(newestRun(training), 'checkpoints', 'final') },
      ...{ profile: 'cpu', steps: 3, tasks_per_step: 2, group_size: 4, evaluate_every: 0, rollout_timeout_s: 3600 },
    };
    writeFileSync(join(domain.folder, 'grpo.training.yaml'), stringify(configuration));
    await workbench.runCommand('View: Close All Editors');
    await workbench.openFile('grpo.training.yaml');
    await workbench.page.locator('.codelens-decoration a', { hasText: 'Train' }).click();
    await workbench.confirm('Start training?', 'Start');
    const frame = workbench.webviewFrame();
    await frame.locator('.status.finished').waitFor({ timeout: 24 * minutes });
    expect(await stepsInTable(frame)).toEqual(['3', '2', '1']);
    // After so little SFT nothing is solved yet, so no group has a difference to learn from.
    const events = linesOf<{ type: string; step: number; alarm?: string }>(join(newestRun(training), 'events.jsonl'));
    expect(events.filter(({ type }) => type === 'alarm')).toMatchObject([{ step: 3, alarm: 'dead-groups' }]);
    await frame.getByRole('region', { name: /alarm/ }).first().waitFor();
    await picture(workbench, 'recipe-3-grpo-alarm');
  });

  test('a click on the curve leads to a rollout, which is debugged', { timeout: 5 * minutes }, async () => {
    const frame = workbench.webviewFrame();
    await clickPoint(frame, 'Reward', 3);
    await frame.getByText('Rollouts of optimizer step 3', { exact: true }).waitFor();
    const rows = frame.locator('[aria-label="Rollouts of optimizer step 3"] vscode-data-grid-row.opens');
    await until('its eight rollouts', async () => expect(await rows.count()).toBe(8));
    await picture(workbench, 'recipe-4-rollouts');
    await rows.first().click();
    await workbench.webviewFrame().getByRole('button', { name: 'Debug This Recording' }).click();
    await workbench.debug.paused();
    await workbench.debug.show();
    await workbench.waitForText('.debug-call-stack .monaco-list-rows', 'begins');
    await workbench.debug.press('step-into');
    await workbench.waitForText('.debug-call-stack .monaco-list-rows', "the task's initial state is set up");
    for (const said of [/user: /, /agent(:| calls) /]) {
      await workbench.debug.press('step-into');
      await workbench.waitForText('.debug-call-stack .monaco-list-rows', said);
    }
    await picture(workbench, 'recipe-5-debugged');
    await workbench.press('Shift+F5');
    await workbench.debug.ended();
  });

  test("the checkpoint takes the agent's seat", { timeout: 8 * minutes }, async () => {
    await workbench.runCommand('View: Close All Editors');
    await workbench.openFile('tasks/test.task.yaml');
    await workbench.runCommand('Rehearsal: Debug Task with a Checkpoint…');
    await workbench.pick('-grpo');
    await workbench.waitForText('.repl', /agent checkpoint:\S*-grpo\/checkpoints\/final/, 2 * minutes);
    await workbench.waitForText('.repl', /\nagent\s+\S/, 2 * minutes);
    await picture(workbench, 'recipe-6-checkpoint');
    await workbench.press('Shift+F5');
    await workbench.debug.ended();
  });
});
