type Signature = {
  readonly min: number;
  readonly max: number;
  readonly usage: string;
  /** Its last input is evaluated once for each element, which a name refers to: the middle input, else `it`. */
  readonly binds?: true;
};

/** The functions of the expression language: how each is written. */
export const signatures = {
  any: { min: 2, max: 3, usage: 'any(list, condition) or any(list, x, condition)', binds: true },
  all: { min: 2, max: 3, usage: 'all(list, condition) or all(list, x, condition)', binds: true },
  find: { min: 2, max: 3, usage: 'find(list, condition) or find(list, x, condition)', binds: true },
  filter: { min: 2, max: 3, usage: 'filter(list, condition) or filter(list, x, condition)', binds: true },
  count: { min: 1, max: 3, usage: 'count(list), count(list, condition) or count(list, x, condition)', binds: true },
  sum: { min: 1, max: 3, usage: 'sum(list), sum(list, number) or sum(list, x, number)', binds: true },
  keys: { min: 1, max: 1, usage: 'keys(object)' },
  round: { min: 1, max: 2, usage: 'round(number) or round(number, digits)' },
  days: { min: 2, max: 2, usage: 'days(from, to)' },
  lower: { min: 1, max: 1, usage: 'lower(text)' },
  words: { min: 1, max: 1, usage: 'words(text)' },
  sentences: { min: 1, max: 1, usage: 'sentences(text)' },
  clauses: { min: 1, max: 1, usage: 'clauses(text)' },
  names: { min: 2, max: 2, usage: 'names(text, value)' },
  says: { min: 2, max: 40, usage: 'says(text, phrase, ...)' },
  mentions: { min: 2, max: 2, usage: 'mentions(text, table)' },
  asksForYes: { min: 1, max: 1, usage: 'asksForYes(text)' },
  amounts: { min: 1, max: 1, usage: 'amounts(text)' },
  numbers: { min: 1, max: 1, usage: 'numbers(text)' },
  durations: { min: 1, max: 1, usage: 'durations(text)' },
  last: { min: 1, max: 20, usage: 'last(tool, ...)' },
} as const satisfies Readonly<Record<string, Signature>>;

export type FunctionName = keyof typeof signatures;

export const functionNames = Object.keys(signatures) as readonly FunctionName[];

/** Returns how many arguments a function takes; undefined if no function has this name. */
export function arityOf(name: string): Signature | undefined {
  return Object.hasOwn(signatures, name) ? signatures[name as FunctionName] : undefined;
}
