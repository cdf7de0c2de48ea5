import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { inRoot } from '../../scripts/repository.ts';
import { formatted } from '../../src/language/format.ts';

it.each([
  [
    'indentation of maps and lists',
    'id:   a\nuser:\n    goal: G.\nactions:\n- tool: x\n  arguments:   {a: 1,b: 2}\n',
    'id: a\nuser:\n  goal: G.\nactions:\n  - tool: x\n    arguments: { a: 1, b: 2 }\n',
  ],
  [
    'comments and blank lines',
    '# first\n\nid: a # own\n\n# of user\nuser: {goal: G.}\n# last\n',
    '# first\n\nid: a # own\n\n# of user\nuser: { goal: G. }\n# last\n',
  ],
  [
    'comments behind keys',
    'a:   # one\n  # two\n  - x\nb: # three\n    c: 1\n',
    'a: # one\n  # two\n  - x\nb: # three\n  c: 1\n',
  ],
  ['several blank lines, of which one stays', 'a:   1\n\n\n\nb: |\n    c\n\n\n# d\n', 'a: 1\n\nb: |\n  c\n\n# d\n'],
  [
    'comments in brackets',
    'a:\n  [\n    x,    # one\n    # of y\n    y # two\n  ] # all\nb: [x,y] # three\n',
    'a:\n  [\n    x, # one\n    # of y\n    y # two\n  ] # all\nb: [x, y] # three\n',
  ],
  ['lists on one line', 'a: [ x,y ]\nb: [ ]\n', 'a: [x, y]\nb: []\n'],
  ['quotes of every kind', `a: 'x'\nb:   "y"\nc: "it's"\n`, `a: 'x'\nb: "y"\nc: "it's"\n`],
  [
    'a folded text moves with its key',
    'user:\n      goal: >-\n          One.\n            More.\n\n          Two.\n',
    'user:\n  goal: >-\n    One.\n      More.\n\n    Two.\n',
  ],
  ['a text of several lines', 'a:\n    b: one\n      two\n', 'a:\n  b: one\n    two\n'],
  ['brackets within texts', 'a: "[ x ]"\nb: [ "[ y ]" ] # [ z ]\n', 'a: "[ x ]"\nb: ["[ y ]"] # [ z ]\n'],
])('puts in order: %s', (_, text, expected) => {
  expect(formatted(text)).toBe(expected);
  expect(formatted(expected)).toBe(expected);
});

it.each([
  ['faults', 'a: [\n'],
  ['nothing in it', ''],
  ['more than one document', 'id:   a\n---\nid: b\n'],
  ['an end of a document before another', 'id:   a\n...\n---\nid: b\n'],
  ['a merge of what is nowhere', 'a:   1\n<<: *x\n'],
  ['an alias that leads nowhere', 'a:   *x\n'],
  ['a comment behind the last comma of a list', '[1, # one\n  2, # two\n]\n'],
  ['a comment behind the last item and the bracket', '[1, # one\n  2, # two\n  3] # three\n'],
  ['a comment behind an opening bracket', 'a:   [ # all\n  1]\n'],
  ['a comment behind a dash', '- # one\n  a:   1\n'],
  ['a comment below an item', '- a\n  # one\n-   b\n'],
  ['a comment between a dash and the item', '- a\n-\n  # one\n  b:   1\n'],
  ['a blank line that would go', '-\n\n  a:   1\n'],
])('leaves a file alone that has %s', (_, text) => {
  expect(formatted(text)).toBeNull();
});

const files = ['order-desk', 'parcel-desk', 'help-line'].flatMap((desk) => {
  const folder = inRoot('domains', desk);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.yaml'))
    .map((path) => join(folder, path));
});

it.each(files)('%s says the same afterwards, with every comment, and a second time changes nothing', (file) => {
  const text = readFileSync(file, 'utf8');
  const once = formatted(text) ?? expect.fail('not formatted');
  expect(parse(once)).toEqual(parse(text));
  expect(comments(once)).toEqual(comments(text));
  expect(formatted(once)).toBe(once);
});

const comments = (text: string) => text.match(/(?:^|(?<=\s))#.*$/gm) ?? [];

it('whatever is written, it says the same afterwards or is left alone', () => {
  const words = fc.string({ maxLength: 20 });
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      words,
      fc.integer(),
      fc.boolean(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), tie('value'), { maxKeys: 3 }),
    ),
  })).value;
  fc.assert(
    fc.property(value, (any) => {
      const text = JSON.stringify({ any });
      const made = formatted(text);
      if (made !== null) expect(parse(made)).toEqual(parse(text));
    }),
  );
});
