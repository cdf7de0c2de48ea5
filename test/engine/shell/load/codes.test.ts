import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inRoot } from '../../../../scripts/repository.ts';

const kinds = 'domain|policy|rule|persona|task|database|tool';

it('every code of a finding is explained in docs/diagnostics.md', () => {
  const folder = inRoot('src/engine/shell/load');
  const inFolder = readdirSync(folder).map((name) => join(folder, name));
  const files = [...inFolder, inRoot('src/engine/core/policy.ts'), inRoot('src/engine/shell/check.ts')];
  const text = files.map((file) => readFileSync(file, 'utf8')).join('\n');
  const written = [...text.matchAll(/['`]([^'`\s/]+\/[^'`\s/]+)['`]/g)].map(([, code = '']) => code);
  // A slot such as {kind} stands for any word.
  const codes = written
    .map((code) => code.replace(/\$\{[^}]*\}/g, '[a-z-]+'))
    .filter((code) => new RegExp(`^(?:${kinds}|\\[a-z-\\]\\+)/[a-z[\\]+-]+$`).test(code));
  const page = readFileSync(inRoot('docs/diagnostics.md'), 'utf8');
  const explained = [...page.matchAll(/`([a-z*]+\/[a-z-]+)`/g)].flatMap(([, code = '']) =>
    code.startsWith('*') ? kinds.split('|').map((kind) => code.replace('*', kind)) : [code],
  );
  expect(codes.filter((code) => !explained.some((each) => new RegExp(`^${code}$`).test(each)))).toEqual([]);
  expect(codes.length).toBeGreaterThan(40);
});
