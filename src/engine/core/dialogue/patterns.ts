import { type LabelledPart, type Part, type PatternFile, patternFiles } from './patternFiles.ts';

const files: Readonly<Record<string, PatternFile>> = patternFiles;

/** Returns an entry of a file as the source of a regular expression, without placeholders. */
function sourceOf(file: string, { any = [], pattern = '{any}' }: Part): string {
  return expanded(
    file,
    pattern.replace('{any}', () => any.join('|')),
  );
}

/** Returns a text with the sources of the entries that its placeholders name. */
function expanded(file: string, text: string): string {
  return text.replace(/\{([a-z]\w*)(?:\.(\w+))?\}/g, (placeholder, first: string, second?: string) => {
    const [owner, name] = second === undefined ? [file, first] : [first, second];
    const part = files[owner]?.words?.[name] ?? files[owner]?.patterns?.[name];
    if (!part) throw new Error(`patterns/${file}.json: ${placeholder} does not name an entry. Correct the name.`);
    return sourceOf(owner, part);
  });
}

type Section<Kind extends keyof PatternFile, Value> = {
  readonly [File in keyof typeof patternFiles]: (typeof patternFiles)[File] extends {
    readonly [K in Kind]: infer Parts;
  }
    ? { readonly [Name in keyof Parts]: Value }
    : Readonly<Record<never, Value>>;
};

/** Returns a section of each file, with the value of each entry. */
function section<Kind extends keyof PatternFile, Value>(kind: Kind, read: (file: string, part: LabelledPart) => Value) {
  const sections = Object.entries(files).map(([file, { [kind]: parts = {} }]) => [
    file,
    Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, read(file, part as LabelledPart)])),
  ]);
  return Object.fromEntries(sections) as Section<Kind, Value>;
}

/** Has the alternatives of each word list, by file and name. */
export const words = section('words', (_, { any = [] }): readonly string[] => any);
/** Has each pattern as a regular expression, by file and name. */
export const patterns = section('patterns', (file, part) => new RegExp(sourceOf(file, part), part.flags));
/** Has the regular expressions of each list, by file and name. */
export const lists = section('lists', (file, { any = [] }): readonly RegExp[] =>
  any.map((text) => new RegExp(expanded(file, text))),
);
