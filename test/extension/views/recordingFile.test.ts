import { execFileSync } from 'node:child_process';
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { recordingFile } from '../../../src/extension/views/recordingFile.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const remote: { stat: object } = vi.hoisted(() => ({ stat: {} }));

vi.mock('vscode', () => ({
  FileType: { Unknown: 0, File: 1, Directory: 2, SymbolicLink: 64 },
  workspace: {
    fs: {
      stat: async (): Promise<object> => remote.stat,
      readFile: async (): Promise<never> => {
        throw new Error('read');
      },
    },
  },
}));

const scratch = temporaryFolder('rehearsal-views');
/** What the page is told of a recording that cannot be read. */
async function problemOf(uri: object): Promise<unknown> {
  const posted: { readonly problem?: unknown }[] = [];
  await recordingFile(uri as never, { post: async (message: object) => void posted.push(message) } as never).show();
  return posted.at(-1)?.problem;
}

test.skipIf(process.platform === 'win32').each([
  ['a device', (file: string): void => symlinkSync('/dev/zero', file), /is a device, a pipe or a socket/],
  ['a pipe', (file: string): void => void execFileSync('mkfifo', [file]), /is a device, a pipe or a socket/],
  [
    'a file of 10 GB',
    (file: string) => {
      writeFileSync(file, '');
      truncateSync(file, 10_000_000_000);
    },
    /has more than \d+ MB/,
  ],
] as const)('%s is not read as a recording', async (name, make, problem) => {
  const path = join(scratch, `${name}.traj.jsonl`);
  make(path);
  expect(await problemOf({ scheme: 'file', fsPath: path, path, fragment: '' })).toMatch(problem);
});

test.each([
  [{ type: 1, size: 600_000_000 }, /has more than 500 MB/],
  [{ type: 64, size: 1 }, /it is not a regular file/],
  [{ type: 2, size: 1 }, /it is not a regular file/],
  [{ type: 1, size: 1 }, /read$/],
])('of a remote file system %j is looked at before it is read', async (stat, problem) => {
  remote.stat = stat;
  expect(await problemOf({ scheme: 'memfs', path: '/a.traj.jsonl', fragment: '' })).toMatch(problem);
});
