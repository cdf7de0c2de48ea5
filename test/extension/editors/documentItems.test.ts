import { expect, test } from 'vitest';
import { personaSchema } from '../../../src/engine/core/domain/persona.ts';
import { indexAtLine, itemsOf } from '../../../src/extension/editors/documentItems.ts';

const kind = { kind: 'persona', schema: 'persona', item: personaSchema } as const;
const read = (text: string, index: number) =>
  itemsOf({ uri: { fsPath: '/desk/personas/all.persona.yaml' }, getText: () => text } as never, kind, 'id', index);

const entry = (id: string, more = '') => `- id: ${id}\n  description: Someone who is called ${id}.\n${more}`;
const ids = Array.from({ length: 3000 }, (_, index) => `person-${index}`);
/** A list with a comment above it, and with an entry in the middle that cannot be read. */
const long = `# Everyone\n${ids.map((id, index) => entry(id, index === 1500 ? '  patience: many\n' : '')).join('')}`;

test('of a long list the entry that is shown is read, and the others have their names', () => {
  expect(long.length).toBeGreaterThan(100_000);
  const { broken, items } = read(long, 2999);
  expect(broken).toBeNull();
  expect(items.map(({ label }) => label)).toEqual(ids);
  expect(items.flatMap(({ value, path }) => (value ? [[path, value.id]] : []))).toEqual([[[2999], 'person-2999']]);
});

test('an entry in braces has its name in a long list, too', () => {
  const text = `- {id: short, description: Someone.}\n${long.slice(long.indexOf('- id'))}`;
  expect(read(text, 1).items[0]?.label).toBe('short');
});

test('problems of an entry are reported at its line in the file, in a long list and in a short one', () => {
  const found = read(long, 1500).items[1500];
  expect(found).toMatchObject({ label: 'person-1500', value: null, path: [1500] });
  expect(long.split('\n')[(found?.problem?.line ?? 0) - 1]).toBe('  patience: many');
  const short = entry('a') + entry('b', '  patience: many\n');
  const { items } = read(short, 0);
  expect(items[0]?.value?.id).toBe('a');
  expect(items[1]).toMatchObject({ label: 'b', value: null, problem: { line: 5 } });
});

test.each([
  ['a file of one entry', 'id: a\ndescription: Someone.\n', [[2, 0]]],
  [
    'a short list',
    `# Everyone\n${entry('a')}${entry('b')}`,
    [
      [1, 0],
      [3, 0],
      [4, 1],
      [99, 1],
    ],
  ],
  [
    'a long list',
    long,
    [
      [1, 0],
      [3, 0],
      [4, 1],
      [99_999, 2999],
    ],
  ],
])('the entry at a line of %s is found', (_, text, expected) => {
  const document = { uri: { fsPath: '/desk/personas/all.persona.yaml' }, getText: () => text } as never;
  expect(expected.map(([line = 0]) => [line, indexAtLine(document, line)])).toEqual(expected);
});

const typed = 'id: shy\ndescription: Someone shy.\npatience: 3\n';
const fit = { ...personaSchema.parse({ id: 'shy', description: 'Someone shy.', patience: 3 }) };

test.each<[string, string, Partial<typeof fit> | null, readonly (readonly (string | number)[])[]]>([
  ['a text that does not fit as it is in the file', typed.replace('shy', "''"), { id: '' }, [['id']]],
  ['a number that does not fit as it was', typed.replace('3', 'many'), { patience: 3 }, [['patience']]],
  ['what else has changed', typed.replace('shy', '""').replace('3', '4'), { id: '', patience: 4 }, [['id']]],
  ['nothing where a key is unknown', typed.replace('patience', 'patients'), null, []],
  ['nothing where it is not an entry', 'shy', null, []],
])('of an entry that has become unfit, a form shows %s', (_, text, shown, paths) => {
  let now = typed;
  const document = { uri: { fsPath: '/desk/personas/shy.persona.yaml' }, getText: () => now } as never;
  itemsOf(document, kind, 'id', 0);
  now = text;
  const [item] = itemsOf(document, kind, 'id', 0).items;
  expect(item?.value ?? null).toEqual(shown && { ...fit, ...shown });
  expect((item?.errors ?? []).map(({ path }) => path)).toEqual(paths);
  expect(itemsOf({ ...(document as object) } as never, kind, 'id', 0).items[0]?.value ?? null).toBeNull();
});

test('of a long list, the entry that has become unfit keeps its form', () => {
  let now = long;
  const document = { uri: { fsPath: '/desk/personas/all.persona.yaml' }, getText: () => now } as never;
  itemsOf(document, kind, 'id', 2999);
  now = long.replace('- id: person-2999', '- id: ""');
  const found = itemsOf(document, kind, 'id', 2999).items[2999];
  expect(found).toMatchObject({ value: { id: '', description: 'Someone who is called person-2999.' } });
  expect(found?.errors).toMatchObject([{ path: ['id'] }]);
});
