import { appendFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { lineOfItem } from '../../../src/extension/editors/documentItems.ts';
import { draftAt, readDomain, taskAt } from '../../../src/extension/workspace/workspaceDomains.ts';
import { smallDomain } from '../../support/smallDomain.ts';

vi.mock('vscode', () => ({ workspace: { textDocuments: [] } }));

const tasksIn = (file: number) =>
  Array.from(
    { length: 50 },
    (_, index) => `- id: task-${file}-${index}\n  persona: plain\n  user: { goal: Go., opening: Hello. }\n`,
  ).join('');

/** Counts the turns of the event loop from now on. */
function countTurns() {
  let turns = 0;
  let isStopped = false;
  const turn = () => {
    turns += 1;
    if (!isStopped) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    count: () => turns,
    stop: () => {
      isStopped = true;
    },
  };
}

test('the extension host reads no database of a domain, and has turns between the files of its tasks', async () => {
  const folder = smallDomain({}, tasksIn(0));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'tasks'), { recursive: true });
  for (let file = 1; file < 20; file += 1) writeFileSync(join(folder, 'tasks', `t${file}.task.yaml`), tasksIn(file));
  // This file is above the size limit: reading it would be a finding.
  appendFileSync(join(folder, 'database.json'), ' ');
  truncateSync(join(folder, 'database.json'), 10_000_000_000);
  const turns = countTurns();
  const { tasks, diagnostics } = await readDomain(folder);
  turns.stop();
  expect(tasks).toHaveLength(1000);
  expect(diagnostics).toEqual([]);
  expect(turns.count()).toBeGreaterThanOrEqual(20);
});

test('the extension host has turns while the places of the tasks of one file are worked out', async () => {
  const folder = smallDomain({}, tasksIn(0));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'tasks'), { recursive: true });
  writeFileSync(
    join(folder, 'tasks', 'zz-many.task.yaml'),
    Array.from({ length: 20 }, (_, at) => tasksIn(at + 1)).join(''),
  );
  const turns = countTurns();
  let before = 0;
  const onTask = () => {
    before = turns.count();
  };
  expect((await readDomain(folder, { onTask })).tasks).toHaveLength(1050);
  turns.stop();
  expect(turns.count() - before).toBeGreaterThanOrEqual(5);
});

test('the task at a line is found in its file alone, also below a task that cannot be read', async () => {
  const folder = smallDomain({}, tasksIn(0));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'tasks'), { recursive: true });
  const file = join(folder, 'tasks', 'own.task.yaml');
  const [first = '', second = ''] = tasksIn(1).split(/^(?=- )/m);
  writeFileSync(file, `# Two tasks\n${first}- id: [\n${second}`);
  // A domain with such a file cannot be read whole.
  writeFileSync(join(folder, 'tasks', 'broken.task.yaml'), '{');
  const lineOf = (text: string) => readFileSync(file, 'utf8').split(text)[0]?.split('\n').length ?? 0;
  expect(await taskAt(file, 1)).toBe('task-1-0');
  expect(await taskAt(file, lineOf('- id: ['))).toBe('task-1-0');
  expect(await taskAt(file, lineOf('task-1-1') + 1)).toBe('task-1-1');
  writeFileSync(file, `# Two tasks\n${first}- id: wrong\n  comunicate: []\n${second}`);
  expect(await taskAt(file, lineOf('comunicate'))).toBe('wrong');
  expect(await taskAt(join(folder, 'policy.md'), 1)).toBeUndefined();
  expect(await taskAt(join(folder, 'tasks', 'gone.task.yaml'), 1)).toBeUndefined();
});

test.each([
  ['a list', tasksIn(0).split('\n').slice(0, 6).join('\n')],
  [
    'entries below comments',
    '# All\n- # One\n  id: task-0-0\n  persona: plain\n  user: { goal: Go., opening: Hello. }\n# Two\n- # Two\n  id: task-0-1\n  persona: plain\n  user: { goal: Go., opening: Hello. }\n',
  ],
  [
    'an anchor',
    '- &first\n  id: task-0-0\n  persona: plain\n  user: { goal: Go., opening: Hello. }\n- <<: *first\n  id: task-0-1\n',
  ],
])('an entry of a form is found by its line, in a file with %s', async (_what, text) => {
  const folder = smallDomain({}, tasksIn(0));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'tasks'), { recursive: true });
  const file = join(folder, 'tasks', 'own.task.yaml');
  writeFileSync(file, text);
  const document = { uri: { fsPath: file }, getText: () => text } as never;
  const found = await Promise.all([0, 1].map((index) => taskAt(file, lineOfItem(document, index))));
  expect(found).toEqual(['task-0-0', 'task-0-1']);
});

test('the draft at a line is found in its file alone, else the first draft of the file', async () => {
  const folder = smallDomain({}, tasksIn(0));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'tasks'), { recursive: true });
  mkdirSync(join(folder, 'personas'), { recursive: true });
  const [first = '', second = '', third = '', fourth = ''] = tasksIn(1).split(/^(?=- )/m);
  const draft = (text: string) => `${text}  draft: true\n`;
  const tasks = join(folder, 'tasks', 'own.task.yaml');
  writeFileSync(tasks, [first, draft(second), third, draft(fourth)].join(''));
  const persona = join(folder, 'personas', 'shy.persona.yaml');
  writeFileSync(persona, 'id: shy\ndescription: Says little.\ndraft: true\n');
  // A domain with such a file cannot be read whole.
  writeFileSync(join(folder, 'tasks', 'broken.task.yaml'), '{');
  const found = await Promise.all([1, 5, 8, 11].map((line) => draftAt(tasks, line)));
  expect(found).toEqual(['task-1-1', 'task-1-1', 'task-1-1', 'task-1-3']);
  expect(await draftAt(persona, 1)).toBe('shy');
  expect(await draftAt(join(folder, 'policy.md'), 1)).toBeUndefined();
});
