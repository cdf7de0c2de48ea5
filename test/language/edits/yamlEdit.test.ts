import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CST, Lexer, parse } from 'yaml';
import { inRoot } from '../../../scripts/repository.ts';
import type { Json, Path } from '../../../src/engine/core/values/json.ts';
import { changed, type YamlChange } from '../../../src/language/edits/yamlChange.ts';
import { yamlEdits } from '../../../src/language/edits/yamlEdit.ts';
import { withEdits } from '../../../src/language/symbols/textEdit.ts';
import { runs } from '../../support/runs.ts';

const trim = (text: string) => `${text.trimEnd()}\n`;

/** Returns a text after a change, or the message of a refusal. */
function after(text: string, change: YamlChange): string {
  const result = yamlEdits(text, change);
  return 'problem' in result ? result.problem : withEdits(text, result.edits);
}

const check = (before: string, change: YamlChange, expected: string) =>
  expect(after(trim(before), change)).toBe(trim(expected));

test('a scalar keeps its quotes, its place and the comment behind it', () => {
  check('a: one # first\nb: 2', { type: 'set', path: ['a'], value: 'two' }, 'a: two # first\nb: 2');
  check(`a: 'it''s'`, { type: 'set', path: ['a'], value: "that's" }, `a: 'that''s'`);
  check('a: "x"', { type: 'set', path: ['a'], value: 'y "z"' }, 'a: "y \\"z\\""');
  check('a: x', { type: 'set', path: ['a'], value: '55921' }, 'a: "55921"');
  check('a: x', { type: 'set', path: ['a'], value: 'yes' }, 'a: "yes"');
  check('a: x', { type: 'set', path: ['a'], value: 'b: c' }, 'a: "b: c"');
  check('a: {b: x}', { type: 'set', path: ['a', 'b'], value: 'c, d' }, 'a: {b: "c, d"}');
  check('a:\nb: 1', { type: 'set', path: ['a'], value: true }, 'a: true\nb: 1');
});

test('a folded text stays folded', () => {
  const before = 'goal: >-\n  one two\n  three\n# next\nb: 1';
  check(before, { type: 'set', path: ['goal'], value: 'four five' }, 'goal: >-\n  four five\n# next\nb: 1');
  check(before, { type: 'set', path: ['goal'], value: 'two\nlines' }, 'goal: |-\n  two\n  lines\n# next\nb: 1');
  check(before, { type: 'set', path: ['goal'], value: 4 }, 'goal: 4\n# next\nb: 1');
});

test('what is missing on the way is made', () => {
  check(
    'id: a # note\npatience: 3\n\n# end',
    { type: 'set', path: ['behaviours', 'omits'], value: true },
    'id: a # note\npatience: 3\nbehaviours:\n  omits: true\n\n# end',
  );
  check('a: {}', { type: 'set', path: ['a', 'b'], value: 1 }, 'a: { b: 1 }');
  check('a: # why\nb: 1', { type: 'set', path: ['a', 'c'], value: 2 }, 'a: # why\n  c: 2\nb: 1');
  check('a: 1', { type: 'insert', path: ['list', 0], value: 'x' }, 'a: 1\nlist: [x]');
  check('- id: a\n- id: b # last', { type: 'set', path: [1, 'c'], value: 'd' }, '- id: a\n- id: b # last\n  c: d');
});

test('items of lists come and go, with the comments of the others kept', () => {
  const list = 'list:\n  # one\n  - a # A\n  # two\n  - b\nend: 1';
  const at = (index: number) => ['list', index];
  check(list, { type: 'insert', path: at(1), value: 'c' }, 'list:\n  # one\n  - a # A\n  - c\n  # two\n  - b\nend: 1');
  check(list, { type: 'insert', path: at(2), value: { x: 1 } }, `${list.replace('\nend', '\n  - { x: 1 }\nend')}`);
  check(list, { type: 'insert', path: at(0), value: 'c' }, 'list:\n  # one\n  - c\n  - a # A\n  # two\n  - b\nend: 1');
  check(list, { type: 'remove', path: at(0) }, 'list:\n  # one\n  # two\n  - b\nend: 1');
  check(list, { type: 'remove', path: at(1) }, 'list:\n  # one\n  - a # A\n  # two\nend: 1');
  check('a: [x, y, z]', { type: 'remove', path: ['a', 1] }, 'a: [x, z]');
  check('a: [x, y, z]', { type: 'remove', path: ['a', 0] }, 'a: [y, z]');
  check('a: [x]', { type: 'remove', path: ['a', 0] }, 'a: []');
  check('a: # all\n  - x # one\nb: 1', { type: 'remove', path: ['a', 0] }, 'a: [] # all # one\nb: 1');
});

test('keys of maps go with their lines; the first of an item gives its place to the next', () => {
  check('- a: 1\n  b: 2\n- c: 3', { type: 'remove', path: [0, 'a'] }, '- b: 2\n- c: 3');
  check('a:\n  b: 1\n  c:\n    - d\ne: 1', { type: 'remove', path: ['a', 'c'] }, 'a:\n  b: 1\ne: 1');
  check('{ a: 1, b: 2 }', { type: 'remove', path: ['b'] }, '{ a: 1 }');
  check('a: 1', { type: 'remove', path: ['b', 'c'] }, 'a: 1');
});

test('what goes out of brackets takes its own comment with it, and no other', () => {
  const list = 'unknown: [\n  a, # about a\n  b, # about b\n  c # about c\n]';
  const without = (key: string | number, before: string, expected: string) =>
    check(before, { type: 'remove', path: [before.split(':')[0] ?? '', key] }, expected);
  without(0, list, 'unknown: [\n  b, # about b\n  c # about c\n]');
  without(1, list, 'unknown: [\n  a, # about a\n  c # about c\n]');
  without(2, list, 'unknown: [\n  a, # about a\n  b # about b\n]');
  without('email', 'known: {id: W1, # the order\n  email: x}', 'known: {id: W1 # the order\n  }');
  const map = 'known: { id: W1, # the order\n email: x, # the mail\n phone: y }';
  without('id', map, 'known: { email: x, # the mail\n phone: y }');
  without('email', map, 'known: { id: W1, # the order\n phone: y }');
  without('phone', map, 'known: { id: W1, # the order\n email: x # the mail\n }');
  without(0, 'a: [ # all\n  x, # X\n]', 'a: [ # all\n]');
  without(0, 'a: [ x # X\n  # of y\n  , y ]', 'a: [\n  # of y\n  y ]');
  without(1, 'a: [ x # X\n   , y # Y\n   , z # Z\n]', 'a: [ x # X\n   , z # Z\n]');
  without(1, 'a: [x, y, # Y\n  z] # all', 'a: [x,\n  z] # all');
  without(0, 'a: [x, y, # Y\n  z] # all', 'a: [y, # Y\n  z] # all');
  without(2, 'a: [\n  x,\n  y,\n  z,\n]', 'a: [\n  x,\n  y,\n]');
});

test('what comes into brackets leaves each comment at its item', () => {
  const add = (before: string, expected: string) =>
    check(before, { type: 'insert', path: ['a', 2], value: 'z' }, expected);
  add('a: [\n  x, # X\n  y # Y\n]', 'a: [\n  x, # X\n  y, # Y\n  z\n]');
  add('a: [\n  x, # X\n  y, # Y\n]', 'a: [\n  x, # X\n  y, # Y\n  z,\n]');
  check('a: [ # all\n]', { type: 'insert', path: ['a', 0], value: 'z' }, 'a: [ # all\n     z\n]');
});

test('a change of a whole map changes what differs in it', () => {
  check(
    'a: # kept\n  b: 1 # one\n  c: [x] # two\n  d: 4',
    { type: 'set', path: ['a'], value: { b: 1, c: ['x', 'z'], e: 5 } },
    'a: # kept\n  b: 1 # one\n  c: [x, z] # two\n  e: 5',
  );
  check('a:\n  from: 1\n  to: 2\nb: 1', { type: 'set', path: ['a'], value: true }, 'a: true\nb: 1');
});

test('lines end as they do in the file', () => {
  const text = 'a: 1\r\nb:\r\n  - x\r\n';
  expect(after(text, { type: 'insert', path: ['b', 1], value: 'z' })).toBe('a: 1\r\nb:\r\n  - x\r\n  - z\r\n');
  expect(after(text, { type: 'set', path: ['c'], value: { d: 1 } })).toBe(`${text.trimEnd()}\r\nc:\r\n  d: 1\r\n`);
  expect(after(text, { type: 'remove', path: ['a'] })).toBe('b:\r\n  - x\r\n');
});

test.each([
  ['a: &x { b: 1 }\nc: *x\n', { type: 'remove', path: ['a'] }, /only a person can change/],
  ['a: &x { b: 1 }\nc: { <<: *x }\n', { type: 'remove', path: ['c', 'b'] }, /b comes from a merge key \(<<\)/],
  ['a: &x { b: 1 }\nc: { <<: *x }\n', { type: 'set', path: ['a'], value: 'y' }, /other values merge this one/],
  ['a: [1\n', { type: 'set', path: ['a'], value: 2 }, /not valid YAML/],
  ['a: 1\n', { type: 'insert', path: ['a', 0], value: 1 }, /no place a\.0/],
  ['a: text\n', { type: 'set', path: ['a', 'b'], value: 1 }, /no place a\.b/],
  ['id: a\n---\nid: b\n', { type: 'set', path: ['id'], value: 'c' }, /more than one document/],
  ['- id: a\n- id: b\n---\n- id: c\n', { type: 'set', path: [0, 'id'], value: 'd' }, /more than one document/],
  ['a: 1\nb: *x\n', { type: 'set', path: ['a'], value: 2 }, /not valid YAML: Unresolved alias/],
  ['- a: 1\n- b: *x\n', { type: 'set', path: [1, 'c'], value: 2 }, /not valid YAML: Unresolved alias/],
] as const)('%j refuses %j', (text, change, problem) => {
  expect(yamlEdits(text, change as YamlChange)).toEqual({ problem: expect.stringMatching(problem) });
});

const shared = `- id: a
  user: &u { goal: x, opening: hi }
- id: b
  user: *u
- id: c
  user:
    <<: *u
    goal: z
`;

test.each<[string, YamlChange, string, string | undefined]>([
  [
    'at its anchor',
    { type: 'set', path: [0, 'user', 'opening'], value: 'ho' },
    'opening: ho',
    'b (line 4) and c (line 7)',
  ],
  [
    'through an alias',
    { type: 'set', path: [1, 'user', 'opening'], value: 'ho' },
    'opening: ho',
    'a (line 2) and c (line 7)',
  ],
  ['where one user has its own', { type: 'set', path: [1, 'user', 'goal'], value: 'new' }, 'goal: new', 'a (line 2)'],
  [
    'with a new key',
    { type: 'set', path: [0, 'user', 'wish'], value: 'w' },
    'hi, wish: w',
    'b (line 4) and c (line 7)',
  ],
])('a shared value that is changed %s names its other users', (_, change, written, users) => {
  const result = yamlEdits(shared, change);
  if ('problem' in result) throw new Error(result.problem);
  expect(result.warning).toBe(`This value is shared through a YAML anchor. The change also applies to ${users}.`);
  const now = withEdits(shared, result.edits);
  expect(now).toContain(written);
  expect(now.split('\n')).toHaveLength(shared.split('\n').length);
  expect(now).toContain('user: *u');
});

test('only the edited map gets its own key in place of a merged one', () => {
  const result = yamlEdits(shared, { type: 'set', path: [2, 'user', 'opening'], value: 'ho' });
  expect(result).not.toHaveProperty('warning');
  expect(after(shared, { type: 'set', path: [2, 'user', 'opening'], value: 'ho' })).toBe(`${shared}    opening: ho\n`);
  check(shared, { type: 'set', path: [2, 'user', 'goal'], value: 'new' }, shared.replace('goal: z', 'goal: new'));
});

test('a text behind an alias is changed at its anchor', () => {
  expect(yamlEdits('a: &g hello\nb: *g\n', { type: 'set', path: ['b'], value: 'x' })).toMatchObject({
    warning: 'This value is shared through a YAML anchor. The change also applies to a (line 1).',
  });
  check('a: &g hello\nb: *g', { type: 'set', path: ['b'], value: 'x' }, 'a: &g x\nb: *g');
  check('a: &l [1, 2]\nb: *l', { type: 'insert', path: ['b', 2], value: 3 }, 'a: &l [1, 2, 3]\nb: *l');
});

/** Every YAML file of the sample domains. */
const files = readdirSync(inRoot('domains'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(?:persona|task)\.yaml$|rules\.yaml$|domain\.yaml$/.test(file) && !file.includes('.rehearsal'))
  .map((file) => ({ file, text: readFileSync(join(inRoot('domains'), file), 'utf8') }));

/** The paths of all values of a file. */
function pathsOf(value: Json, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...entries.flatMap(([key, each]) => pathsOf(each as Json, [...path, key]))];
}

const scalar = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({ unit: fc.constantFrom('a', ' ', ':', '#', ',', "'", '"', '-', '{', ']', '\n', '1'), maxLength: 40 }),
  fc.constantFrom('yes', 'null', '1', '1.5', '2026-01-01', '', ' ', '- a', '? b', '!x', '&y', '*z', '%', '@', '`'),
  fc.lorem({ maxCount: 40 }),
  fc.integer(),
  fc.boolean(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => (Object.is(x, -0) ? 0 : x)),
);
const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar as fc.Arbitrary<Json>,
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), tie('value'), { maxKeys: 3 }),
  ),
})).value;
const numRuns = runs(25);

/** Returns the lines that contain only a comment. A line of a block text that begins with `#` is not a comment. */
function commentLines(text: string): string[] {
  const found: string[] = [];
  let line = '';
  let before = '';
  for (const token of new Lexer().lex(text)) {
    // The lexer marks scalars and the start of a document with its own control characters.
    if (token.startsWith('#') && before !== CST.SCALAR && line.trim() === '') found.push(line + token);
    if (token !== CST.SCALAR && token !== CST.DOCUMENT) line = (line + token).split('\n').at(-1) as string;
    before = token;
  }
  return found;
}

/** Expects that a change gives the changed value and keeps all comments. Returns the text after it. */
function expectUntouched(before: string, change: YamlChange): string {
  const result = yamlEdits(before, change);
  if ('problem' in result) throw new Error(`${JSON.stringify(change)}: ${result.problem}`);
  const now = withEdits(before, result.edits);
  expect(parse(now)).toEqual(changed(parse(before) as Json, change));
  expect(commentLines(now)).toEqual(commentLines(before));
  return now;
}

const place = fc.constantFrom(...files).chain(({ file, text }) => {
  const value = parse(text) as Json;
  return fc.record({
    file: fc.constant(file),
    text: fc.constant(text),
    path: fc.constantFrom(...pathsOf(value).filter((path) => path.length > 0)),
  });
});

test('a value that is set is there, all else is as it was, and setting it back gives the file back', () => {
  fc.assert(
    fc.property(place, scalar, ({ text, path }, value) => {
      const old = path.reduce<Json>((at, key) => (at as Record<string, Json>)[key] as Json, parse(text) as Json);
      const isBlockText = typeof old === 'string' && !text.includes(old);
      fc.pre(typeof old !== 'object');
      const now = expectUntouched(text, { type: 'set', path, value });
      const lines = (whole: string) => whole.split('\n').length;
      if (!isBlockText && typeof value !== 'string') expect(lines(now)).toBeLessThanOrEqual(lines(text));
      const back = expectUntouched(now, { type: 'set', path, value: old });
      expect(parse(back)).toEqual(parse(text));
      // Only a text without quotes on one line has a single spelling.
      if (
        typeof old === 'string' &&
        /^[A-Za-z]\w*$/.test(old) &&
        typeof value === 'string' &&
        /^[a-z]{4,}$/.test(value) &&
        parse(value) === value
      )
        expect(back).toBe(text);
    }),
    { numRuns },
  );
});

test('any value can be set anywhere', () => {
  fc.assert(
    fc.property(place, json, ({ text, path }, value) => {
      expectUntouched(text, { type: 'set', path, value });
    }),
    { numRuns },
  );
});

test('what is put in and taken out again leaves the file as it was', () => {
  const collections = place.chain(({ text, path }) => fc.constant({ text, holder: path.slice(0, -1) }));
  fc.assert(
    fc.property(collections, json, fc.nat(), ({ text, holder }, value, at) => {
      const inside = holder.reduce<Json>((now, key) => (now as Record<string, Json>)[key] as Json, parse(text) as Json);
      const path = [...holder, Array.isArray(inside) ? at % (inside.length + 1) : 'addedKey'];
      const now = expectUntouched(text, { type: Array.isArray(inside) ? 'insert' : 'set', path, value });
      const gone = now.split('\n').filter((line) => !text.includes(line));
      expect(gone.length).toBeGreaterThan(0);
      expect(after(now, { type: 'remove', path })).toBe(text);
    }),
    { numRuns },
  );
});

test('whatever is taken out, the rest stays', () => {
  fc.assert(
    fc.property(place, ({ text, path }) => {
      const now = expectUntouchedLoosely(text, { type: 'remove', path });
      const kept = new Set(text.split('\n'));
      const strange = now.split('\n').filter((line) => !kept.has(line));
      // A flow collection that lost an item, a map that lost all entries, or an item that lost its first key.
      expect(strange.length).toBeLessThanOrEqual(1);
    }),
    { numRuns },
  );
});

/** Comments inside a removed value are removed with it. */
function expectUntouchedLoosely(before: string, change: YamlChange): string {
  const now = after(before, change);
  expect(parse(now)).toEqual(changed(parse(before) as Json, change));
  return now;
}

/** A list or a map in brackets, with a comment on the last line of each item, and above some items. */
const commented = fc
  .record({
    isMap: fc.boolean(),
    items: fc.array(
      fc.record({
        value: fc.constantFrom('x$', "'y, # z$'", '[1, $]', '{ b: [ # in $\n    c$] }', '&n 4$', '"[ # $"'),
        end: fc.constantFrom(', # of $', ' # of $\n  ,', ' # of $\n  # below $\n  , ', ','),
        above: fc.constantFrom('', '# above $\n  '),
      }),
      { minLength: 1, maxLength: 5 },
    ),
    opening: fc.constantFrom(' ', '\n  ', '\n\n  ', ' # all\n  '),
    last: fc.constantFrom('', ' ', '\n', ',\n', ' # last\n', ', # last\n'),
    between: fc.constantFrom('\n  ', '\n\n  '),
  })
  .map(({ isMap, items, opening, last, between }) => {
    const written = items.map(({ value, end, above }, at) =>
      `${above}${isMap ? 'k$: ' : ''}${value}${at < items.length - 1 ? end : ''}`.replaceAll('$', String(at)),
    );
    const inside = `${opening}${written.join(between)}${last.replace('last', `of ${items.length - 1}`)}`;
    return { text: `a: ${isMap ? `{${inside}}` : `[${inside}]`} # end\n`, isMap, count: items.length };
  });

/** Returns the comments. The comment of an item follows the text before it on its line, without the comma. */
const commentedOf = (text: string) =>
  [...text.matchAll(/(\S*?)[ ,]*# (all|end|(?:of|in|above|below) \d)/g)].map(([, before, name = '']) =>
    name.startsWith('of') ? `${before} ${name}` : name,
  );

test('whatever goes out of brackets, the comments of all others stay at their items', () => {
  fc.assert(
    fc.property(commented, fc.nat(), ({ text, isMap, count }, nat) => {
      const at = nat % count;
      const now = expectUntouchedLoosely(text, { type: 'remove', path: ['a', isMap ? `k${at}` : at] });
      const isGone = (comment: string) => comment.endsWith(`of ${at}`) || comment.endsWith(`in ${at}`);
      expect(commentedOf(now)).toEqual(commentedOf(text).filter((comment) => !isGone(comment)));
    }),
    { numRuns: numRuns * 8 },
  );
});
