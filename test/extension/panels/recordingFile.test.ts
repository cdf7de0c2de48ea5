import { execFileSync } from 'node:child_process';
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import { recordingFile } from '../../../src/extension/panels/recordingFile.ts';
import { fileOf, rechained } from '../../support/recordLines.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const remote: { stat: object } = vi.hoisted(() => ({ stat: {} }));
const debug: { activeDebugSession: object | undefined } = vi.hoisted(() => ({ activeDebugSession: undefined }));

vi.mock('vscode', () => ({
  debug,
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
/** Returns the problem that the page receives for a recording that cannot be read. */
async function problemOf(uri: object): Promise<unknown> {
  const posted: { readonly problem?: unknown }[] = [];
  await shown(uri, posted);
  return posted.at(-1)?.problem;
}

/** Shows a recording of order-desk and collects the messages to the page. */
function shown(uri: object, posted: object[]): Promise<void> {
  const channel = { post: async (message: object) => void posted.push(message) };
  return recordingFile(
    uri as never,
    channel as never,
    () => ({}),
    async () => loadDomain('domains/order-desk'),
  ).show();
}

test('a verdict quotes the sentence of the policy in place of the expression of its check', async () => {
  const path = join(scratch, 'words.traj.jsonl');
  const expression = 'not db.orders[args.order_id].items_changed';
  const verdict = {
    ...{ rule: 'change-once', check: 'onlyIf', gate: false, verdict: 'violated', evidence: [] },
    reason: `change_item was called although this does not hold: ${expression}`,
  };
  const line = { n: 0, event: { type: 'rulesChecked', callId: 'c1', verdicts: [verdict] }, state: '0' };
  writeFileSync(path, fileOf(rechained([JSON.stringify(line)])));
  const posted: object[] = [];
  await shown({ scheme: 'file', fsPath: path, path, fragment: '' }, posted);
  const text = JSON.stringify(posted);
  expect(text).toContain('change_item was called, which the policy does not allow here');
  expect(text).toContain('The items of an order can be changed only once.');
  expect(text).not.toContain(expression);
});

test('a page learns whether a debug session still writes the recording', async () => {
  const path = join(scratch, 'debugged.traj.jsonl');
  writeFileSync(path, '');
  const uri = { scheme: 'file', fsPath: path, path, fragment: '' };
  const posted: { readonly isWritten?: boolean }[] = [];
  debug.activeDebugSession = { type: 'rehearsal', configuration: {}, customRequest: async () => ({ path }) };
  await shown(uri, posted);
  debug.activeDebugSession = undefined;
  await shown(uri, posted);
  expect(posted.map(({ isWritten }) => isWritten)).toEqual([true, false]);
});

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
