import fc from 'fast-check';
import { expect, it } from 'vitest';
import { personaSchema } from '../../../../src/engine/core/domain/persona.ts';
import { edited } from '../../../../src/engine/shell/domain/fixes.ts';
import { partsOf } from '../../../../src/engine/shell/source/fileParts.ts';
import { parseItems, placeOf } from '../../../../src/engine/shell/source/items.ts';
import { desk, deskTools, load, shown } from '../load/domainFolder.ts';

const kind = { kind: 'persona', schema: 'persona', item: personaSchema } as const;
const persona = (id: string, more = '') => `- id: ${id}\n  description: Someone.\n${more}`;

it.each([
  ['two items', '- a: 1\n- b: 2\n', 2],
  ['comments and blank lines between', '# x\n\n- a: 1\n\n# y\n- b: 2\n', 2],
  ['one item', '- a: 1\n', 1],
  ['a map', 'a: 1\nb: 2\n', 1],
  ['a list below a key', 'rules:\n- a: 1\n- b: 2\n', 1],
  ['an anchor that another item uses', '- a: &x 1\n- b: *x\n', 1],
  ['two documents', '- a: 1\n---\n- b: 2\n', 1],
  ['an item without anything', '- a: 1\n-\n', 1],
])('%s: %j', (_, text, count) => {
  expect(partsOf({ file: 'parts', text })).toHaveLength(count);
});

it('the parts make up the file, and parts that did not change stay identical', () => {
  const text = ['a', 'b', 'c'].map((id) => persona(id)).join('\n');
  const before = partsOf({ file: 'same', text });
  expect(before.map(({ source }) => source.text).join('')).toBe(text);
  const after = partsOf({ file: 'same', text: text.replace('id: b', 'id: bb') });
  expect(after.map(({ source }, index) => source === before[index]?.source)).toEqual([true, false, true]);
  expect(after.map(({ line }) => line)).toEqual([0, 3, 6]);
});

it('an item and its findings and fixes have their places in the file', () => {
  const text = `# Everybody\n${persona('a')}\n${persona('b', '  stlye: brief\n')}\n${persona('c')}`;
  const { items, diagnostics } = parseItems({ file: 'f', text }, kind);
  const lines = text.split('\n');
  for (const item of items) {
    const { line, column, endColumn } = placeOf(item, 'id');
    expect(lines[line - 1]?.slice(column - 1, endColumn - 1)).toBe(item.value.id);
  }
  expect(items.map(({ path }) => path)).toEqual([[0], [2]]);
  const [found] = diagnostics;
  expect(lines[(found?.line ?? 0) - 1]).toBe('  stlye: brief');
  expect(edited(text, found?.fix?.edits ?? [])).toBe(text.replace('stlye', 'style'));
});

it('a broken item does not affect the others', () => {
  const files = { ...desk, 'personas/plain.persona.yaml': `${persona('plain')}\n- id: [\n\n${persona('other')}` };
  const loaded = load(files, deskTools);
  expect(loaded.domain.personas.map(({ id }) => id)).toEqual(['plain', 'other']);
  expect(shown(loaded)).toEqual(['personas/plain.persona.yaml:4:7 error persona/syntax']);
});

it('for any text, the items are those of the whole file', () => {
  const id = fc.stringMatching(/^[a-z]{1,6}$/);
  const more = fc.constantFrom('', '  style: brief\n', '\n', '  # remark\n', '  behaviours: { omits: true }\n');
  fc.assert(
    fc.property(fc.array(fc.tuple(id, more), { minLength: 2, maxLength: 6 }), (all) => {
      const text = all.map(([name, rest]) => persona(name, rest)).join('');
      const apart = parseItems({ file: 'apart', text }, kind);
      // An anchor keeps the file in one part.
      const together = parseItems({ file: 'whole', text: `${text}- id: last\n  description: &x Someone.\n` }, kind);
      const of = ({ items }: typeof apart) =>
        items.map((item) =>
          [item.value, item.path, placeOf(item).line, placeOf(item, 'id')].map((each) =>
            JSON.stringify(each).replace('apart', 'whole'),
          ),
        );
      expect(of(apart)).toEqual(of(together).slice(0, -1));
    }),
  );
});
