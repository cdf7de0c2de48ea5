import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { type PatternFile, patternFiles } from '../../../../src/engine/core/dialogue/patternFiles.ts';
import { lists, patterns } from '../../../../src/engine/core/dialogue/patterns.ts';

const part = z.strictObject({
  about: z.string().regex(/[."]$/),
  pattern: z.string().min(1).optional(),
  any: z.array(z.string().min(1)).min(1).optional(),
});
const hasSource = ({ any, pattern }: z.infer<typeof part>) =>
  pattern === undefined ? any !== undefined : pattern.includes('{any}') === (any !== undefined);
const labelled = part.extend({
  flags: z.string().min(1).optional(),
  examples: z.array(z.string().min(1)).min(2),
  counterexamples: z.array(z.string().min(1)).min(1).optional(),
});
const schema = z.strictObject({
  words: z.record(z.string(), part.refine(hasSource)).optional(),
  patterns: z.record(z.string(), labelled.refine(hasSource)).optional(),
  lists: z.record(z.string(), labelled.omit({ pattern: true, flags: true }).required({ any: true })).optional(),
});

const folder = new URL('../../../../src/engine/core/dialogue/', import.meta.url);
const files: readonly (readonly [string, PatternFile])[] = Object.entries(patternFiles);

it('reads every data file of the folder', () => {
  const names = readdirSync(new URL('patterns/', folder)).map((file) => file.replace('.json', ''));
  expect(Object.keys(patternFiles).sort()).toEqual(names.sort());
});

it.each(files)('has valid entries in %s', (_, file) => {
  expect(z.treeifyError(schema.safeParse(file).error ?? new z.ZodError([]))).toEqual({ errors: [] });
});

it.each(files)('matches the examples and not the counterexamples of %s', (file) => {
  expect(labelsOf(file).filter(({ isWanted, isMatched }) => isWanted !== isMatched)).toEqual([]);
});

it.each(files)('has an example for each alternative of the lists of %s', (file, { lists: entries = {} }) => {
  const bare = Object.entries(entries).flatMap(([name, { any = [], examples }]) =>
    any.filter((_, at) => !examples.some((text) => regularExpressions(file, name)[at]?.test(text))),
  );
  expect(bare).toEqual([]);
});

it('uses every entry, and names only entries in placeholders', () => {
  const known = files.flatMap(([file, sections]) => namesIn(sections).map((name) => `${file}.${name}`));
  const placeholders = files.flatMap(([file, sections]) => placeholdersOf(file, sections));
  expect(placeholders.filter((name) => !known.includes(name))).toEqual([]);
  const used = new Set([...placeholders, ...namesInCode()]);
  expect(known.filter((name) => !used.has(name))).toEqual([]);
});

/** The regular expressions of a pattern or list. They have no state between texts: the flag `g` is left out. */
function regularExpressions(file: string, name: string): readonly RegExp[] {
  const [single, several]: readonly Readonly<Record<string, Record<string, RegExp | readonly RegExp[]>>>[] = [
    patterns,
    lists,
  ];
  const found = [single?.[file]?.[name] ?? several?.[file]?.[name] ?? []].flat();
  return found.map(({ source, flags }) => new RegExp(source, flags.replace('g', '')));
}

/** The labelled texts of a file, with whether they match. */
function labelsOf(file: string) {
  const { patterns: single = {}, lists: several = {} }: PatternFile = Object.fromEntries(files)[file] ?? {};
  return [...Object.entries(single), ...Object.entries(several)].flatMap(([name, entry]) => {
    const expressions = regularExpressions(file, name);
    const label = (isWanted: boolean) => (text: string) => ({
      name,
      text,
      isWanted,
      isMatched: expressions.some((each) => each.test(text)),
    });
    return [...entry.examples.map(label(true)), ...(entry.counterexamples ?? []).map(label(false))];
  });
}

const namesIn = (file: PatternFile) => Object.values(file).flatMap((entries) => Object.keys(entries));

/** The entries that the placeholders of a file name, as `file.name`. */
function placeholdersOf(file: string, sections: PatternFile): readonly string[] {
  const texts = Object.values(sections)
    .flatMap((entries) => Object.values(entries))
    .flatMap(({ any = [], pattern = '' }) => [...any, pattern]);
  return texts
    .flatMap((text) => [...text.matchAll(/\{([a-z]\w*(?:\.\w+)?)\}/g)].map(([, name = '']) => name))
    .filter((name) => name !== 'any')
    .map((name) => (name.includes('.') ? name : `${file}.${name}`));
}

/** The entries that the code reads, as `file.name`. */
function namesInCode(): readonly string[] {
  const code = readdirSync(folder)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(new URL(file, folder), 'utf8'))
    .join('\n');
  const taken = [...code.matchAll(/const \{([^}]*)\} =\s+(?:patterns|lists|words|wordLists)\.(\w+);/g)].flatMap(
    ([, names = '', file]) => (names.match(/\w+/g) ?? []).map((name) => `${file}.${name}`),
  );
  const read = [...code.matchAll(/\b(?:patterns|lists|words|wordLists)\.(\w+)\.(\w+)/g)];
  return [...taken, ...read.map(([, file, name]) => `${file}.${name}`)];
}
