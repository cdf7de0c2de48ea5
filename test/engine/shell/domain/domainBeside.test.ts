import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { domainBeside } from '../../../../src/engine/shell/domain/domainBeside.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

function trained(config: (root: string) => object): string {
  const root = temporaryFolder('rehearsal-beside');
  for (const name of ['one', 'two', 'out']) mkdirSync(join(root, name));
  writeFileSync(join(root, 'config.json'), JSON.stringify(config(root)));
  return root;
}

test('a recording of a run on one domain belongs to it', () => {
  const root = trained((folder) => ({ domain: join(folder, 'one') }));
  expect(domainBeside(join(root, 'trajectories', 'step-000001', 'task.0.traj.jsonl'))).toBe(join(root, 'one'));
});

test.each([
  ['step-000001/one.task.0.traj.jsonl', 'one'],
  ['step-000001/second.task.0.traj.jsonl', 'two'],
  ['evaluate-000010/second/task.0.traj.jsonl', 'two'],
  ['evaluate-000010/out/task.0.traj.jsonl', 'out'],
  ['step-000001/task.0.traj.jsonl', null],
])('of several domains, %s belongs to %s', (recording, name) => {
  const root = trained((folder) => ({
    domain: [{ folder: join(folder, 'one') }, { folder: join(folder, 'two'), name: 'second' }],
    held_out: [{ folder: join(folder, 'out') }],
  }));
  expect(domainBeside(join(root, 'trajectories', recording))).toBe(name === null ? undefined : join(root, name));
});
