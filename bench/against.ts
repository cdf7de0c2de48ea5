import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inWorktree } from '../scripts/git.ts';
import { inRoot } from '../scripts/repository.ts';
import type { Show } from './measure.ts';
import { type Measured, median } from './measure.ts';

/** A comparison with an earlier commit: the parts to run, which both commits have, and the number of rounds. */
export type Against = { readonly commit: string; readonly parts: readonly string[]; readonly rounds: number };

/**
 * Runs parts of the bench of an earlier commit and of this checkout in turns, each with its own code, and shows the
 * medians of both and the median of the ratios of each round. Throws if git does not know the commit or a part fails.
 */
export function measureAgainst({ commit, parts, rounds }: Against, show: Show): Promise<void> {
  return inWorktree(commit, (checkout) => {
    installIn(checkout);
    const sides = [checkout, inRoot()];
    const samples: Measured[][][] = sides.map(() => []);
    for (let round = 0; round < rounds; round += 1)
      for (const side of round % 2 === 0 ? [0, 1] : [1, 0])
        samples[side]?.push(measureIn(sides[side] ?? '', parts, join(checkout, 'measured.json')));
    for (const row of rowsOf(samples, rounds)) show(row);
  });
}

/** Installs the packages of a checkout, or links those of this one if both have the same lock file. */
function installIn(checkout: string): void {
  const lock = (folder: string) => readFileSync(join(folder, 'package-lock.json'), 'utf8');
  if (lock(checkout) === lock(inRoot())) symlinkSync(inRoot('node_modules'), join(checkout, 'node_modules'));
  // The lock file of an earlier commit may lack packages for other platforms. `npm ci` refuses it, `npm install` adds them.
  else
    execFileSync('npm', ['install', '--no-audit', '--no-fund'], {
      cwd: checkout,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
}

function measureIn(folder: string, parts: readonly string[], out: string): Measured[] {
  const args = ['bench/main.ts', '--only', parts.join(','), '--out', out];
  execFileSync(process.execPath, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const { measured, absent } = JSON.parse(readFileSync(out, 'utf8'));
  if (absent.length > 0) throw new Error(`${folder}: ${JSON.stringify(absent)}`);
  return measured;
}

/** The numbers that both sides have, in the order of this checkout. */
function rowsOf([before = [], after = []]: readonly Measured[][][], rounds: number): readonly Measured[] {
  const valuesOf = (of: readonly Measured[][], name: string) =>
    of.flatMap((rows) => rows.filter((row) => row.name === name).map(({ value }) => value));
  const note = `${rounds} rounds in turns`;
  return (after[0] ?? []).flatMap(({ name, unit }) => {
    const [first, second] = [valuesOf(before, name), valuesOf(after, name)];
    if (first.length === 0) return [];
    const ratios = second.map((value, round) => value / (first[round] ?? Number.NaN));
    return [
      { name: `${name}, before`, value: median(first), unit, note },
      { name: `${name}, now`, value: median(second), unit, note },
      { name: `${name}, now against before`, value: median(ratios), unit: 'times', note },
    ];
  });
}
