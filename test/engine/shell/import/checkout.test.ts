import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commitOf } from '../../../../src/engine/shell/import/checkout.ts';
import { scratch } from '../../../support/benchmarkCopy.ts';

const git = (folder: string, ...argv: readonly string[]) =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...argv], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

test('the commit of a checkout is known however git keeps it', () => {
  const [folder, linked] = [join(scratch(), 'copy'), join(scratch(), 'linked')];
  mkdirSync(folder);
  expect(commitOf(folder)).toBeNull();
  git(folder, 'init', '-q');
  expect(commitOf(folder)).toBeNull();
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'one');
  const first = git(folder, 'rev-parse', 'HEAD');
  expect(commitOf(folder)).toBe(first);
  git(folder, 'pack-refs', '--all');
  expect(commitOf(folder)).toBe(first);
  git(folder, 'worktree', 'add', '-q', '-b', 'side/two', linked);
  git(linked, 'commit', '-q', '--allow-empty', '-m', 'two');
  expect(commitOf(linked)).toBe(git(linked, 'rev-parse', 'HEAD'));
  expect(commitOf(linked)).not.toBe(first);
  git(folder, 'checkout', '-q', '--detach');
  expect(commitOf(folder)).toBe(first);
  rmSync(join(folder, '.git'), { recursive: true });
  writeFileSync(join(folder, '.git'), 'not a link\n');
  expect(commitOf(folder)).toBeNull();
});
