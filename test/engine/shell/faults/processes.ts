import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { finishedRollouts } from '../../../../src/engine/shell/records/ledger.ts';
import { killIfRunning } from '../../../support/processes.ts';
import { rehearsalWith } from '../../../support/terminal.ts';
import { until } from '../../../support/until.ts';
import {
  type Affected,
  child,
  domain,
  evaluation,
  type FaultRow,
  fresh,
  gated,
  go,
  home,
  play,
  printed,
  resumed,
  scored,
  unscored,
} from './scene.ts';

const slow = (times: number) =>
  domain(
    Array.from({ length: times }, () => 'wait'),
    { 'tools.ts': gated },
  );

const recorded = (run: string, id: string) => {
  const path = join(run, `${id}.0.traj.jsonl`);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
};
const receipts = (run: string) => finishedRollouts(join(run, 'ledger.jsonl')).length;

/** Returns the processes whose command line has a text. */
function processesWith(text: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}

const onLinux = () => (process.platform === 'linux' ? null : 'processes are found through /proc');

export const processes: readonly FaultRow[] = [
  {
    fault: 'a worker that is killed',
    injected: 'SIGKILL of the worker while a tool runs in it',
    sees: /^ended: /,
    kept: unscored,
    obstacle: onLinux,
    inject: async () => {
      const folder = slow(1);
      // A rollout that another one's end took along is played again, so the kill must not meet the other one.
      const playing = play(folder, { order: 'spared first' });
      const waiting = `waits in ${folder}`;
      await until('the tool', () => processesWith(waiting).length > 0);
      // In a sandbox, the first process is bubblewrap and ends the others.
      for (const pid of [...processesWith(`"folder":"${folder}"`), ...processesWith(waiting)]) killIfRunning(pid);
      return playing;
    },
  },
  {
    fault: 'a supervisor that is killed',
    injected: 'SIGKILL of `rehearsal eval` while a tool runs; then the same command again',
    sees: /already finished/,
    kept: resumed,
    inject: async () => {
      const [folder, run] = [slow(3), fresh()];
      const first = child(evaluation(folder, run));
      await until('events of both rollouts', () => recorded(run, 'affected') > 4 && receipts(run) === 1);
      first.kill('SIGKILL');
      await printed(first);
      const before = recorded(run, 'affected');
      const lines: string[] = [];
      const affected: Affected = {
        lines,
        run,
        folder,
        again: async () => {
          go(folder);
          lines.push(...(await printed(child(evaluation(folder, run)))));
        },
      };
      expect(before).toBeGreaterThan(4);
      return affected;
    },
  },
  {
    fault: 'a second supervisor on the same run',
    injected: '`rehearsal eval --out` of a run that another process is writing',
    sees: /^rehearsal eval: /,
    kept: scored,
    inject: async () => {
      const [folder, run] = [slow(3), fresh()];
      const first = child(evaluation(folder, run));
      await until('the first events', () => recorded(run, 'affected') > 4);
      const { code, err } = await rehearsalWith({ REHEARSAL_HOME: home }, ...evaluation(folder, run));
      expect(code).toBe(2);
      go(folder);
      await printed(first);
      expect(first.exitCode).toBe(0);
      return { lines: err.split('\n').map((line) => line.replace(String(first.pid), 'PID')), run, folder };
    },
  },
];

/** Returns the texts of both recordings. */
const bytesOf = (run: string) =>
  ['affected', 'spared'].map((id) => readFileSync(join(run, `${id}.0.traj.jsonl`), 'utf8')).join('');

/** Runs an evaluation with a changed clock, and expects the same recordings as without. */
async function underClock(env: NodeJS.ProcessEnv, node: readonly string[] = []): Promise<Affected> {
  const [folder, usual, run] = [domain(['look', 'look']), fresh(), fresh()];
  await printed(child(evaluation(folder, usual)));
  const lines = await printed(child(evaluation(folder, run), env, node));
  expect(bytesOf(run)).toBe(bytesOf(usual));
  const sidecar = readFileSync(join(run, 'affected.0.sidecar.jsonl'), 'utf8').trim().split('\n');
  for (const line of sidecar) expect((JSON.parse(line) as { ms: number }).ms).toBeGreaterThanOrEqual(0);
  return { lines, run, folder };
}

/** A clock that is a minute earlier at each reading. */
const backwards = `const real = Date.now; let looks = 0; const now = () => real() - 60000 * looks++;
globalThis.Date = class extends Date { constructor(...given) { given.length ? super(...given) : super(now()); } static now() { return now(); } };`;

export const clocks: readonly FaultRow[] = [
  {
    fault: 'another time zone',
    injected: 'TZ=Pacific/Kiritimati, 14 hours before UTC',
    sees: null,
    kept: scored,
    inject: () => underClock({ TZ: 'Pacific/Kiritimati', LANG: 'de_DE.UTF-8' }),
  },
  {
    fault: 'a clock that goes backwards',
    injected: 'every look at the clock of the supervisor finds it a minute earlier',
    sees: null,
    kept: scored,
    inject: () => underClock({}, ['--import', `data:text/javascript,${encodeURIComponent(backwards)}`]),
  },
];
