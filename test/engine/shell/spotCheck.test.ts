import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { sampleOf } from '../../../src/synthesis/sample.ts';
import type { Selected } from '../../../src/synthesis/settle.ts';
import { decide, forksOf, spotCheckOf } from '../../../src/synthesis/spotCheck.ts';
import { addGrade, readDecisions, readSelection } from '../../../src/synthesis/synthesisFolder.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { rehearsal } from '../../support/terminal.ts';

const scratch = temporaryFolder('rehearsal-spot-check');
const made = join(scratch, 'made');

beforeAll(async () => {
  await rehearsal('synth', 'domains/parcel-desk', '--count', '8', '--out', made);
});

function copy(): string {
  const folder = mkdtempSync(join(scratch, 'copy-'));
  cpSync(made, folder, { recursive: true });
  return folder;
}

const grade = (keep: boolean) => ({ rules: [], keep, evidence: [], reason: 'So it is.' });

test('a decision is kept, changes the selection, and is compared with the grade', () => {
  const folder = copy();
  const queue = () => spotCheckOf(folder, 4, '1').queue;
  const names = queue().map(({ row }) => row.recording);
  expect(names.length).toBe(4);
  const [first = '', second = '', third = ''] = names;
  addGrade(folder, { recording: first, grader: 'g', grade: grade(true) });
  addGrade(folder, { recording: second, grader: 'g', grade: grade(true) });
  addGrade(folder, { recording: third, grader: 'g', grade: grade(false) });
  decide(folder, first, 'accept');
  decide(folder, second, 'reject');
  decide(folder, third, 'accept');
  decide(folder, third, 'reject');
  expect(queue().map(({ row }) => row.recording)).toEqual(names);
  expect(queue().map(({ decision }) => decision?.decision ?? null)).toEqual(['accept', 'reject', 'reject', null]);
  expect(spotCheckOf(folder, 4, '1').agreement).toMatchObject({ n: 3, share: 2 / 3 });
  const accepted = readSelection(folder).filter((row) => row.accepted);
  expect(accepted.length).toBe(6);
  expect(accepted.map(({ recording }) => recording)).not.toContain(second);
  expect(readFileSync(join(folder, 'balance.txt'), 'utf8')).toContain('2 left out: rejected in the spot check');
});

test('a fork that has ended replaces its parent', () => {
  const folder = copy();
  const [{ row } = { row: undefined }] = spotCheckOf(folder, 1, '1').queue;
  const parent = row?.recording ?? '';
  const fork = parent.replace('.traj.jsonl', '.fork-1.traj.jsonl');
  expect(forksOf(folder, parent)).toEqual([]);
  const text = readFileSync(join(folder, parent), 'utf8');
  writeFileSync(join(folder, fork), text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1));
  expect(forksOf(folder, parent), 'one that has not ended').toEqual([]);
  writeFileSync(join(folder, fork), text);
  const [found] = forksOf(folder, parent);
  expect(found).toMatchObject({ recording: fork, outcome: row?.outcome, miss: row?.miss });
  decide(folder, parent, 'edit', found);
  const rows = readSelection(folder).filter(({ recording }) => [parent, fork].includes(recording));
  expect(rows).toMatchObject([
    { recording: parent, accepted: false },
    { recording: fork, accepted: true, forkOf: parent },
  ]);
  expect(readDecisions(folder)).toMatchObject([{ decision: 'edit', fork: { recording: fork } }]);
  decide(folder, parent, 'accept');
  expect(readSelection(folder).some(({ recording }) => recording === fork)).toBe(false);
});

test('the sample is drawn by seed, includes all decisions, and is stable when the selection grows', () => {
  const row = (recording: string): Selected => ({
    ...{ recording, domain: 'desk', task: 'a', persona: 'calm', difficulty: 'easy', outcome: 'success' },
    ...{ miss: null, withheld: [], chosen: true, why: 'chosen', accepted: true },
  });
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{3}$/), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(names, fc.integer({ min: 1, max: 12 }), (all, size) => {
      const rows = all.map(row);
      const decided = [{ recording: all[0] ?? '', decision: 'accept' as const }];
      const drawn = sampleOf(rows, decided, size, '1').map(({ recording }) => recording);
      expect(drawn.length).toBe(Math.min(size, all.length));
      expect(drawn).toContain(all[0]);
      expect(sampleOf(rows.toReversed(), decided, size, '1').map(({ recording }) => recording)).toEqual(drawn);
      const grown = sampleOf([...rows, row('zzzz')], decided, size + 1, '1').map(({ recording }) => recording);
      expect(drawn.filter((recording) => !grown.includes(recording))).toEqual([]);
    }),
  );
});
