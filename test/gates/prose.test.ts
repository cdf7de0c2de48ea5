/** Two maintained checkers find misspelled words in all texts, and bad prose in the documentation. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { pythonWith } from '../../scripts/benchmarks/copy.ts';
import { root } from '../../scripts/repository.ts';
import { isFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';

const checkers = pythonWith(['typos==1.52.0', 'proselint==0.16.0'], {
  name: 'prose-1',
  variable: 'REHEARSAL_PROSE',
  bytes: 15_000_000,
});
const settings = (name: string) => join(import.meta.dirname, 'prose', name);
const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'CODE_OF_CONDUCT.md', 'docs'];

/** Runs a checker, and returns its findings. */
function findings(program: string, ...args: readonly string[]): readonly string[] {
  const path = join(dirname(checkers.path()), program);
  const { stdout, stderr, error } = spawnSync(path, args, { cwd: root, encoding: 'utf8' });
  if (error) throw error;
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line.trim() !== '');
}
const misspelled = (...paths: readonly string[]) =>
  findings('typos', '--config', settings('typos.toml'), '--force-exclude', '--format', 'brief', ...paths);
const prose = (...paths: readonly string[]) =>
  findings('proselint', 'check', '--config', settings('proselint.json'), ...paths);

// Only the full suite downloads the checkers. `REHEARSAL_SUITE=full npx vitest run test/gates/prose` runs them.
describe.runIf(isFullSuite)('the checker of', () => {
  beforeAll(() => checkers.setUp(), 600_000);

  test('spelling finds nothing', () => {
    expect(
      misspelled(
        ...pages,
        'package.json',
        'src',
        'scripts',
        'templates',
        'trainer/README.md',
        'trainer/rehearsal_trainer',
      ),
    ).toEqual([]);
  });

  test('prose finds nothing', () => {
    expect(prose(...pages)).toEqual([]);
  });

  test('spelling and that of prose find planted mistakes', () => {
    const page = join(temporaryFolder('prose'), 'page.md');
    writeFileSync(page, 'You recieve a reward. It is kept for ever. The colour is that of `colour`.\n');
    expect(misspelled(page)).toEqual([
      expect.stringContaining('`recieve` should be `receive`'),
      expect.stringContaining('`colour` should be `color`'),
    ]);
    expect(prose(page)).toEqual([expect.stringContaining('archaic')]);
  });
});
