/** `npm run test:benchmarks`: compares rewards of this engine with those of the benchmarks' evaluators on full sets. */
import { type Counts, noTests, sumCounts } from '../results.ts';
import type { Download } from '../vscode/cacheFolder.ts';
import { acebench } from './acebench.ts';
import { bfcl } from './bfcl.ts';
import { type ChosenPart, type Comparison, printComparison } from './comparison.ts';
import { NotFetched } from './copy.ts';
import { tau1 } from './tau1.ts';
import { tau2, tau2Checkout } from './tau2.ts';

function comparisons(): readonly Comparison[] {
  return [tau2, tau2Checkout(), tau1, bfcl, acebench].filter((each) => each !== undefined);
}

/** A benchmark to compare, and its parts. An empty list means all parts. */
type Chosen = { readonly comparison: Comparison; readonly parts: readonly ChosenPart[] };

/** A filter names a benchmark, a part of one, or tasks of a part: `retail:20-40`. */
function chosenBy(filters: readonly string[]): readonly Chosen[] {
  return comparisons().flatMap((comparison) => {
    const parts = filters.flatMap((filter) => {
      const [name = '', tasks = ''] = filter.split(':');
      return comparison.parts.includes(name) ? [{ name, tasks }] : [];
    });
    const isChosen = filters.length === 0 || filters.includes(comparison.name) || parts.length > 0;
    return isChosen ? [{ comparison, parts }] : [];
  });
}

/** Returns the downloads that the comparisons named by the filters need. */
export function benchmarkDownloads(filters: readonly string[]): Download[] {
  const copies = new Set(chosenBy(filters).flatMap(({ comparison }) => comparison.copies));
  return [...copies].flatMap((copy) => copy.downloads());
}

/** Runs the comparisons that the filters name: benchmarks, or parts of them. Without filters, runs all of them. */
export async function runBenchmarks(filters: readonly string[]): Promise<Counts> {
  const all: Counts[] = [];
  for (const { comparison, parts } of chosenBy(filters)) all.push(await compared(comparison, parts));
  return sumCounts(all);
}

/** Compares a benchmark. It is skipped, and reported as skipped, on a machine that cannot fetch its code. */
async function compared(comparison: Comparison, parts: readonly ChosenPart[]): Promise<Counts> {
  try {
    return await printComparison(comparison, parts);
  } catch (error) {
    if (!(error instanceof NotFetched)) throw error;
    return { ...noTests, skipped: 1, omissions: [`${comparison.name}: ${error.message}`] };
  }
}
