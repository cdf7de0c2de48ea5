import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { newDomain } from '../../../src/extension/authoring/newDomain.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const editor = vi.hoisted(() => ({
  folders: [] as string[],
  place: '',
  chosen: '',
  titles: [] as (string | undefined)[],
  prompt: '',
  commands: [] as unknown[],
}));

vi.mock('vscode', () => ({
  EventEmitter: class {},
  QuickPickItemKind: { Separator: -1 },
  Uri: { file: (fsPath: string) => ({ fsPath }) },
  commands: { executeCommand: async (...given: unknown[]) => void editor.commands.push(given) },
  workspace: {
    get workspaceFolders() {
      return editor.folders.map((fsPath) => ({ uri: { fsPath } }));
    },
    getWorkspaceFolder: ({ fsPath }: { fsPath: string }) => editor.folders.find((each) => fsPath.startsWith(each)),
  },
  window: {
    showQuickPick: async (items: { label: string; template?: string }[], { title }: { title?: string }) => {
      editor.titles.push(title);
      return items.find(({ template, label }) => template !== undefined || label.startsWith(editor.place));
    },
    showOpenDialog: async () => [{ fsPath: editor.chosen }],
    showInputBox: async ({ value, prompt }: { value: string; prompt: string }) => {
      editor.prompt = prompt;
      return value;
    },
    showTextDocument: async () => undefined,
    showInformationMessage: async () => undefined,
  },
  Range: class {},
}));
vi.mock('../../../src/extension/commandLine/commandLine.ts', () => ({
  runOrTell: async () => ({ answer: { name: 'made', drafts: [] } }),
}));
vi.mock('../../../src/extension/workspace/trust.ts', () => ({ mayRun: () => true }));

const make = () => newDomain({ extension: { extensionPath: process.cwd() } } as never);

/** A folder with a domain in it. */
function domainIn(parent: string, name: string): string {
  const folder = join(parent, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'domain.yaml'), `name: ${name}\n`);
  return folder;
}

beforeEach(() => void Object.assign(editor, { folders: [], place: 'Next to', titles: [], prompt: '', commands: [] }));

test('the open folder is a domain: the new one is created next to it, and opened', async () => {
  const parent = temporaryFolder('beside');
  editor.folders = [domainIn(parent, 'desk')];
  const made = await make();
  expect(dirname(made ?? '')).toBe(parent);
  expect(editor.titles.at(-1)).toBe('desk is a domain, and a domain cannot contain another one');
  expect(editor.prompt).toBe(`Its folder is created in ${parent}, and opened in this window`);
  expect(editor.commands).toEqual([['vscode.openFolder', { fsPath: made }]]);
});

test('a folder that a person chooses is not in a domain either', async () => {
  const parent = temporaryFolder('chosen');
  const outer = domainIn(parent, 'outer');
  editor.folders = [domainIn(outer, 'inner')];
  expect(dirname((await make()) ?? '')).toBe(parent);
  const other = temporaryFolder('other');
  Object.assign(editor, { place: 'In another folder', chosen: other });
  expect(dirname((await make()) ?? '')).toBe(other);
});

test('of several open folders, the first that is not a domain gets the new one', async () => {
  const parent = temporaryFolder('several');
  const free = join(parent, 'work');
  mkdirSync(free);
  editor.folders = [domainIn(parent, 'desk'), free];
  const made = await make();
  expect(dirname(made ?? '')).toBe(free);
  expect(editor.prompt).toBe(`Its folder is created in ${free}`);
  expect(editor.commands).toEqual([]);
});
