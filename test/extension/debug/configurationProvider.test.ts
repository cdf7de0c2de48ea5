import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { configurationProvider, dynamicConfigurations } from '../../../src/extension/debug/configurationProvider.ts';
import { runPlacesOf } from '../../../src/extension/runs/runPlaces.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { finishedRun } from '../runs/finishedRun.ts';

const editor = vi.hoisted(() => ({
  folders: [] as string[],
  domains: [] as string[],
  file: '',
  open: [] as string[],
  /** The items of the list of tasks when it is complete. */
  listed: [] as readonly { readonly label: string; readonly description: string }[],
}));

vi.mock('vscode', () => {
  class Tab {
    readonly uri: { readonly fsPath: string };
    constructor(fsPath: string) {
      this.uri = { fsPath };
    }
  }
  return {
    EventEmitter: class {},
    TabInputText: Tab,
    TabInputCustom: class {},
    Uri: { file: (fsPath: string) => ({ fsPath }) },
    window: {
      visibleTextEditors: [],
      get tabGroups() {
        const tabs = editor.open.map((file) => ({ input: new Tab(file) }));
        return { activeTabGroup: { activeTab: { input: new Tab(editor.file) } }, all: [{ tabs }] };
      },
      createQuickPick: () => {
        const heard = { hide: () => undefined as unknown };
        return {
          items: [],
          onDidAccept: () => undefined,
          onDidHide: (hear: () => unknown) => Object.assign(heard, { hide: hear }),
          set busy(isBusy: boolean) {
            if (isBusy) return;
            editor.listed = this.items;
            heard.hide();
          },
          show: () => undefined,
          dispose: () => undefined,
        };
      },
    },
    workspace: {
      textDocuments: [],
      get workspaceFolders() {
        return editor.folders.map((fsPath) => ({ uri: { fsPath } }));
      },
      findFiles: async () => editor.domains.map((folder) => ({ fsPath: `${folder}/domain.yaml` })),
      asRelativePath: (path: string) => path,
      // VS Code itself returns the innermost folder.
      getWorkspaceFolder: ({ fsPath }: { readonly fsPath: string }) => {
        const around = editor.folders.filter((folder) => fsPath === folder || fsPath.startsWith(`${folder}/`));
        const [inner] = around.toSorted((one, other) => other.length - one.length);
        return inner === undefined ? undefined : { uri: { fsPath: inner } };
      },
      getConfiguration: () => ({ get: () => undefined }),
    },
  };
});

const work = temporaryFolder('folders');
const domain = (...path: readonly string[]) => {
  const folder = join(work, ...path);
  mkdirSync(join(folder, 'tasks'), { recursive: true });
  writeFileSync(join(folder, 'domain.yaml'), 'name: desk\n');
  writeFileSync(
    join(folder, 'tasks', 'one.task.yaml'),
    'id: one\npersona: plain\nuser: { goal: Go., opening: Hello. }\n',
  );
  return folder;
};

test.each([
  ['of the second workspace folder', domain('second', 'desk'), join(work, 'second')],
  ['of a workspace folder inside another', domain('first', 'inner', 'desk'), join(work, 'first', 'inner')],
  ['that is a workspace folder', domain('alone'), join(work, 'alone')],
  ['outside of the workspace', domain('elsewhere', 'desk'), join(work, 'elsewhere', 'desk')],
])('F5 on a task of a domain %s writes the run where its results are looked for', async (_which, folder, root) => {
  editor.folders = ['first', 'second', 'alone', join('first', 'inner')].map((name) => join(work, name));
  editor.file = join(folder, 'tasks', 'one.task.yaml');
  // VS Code hands over the first workspace folder where the configuration names none.
  const first = { uri: { fsPath: join(work, 'first') }, name: 'first', index: 0 } as never;
  const filled = await configurationProvider.resolveDebugConfiguration?.(first, {} as never);
  const whole = await configurationProvider.resolveDebugConfigurationWithSubstitutedVariables?.(first, filled as never);
  expect(whole).toMatchObject({ domain: folder, task: 'one', runs: join(root, '.rehearsal', 'runs') });
  expect(runPlacesOf(folder)).toContain(whole?.['runs']);
});

test('each task is a launch once, in the innermost folder of the window that contains its domain', async () => {
  const inner = join('first', 'inner');
  editor.folders = ['first', 'second', inner].map((name) => join(work, name));
  editor.domains = [domain('first', 'inner', 'desk'), domain('second', 'desk')];
  const asked = [...editor.folders.map((fsPath) => ({ uri: { fsPath } })), undefined];
  const listed = await Promise.all(
    asked.map((folder) => dynamicConfigurations.provideDebugConfigurations?.(folder as never)),
  );
  expect(listed.map((all) => all?.map((each) => each['domain']))).toEqual([
    [],
    [join(work, 'second', 'desk')],
    [join(work, inner, 'desk')],
    [],
  ]);
});

test('the list of tasks begins with those of open files, then with those that failed last', async () => {
  const folder = domain('many');
  const task = (id: string) => `- { id: ${id}, persona: plain, user: { goal: Go., opening: Hello. } }\n`;
  writeFileSync(join(folder, 'tasks', 'three.task.yaml'), ['two', 'three', 'four'].map(task).join(''));
  writeFileSync(join(folder, 'tasks', 'zeta.task.yaml'), task('zeta'));
  editor.folders = [folder];
  editor.file = join(folder, 'policy.md');
  editor.open = [editor.file, join(folder, 'tasks', 'zeta.task.yaml')];
  const trials = [
    { task: 'two', reward: 1 },
    { task: 'three', reward: 0 },
  ];
  finishedRun(join(folder, '.rehearsal', 'runs'), 'first', 1, trials, folder);
  await configurationProvider.resolveDebugConfiguration?.(undefined, {} as never);
  expect(editor.listed.map(({ label, description }) => [label, description])).toEqual([
    ['zeta', 'train, open'],
    ['three', 'train, failed in its last run'],
    ['one', 'train'],
    ['two', 'train'],
    ['four', 'train'],
  ]);
});
