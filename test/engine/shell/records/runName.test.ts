import { readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeNewRunFolder, removeUnbegunRun, runSubject } from '../../../../src/engine/shell/records/runName.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const now = new Date('2026-11-21T10:15:30Z');
const place = () => join(temporaryFolder('rehearsal-names'), '.rehearsal', 'runs');

test('runs of the same second have separate folders', () => {
  const runs = place();
  const names = [1, 2, 3].map(() => basename(makeNewRunFolder(runs, 'looks', now)));
  expect(names).toEqual(['20261121-101530-looks', '20261121-101530-looks-2', '20261121-101530-looks-3']);
  expect(readdirSync(runs)).toEqual(names);
});

test.each([
  ['../../../etc', '20261121-101530-..-..-..-etc'],
  ['a/b c', '20261121-101530-a-b-c'],
  ['größe@plain', '20261121-101530-größe@plain'],
])('a run about %j is directly below the folder of runs', (about, name) => {
  const runs = place();
  expect(makeNewRunFolder(runs, about, now)).toBe(join(runs, name));
});

test.each([
  [['lamp-variant'], 'lamp-variant'],
  [['lamp-variant', 'boots-size'], 'order-desk'],
  [[], 'order-desk'],
])('a run of %j is about %s', (tasks, subject) => {
  expect(runSubject(tasks, 'order-desk')).toBe(subject);
});

test('a run without a recording leaves no folder', () => {
  const runs = place();
  const [begun, described, empty] = [1, 2, 3].map(() => makeNewRunFolder(runs, 'looks', now)) as [
    string,
    string,
    string,
  ];
  for (const folder of [begun, described])
    for (const name of ['run.json', 'ledger.jsonl']) writeFileSync(join(folder, name), '{}');
  writeFileSync(join(begun, 'looks.0.traj.jsonl'), '');
  for (const folder of [begun, described, empty, join(runs, 'nowhere')]) removeUnbegunRun(folder);
  expect(readdirSync(runs)).toEqual([basename(begun)]);
});

test('the error for a folder that cannot be written says what to do and does not claim that something was kept', () => {
  const file = join(temporaryFolder('rehearsal-names'), '.rehearsal');
  writeFileSync(file, '');
  expect(() => makeNewRunFolder(join(file, 'runs'), 'looks', now)).toThrow(
    /\/\.rehearsal\/runs: can't be written \(ENOTDIR: not a directory\)\. Choose a folder that you can write to, for example with --out$/,
  );
});
