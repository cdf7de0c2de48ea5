import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { edited } from '../../src/engine/shell/domain/fixes.ts';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { answer } from '../../src/language/answer.ts';
import { renameAt } from '../../src/language/rename.ts';
import { readExpression, tokensOf } from '../../src/language/symbols/expressionText.ts';
import type { LanguageDomain } from '../../src/language/symbols/languageDomain.ts';
import { referencesOfFile } from '../../src/language/symbols/symbols.ts';
import { placeOfSpan } from '../../src/language/symbols/text.ts';
import { runs } from '../support/runs.ts';
import { sampled } from '../support/suite.ts';

const desks = ['parcel-desk', 'order-desk', 'help-line'];
const open = (desk: string): LanguageDomain => ({ loaded: loadDomain(inRoot('domains', desk)), described: new Map() });

it.each(sampled(desks, 2))('%s: the range of every mention has the words that it names', (desk) => {
  const domain = open(desk);
  let count = 0;
  for (const [file, { source }] of domain.loaded.parts.texts) {
    for (const { kind, name, from, to } of referencesOfFile(domain, file)) {
      const last = ['field', 'row'].includes(kind)
        ? name.slice(name.search(/[^:.]*$/))
        : kind === 'argument'
          ? (name.split('.')[1] ?? '')
          : name;
      const words = source.text.slice(from, to).replace(/\\"/g, '"');
      expect(`${kind} ${words}`).toBe(`${kind} ${kind === 'row' ? words : last}`);
      if (kind === 'row') expect(name.endsWith(words)).toBe(true);
      count++;
    }
  }
  expect(count).toBeGreaterThan(300);
});

it.each(sampled(desks, 4))(
  '%s: every tool, rule, persona and fact can be renamed, and nothing is found afterwards',
  (desk) => {
    const domain = open(desk);
    const seen = new Set<string>();
    for (const [file, { source }] of domain.loaded.parts.texts) {
      for (const { kind, name, from, to } of referencesOfFile(domain, file)) {
        if (!['tool', 'rule', 'persona', 'fact', 'field'].includes(kind) || seen.has(`${kind} ${name}`)) continue;
        seen.add(`${kind} ${name}`);
        const { line, column } = placeOfSpan(source, { from, to });
        const to_ = kind === 'rule' || kind === 'persona' ? 'another-name' : 'another_name';
        const renaming = renameAt(domain, { file, line, column }, to_);
        if ('refusal' in renaming) expect.fail(`${kind} ${name}: ${renaming.refusal}`);
        const byFile = Map.groupBy(renaming.edits, (edit) => edit.file);
        const texts = [...byFile].map(
          ([path, edits]) => [path, edited(domain.loaded.parts.texts.get(path)?.source.text ?? '', edits)] as const,
        );
        const { diagnostics } = loadDomain(domain.loaded.folder, { overlay: new Map(texts) });
        // Renaming a fact causes findings, because the argument with the same name keeps its name.
        const found = diagnostics.filter(({ severity }) => severity === 'error' && kind !== 'fact' && kind !== 'field');
        expect(found.map(({ message }) => `${kind} ${name}: ${message}`)).toEqual([]);
      }
    }
    expect(seen.size).toBeGreaterThan(10);
  },
);

it('reads every expression to its end', () => {
  const pieces = fc.constantFrom(
    'db',
    '.orders',
    '[',
    ']',
    '(',
    ')',
    'any(',
    ',',
    ' x ',
    '"W1"',
    '"',
    '==',
    ' in ',
    'it',
    '.tool',
    'last(',
    ' and ',
    '1',
    '.',
    'args',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 25 }), (all) => {
      const text = all.join('');
      const { paths, toolTexts } = readExpression(text);
      for (const { from, to } of [...toolTexts, ...tokensOf(text)]) expect(text.slice(from, to).length).toBe(to - from);
      for (const { root, parts } of paths) {
        expect(text.slice(root.from, root.to)).toBe(root.text);
        for (const { segment, from, to } of parts) if (to > from) expect(text.slice(from, to)).toBe(String(segment));
      }
    }),
    { numRuns: runs(125) },
  );
});

it.each(['tasks/returns.task.yaml', 'rules.yaml', 'policy.md', 'domain.yaml'])(
  '%s: every question has an answer at every place, whole or cut off',
  (path) => {
    const domain = open('order-desk');
    const file = inRoot('domains', 'order-desk', path);
    const { text } = domain.loaded.parts.texts.get(file)?.source ?? { text: '' };
    fc.assert(
      fc.property(fc.nat(text.length), fc.boolean(), (offset, isCut) => {
        const overlay = new Map([[file, isCut ? text.slice(0, offset) : text]]);
        const now: LanguageDomain = isCut
          ? { loaded: loadDomain(domain.loaded.folder, { overlay }), described: new Map() }
          : domain;
        const before = text.slice(0, offset).split('\n');
        const at = { file, line: before.length, column: (before.at(-1) ?? '').length + 1 };
        for (const type of ['completion', 'hover', 'definition', 'highlights', 'renamable'] as const)
          answer(now, { type, at });
        for (const type of ['links', 'tokens', 'outline', 'folds', 'format', 'tasks', 'rules'] as const)
          answer(now, { type, file });
      }),
      { numRuns: runs(10) },
    );
  },
);
