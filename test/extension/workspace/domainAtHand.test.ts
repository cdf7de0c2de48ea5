import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { domainAtHand } from '../../../src/extension/workspace/workspaceDomains.ts';
import { smallDomain } from '../../support/smallDomain.ts';

const editor = vi.hoisted(() => ({
  tab: undefined as unknown,
  domains: [] as readonly string[],
  asked: [] as string[],
  ran: [] as string[],
}));

vi.mock('vscode', () => {
  class TabInputText {
    readonly uri: object;
    constructor(fsPath: string) {
      this.uri = { fsPath };
    }
  }
  return {
    TabInputText,
    TabInputCustom: class extends TabInputText {},
    commands: { executeCommand: async (command: string) => void editor.ran.push(command) },
    window: {
      showInformationMessage: async (_: string, ...buttons: readonly string[]) => {
        editor.asked.push(...buttons);
        return buttons[1];
      },
      get tabGroups() {
        return { activeTabGroup: { activeTab: { input: editor.tab } } };
      },
      visibleTextEditors: [],
      showQuickPick: async (items: readonly { folder: string }[], { placeHolder }: { placeHolder: string }) => {
        editor.asked.push(placeHolder);
        return items[0];
      },
    },
    workspace: {
      findFiles: async () => editor.domains.map((folder) => ({ fsPath: join(folder, 'domain.yaml') })),
      asRelativePath: (path: string) => path,
      textDocuments: [],
    },
  };
});

const { TabInputText, TabInputCustom } = (await import('vscode')) as unknown as Record<
  'TabInputText' | 'TabInputCustom',
  new (
    path: string,
  ) => object
>;
const folders = [smallDomain({}, '[]'), smallDomain({}, '[]')].toSorted();
const [first = '', second = ''] = folders;

beforeEach(() => {
  editor.domains = folders;
  editor.asked = [];
});

test.each([
  ['a task as text', TabInputText, 'tasks/one.task.yaml', second, []],
  ['a task as a form', TabInputCustom, 'tasks/one.task.yaml', second, []],
  ['domain.yaml', TabInputText, 'domain.yaml', second, []],
  ['a file of none', TabInputText, '../notes.txt', first, ['Which domain?']],
])('a command takes the domain of what the active editor shows: %s', async (_, Input, file, folder, asked) => {
  editor.tab = new Input(join(second, file));
  expect([await domainAtHand(), editor.asked]).toEqual([folder, asked]);
});

test('a workspace without a domain is offered a new one or a sample', async () => {
  editor.tab = undefined;
  editor.domains = [];
  expect(await domainAtHand()).toBeUndefined();
  await vi.waitFor(() => expect(editor.ran).toEqual(['rehearsal.sample.open']));
  expect(editor.asked).toEqual(['New Domain…', 'Open Sample Domain…']);
});
