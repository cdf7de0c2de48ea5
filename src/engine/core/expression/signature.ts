type Signature = {
  readonly least: number;
  readonly most: number;
  readonly usage: string;
  /** Its last input is evaluated once for each element, which a name refers to: the middle input, else `it`. */
  readonly binds?: true;
};

/** The functions of the expression language: how each is written. */
export const signatures = {
  any: { least: 2, most: 3, usage: 'any(list, condition) or any(list, x, condition)', binds: true },
  all: { least: 2, most: 3, usage: 'all(list, condition) or all(list, x, condition)', binds: true },
  find: { least: 2, most: 3, usage: 'find(list, condition) or find(list, x, condition)', binds: true },
  filter: { least: 2, most: 3, usage: 'filter(list, condition) or filter(list, x, condition)', binds: true },
  count: { least: 1, most: 3, usage: 'count(list), count(list, condition) or count(list, x, condition)', binds: true },
  sum: { least: 1, most: 3, usage: 'sum(list), sum(list, number) or sum(list, x, number)', binds: true },
  keys: { least: 1, most: 1, usage: 'keys(object)' },
  round: { least: 1, most: 2, usage: 'round(number) or round(number, digits)' },
  days: { least: 2, most: 2, usage: 'days(from, to)' },
  lower: { least: 1, most: 1, usage: 'lower(text)' },
  words: { least: 1, most: 1, usage: 'words(text)' },
  sentences: { least: 1, most: 1, usage: 'sentences(text)' },
  clauses: { least: 1, most: 1, usage: 'clauses(text)' },
  names: { least: 2, most: 2, usage: 'names(text, value)' },
  says: { least: 2, most: 40, usage: 'says(text, phrase, ...)' },
  mentions: { least: 2, most: 2, usage: 'mentions(text, table)' },
  asksForYes: { least: 1, most: 1, usage: 'asksForYes(text)' },
  amounts: { least: 1, most: 1, usage: 'amounts(text)' },
  numbers: { least: 1, most: 1, usage: 'numbers(text)' },
  durations: { least: 1, most: 1, usage: 'durations(text)' },
  last: { least: 1, most: 20, usage: 'last(tool, ...)' },
} as const satisfies Readonly<Record<string, Signature>>;

export type FunctionName = keyof typeof signatures;

export const functionNames = Object.keys(signatures) as readonly FunctionName[];

/** Returns how many arguments a function takes; undefined if no function has this name. */
export function arityOf(name: string): Signature | undefined {
  return Object.hasOwn(signatures, name) ? signatures[name as FunctionName] : undefined;
}
