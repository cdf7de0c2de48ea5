import { type Json, type Path, showPath } from '../values/json.ts';
import type { Deviation } from './event.ts';

/** Two texts of the same rows, line for line where they can be: what should be there, and what is. */
export type ChangedRows = { readonly expected: string; readonly actual: string };

type Line = { readonly field: Path; readonly value: Json | undefined };

/**
 * The rows in which two databases differ, as text for people, with a line for each field that differs. A row is what is
 * under the first two keys of a path, such as `orders.W1138`.
 */
export function changedRows(deviations: readonly Deviation[]): ChangedRows {
  const rows = Map.groupBy(
    deviations,
    ({ side, path }) => `${side === 'user' ? 'user: ' : ''}${showPath(rowOf(path))}`,
  );
  const textOf = (which: 'expected' | 'actual') =>
    [...rows]
      .map(([row, places]) => [row, ...places.flatMap((place) => linesOf(place, which))].join('\n'))
      .join('\n\n');
  return { expected: textOf('expected'), actual: textOf('actual') };
}

const rowOf = (path: Path) => path.slice(0, 2);

function linesOf({ path, expected, actual }: Deviation, which: 'expected' | 'actual'): readonly string[] {
  const value = which === 'expected' ? expected : actual;
  return leaves({ field: path.slice(2), value }).map(({ field, value: leaf }) => {
    const name = field.length === 0 ? '' : `${showPath(field)}: `;
    return `  ${name}${shown(leaf)}`;
  });
}

/** A value that is an object is a line for each of its leaves, so that two of them can be laid side by side. */
function leaves({ field, value }: Line): readonly Line[] {
  if (typeof value !== 'object' || value === null) return [{ field, value }];
  const entries = Object.entries(value);
  if (entries.length === 0) return [{ field, value }];
  return entries.flatMap(([key, each]) =>
    leaves({ field: [...field, Array.isArray(value) ? Number(key) : key], value: each as Json }),
  );
}

const shown = (value: Json | undefined) => (value === undefined ? '(not there)' : JSON.stringify(value));
