import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { commitOf } from '../../src/benchmarks/checkout.ts';
import { partialCheckout } from '../../src/benchmarks/userCopy.ts';
import { expectRefused, scratch, spoiledCopy } from '../support/benchmarkCopy.ts';
import { fixture } from './tau2Copy.ts';

const git = (folder: string, ...argv: readonly string[]) =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...argv], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

test('an import names a partial checkout', async () => {
  const folder = spoiledCopy(fixture, []);
  git(folder, 'init', '-q');
  git(folder, 'add', '-A');
  git(folder, 'commit', '-q', '-m', 'one');
  const partial = /Git tracks it, so the checkout is partial\. Run "git sparse-checkout disable"/;
  rmSync(join(folder, 'data/tau2/domains/mock/db.json'));
  await expectRefused('tau2', ['--from', folder, '--domains', 'mock'], partial);
  rmSync(join(folder, 'data/tau2/domains/mock/tasks.json'));
  await expectRefused('tau2', ['--from', folder, '--domains', 'mock'], partial);
  rmSync(join(folder, 'data'), { recursive: true });
  await expectRefused('tau2', ['--from', folder], partial);
});

test('an import names a database that is a pointer of Git LFS', async () => {
  const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n';
  const folder = spoiledCopy(fixture, []);
  writeFileSync(join(folder, 'data/tau2/domains/mock/db.json'), pointer);
  await expectRefused('tau2', ['--from', folder, '--domains', 'mock'], /mock\/db\.json is a Git LFS pointer/);
});

test('Git starts no program that the configuration of a checkout names', () => {
  const folder = scratch();
  const mark = join(scratch(), 'started');
  const file = join(folder, 'out', 'deep', 'tasks.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '[]');
  writeFileSync(join(folder, 'one'), '1');
  git(folder, 'init', '-q');
  git(folder, 'add', '-A');
  git(folder, 'commit', '-q', '-m', 'one');
  git(folder, 'sparse-checkout', 'set', '--cone', '--sparse-index', 'in');
  const tree = git(folder, 'rev-parse', 'HEAD:out');
  rmSync(join(folder, '.git', 'objects', tree.slice(0, 2), tree.slice(2)));
  const settings = {
    'core.repositoryFormatVersion': '1',
    'core.fsmonitor': `: > '${mark}'; false`,
    'core.sshCommand': `: > '${mark}'; false`,
    'extensions.partialClone': 'origin',
    'remote.origin.promisor': 'true',
    'remote.origin.url': 'ssh://nowhere/here',
  };
  for (const [name, value] of Object.entries(settings)) git(folder, 'config', name, value);
  expect(partialCheckout(file)).toBeNull();
  expect(existsSync(mark)).toBe(false);
});

test('an import says why banking_knowledge is left out', async () => {
  const folder = spoiledCopy(fixture, []);
  const domains = join(folder, 'data/tau2/domains');
  cpSync(join(domains, 'mock'), join(domains, 'banking_knowledge'), { recursive: true });
  await expectRefused(
    'tau2',
    ['--from', folder, '--domains', 'banking_knowledge'],
    /banking_knowledge is not imported: its agent searches documents in an index/,
  );
});

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
