import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { openSample } from '../../src/extension/sampleDomain.ts';
import { temporaryFolder } from '../support/temporary.ts';

const editor = vi.hoisted(() => ({
  parents: [] as string[],
  pressed: undefined as string | undefined,
  said: [] as (readonly string[])[],
  ran: [] as unknown[],
  offered: [] as readonly object[],
  titles: [] as string[],
}));

vi.mock('vscode', () => ({
  EventEmitter: class {},
  Uri: { file: (fsPath: string) => ({ fsPath }) },
  commands: { executeCommand: async (...args: unknown[]) => void editor.ran.push(args) },
  window: {
    showErrorMessage: async (...said: readonly string[]) => {
      editor.said.push(said);
      return editor.pressed;
    },
    showOpenDialog: async ({ title }: { readonly title: string }) => {
      editor.titles.push(title);
      const parent = editor.parents.shift();
      return parent === undefined ? undefined : [{ fsPath: parent }];
    },
    showQuickPick: async (items: readonly { readonly label: string }[]) => {
      editor.offered = items;
      return items.find(({ label }) => label === 'order-desk');
    },
  },
}));

const context = { extension: { extensionPath: process.cwd() } } as never;
let parent = '';
let copy = '';

beforeEach(() => {
  parent = temporaryFolder('rehearsal-sample');
  copy = join(parent, 'order-desk');
  mkdirSync(copy);
  Object.assign(editor, { parents: [parent], said: [], ran: [], titles: [] });
});

test('a copy that exists already can be opened', async () => {
  editor.pressed = 'Open It';
  expect(await openSample(context)).toBe(copy);
  expect(editor.said).toEqual([
    [expect.stringMatching(/ already has a folder order-desk\.$/), 'Open It', 'Choose Another Folder…'],
  ]);
  expect(editor.ran).toEqual([['vscode.openFolder', { fsPath: copy }]]);
});

test('another folder can be chosen, or none', async () => {
  editor.pressed = 'Choose Another Folder…';
  editor.parents.push(parent);
  expect(await openSample(context)).toBeUndefined();
  expect([editor.said.length, editor.ran]).toEqual([2, []]);
});

test('the sample to start with is the first and marked, and the dialog names the folder that is created', async () => {
  editor.parents = [];
  await openSample(context);
  expect(editor.offered.slice(0, 2)).toMatchObject([
    { label: 'order-desk', description: 'start with this one' },
    { label: 'help-line', description: '' },
  ]);
  expect(editor.titles).toEqual(['Folder in which to create the folder order-desk']);
});
