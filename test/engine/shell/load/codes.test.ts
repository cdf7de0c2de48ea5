import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inRoot } from '../../../../scripts/repository.ts';
import { soundness } from '../../../../src/engine/shell/domain/soundness.ts';

const kinds = [
  'domain',
  'policy',
  'rule',
  'phrase',
  'persona',
  'task',
  'database',
  'tool',
  'agent',
  'experiment',
  'training',
];
const page = readFileSync(inRoot('docs/diagnostics.md'), 'utf8');
const text = [
  ...['source', 'load', 'checks', 'domain', 'audit'].flatMap((name) => {
    const folder = inRoot(`src/engine/shell/${name}`);
    return readdirSync(folder).map((file) => join(folder, file));
  }),
  ...[
    'src/cli/experiment/experimentFile.ts',
    'src/engine/core/domain/policy.ts',
    'src/engine/shell/domain/check.ts',
    'src/engine/shell/workers/domainModules.ts',
    'src/language/service/mostImportant.ts',
  ].map((path) => inRoot(path)),
]
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

/** The codes in the source. A placeholder such as `{kind}` matches any word. */
const emitted = [
  ...new Set(
    [...text.matchAll(/['`]([^'`\s/]+\/[^'`\s/]+)['`]/g)]
      .map(([, code = '']) => code.replace(/\$\{[^}]*\}/g, '[a-z-]+'))
      .filter((code) => new RegExp(`^(?:${kinds.join('|')}|\\[a-z-\\]\\+)/[a-z[\\]+-]+$`).test(code)),
  ),
];
const explained = [...page.matchAll(/`([a-z*]+\/[a-z-]+)`/g)].flatMap(([, code = '']) =>
  code.startsWith('*') ? kinds.map((kind) => code.replace('*', kind)) : [code],
);
/** The code that the describers of values put together from a kind and a word. */
const anything = '[a-z-]+/[a-z-]+';

it('every code of a finding is explained in docs/diagnostics.md', () => {
  expect(emitted.filter((code) => !explained.some((each) => new RegExp(`^${code}$`).test(each)))).toEqual([]);
  expect(emitted.length).toBeGreaterThan(60);
});

it('every code that docs/diagnostics.md explains is emitted', () => {
  const isEmitted = (code: string) => {
    const [, word = ''] = code.split('/');
    const isPutTogether = text.includes(`'${word}'`) && emitted.includes(anything);
    return isPutTogether || emitted.some((each) => each !== anything && new RegExp(`^${each}$`).test(code));
  };
  expect(explained.filter((code) => !isEmitted(code))).toEqual([]);
});

it('every row has an example and a fix', () => {
  const rows = page.split('\n').filter((line) => /^\| `[a-z*]+\//.test(line));
  const cells = rows.map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()));
  expect(cells.filter((row) => row.length !== 6 || row.slice(1, 5).some((cell) => cell === ''))).toEqual([]);
  expect(cells.length).toBeGreaterThan(50);
});

it('the page lists the sixteen kinds in order, each with its codes', () => {
  const sections = page.split(/^### /m).slice(1);
  expect(sections.map((section) => section.split(':')[0])).toEqual(Object.keys(soundness));
  const missing = Object.entries(soundness).flatMap(([name, codes], index) =>
    codes.filter((code) => !sections[index]?.includes(`\`${code}\``)).map((code) => `${name} ${code}`),
  );
  expect(missing).toEqual([]);
});
