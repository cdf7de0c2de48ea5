import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunLine } from '../../src/engine/shell/records/runLine.ts';
import { withEmptyScripts } from '../support/sampleDomains.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const run = join(temporaryFolder('rehearsal'), 'run');
const desk = withEmptyScripts('mistaken-order');
const scripted = [desk, '--agent', 'scripted', '--tasks', 'lamp-variant,mistaken-order', '--out', run];

/** Returns the lines before the last one, and the last one. */
function read(out: string): { readonly lines: readonly RunLine[]; readonly result: Record<string, unknown> } {
  const parsed = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { lines: parsed.slice(0, -1), result: parsed.at(-1) };
}

const outcomes = (lines: readonly RunLine[]) =>
  lines
    .flatMap((line) => (line.type === 'rolloutFinished' ? [line.outcome] : []))
    .toSorted((one, other) => one.task.localeCompare(other.task) || one.trial - other.trial);

test('eval reports the start, progress and end of each rollout, then its result', async () => {
  const { code, out } = await rehearsal('eval', ...scripted, '--trials', '2', '--json', '--stream');
  expect(code).toBe(0);
  const { lines, result } = read(out);
  expect(result).toMatchObject({ folder: run, stopped: null, summary: { rollouts: 4 } });
  const of = (task: string, trial: number) =>
    lines.filter((line) =>
      line.type === 'rolloutFinished'
        ? line.outcome.task === task && line.outcome.trial === trial
        : 'task' in line && line.task === task && line.trial === trial,
    );
  for (const task of ['lamp-variant', 'mistaken-order'])
    for (const trial of [0, 1]) {
      const own = of(task, trial);
      expect(own.map(({ type }) => type).filter((type) => type !== 'rolloutSpoke')).toEqual([
        'rolloutBegan',
        'rolloutFinished',
      ]);
      expect([own[0]?.type, own.at(-1)?.type]).toEqual(['rolloutBegan', 'rolloutFinished']);
      const said = own.map((line) => (line.type === 'rolloutSpoke' ? line.text : '')).join('');
      expect(said).toMatch(/user .*\n/);
      expect(said).toMatch(/reward .*reward 0, scored for evaluation: /);
    }
  expect(outcomes(lines).map(({ result: came, failedBy }) => [came, failedBy])).toEqual(
    Array.from({ length: 4 }, () => ['failed', 'agent']),
  );
});

test('a resumed run reports only new rollouts; report shows all of them, with the same outcomes', async () => {
  const { out } = await rehearsal('eval', ...scripted, '--trials', '3', '--json', '--stream');
  expect(outcomes(read(out).lines).map(({ trial }) => trial)).toEqual([2, 2]);
  const report = read((await rehearsal('report', run, '--json', '--stream')).out);
  expect(report.result).toMatchObject({ folder: run });
  expect(report.lines.map(({ type }) => type)).not.toContain('rolloutBegan');
  expect(outcomes(report.lines)).toHaveLength(6);
  expect(outcomes(report.lines).filter(({ trial }) => trial === 2)).toEqual(outcomes(read(out).lines));
});

test('without --json, or without --stream, nothing of it is printed', async () => {
  expect((await rehearsal('report', run, '--stream')).out).not.toContain('rolloutFinished');
  expect((await rehearsal('report', run, '--json')).out.trim().split('\n')).toHaveLength(1);
});
