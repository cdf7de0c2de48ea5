import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answer } from '../../src/language/answer.ts';
import { type Contents, contentsOfDomain, type ListedItem, tasksOfPage } from '../../src/language/contents.ts';
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

test('a task or persona that cannot be read keeps its place in the lists, with its first error', () => {
  const loaded = load({
    ...office,
    'tasks/first.task.yaml': 'id: first\nstate: [{ path: [a, b], value: { id: W1 } }]\nuser: { goal: Go. \n',
    'tasks/third.task.yaml':
      '- id: wrong\n  persona: plain\n  user: { goal: Go. }\n  comunicate: [x]\n- id: right\n  persona: plain\n  user: { goal: Go. }\n',
    'personas/bare.persona.yaml': 'style: 3\n',
  });
  const domain = { loaded, described: new Map() };
  const rows = (items: readonly ListedItem[]) =>
    items.map(({ id, at, error }) => (error === undefined ? id : [id, at.line, error]));
  expect(rows(answer(domain, { type: 'taskPage', from: 0, to: 9 }) as readonly ListedItem[])).toEqual([
    ['first', 3, expect.any(String)],
    'second',
    ['wrong', 4, expect.stringContaining('comunicate')],
    'right',
  ]);
  const { personas, taskPages } = answer(domain, { type: 'contents' }) as Contents;
  expect(rows(personas)).toContainEqual(['bare', 1, expect.any(String)]);
  expect(taskPages.at(-1)?.to).toBe(4);
});

test('all pages of a domain are parts of one list', () => {
  const loaded = load(office);
  let reads = 0;
  const parts = Object.defineProperty({ ...loaded.parts }, 'tasks', {
    get: () => {
      reads += 1;
      return loaded.parts.tasks;
    },
  });
  const counted = { ...loaded, parts };
  contentsOfDomain(counted);
  const before = reads;
  for (const from of [0, 1, 2]) tasksOfPage(counted, { from, to: from + 1 });
  expect(reads).toBe(before);
});
