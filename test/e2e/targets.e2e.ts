import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sshObstacle } from '../../scripts/ssh.ts';
import { randomStream } from '../../src/engine/core/values/random.ts';
import { linesOf } from '../support/jsonLines.ts';
import { type SshServer, startSshServer } from '../support/sshServer.ts';
import { newestRun } from './support/runs.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

const obstacle = sshObstacle()?.reason;
if (obstacle) console.warn(`SKIPPED: training over SSH from the editor, as ${obstacle}`);

describe.skipIf(obstacle)('training on a target of the settings', () => {
  const domain = copyDomain('parcel-desk');
  const training = join(domain.folder, '.rehearsal', 'training');
  const minutes = 60_000;
  let server: SshServer;
  let workbench: Workbench;

  const seed = process.env['REHEARSAL_SEED'] ?? '1';
  const random = randomStream('targets', seed);

  async function openEditor(): Promise<void> {
    const targets = [
      { name: 'Lab', target: server.target },
      { name: 'Cellar', target: server.target.replace(/:\d+/, ':1') },
    ];
    const settings = { 'rehearsal.training.targets': targets };
    // The PATH of a terminal: VS Code would otherwise use that of a login shell, which does not have the test's ssh.
    const env = { VSCODE_CLI: '1', PATH: server.environment['PATH'] ?? '' };
    workbench = await Workbench.open(domain.folder, { settings, env });
  }

  beforeAll(async () => {
    console.log(`REHEARSAL_SEED=${seed}`);
    server = await startSshServer();
    await openEditor();
  });

  afterAll(async () => {
    await workbench?.close();
    server?.close();
    domain.remove();
  });

  async function train(target: string): Promise<void> {
    await workbench.runCommand('Rehearsal: Train with GRPO…');
    await workbench.pick('tiny');
    await workbench.answer('60');
    const rows = (await workbench.picks()).map((row) => /^(This Machine|Lab|Cellar)/.exec(row)?.[0]);
    expect(rows).toEqual(['This Machine', 'Lab', 'Cellar']);
    await workbench.screenshot('targets-pick');
    await workbench.pick(target);
    // No plan is shown for a machine that is off.
    if (target !== 'Cellar') await workbench.confirm(/Start GRPO/, 'Start');
  }

  const metrics = () => {
    const path = join(newestRun(training), 'metrics.jsonl');
    return existsSync(path) ? linesOf<{ readonly step: number; readonly attempt: number }>(path) : [];
  };

  /** Returns the number of rollouts of the current optimizer step that have a recording. */
  const under = (run: string) => {
    const folder = join(run, 'trajectories', `step-${String(metrics().length + 1).padStart(6, '0')}`);
    return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.traj.jsonl')).length : 0;
  };

  test('a machine that is off is reported in one message, before anything is copied', {
    timeout: 2 * minutes,
  }, async () => {
    await train('Cellar');
    await workbench.notification(/Training did not start: .* can't be reached: check that it is on/);
    await workbench.screenshot('targets-off');
    await workbench.webviewFrame().locator('.status.failed').waitFor();
  });

  test.each(['Lab', 'This Machine'])(
    'a run on %s is drawn, outlives an editor that is killed with all it has, and stops',
    {
      timeout: 10 * minutes,
    },
    async (target) => {
      await workbench.runCommand('View: Close All Editors');
      await train(target);
      const rows = () =>
        workbench
          .webviewFrame()
          .locator('[aria-label="Metrics of every optimizer step"] vscode-data-grid-row:not([row-type="header"])');
      const steps = 2 + random.integer(3);
      await until(
        `${steps} optimizer steps`,
        async () => expect(await rows().count()).toBeGreaterThanOrEqual(steps),
        6 * minutes,
      );
      await workbench.screenshot(`targets-dashboard-${target}`);
      const run = newestRun(training);
      // The rollouts of a running step on another machine are not copied here yet.
      const rollouts = target === 'Lab' ? 0 : random.integer(4);
      await until(`${rollouts} rollouts of a later step`, async () =>
        expect(under(run)).toBeGreaterThanOrEqual(rollouts),
      );
      await workbench.kill();
      // The process that follows a remote run is killed along with the editor. For a local run, this process is the
      // trainer itself.
      if (target === 'Lab') process.kill(Number(readFileSync(join(run, 'pid'), 'utf8')), 'SIGKILL');
      const before = metrics().length;
      await openEditor();
      await until('steps that came after', async () => expect(metrics().length).toBeGreaterThan(before), 2 * minutes);
      await workbench.runCommand('Rehearsal: Stop Training');
      await until('the run is over', async () => expect(existsSync(join(run, 'pid'))).toBe(false), 3 * minutes);
      expect(linesOf<{ type: string }>(join(run, 'events.jsonl')).at(-1)).toMatchObject({ type: 'stopped' });
      expect(metrics().map(({ step, attempt }) => [step, attempt])).toEqual(metrics().map((_, at) => [at + 1, 1]));
      for (const { step } of metrics()) {
        const folder = join(run, 'trajectories', `step-${String(step).padStart(6, '0')}`);
        const played = linesOf<{ recording: string }>(join(folder, 'rollouts.jsonl')).map(({ recording }) => recording);
        expect(new Set(played).size).toBe(played.length);
        expect(
          readdirSync(folder)
            .filter((name) => name.endsWith('.traj.jsonl'))
            .sort(),
        ).toEqual(played.sort());
      }
      await workbench.screenshot(`targets-stopped-${target}`);
    },
  );
});
