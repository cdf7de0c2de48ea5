import { expect, test } from 'vitest';
import { beforeLastOutput, withLastOutput } from '../../../src/engine/shell/lastOutput.ts';

test.each([
  ['it died', '', 'it died; see a.yaml:5'],
  ['it died', ' \n', 'it died; see a.yaml:5'],
  ['it died', 'fatal: no\n', 'it died; see a.yaml:5. Its last output: fatal: no'],
  ['it died', 'a. Its last output: b', 'it died; see a.yaml:5. Its last output: a. Its last output: b'],
])('of %j and the printed %j a person reads the place first', (what, printed, read) => {
  expect(beforeLastOutput(withLastOutput(what, printed), '; see a.yaml:5')).toBe(read);
});
