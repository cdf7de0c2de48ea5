import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { applyFixes, edited } from '../../../../src/engine/shell/domain/fixes.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import type { Diagnostic, Edit } from '../../../../src/engine/shell/files/diagnostic.ts';
import { parseYaml } from '../../../../src/engine/shell/source/yaml.ts';
import { desk, folderOf } from '../load/domainFolder.ts';

const edit = (line: number, column: number, endColumn: number, text: string, file = 'f'): Edit => {
  return { file, line, column, endLine: line, endColumn, text };
};
const finding = (...edits: readonly Edit[]): Diagnostic => {
  const [at = edit(1, 1, 1, '')] = edits;
  return { ...at, code: 'task/unknown-tool', severity: 'error', message: '', fix: { title: '', edits } };
};

it.each([
  ['a word', [edit(2, 1, 4, 'TWO')], 'one\nTWO\nthree'],
  ['an insertion behind the end', [edit(3, 6, 6, '\nfour')], 'one\ntwo\nthree\nfour'],
  ['several, whatever their order', [edit(3, 1, 6, '3'), edit(1, 1, 4, '1')], '1\ntwo\n3'],
  ['of two that overlap the first', [edit(1, 1, 3, 'X'), edit(1, 2, 4, 'Y')], 'Xe\ntwo\nthree'],
])('edits %s', (_, edits, text) => {
  expect(edited('one\ntwo\nthree', edits)).toBe(text);
});

it('applies a fix completely or leaves it for the next round, and keeps line endings', () => {
  const folder = folderOf({ 'a.txt': 'one\r\ntwo\r\n' });
  const file = join(folder, 'a.txt');
  const mended = applyFixes([
    finding(edit(1, 1, 4, '1', file)),
    finding(edit(1, 2, 3, 'x', file), edit(2, 1, 4, 'y', file)),
    finding(edit(2, 1, 4, '2', file)),
  ]);
  expect(mended).toMatchObject({ mended: [{ file }, { file }], files: [file] });
  expect(readFileSync(file, 'utf8')).toBe('1\r\n2\r\n');
});

it('an entry that is added to a map or list of any form is in it afterwards, and nothing else has changed', () => {
  const forms = [
    'id: a\nlist: [x, y]\nmap: { k: 1 }\n',
    'id: a # a remark\nlist:\n  - x\n  - y\nmap:\n  k: 1\n',
    '- id: a\n  list: []\n  map: {}\n',
    'list:\n- x\nmap:\n  k:\n    deep: 1\nid: a',
  ];
  const cases = fc.record({ form: fc.constantFrom(...forms), where: fc.constantFrom('root', 'list', 'map') });
  fc.assert(
    fc.property(cases, ({ form, where }) => {
      const { value, places } = parseYaml({ file: 'f', text: form }, 'task');
      const base = Array.isArray(value) ? [0] : [];
      const path = where === 'root' ? base : [...base, where];
      const made = places.insert(path, where === 'list' ? 'new' : 'new: 2');
      const after = parseYaml({ file: 'f', text: edited(form, made ? [made] : []) }, 'task');
      expect(after.problem).toBeNull();
      const own = (of: unknown) => (Array.isArray(of) ? of[0] : of) as { list: string[]; map: object; new?: number };
      const [one, other] = [own(value), own(after.value)];
      if (where === 'root') expect(other).toEqual({ ...one, new: 2 });
      else if (where === 'map') expect(other).toEqual({ ...one, map: { ...one.map, new: 2 } });
      else expect({ ...other, list: other.list.toSorted() }).toEqual({ ...one, list: [...one.list, 'new'].toSorted() });
    }),
  );
});

it.each([
  ['does not know', '{}', 'unknown: []', 'Let the user know order'],
  ['knows otherwise', '{ order: W1 }', 'unknown: []', undefined],
  ['is sure not to know', '{}', 'unknown: [order]', undefined],
])('a fix for a value that the user %s is offered only if it makes the task valid', (_, known, unknown, title) => {
  const folder = folderOf({
    ...desk,
    'tasks/told.task.yaml': `- id: told
  persona: plain
  user: { goal: Cancel the order., known: ${known}, ${unknown} }
  actions:
    - { tool: cancel_order, arguments: { order: W2 } }
`,
  });
  const found = loadDomain(folder).diagnostics.filter(({ code }) => code === 'task/untold-argument');
  expect(found.map(({ fix }) => fix?.title)).toEqual([title]);
});

it('the schema of a simulated tool is checked before anything runs, and fixed', () => {
  const tool = 'name: find_weather\ndescription: Weather.\nbehaviour: Sunny.\n';
  const folder = folderOf({
    ...desk,
    'tools/weather.tool.yaml': `${tool}parameters: { type: object, properties: { day: { type: string } } }\n`,
  });
  const strict = () => loadDomain(folder).diagnostics.filter(({ code }) => code === 'tool/strict-schema');
  expect(strict().map(({ fix }) => fix?.title)).toEqual(['Require every argument']);
  applyFixes(strict());
  expect(strict()).toEqual([]);
});
