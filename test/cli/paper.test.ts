import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { paperOf } from '../../src/cli/report/paper.ts';
import type { RunRecord } from '../../src/engine/shell/records/runRecord.ts';
import { inFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const scratch = () => temporaryFolder('rehearsal-paper');
const fixture = fileURLToPath(new URL('../fixtures/bfcl', import.meta.url));

/** Creates a run; each list has the rewards of a task's trials. */
function runOf(domain: string, ...tasks: readonly (readonly (0 | 1 | null)[])[]): RunRecord {
  const rollouts = tasks.flatMap((rewards, task) => rewards.map((reward) => ({ task: String(task), reward })));
  return { folder: `runs/${domain}`, file: { domain, basis: 'evaluate' }, rollouts } as unknown as RunRecord;
}

const rowOf = (name: string, ...records: readonly RunRecord[]) =>
  paperOf(records).benchmarks.find((each) => each.name === name);

test('a number is the mean over tasks, and an unscored rollout is not a trial', () => {
  const run = runOf('tau2-airline', [1, 1, 1, 1], [0, 1], [0, null], [null]);
  expect(rowOf('TAU2 airline', run)).toMatchObject({ yours: 50, missing: [], published: { 'MUA-RL-32B': 45.4 } });
  expect(rowOf('TAU2 retail', run)).toMatchObject({ yours: null, missing: [] });
});

test('each part of a benchmark counts once, and two languages of a part are one part', () => {
  const english = [runOf('acebench-multi_turn_en', [1], [1], [0], [0]), runOf('acebench-multi_step_en', [1])];
  expect(rowOf('ACEBench Agent', ...english)?.yours).toBe(75);
  expect(rowOf('ACEBench Agent', ...english, runOf('acebench-multi_turn_zh', [0]))?.yours).toBe(62.5);
  expect(rowOf('BFCL-V3 multi-turn', runOf('bfcl-base', [1]), runOf('bfcl-miss_func', [1]))).toMatchObject({
    yours: null,
    missing: ['bfcl-miss_param', 'bfcl-long_context'],
  });
});

test.each([
  [
    'a domain of no benchmark',
    [runOf('parcel-desk', [1])],
    /runs\/parcel-desk is a run of parcel-desk; the paper has tau2/,
  ],
  [
    'a second run of a domain',
    [runOf('tau2-retail', [1]), runOf('tau2-retail', [1])],
    /is a second run of tau2-retail/,
  ],
  ['nothing scored', [runOf('tau2-retail', [null])], /no rollout of this run was scored/],
])('%s is refused in a sentence', (_, records, message) => {
  expect(() => paperOf(records)).toThrow(message);
});

inFullSuite('the table is filled from runs of an import, and says what they are', async () => {
  const out = scratch();
  await rehearsal('import', 'bfcl', '--from', fixture, '--out', out);
  const categories = ['base', 'miss_func', 'miss_param', 'long_context'];
  const runs = categories.map((category) => join(scratch(), category));
  for (const [at, run] of runs.entries()) await rehearsal('eval', join(out, categories[at] ?? ''), '--out', run);
  const { code, out: table } = await rehearsal('report', '--paper', ...runs);
  expect(code).toBe(0);
  expect(table).toMatch(/^ {2}BFCL-V3 multi-turn +40\.5 .* 11\.8 +100\.0$/m);
  expect(table).toMatch(/^ {2}TAU2 retail +70\.2 .* 41\.0$/m);
  expect(table).toMatch(/^100\.0 {2}bfcl-base: scripted against scripted, .* 0 tasks of train, 30 of test$/m);
  const { out: part } = await rehearsal('report', '--paper', runs[0] ?? '');
  expect(part).toContain('BFCL-V3 multi-turn stays empty: there is no run of bfcl-miss_func, bfcl-miss_param, ');
  expect(await rehearsal('report', '--paper', '--html', 'x.html', runs[0] ?? '')).toMatchObject({
    code: 2,
    err: expect.stringContaining('leave --html out'),
  });
  const trained = join(scratch(), 'trained');
  await rehearsal('eval', join(out, 'base'), '--basis', 'train', '--out', trained);
  expect((await rehearsal('report', '--paper', trained)).err).toContain('was scored by the basis train');
});
