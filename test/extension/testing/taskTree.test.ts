import { beforeEach, expect, test, vi } from 'vitest';
import type { TestItem } from 'vscode';
import { chosenTests, currentTests } from '../../../src/extension/testing/chosenTests.ts';
import { RunResults } from '../../../src/extension/testing/runResults.ts';
import { TaskTree } from '../../../src/extension/testing/taskTree.ts';
import { recordingOfTest } from '../../../src/extension/testing/testRecordings.ts';
import type { DomainRow, Grouping, TaskRow } from '../../../src/language/service/domainRow.ts';
import { testController } from './testController.ts';

const editor = vi.hoisted(() => ({ groupBy: 'split' }));

vi.mock('vscode', () => ({
  Range: class {},
  TestTag: class {},
  TestMessage: class {},
  TestRunRequest: class {},
  Uri: { file: (fsPath: string) => ({ fsPath }) },
  workspace: {
    asRelativePath: (path: string) => path.replace('/work/', ''),
    getConfiguration: () => ({ get: () => editor.groupBy }),
  },
}));

beforeEach(() => {
  editor.groupBy = 'split';
});

const row = (id: string): TaskRow => ({
  id,
  split: 'test',
  persona: 'plain',
  at: undefined,
  error: undefined,
});

/** A tree over domains whose tasks a test changes. */
function treeOf(domains: Map<string, readonly string[]>) {
  const { controller, states, ended, outputs } = testController();
  const read = async (folder: string, grouping: Grouping): Promise<DomainRow> => {
    const tasks = (domains.get(folder) ?? []).map(row);
    const groups = [{ name: grouping === 'split' ? 'test' : 'plain', tasks }];
    return { folder, name: 'desk', error: undefined, groups, broken: [] };
  };
  return { controller, states, ended, outputs, tree: new TaskTree(controller, async () => [...domains.keys()], read) };
}

const ids = (items: readonly TestItem[]) => items.map(({ id }) => id);

test('a task that was renamed or deleted is no longer selected, and is again once it is back', async () => {
  const domains = new Map([['/work/desk', ['one', 'two'] as readonly string[]]]);
  const { controller, tree } = treeOf(domains);
  const include = await chosenTests(tree, controller, {});
  expect(ids(include)).toEqual(['one', 'two']);
  domains.set('/work/desk', ['one', 'two-renamed']);
  await tree.read('/work/desk');
  expect(ids(await chosenTests(tree, controller, { include }))).toEqual(['one']);
  domains.delete('/work/desk');
  await tree.findDomains();
  expect(await chosenTests(tree, controller, { include })).toEqual([]);
  domains.set('/work/desk', ['one', 'two']);
  await tree.findDomains();
  expect(ids(await chosenTests(tree, controller, { include }))).toEqual(['one', 'two']);
});

test('a run has the tasks as they were saved just before it, which the tree does not follow yet', async () => {
  const domains = new Map([['/work/desk', ['one', 'two'] as readonly string[]]]);
  const { controller, tree } = treeOf(domains);
  const include = await chosenTests(tree, controller, {});
  domains.set('/work/desk', ['one', 'two-renamed']);
  expect(ids(await currentTests(tree, controller, {}))).toEqual(['one', 'two-renamed']);
  expect(ids(await currentTests(tree, controller, { include }))).toEqual(['one']);
});

test('a group that was chosen means its tasks, also where they are grouped by something else since', async () => {
  const { controller, tree } = treeOf(new Map([['/work/desk', ['one', 'two']]]));
  const [one] = await chosenTests(tree, controller, {});
  const group = controller.items.get('/work/desk')?.children.get('split:test');
  if (!group || !one) throw new Error('there is no group');
  editor.groupBy = 'persona';
  await tree.read('/work/desk');
  const chosen = await chosenTests(tree, controller, { include: [group] });
  expect(ids(chosen)).toEqual(['one', 'two']);
  expect(chosen).not.toContain(one);
  expect(ids(await chosenTests(tree, controller, { include: [group], exclude: [one] }))).toEqual(['two']);
});

test('domains with the same name show their folders', async () => {
  const { controller, tree } = treeOf(new Map(['/work/a/desk', '/work/b/desk'].map((folder) => [folder, ['one']])));
  const labels = () => [...controller.items].map(([, { label }]) => label);
  await tree.findDomains();
  expect(labels()).toEqual(['desk (a/desk)', 'desk (b/desk)']);
  await tree.read('/work/a/desk');
  expect(labels()).toEqual(['desk (a/desk)', 'desk (b/desk)']);
});

/** Starts a run of three tasks of a domain; `finish` ends a rollout of one. */
async function running(trials: number) {
  const folder = '/work/desk';
  const { controller, tree, states, ended, outputs } = treeOf(new Map([[folder, ['one', 'two', 'three']]]));
  await chosenTests(tree, controller, {});
  const run = controller.createTestRun({} as never);
  const places = { tasks: new Map(), policyRules: new Map() } as never;
  const results = new RunResults(run, tree, { folder, tasks: 3, trials, places });
  const finish = (task: string, result: 'passed' | 'failed', trial = 0, warning: string | null = null) => {
    const outcome = {
      task,
      trial,
      result,
      message: '',
      warning,
      rows: null,
      pointers: [],
      seconds: 0,
      coverage: {},
    };
    results.take({ type: 'rolloutFinished', outcome, recording: `/runs/${task}.${trial}.traj.jsonl` } as never);
  };
  return { folder, tree, states, ended, outputs, results, finish };
}

test('a test that passed shows the warning about its reward', async () => {
  const { outputs, finish } = await running(1);
  finish('one', 'passed', 0, 'the gold action refund failed');
  expect(outputs).toContain('warning: the gold action refund failed\r\n');
});

test('results stay where tests are grouped by something else during their run', async () => {
  const { folder, tree, states, results, finish } = await running(1);
  finish('one', 'passed');
  editor.groupBy = 'persona';
  await tree.read(folder);
  finish('two', 'failed');
  results.skipRest(['one', 'two', 'three']);
  const shown = ['one', 'two', 'three'].map((task) => states.get(tree.task(folder, task)));
  expect(shown).toEqual(['passed', 'failed', 'skipped']);
  expect(ids([...states].flatMap(([item, state]) => (state === 'skipped' ? [item as TestItem] : [])))).toEqual([
    'three',
  ]);
});

test.each(['persona', 'split'])('results stay where tests are grouped by %s after their run', async (last) => {
  const { folder, tree, states, results, finish } = await running(2);
  for (const trial of [0, 1]) {
    finish('one', 'passed', trial);
    finish('two', trial === 0 ? 'passed' : 'failed', trial);
  }
  results.failRest(['one', 'two', 'three'], 'The run ended.');
  const before = tree.task(folder, 'two');
  for (const groupBy of last === 'split' ? ['persona', 'split'] : ['persona']) {
    editor.groupBy = groupBy;
    states.clear();
    await tree.read(folder);
  }
  const items = ['one', 'two', 'three'].map((task) => tree.task(folder, task));
  expect(items).not.toContain(before);
  expect(items.map((item) => states.get(item))).toEqual(['passed', 'failed', 'errored']);
  const [, two] = items;
  expect(two?.label).toContain('two (1/2 passed');
  const trials = [...(two?.children ?? [])].map(([, item]) => item);
  expect(trials.map((item) => states.get(item))).toEqual(['passed', 'failed']);
  expect(trials.map((item) => recordingOfTest(item)?.recording)).toEqual([
    '/runs/two.0.traj.jsonl',
    '/runs/two.1.traj.jsonl',
  ]);
  states.clear();
  await tree.read(folder);
  expect(states.size).toBe(0);
});

test('a debug session takes the messages of earlier results out of the texts, and their states stay', async () => {
  const { folder, tree, states, ended, finish } = await running(1);
  tree.results.clearMessages();
  expect(ended, 'without a result there is nothing to take out').toEqual([]);
  finish('one', 'failed');
  tree.results.clearMessages();
  expect(ended).toEqual(['Debug session']);
  expect(states.get(tree.task(folder, 'one'))).toBe('failed');
});

test('groups say what they are, and tasks are in the order of their files and lines', async () => {
  const at = (file: string, line: number) => ({
    file: `/work/desk/tasks/${file}`,
    line,
    column: 1,
    endLine: line,
    endColumn: 2,
  });
  const tasks = [
    { ...row('first'), at: at('b.task.yaml', 9) },
    { ...row('second'), at: at('a.task.yaml', 20) },
    { ...row('third'), at: at('a.task.yaml', 3) },
  ];
  const { controller } = testController();
  const names = { split: 'train', persona: 'plain' } as const;
  const tree = new TaskTree(
    controller,
    async () => ['/work/desk'],
    async (folder, by) => ({
      folder,
      name: 'desk',
      error: undefined,
      groups: [{ name: names[by], tasks }],
      broken: [],
    }),
  );
  const labels: string[] = [];
  for (const by of ['split', 'persona']) {
    editor.groupBy = by;
    await tree.findDomains();
    await tree.read('/work/desk');
    for (const [, group] of controller.items.get('/work/desk')?.children ?? []) labels.push(group.label);
  }
  expect(labels).toEqual(['Split: train (tasks to train on)', 'Persona: plain']);
  const items = ['first', 'second', 'third'].map((id) => tree.task('/work/desk', id));
  const sorted = items.toSorted((one, other) => (one?.sortText ?? '').localeCompare(other?.sortText ?? ''));
  expect(sorted.map((item) => item?.id)).toEqual(['third', 'second', 'first']);
});
