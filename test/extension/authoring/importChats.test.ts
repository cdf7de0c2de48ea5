import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test, vi } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import { importChats } from '../../../src/extension/authoring/importChats.ts';
import { createContext } from '../../../src/extension/commandLine/context.ts';
import { plantedLogs, plantedPattern } from '../../support/planted.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const editor = vi.hoisted(() => ({ logged: [] as string[], said: [] as string[], kind: '', file: '', runs: '' }));

vi.mock('vscode', () => {
  const log = (text: string) => void editor.logged.push(text);
  const say = async (text: string) => void editor.said.push(text);
  const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };
  return {
    EventEmitter: class {},
    ProgressLocation: {},
    workspace: { getConfiguration: () => ({ get: () => undefined, inspect: () => undefined }) },
    window: {
      createOutputChannel: () => ({ info: log, warn: log, error: log }),
      showQuickPick: async (kinds: readonly { readonly from: string }[]) =>
        kinds.find(({ from }) => from === editor.kind),
      showOpenDialog: async () => [{ fsPath: editor.file }],
      showWarningMessage: async (text: string, options: unknown) =>
        typeof options === 'object' ? 'Import' : say(text),
      showInformationMessage: say,
      showErrorMessage: say,
      withProgress: (_: object, run: (progress: object, given: object) => unknown) =>
        run({ report: () => undefined }, token),
    },
  };
});
vi.mock('../../../src/extension/workspace/trust.ts', () => ({ mayRun: () => true }));
vi.mock('../../../src/extension/workspace/workspaceDomains.ts', () => ({
  pickDomain: async () => resolve('domains/order-desk'),
}));
vi.mock('../../../src/extension/runs/runPlaces.ts', () => ({ writableWorkOf: () => editor.runs }));
vi.mock('../../../src/extension/views/runCommands.ts', () => ({ openRecording: async () => true }));
vi.mock('../../../src/extension/views/runsTree.ts', () => ({ refreshRuns: () => undefined }));
vi.mock('../../../src/extension/editorModels/editorModels.ts', () => ({
  EditorModels: class {
    environment = async () => ({});
  },
}));

const noteOf: Readonly<Record<string, RegExp>> = {
  zendesk: /1 private comments are left out/,
  chatgpt: /messages of other branches are left out/,
  langfuse: /role: its value is unknown, and is not repeated here/,
};

test.each(plantedLogs.filter(([format]) => format in noteOf))(
  'an import of %s writes no personal data into the log of the editor',
  async (format, from, log) => {
    const folder = temporaryFolder('editor-log');
    Object.assign(editor, { logged: [], said: [], kind: from, file: join(folder, 'log.json'), runs: folder });
    writeFileSync(editor.file, log);
    const secrets = { get: async () => undefined, onDidChange: () => undefined };
    const globalState = { get: (_: string, otherwise: unknown) => otherwise };
    const context = createContext({ subscriptions: [], secrets, globalState, extensionPath: '/' } as never);
    const run = await importChats({ ...context, cli: inRoot('src', 'cli', 'rehearsal.ts') });
    expect(run).toMatch(new RegExp(`^${folder}`));
    const logged = editor.logged.join('\n');
    expect(logged).toMatch(/read as /);
    expect(logged).toMatch(noteOf[format] ?? /^$/);
    expect(`${logged}${editor.said.join('\n')}`).not.toMatch(plantedPattern);
  },
);
