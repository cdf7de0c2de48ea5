import type { Side } from '../../../engine/core/domain/tool.ts';
import type { Path } from '../../../engine/core/values/json.ts';
import type { Edit } from '../rollout/edit.ts';

/** A variable as a debugger shows it; its children are made when they are requested. */
export type Variable = {
  readonly name: string;
  readonly value: string;
  readonly type?: string;
  readonly children?: () => readonly Variable[];
  /** In place of children, where there are many. */
  readonly rows?: () => Rows;
  /** The edit that a new value makes, or a sentence why it can't. */
  readonly edit?: (text: string) => Edit | string;
  /** Called when the edit was made. */
  readonly onEdited?: () => void;
  /** Expression that reads it again. */
  readonly expression?: string;
  /** The whole value for an editor tab, if it is large enough to need one. */
  readonly whole?: WholeValue;
  /** Loads what is needed before the children can be made. */
  readonly prepare?: () => Promise<unknown>;
  /** Its path in the database, for a data breakpoint. */
  readonly place?: { readonly side: Side; readonly path: Path };
};

/** A value as the text of an editor tab. */
export type WholeValue = {
  readonly text: () => string;
  readonly language: 'markdown' | 'json' | 'plaintext';
  /** Returns the edit for the saved text, or an error message; absent if the value is read-only. */
  readonly edit?: (text: string) => Edit | string;
};

/** Children at most that are shown at once. */
export const pageSize = 100;

/** The children of a variable, made a page at a time. */
export type Rows = {
  readonly total: number;
  /** Whether they are numbered from 0: a client that pages asks for such by their numbers. */
  readonly isList: boolean;
  readonly nameAt: (index: number) => string;
  readonly page: (start: number, count: number) => readonly Variable[];
  readonly named: (name: string) => Variable | undefined;
  /** Returns the text after the name of a page, which describes the changes in it. */
  readonly mark?: (start: number, count: number) => string;
};

/** Returns rows with these keys; each is made when it is requested. */
export function rowsOf<Key extends string | number>(
  keys: readonly Key[],
  isList: boolean,
  make: (key: Key) => Variable,
): Rows {
  return {
    total: keys.length,
    isList,
    nameAt: (index) => String(keys[index]),
    page: (start, count) => keys.slice(start, start + count).map(make),
    named: (name) => {
      const key = keys.find((each) => String(each) === name);
      return key === undefined ? undefined : make(key);
    },
  };
}

/** Rows that are there already. */
export function listed(variables: readonly Variable[]): Rows {
  return {
    total: variables.length,
    isList: false,
    nameAt: (index) => variables[index]?.name ?? '',
    page: (start, count) => variables.slice(start, start + count),
    named: (name) => variables.find((each) => each.name === name),
  };
}

/**
 * Returns what of many rows is shown at once: themselves, or pages that are named after the rows they begin and end
 * with. No client asks for a part of what has names, and a person looks for a name.
 */
export function shownRows(rows: Rows): Rows {
  if (rows.total <= pageSize) return rows;
  let size = pageSize;
  while (rows.total > size * pageSize) size *= pageSize;
  return listed(
    Array.from({ length: Math.ceil(rows.total / size) }, (_, number) => {
      const from = number * size;
      const total = Math.min(size, rows.total - from);
      return {
        name: `${rows.nameAt(from)} … ${rows.nameAt(from + total - 1)}`,
        value: `${total} rows${rows.mark?.(from, total) ?? ''}`,
        rows: () => part(rows, from, total),
      };
    }),
  );
}

function part(rows: Rows, from: number, total: number): Rows {
  return {
    ...rows,
    total,
    nameAt: (index) => rows.nameAt(from + index),
    page: (start, count) => rows.page(from + start, Math.min(count, total - start)),
    mark: (start, count) => rows.mark?.(from + start, count) ?? '',
  };
}

/** Returns a variable that is only read. */
export const row = (name: string, value: string): Variable => ({ name, value });
