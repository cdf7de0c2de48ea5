import { fieldOfName, hasPartsOfName, isNameField } from './fields.ts';

/** A value that a column, an element, a key or a parameter names, and what it is in. */
export type NamedValue = {
  readonly value: string;
  readonly field: string;
  readonly within: string;
  /** The names of the other columns of its table, or of the other attributes, keys or parameters. */
  readonly beside: readonly string[];
  /** Whether it may be words of a sentence, since people write a colon behind other words as well. */
  readonly mayBeProse?: boolean;
};

const heading = /^[\p{L}_][\p{L}\p{N}\p{Sc}_ .()/#%-]{0,40}$|^$/u;

/** Returns whether cells are the heading of a table. */
export const isHeading = (cells: readonly string[]): boolean =>
  cells.length > 1 && cells.some((cell) => cell.trim() !== '') && cells.every((cell) => heading.test(cell.trim()));

/** Returns the values of a row of a table. */
export const valuesOf = (columns: readonly string[], cells: readonly string[]): readonly NamedValue[] =>
  withParts(
    cells.slice(0, columns.length).flatMap((cell, at): readonly NamedValue[] => {
      const [field, value] = [columns[at]?.trim() ?? '', cell.trim()];
      const beside = columns.map((each) => each.trim()).filter((each) => each !== field);
      return value === '' ? [] : [{ value, field, within: '', beside }];
    }),
  );

/** Returns the values of one thing, where `first` and `last` are called parts of a name if together they are one. */
export function withParts(values: readonly NamedValue[]): readonly NamedValue[] {
  const isOfName = values.some(({ within }) => isNameField(within));
  if (!isOfName && !hasPartsOfName(Object.fromEntries(values.map(({ field, value }) => [field.toLowerCase(), value]))))
    return values;
  return values.map((each) => ({ ...each, field: fieldOfName(each.field) }));
}
