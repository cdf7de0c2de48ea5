import { successByTask } from '../../engine/core/evaluation/metrics.ts';
import { tableLines } from '../../engine/core/text/tableText.ts';
import { mean } from '../../engine/core/values/statistics.ts';
import type { RunRecord } from '../../engine/shell/records/runRecord.ts';
import { UsageError } from '../terminal/io.ts';
import type { Section } from './sections.ts';
import { headline } from './text.ts';

/** A benchmark of the paper, and the imported domains whose mean it is: each group counts once, whatever its size. */
type PaperBenchmark = { readonly name: string; readonly groups: readonly (readonly string[])[] };

const models = [
  'GPT-4.1',
  'DeepSeek-V3-0324',
  'Qwen3-235B-A22B',
  'MUA-RL-32B',
  'Qwen3-32B',
  'MUA-RL-14B',
  'Qwen3-14B',
  'MUA-RL-8B',
  'Qwen3-8B',
] as const;

/** As published in arXiv 2508.18669, non-thinking models; per cent, in the order of `models`. */
const published: readonly (PaperBenchmark & { readonly values: readonly number[] })[] = [
  {
    name: 'TAU2 retail',
    groups: [['tau2-retail']],
    values: [70.2, 64.7, 64.9, 67.3, 50.2, 66.0, 43.1, 49.8, 41.0],
  },
  {
    name: 'TAU2 airline',
    groups: [['tau2-airline']],
    values: [53.0, 37.0, 36.0, 45.4, 23.5, 38.0, 14.8, 19.0, 12.5],
  },
  {
    name: 'TAU2 telecom',
    groups: [['tau2-telecom']],
    values: [38.9, 32.9, 24.6, 28.3, 24.8, 33.4, 29.9, 21.8, 19.1],
  },
  {
    name: 'BFCL-V3 multi-turn',
    groups: [['bfcl-base'], ['bfcl-miss_func'], ['bfcl-miss_param'], ['bfcl-long_context']],
    values: [40.5, 29.8, 30.0, 28.4, 19.6, 25.3, 17.6, 14.6, 11.8],
  },
  {
    name: 'ACEBench Agent',
    // One language is enough: the paper does not say which it took. Where both were run, a kind is the mean of the two.
    groups: [
      ['acebench-multi_turn_en', 'acebench-multi_turn_zh'],
      ['acebench-multi_step_en', 'acebench-multi_step_zh'],
    ],
    values: [86.7, 74.2, 71.7, 82.5, 72.5, 78.3, 60.0, 53.3, 39.2],
  },
];

/** The table of the paper with a column for the runs of one model. */
export type Paper = {
  readonly benchmarks: readonly {
    readonly name: string;
    readonly published: Readonly<Record<string, number>>;
    /** Per cent: the mean over tasks of the share of trials with reward 1; null while a part is missing. */
    readonly yours: number | null;
    /** Domains that are missing from the given ones. */
    readonly missing: readonly string[];
  }[];
  readonly runs: readonly { readonly domain: string; readonly folder: string; readonly yours: number }[];
};

/**
 * Fills the paper's table from runs of imported benchmarks. Throws a `UsageError` for a run that belongs in no row or was
 * scored by another basis than the benchmark's, for two of one domain, and for one in which nothing was scored.
 */
export function paperOf(records: readonly RunRecord[]): Paper {
  const yours = new Map<string, number>();
  for (const { file, folder, rollouts } of records) {
    const names = published.flatMap(({ groups }) => groups.flat());
    if (!names.includes(file.domain))
      throw new UsageError(`${folder} is a run of ${file.domain}; the paper has ${names.join(', ')}`);
    if (file.basis !== 'evaluate')
      throw new UsageError(
        `${folder} was scored by the basis ${file.basis}; the benchmark's own reward is that of evaluate`,
      );
    if (yours.has(file.domain)) throw new UsageError(`${folder} is a second run of ${file.domain}; name one`);
    const tasks = successByTask(rollouts.filter(({ reward }) => reward !== null));
    if (tasks.length === 0) throw new UsageError(`${folder}: no rollout of this run was scored`);
    yours.set(file.domain, 100 * mean(tasks.map(({ successes, trials }) => successes / trials)));
  }
  return {
    benchmarks: published.map(({ name, groups, values }) => {
      const parts = groups.map((group) => group.flatMap((domain) => yours.get(domain) ?? []));
      const absent = groups.flatMap((group, at) => (parts[at]?.length ? [] : [group.join(' or ')]));
      return {
        name,
        published: Object.fromEntries(models.map((model, at) => [model, values[at] ?? Number.NaN])),
        yours: absent.length > 0 ? null : mean(parts.map(mean)),
        missing: absent.length < groups.length ? absent : [],
      };
    }),
    runs: records.map(({ file, folder }) => ({ domain: file.domain, folder, yours: yours.get(file.domain) ?? 0 })),
  };
}

/** The table for a terminal, and below it what each number of the own column is on. */
export function paperText(paper: Paper, records: readonly RunRecord[]): string {
  const table: Pick<Section, 'columns' | 'rows'> = {
    columns: ['per cent', ...models, 'yours'],
    rows: paper.benchmarks.map(({ name, published: theirs, yours }) => [
      name,
      ...models.map((model) => (theirs[model] ?? Number.NaN).toFixed(1)),
      yours?.toFixed(1) ?? '',
    ]),
  };
  const notes = records.map((record, at) => {
    const { rollouts } = record;
    const share = (split: string) =>
      new Set(rollouts.filter((each) => each.split === split).map(({ task }) => task)).size;
    const tasks = `${share('train')} tasks of train, ${share('test')} of test`;
    return `${paper.runs[at]?.yours.toFixed(1)}  ${headline(record)}; ${tasks}`;
  });
  const gaps = paper.benchmarks
    .filter(({ missing }) => missing.length > 0)
    .map(({ name, missing }) => `${name} stays empty: there is no run of ${missing.join(', ')}`);
  const source = 'Published: arXiv 2508.18669, non-thinking models, GPT-4.1 as the user.';
  return `${[...tableLines(table), '', ...notes, ...gaps, source].join('\n')}\n`;
}
