import { expect, test } from 'vitest';
import { ServerOutput } from '../../../../src/engine/shell/mcp/serverOutput.ts';
import { beforeLastOutput, withLastOutput } from '../../../../src/engine/shell/processes/lastOutput.ts';

test.each([
  ['it died', '', 'it died; see a.yaml:5'],
  ['it died', ' \n', 'it died; see a.yaml:5'],
  ['it died', 'fatal: no\n', 'it died; see a.yaml:5. Its last output: fatal: no'],
  ['it died', 'a. Its last output: b', 'it died; see a.yaml:5. Its last output: a. Its last output: b'],
])('for %j and the output %j, the message shows the place first', (what, printed, read) => {
  expect(beforeLastOutput(withLastOutput(what, printed), '; see a.yaml:5')).toBe(read);
});

test.each([
  ["Error: Cannot find module '/desk/missing.mjs'", true],
  ["ModuleNotFoundError: No module named 'desk'", true],
  ['listening', false],
])('a long output with %j is shown from its last error on: %s', (line, isShown) => {
  const output = new ServerOutput();
  const stack = Array.from({ length: 20 }, (_, at) => `    at resolve (node:internal/modules/loader:${at}:1)\n`).join(
    '',
  );
  output.onStderr(`node:internal/modules:1\n  throw err;\n\n${line}\n${stack}\nNode.js v24\n`);
  expect(output.describe('It ended').includes(line)).toBe(isShown);
});
