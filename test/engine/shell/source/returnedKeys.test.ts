import { expect, it } from 'vitest';
import { returnedKeys } from '../../../../src/engine/shell/source/returnedKeys.ts';
import { scanTools } from '../../../../src/engine/shell/source/scan.ts';

/** Returns the fields that a tool with this function returns. */
function keys(run: string): readonly string[] | null {
  const text = `import { defineTools } from 'rehearsal';
const { tool } = defineTools<{ agent: object }>();
export const first = tool({ effect: 'read', description: 'Says "(".', input: z.object({}), ${run} });
export const second = tool({ effect: 'read', input: z.object({}), run: () => ({ other: 1 }) });
`;
  const found = returnedKeys(scanTools('/d', { file: '/d/tools.ts', text }), 'first');
  return found && [...found];
}

it.each<[string, readonly string[]]>([
  ['run: () => ({ a: 1, b })', ['a', 'b']],
  ['run: async ({ id }, { db }) => ({ id, row: db.rows[id] }),', ['id', 'row']],
  ["run: ({ id }) => { if (!id) return { a: { b: [1, 2] } };\n return { c: '}' }; }", ['a', 'c']],
  ['run: (): object => ({ a: 1 })', ['a']],
  ["run: () => 'ok'", []],
  ['run: () => { return `made ${1 + (2)}`; }', []],
  ['run({ id }) { return { id }; }', ['id']],
])('the fields are known: %s', (run, fields) => {
  expect(keys(run)).toEqual(fields);
});

it.each([
  'run: ({ id }, { db }) => db.rows[id]',
  'run: () => ({ ...row(), a: 1 })',
  'run: () => ({ [name]: 1 })',
  'run: () => { return row(); }',
  "run: () => { if (a) return { a }; return b ? { b } : 'ok'; }",
  'run: () => ({ a: 1 }).a',
  'run: () => { db.a = 1; }',
  'run: () => { return { a: 1 } as Json; }',
  'run: () => { const at = text.search(/[)}]/); return { at }; }',
  'run: find',
  'run: () => 1',
])('the fields are not known: %s', (run) => {
  expect(keys(run)).toBeNull();
});

it('the brackets of a later declaration do not count', () => {
  const text = `export const first = tool({ effect: 'read', input: z.object({}), run: () => ({ a: 1 }) });
const brackets = /[)}]/;
`;
  expect(returnedKeys(scanTools('/d', { file: '/d/tools.ts', text }), 'first')).toEqual(new Set(['a']));
});
