import { expect, test } from 'vitest';
import { bundledStrip, errorLocation } from '../../../../src/engine/shell/workers/domainModules.ts';

test('the bundled stripper keeps lines and gives JavaScript', async () => {
  const strip = await bundledStrip();
  const code = strip(
    'type A = { a: number };\nimport type { B } from "b";\nexport const one: number = 1 as A["a"];\n',
    'x.ts',
  );
  expect(code.split('\n')[2]).toMatch(/^export const one\s*= 1\s*;$/);
  expect(code).not.toContain('"b"');
});

test.each([
  ['enum', 'const a = 1;\n  export enum E { A }\n', 2, 3],
  ['namespace declaration', 'export namespace N { export const x = 1; }\n', 1, 1],
])('the bundled stripper refuses an %s where the runtime does', async (kind, source, line, column) => {
  const strip = await bundledStrip();
  let caught: unknown;
  try {
    strip(source, 'x.ts');
  } catch (error) {
    caught = error;
  }
  expect(caught).toMatchObject({
    message: `TypeScript ${kind} is not supported in strip-only mode (${line}:${column})`,
    line,
    column,
  });
});

test('an error comes from the innermost file of the domain', () => {
  const error = new Error('x');
  error.stack =
    'Error: x\n    at node:internal/a:1:1\n    at run (file:///domains/a/more.ts:3:7)\n    at file:///domains/a/tools.ts:9:1';
  expect(errorLocation(error, '/domains/a')).toEqual({ file: '/domains/a/more.ts', line: 3, column: 7 });
  expect(errorLocation(error, '/domains')).toEqual({ file: '/domains/a/more.ts', line: 3, column: 7 });
  expect(errorLocation(error, '/other')).toBeNull();
  expect(errorLocation('text', '/domains/a')).toBeNull();
});
