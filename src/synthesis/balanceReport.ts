import { counted } from '../engine/core/text/counted.ts';
import { tableLines } from '../engine/core/text/tableText.ts';
import { dimensions } from './balance.ts';
import { difficulties } from './difficulty.ts';
import type { Selected } from './settle.ts';

/** Accepted and played rollouts of one value of a dimension. */
export type BalanceRow = {
  readonly value: string;
  readonly played: number;
  readonly successes: number;
  readonly nearMisses: number;
};

/** The balance of the chosen rollouts in each dimension, and why the others were left out. */
export type Balance = {
  readonly played: number;
  readonly chosen: number;
  readonly accepted: number;
  readonly successes: number;
  readonly nearMisses: number;
  readonly by: Readonly<Record<(typeof dimensions)[number], readonly BalanceRow[]>>;
  readonly leftOut: readonly { readonly why: string; readonly count: number }[];
};

/** Counts a selection. */
export function balanceOf(selection: readonly Selected[]): Balance {
  const accepted = selection.filter((row) => row.accepted);
  const own = selection.filter(({ forkOf }) => forkOf === undefined);
  const rowsOf = (dimension: (typeof dimensions)[number]): readonly BalanceRow[] =>
    [...Map.groupBy(own, (row) => nameOf(row, dimension))]
      .map(([value, rows]) => ({
        value,
        played: rows.length,
        ...kinds(accepted.filter((row) => nameOf(row, dimension) === value)),
      }))
      .toSorted((one, other) => rankOf(one.value) - rankOf(other.value) || (one.value < other.value ? -1 : 1));
  const reasons = Map.groupBy(
    own.filter((row) => !row.accepted),
    ({ why }) => reasonOf(why),
  );
  return {
    played: own.length,
    chosen: own.filter(({ chosen }) => chosen).length,
    accepted: accepted.length,
    ...kinds(accepted),
    by: Object.fromEntries(dimensions.map((dimension) => [dimension, rowsOf(dimension)])) as Balance['by'],
    leftOut: [...reasons]
      .map(([why, rows]) => ({ why, count: rows.length }))
      .toSorted((one, other) => other.count - one.count),
  };
}

/** A balance as tables. Of the tasks, which are many, only how unevenly they are met is shown. */
export function balanceText({ by, leftOut, ...balance }: Balance): string {
  const tables = dimensions
    .filter((dimension) => dimension !== 'task')
    .flatMap((dimension) => [
      ...tableLines({
        columns: [dimension, 'successes', 'near-misses', 'played'],
        rows: by[dimension].map((row) => [
          row.value,
          String(row.successes),
          String(row.nearMisses),
          String(row.played),
        ]),
      }),
      '',
    ]);
  const each = by.task.map(({ successes, nearMisses }) => successes + nearMisses);
  const lines = [
    ...tables,
    ...(each.length === 0
      ? []
      : [`${counted(each.length, 'task')}, each with ${Math.min(...each)} to ${Math.max(...each)} rollouts`]),
    ...leftOut.map(({ why, count }) => `${count} left out: ${why}`),
    `${balance.accepted} accepted of ${balance.chosen} chosen of ${balance.played} played: ${counted(balance.successes, 'success', 'successes')}, ${counted(balance.nearMisses, 'near-miss', 'near-misses')}`,
  ];
  return `${lines.join('\n')}\n`;
}

function kinds(rows: readonly Selected[]) {
  const of = (kind: Selected['outcome']) => rows.filter(({ outcome }) => outcome === kind).length;
  return { successes: of('success'), nearMisses: of('nearMiss') };
}

/** Tasks of two domains may have one name. */
function nameOf(row: Selected, dimension: (typeof dimensions)[number]): string {
  return dimension === 'task' || dimension === 'persona' ? `${row.domain}/${row[dimension]}` : row[dimension];
}

const rankOf = (value: string) => (difficulties as readonly string[]).indexOf(value);

/** Reasons that name a rollout, or are the grader's own words, as what they have in common. */
function reasonOf(why: string): string {
  if (why.startsWith('the same conversation as')) return 'the same conversation as another, up to names and numbers';
  if (why.startsWith('its fork')) return 'a fork took its place';
  return why.startsWith('the grader:') ? 'the grader would not keep it' : why;
}
