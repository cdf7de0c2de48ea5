import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { pickDraft, pickTask } from '../../../src/extension/workspace/pickTask.ts';
import { readDomain } from '../../../src/extension/workspace/workspaceDomains.ts';
import { inFullSuite } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const editor = vi.hoisted(() => ({
  /** The length of the list whenever it changed, and whether it was still being read when it opened. */
  lengths: [] as number[],
  opened: undefined as undefined | { readonly busy: boolean; readonly read: number },
  selected: '',
  isDisposed: false,
  said: [] as string[],
  /** Called when the list opens, and when it is complete. */
  onOpen: (_list: { readonly accept: () => void; readonly hide: () => void }) => undefined as unknown,
  onComplete: (_list: { readonly accept: () => void; readonly hide: () => void }) => undefined as unknown,
}));

vi.mock('vscode', () => {
  const createQuickPick = () => {
    const heard = { accept: () => undefined as unknown, hide: () => undefined as unknown };
    const list = { accept: () => heard.accept(), hide: () => heard.hide() };
    let [items, busy] = [[] as readonly unknown[], false];
    return {
      onDidAccept: (hear: () => unknown) => {
        heard.accept = hear;
      },
      onDidHide: (hear: () => unknown) => {
        heard.hide = hear;
      },
      get items() {
        return items;
      },
      set items(next) {
        items = next;
        editor.lengths.push(next.length);
      },
      get busy() {
        return busy;
      },
      set busy(next) {
        busy = next;
        if (!next) editor.onComplete(list);
      },
      get selectedItems() {
        return [{ label: editor.selected }];
      },
      show: () => {
        editor.opened = { busy, read: items.length };
        editor.onOpen(list);
      },
      dispose: () => {
        editor.isDisposed = true;
      },
    };
  };
  const showInformationMessage = (words: string) => editor.said.push(words);
  return { window: { createQuickPick, showInformationMessage }, workspace: { textDocuments: [] } };
});

const domainOf = (size: number, mark = '') => {
  const folder = temporaryFolder('many');
  mkdirSync(join(folder, 'tasks'));
  writeFileSync(join(folder, 'domain.yaml'), 'name: desk\n');
  const text = (nth: number) => `- id: task-${nth}\n  persona: plain\n  user: { goal: Go., opening: Hello. }\n${mark}`;
  const texts = Array.from({ length: size }, (_, nth) => text(nth));
  writeFileSync(join(folder, 'tasks', 'many.task.yaml'), texts.join(''));
  return folder;
};

const small = domainOf(3);
const drafts = domainOf(3, '  draft: true\n');

beforeEach(() => {
  const nothing = () => undefined;
  Object.assign(editor, {
    lengths: [],
    said: [],
    opened: undefined,
    isDisposed: false,
    onOpen: nothing,
    onComplete: nothing,
  });
});

test.each([
  ['tasks', pickTask, small],
  ['drafts', pickDraft, drafts],
])('the list of %s opens before the domain is read, and has all of them in the end', async (_what, pick, folder) => {
  editor.selected = 'task-1';
  editor.onComplete = ({ accept }) => accept();
  expect(await pick(folder, 'Which?')).toBe('task-1');
  expect(editor).toMatchObject({ opened: { busy: true, read: 0 }, isDisposed: true });
  expect(editor.lengths.at(-1)).toBe(3);
});

test.each([
  ['tasks', pickTask, drafts],
  ['drafts', pickDraft, small],
])('the list of a domain without %s closes with a message', async (what, pick, folder) => {
  expect(await pick(folder, 'Which?')).toBeUndefined();
  expect(editor).toMatchObject({ said: [`This domain has no ${what}.`], isDisposed: true });
});

test('to close the list ends the reading', async () => {
  editor.onOpen = ({ hide }) => hide();
  expect(await pickTask(small, 'Which task?')).toBeUndefined();
  expect(editor).toMatchObject({ lengths: [], isDisposed: true });
  await expect(readDomain(small, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
});

inFullSuite('the list of a domain with 2,500 tasks grows while they are read', async () => {
  editor.onComplete = ({ hide }) => hide();
  await pickTask(domainOf(2500), 'Which task?');
  expect(editor.lengths.length).toBeGreaterThan(2);
  expect(editor.lengths[0]).toBeLessThan(2500);
  expect(editor.lengths.at(-1)).toBe(2500);
});
