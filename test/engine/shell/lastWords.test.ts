import { expect, test } from 'vitest';
import { beforeLastWords, withLastWords } from '../../../src/engine/shell/lastWords.ts';

test.each([
  ['it died', '', 'it died; see a.yaml:5'],
  ['it died', ' \n', 'it died; see a.yaml:5'],
  ['it died', 'fatal: no\n', 'it died; see a.yaml:5. Its last words: fatal: no'],
  ['it died', 'a. Its last words: b', 'it died; see a.yaml:5. Its last words: a. Its last words: b'],
])('of %j and the printed %j a person reads the place first', (what, printed, read) => {
  expect(beforeLastWords(withLastWords(what, printed), '; see a.yaml:5')).toBe(read);
});
