import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requireOutFolder } from '../../src/cli/options/outFolder.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const scratch = temporaryFolder('out');
const experiment = join(scratch, 'one.experiment.yaml');
writeFileSync(experiment, `domain: ${join(process.cwd(), 'domains/parcel-desk')}\narms:\n  a: {}\n`);
const run = join(scratch, 'run');
await rehearsal('run', 'domains/parcel-desk', 'reschedule-P46', '--out', run);

/** Returns a folder with these files. */
function folderWith(name: string, files: Readonly<Record<string, string>>): string {
  const folder = join(scratch, name);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return folder;
}

const files = { 'config.json': '{"mine": 1}', 'selection.jsonl': 'mine', 'gold/mine.txt': '' };

test.each<readonly string[]>([
  ['train', 'sft', 'domains/parcel-desk', '--model', 'tiny'],
  ['train', 'grpo', 'domains/parcel-desk', '--model', 'tiny', '--plan'],
  ['train', 'evaluate', 'domains/parcel-desk', '--model', 'tiny'],
  ['eval', 'domains/parcel-desk'],
  ['run', 'domains/parcel-desk', 'reschedule-P46'],
  ['debug', 'domains/parcel-desk', 'reschedule-P46'],
  ['synth', 'domains/parcel-desk', '--count', '1'],
  ['experiment', experiment],
  ['regrade', run],
])('%s %s leaves a folder with other files as it is', async (...command) => {
  const folder = folderWith(command.slice(0, 2).join('-').replaceAll('/', '-'), files);
  const { code, err } = await rehearsal(...command, '--out', folder);
  const says = `${folder} is not empty, and does not contain a run to continue: it has config.json, gold, selection.jsonl. Name a new or an empty folder with --out`;
  expect([code, err]).toEqual([2, expect.stringContaining(says)]);
  for (const name of ['config.json', 'selection.jsonl'] as const)
    expect(readFileSync(join(folder, name), 'utf8')).toBe(files[name]);
  expect(existsSync(join(folder, 'log.txt'))).toBe(false);
});

test('a domain does not take its own run', async () => {
  const domain = join(scratch, 'domain');
  cpSync('domains/parcel-desk', domain, { recursive: true });
  expect((await rehearsal('eval', domain, '--out', domain)).err).toContain(`${domain} is not empty`);
});

test.each<[string, Readonly<Record<string, string>>, string]>([
  ['a start that has trained nothing', { 'launch.json': '{"run": "here"}', 'log.txt': '' }, 'there is no such folder'],
  ['gold rollouts of a cancelled start', { 'gold/run.json': '' }, 'there is no such folder'],
  ['a configuration of something else', { 'launch.json': '{"version": "0.2.0"}' }, 'is not empty'],
])('train and %s', async (name, before, says) => {
  const folder = folderWith(name.replaceAll(' ', '-'), before);
  if ('gold/run.json' in before) cpSync(run, join(folder, 'gold'), { recursive: true, force: true });
  const { err } = await rehearsal('train', 'sft', 'domains/parcel-desk', '--model', './none', '--out', folder);
  expect(err).toContain(says);
});

test('the lock of a killed process is not a file of something else', () => {
  const folder = folderWith('locked', { '.lock': '' });
  expect(() => requireOutFolder(folder, () => false)).not.toThrow();
});

test('a file is not a folder', () => {
  const file = join(scratch, 'file');
  writeFileSync(file, '');
  expect(() => requireOutFolder(file, () => false)).toThrow(/file is a file: name a folder that is new or empty$/);
});
