import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inRoot } from '../../../../scripts/repository.ts';
import { throwIfFailed } from '../../../../src/cli/targets/runFolder.ts';
import { outcome } from '../../../../src/cli/training/trainingOutcome.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { readBounded, readBoundedTextAsync } from '../../../../src/engine/shell/files/boundedFile.ts';
import { tailLines } from '../../../../src/engine/shell/files/lineTail.ts';
import { receiptsOfRun } from '../../../../src/engine/shell/records/ledger.ts';
import { readRecording } from '../../../../src/engine/shell/records/recording.ts';
import { firstLine, lastLines } from '../../../../src/engine/shell/records/recordingEnds.ts';
import { tallyRules } from '../../../../src/engine/shell/records/ruleTally.ts';
import { readRun } from '../../../../src/extension/runs/runReader.ts';
import { trainerOf } from '../../../../src/training/trainerProcess.ts';
import { smallDomain } from '../../../support/smallDomain.ts';
import { sampled } from '../../../support/suite.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { rehearsal } from '../../../support/terminal.ts';

function scratch(): string {
  const folder = temporaryFolder('rehearsal-bounded');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Attacks that replace a file, and the message that is reported. */
const hostile: readonly (readonly [name: string, make: (file: string) => void, message: RegExp])[] = [
  ['a link to an endless device', (file) => symlinkSync('/dev/zero', file), /is a link to \/dev\/zero, outside of/],
  ['a link out of the folder', (file) => symlinkSync('/etc/passwd', file), /is a link to \/etc\/passwd, outside of/],
  [
    'a link to a link out of the folder',
    (file) => {
      symlinkSync('/etc', `${file}.d`);
      symlinkSync(`${file}.d/passwd`, file);
    },
    /is a link to \/etc\/passwd, outside of/,
  ],
  ['a pipe', (file) => void execFileSync('mkfifo', [file]), /is a device, a pipe or a socket/],
  ['a folder', (file) => mkdirSync(file), /is a folder/],
  [
    'a file of 10 GB',
    (file) => {
      writeFileSync(file, '');
      truncateSync(file, 10_000_000_000);
    },
    /has more than \d+ MB/,
  ],
];

const files = ['domain.yaml', 'policy.md', 'rules.yaml', 'tools.ts', 'database.json', 'personas/p.persona.yaml'];

test.skipIf(process.platform === 'win32').each(hostile)(
  '%s is a finding in the place of any file of a domain',
  (_, make, message) => {
    for (const name of files) {
      const folder = smallDomain({}, 'id: one\npersona: plain\nuser: { goal: Go. }\n');
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      rmSync(join(folder, name), { force: true });
      mkdirSync(join(folder, 'personas'), { recursive: true });
      make(join(folder, name));
      const found = loadDomain(folder).diagnostics.find((each) => message.test(each.message));
      expect(found, name).toMatchObject({ severity: 'error', hint: expect.stringMatching(/\w+/) });
    }
  },
);

test.skipIf(process.platform === 'win32')('a link that stays in the folder is read', () => {
  const folder = scratch();
  mkdirSync(join(folder, 'texts'));
  writeFileSync(join(folder, 'texts', 'policy.md'), 'words');
  symlinkSync('texts/policy.md', join(folder, 'policy.md'));
  symlinkSync(folder, join(folder, 'again'));
  for (const path of ['policy.md', 'again/policy.md', 'again/again/texts/policy.md'])
    expect(readBounded(join(folder, path), { limit: 5, within: folder }).toString()).toBe('words');
  expect(() => readBounded(join(folder, 'policy.md'), { limit: 4 })).toThrow('has more than');
});

test.skipIf(process.platform !== 'linux')('the content counts if the size of a file is not known', () => {
  expect(readBounded('/proc/self/status', { limit: 100_000 }).toString()).toMatch(/^Name:/);
  expect(() => readBounded('/proc/self/status', { limit: 100 })).toThrow('has more than');
});

test.skipIf(process.platform === 'win32')('a recording that is a pipe or a device is one clear error', async () => {
  const folder = scratch();
  const path = join(folder, 'a.0.traj.jsonl');
  execFileSync('mkfifo', [path]);
  expect(() => readRecording(path)).toThrow(
    `${path}: is a device, a pipe or a socket. Put a regular file in its place`,
  );
  rmSync(path);
  symlinkSync('/dev/zero', path);
  const { code, err } = await rehearsal('replay', path);
  expect([code, err]).toEqual([2, expect.stringContaining('is a device, a pipe or a socket')]);
});

/** The functions that read files of a run's folder in the extension host. None of them may block or fill the memory. */
const readers: readonly (readonly [file: string, read: (folder: string) => Promise<unknown>])[] = [
  ['ledger.jsonl', receiptsOfRun],
  ['a.0.traj.jsonl', (folder) => tallyRules(join(folder, 'a.0.traj.jsonl'))],
  ['a.0.traj.jsonl', (folder) => firstLine(join(folder, 'a.0.traj.jsonl'))],
  ['a.0.traj.jsonl', (folder) => lastLines(join(folder, 'a.0.traj.jsonl'))],
  ['metrics.jsonl', (folder) => tailLines(join(folder, 'metrics.jsonl')).read()],
  ['launch.json', readRun],
  ['result.json', async (folder) => outcome(folder, true, { cwd: '/', environment: process.env })],
  ['pid', async (folder) => trainerOf(folder)],
  ['log.txt', async (folder) => throwIfFailed(folder, { code: 1, signal: null })],
];

test.skipIf(process.platform === 'win32').each(sampled(readers, 2))(
  '%s of a run may be any kind of file',
  async (name, read) => {
    for (const make of [
      (file: string) => symlinkSync('/dev/zero', file),
      (file: string) => void execFileSync('mkfifo', [file]),
      (file: string) => {
        writeFileSync(file, '');
        truncateSync(file, 10_000_000_000);
      },
    ]) {
      const folder = scratch();
      make(join(folder, name));
      const found = await read(folder).catch((error: Error) => error);
      if (found instanceof Error)
        expect(found.message).toMatch(/is a device, a pipe or a socket|has more than \d+ MB|training/);
    }
  },
);

test('a file is read a piece at a time up to its limit', async () => {
  const file = join(scratch(), 'text');
  writeFileSync(file, 'ä'.repeat(1_500_000));
  expect(await readBoundedTextAsync(file)).toBe('ä'.repeat(1_500_000));
  await expect(readBoundedTextAsync(file, 2_999_999)).rejects.toThrow('has more than');
});

/** Sources that read files without a limit: files of this product, of the system and of the user's own settings. */
const trusted: readonly string[] = [
  'src/cli/doctor/machine.ts',
  'src/cli/targets/ray/askCluster.ts',
  'src/cli/targets/ssh/remoteAgent.ts',
  'src/cli/targets/ray/ray.ts',
  'src/cli/targets/trainerWheel.ts',
  // Reads files of a tree whose sizes were added up before.
  'src/cli/targets/trees.ts',
  'src/cli/targets/ray/jobs.ts',
  'src/cli/targets/ray/preflight.ts',
  'src/cli/terminal/docsPage.ts',
  'src/authoring/domains/domainTemplate.ts',
  'src/engine/shell/keys/consents.ts',
  'src/engine/shell/workers/watchdog.ts',
  'src/engine/shell/processes/processStart.ts',
  'src/engine/shell/processes/sandbox.ts',
  'src/training/trainerProcess.ts',
  'src/training/trainingKeys.ts',
  // Implements a file system.
  'src/extension/debug/valueFiles.ts',
  // Checks type and size first.
  'src/extension/panels/recordingFile.ts',
];

test('no other source file reads without a limit', () => {
  const found = readdirSync(inRoot('src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => `src/${file.replaceAll('\\', '/')}`)
    .filter((file) => /\breadFile(Sync)?\(/.test(readFileSync(inRoot(file), 'utf8')));
  expect(found.sort()).toEqual([...trusted].sort());
});
