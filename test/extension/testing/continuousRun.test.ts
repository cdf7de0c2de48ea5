import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { TestItem, TestRunRequest } from 'vscode';
import { chosenTests } from '../../../src/extension/testing/chosenTests.ts';
import { runContinuously } from '../../../src/extension/testing/continuousRun.ts';
import type { Explorer } from '../../../src/extension/testing/explorer.ts';
import { TaskTree } from '../../../src/extension/testing/taskTree.ts';
import type { DomainRow } from '../../../src/language/service/domainRow.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { testController } from './testController.ts';

const editor = vi.hoisted(() => ({
  save: (_: unknown) => undefined as unknown,
  played: [] as string[][],
  fails: false,
  /** Whether the tests that a run has not finished run again at once. */
  again: (): boolean => false,
  /** Holds the runs until it is settled. */
  held: Promise.resolve(),
}));

vi.mock('vscode', () => {
  const never = () => ({ dispose: () => undefined });
  const watcher = {
    onDidChange: (hear: (file: unknown) => unknown) => {
      editor.save = hear;
      return never();
    },
    onDidCreate: never,
    onDidDelete: never,
    dispose: () => undefined,
  };
  return {
    CancellationTokenSource: class {
      token = {};
      cancel() {}
      dispose() {}
    },
    TestRunRequest: class {
      readonly include: unknown;
      constructor(include: unknown) {
        this.include = include;
      }
    },
    TestTag: class {},
    Uri: { file: (fsPath: string) => ({ fsPath }) },
    workspace: { createFileSystemWatcher: () => watcher, getConfiguration: () => ({ get: () => 'split' }) },
  };
});

/** Replaces the command line. Every task passes, except those that must fail. */
vi.mock('../../../src/extension/testing/testRun.ts', () => ({
  runTests: async (
    { tree, controller }: Explorer,
    request: TestRunRequest,
    _token: unknown,
    { runsAgain }: { readonly runsAgain: () => boolean },
  ): Promise<readonly TestItem[]> => {
    editor.again = runsAgain;
    const items = await chosenTests(tree, controller, request);
    editor.played.push(items.map(({ id }) => id));
    await editor.held;
    if (editor.fails) throw new Error('the folder is not writable');
    return items;
  },
}));

const folder = join(temporaryFolder('continuous'), 'desk');
mkdirSync(folder);
writeFileSync(join(folder, 'domain.yaml'), 'name: desk\n');
const never = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };

beforeEach(() => {
  editor.played = [];
  editor.fails = false;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Starts a continuous run of two tasks; `save` saves the policy, with which the domain has these tasks. */
async function begun() {
  let tasks: readonly string[] = ['one', 'two'];
  const { controller } = testController();
  const read = async (): Promise<DomainRow> => {
    const rows = tasks.map((id) => {
      return { id, split: 'test', persona: 'plain', at: undefined, error: undefined };
    });
    return { folder, name: 'desk', error: undefined, groups: [{ name: 'test', tasks: rows }], broken: [] };
  };
  const tree = new TaskTree(controller, async () => [folder], read);
  const errors: string[] = [];
  const log = { error: (text: string) => errors.push(text) };
  const include = await chosenTests(tree, controller, {});
  runContinuously({ context: { log }, controller, tree } as never, { include } as never, never as never);
  const save = async (now: readonly string[], count: number) => {
    tasks = now;
    editor.save({ scheme: 'file', fsPath: join(folder, 'policy.md') });
    await vi.advanceTimersByTimeAsync(1000);
    await vi.waitFor(() => expect(editor.played).toHaveLength(count), { timeout: 240_000 });
  };
  return { save, errors };
}

test('tests that are gone are left out, and run again once they are back', async () => {
  const { save } = await begun();
  await save(['one', 'two-renamed'], 1);
  await save(['one', 'two'], 2);
  expect(editor.played).toEqual([['one'], ['one', 'two']]);
});

test('a run that could not begin does not end the runs after it', async () => {
  const { save, errors } = await begun();
  editor.fails = true;
  await save(['one', 'two'], 1);
  editor.fails = false;
  await save(['one', 'two'], 2);
  expect(editor.played).toEqual([
    ['one', 'two'],
    ['one', 'two'],
  ]);
  expect(errors).toEqual(['the folder is not writable']);
});

test('the tests of a run that a later change ends keep their results, because they run again', async () => {
  const { save } = await begun();
  const { promise, resolve } = Promise.withResolvers<void>();
  editor.held = promise;
  await save(['one', 'two'], 1);
  const { again } = editor;
  expect(again()).toBe(false);
  await save(['one', 'two'], 1);
  expect(again()).toBe(true);
  resolve();
  await vi.waitFor(() => expect(editor.played).toHaveLength(2), { timeout: 240_000 });
  expect(editor.again()).toBe(false);
});
