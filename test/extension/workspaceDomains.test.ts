import { appendFileSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readDomain } from '../../src/extension/workspaceDomains.ts';
import { smallDomain } from '../support/smallDomain.ts';

vi.mock('vscode', () => ({ workspace: { textDocuments: [] } }));

const tasksIn = (file: number) =>
  Array.from(
    { length: 50 },
    (_, index) => `- id: task-${file}-${index}\n  persona: plain\n  user: { goal: Go., opening: Hello. }\n`,
  ).join('');

test('the extension host reads no database of a domain, and has turns between the files of its tasks', async () => {
  const folder = smallDomain({}, tasksIn(0));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'tasks'), { recursive: true });
  for (let file = 1; file < 20; file += 1) writeFileSync(join(folder, 'tasks', `t${file}.task.yaml`), tasksIn(file));
  // More than is ever read: reading it would be a finding.
  appendFileSync(join(folder, 'database.json'), ' ');
  truncateSync(join(folder, 'database.json'), 10_000_000_000);
  let turns = 0;
  let isReading = true;
  const turn = () => {
    turns += 1;
    if (isReading) setImmediate(turn);
  };
  setImmediate(turn);
  const { tasks, diagnostics } = await readDomain(folder);
  isReading = false;
  expect(tasks).toHaveLength(1000);
  expect(diagnostics).toEqual([]);
  expect(turns).toBeGreaterThanOrEqual(20);
});
