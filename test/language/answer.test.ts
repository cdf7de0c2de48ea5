import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answer } from '../../src/language/answer.ts';
import { load } from '../engine/shell/load/domainFolder.ts';
import { office } from './marked.ts';

test('a task that cannot be read is found by its id, so that running it shows its error', () => {
  const text = '- id: wrong\n  comunicate: [x]\n- id: right\n  persona: plain\n  user: { goal: Go. }\n';
  const loaded = load({ ...office, 'tasks/third.task.yaml': text });
  const file = join(loaded.folder, 'tasks', 'third.task.yaml');
  expect(answer({ loaded, described: new Map() }, { type: 'tasks', file })).toEqual([
    { name: 'wrong', line: 1 },
    { name: 'right', line: 3 },
  ]);
});
