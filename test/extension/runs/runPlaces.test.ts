import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import {
  keepRunFolder,
  requireWritable,
  runPlacesOf,
  workOf,
  workPlaces,
  writableWorkOf,
} from '../../../src/extension/runs/runPlaces.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const editor = vi.hoisted(() => ({ folder: '', said: [] as string[], chosen: undefined as string | undefined }));

vi.mock('vscode', () => {
  const say = async (words: string, button?: string) => {
    editor.said.push(words);
    return button;
  };
  return {
    EventEmitter: class {
      fire() {}
    },
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

const kept = new Map<string, unknown>();
keepRunFolder({
  get: (key: string) => kept.get(key),
  update: async (key: string, value: unknown) => void kept.set(key, value),
} as never);

test.each(['runs', 'training', 'synth'] as const)(
  'where %s cannot be written, the person chooses another folder, and nothing is claimed to be kept',
  async (kind) => {
    kept.clear();
    Object.assign(editor, { folder: temporaryFolder('read-only'), said: [] });
    const domain = join(editor.folder, 'desk');
    mkdirSync(domain);
    const own = join(editor.folder, '.rehearsal', kind);
    expect(requireWritable(kind, domain)).toBe(own);
    // The path is a file instead of a folder, so that even root cannot write to it.
    writeFileSync(join(editor.folder, '.rehearsal'), '');
    editor.chosen = temporaryFolder('runs');
    const other = join(editor.chosen, '.rehearsal');
    const message = `${own} cannot be written, so nothing was run. Choose another folder for runs.`;
    expect(() => requireWritable(kind, domain)).toThrow(message);
    await vi.waitFor(() => expect(workOf(kind, domain)).toBe(join(other, kind)), { timeout: 240_000 });
    expect(editor.said).toEqual([message, `Runs are now written to ${other}. Start the run again.`]);
    expect(writableWorkOf(kind, domain)).toBe(join(other, kind));
    const places = kind === 'runs' ? runPlacesOf(domain) : workPlaces(kind);
    expect(places.slice(-2)).toEqual([own, join(other, kind)]);
  },
);
