import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { keepRunFolder, runPlacesOf, runsOfDomain, writableRunsOf } from '../../../src/extension/runs/runPlaces.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const editor = vi.hoisted(() => ({ folder: '', said: [] as string[], chosen: undefined as string | undefined }));

vi.mock('vscode', () => {
  const say = async (words: string, button?: string) => {
    editor.said.push(words);
    return button;
  };
  return {
    Uri: { file: (fsPath: string) => ({ fsPath }) },
    window: {
      showErrorMessage: say,
      showInformationMessage: say,
      showOpenDialog: async () => editor.chosen && [{ fsPath: editor.chosen }],
    },
    workspace: {
      textDocuments: [],
      get workspaceFolders() {
        return [{ uri: { fsPath: editor.folder } }];
      },
    },
  };
});

test('where runs cannot be written, the person chooses another folder, and nothing is claimed to be kept', async () => {
  editor.folder = temporaryFolder('read-only');
  const domain = join(editor.folder, 'desk');
  mkdirSync(domain);
  const own = join(editor.folder, '.rehearsal', 'runs');
  const kept = new Map<string, unknown>();
  keepRunFolder({
    get: (key: string) => kept.get(key),
    update: async (key: string, value: unknown) => void kept.set(key, value),
  } as never);
  expect(writableRunsOf(domain)).toBe(own);
  // A file in place of the folder cannot be written to, by no user.
  writeFileSync(join(editor.folder, '.rehearsal'), '');
  editor.chosen = temporaryFolder('runs');
  const message = `${own} cannot be written, so nothing was run. Choose another folder for runs.`;
  expect(() => writableRunsOf(domain)).toThrow(message);
  await vi.waitFor(() => expect(runsOfDomain(domain)).toBe(editor.chosen), { timeout: 240_000 });
  expect(editor.said).toEqual([message, `Runs are now written to ${editor.chosen}. Start the run again.`]);
  expect(writableRunsOf(domain)).toBe(editor.chosen);
  expect(runPlacesOf(domain)).toEqual([join(domain, '.rehearsal', 'runs'), own, editor.chosen]);
});
