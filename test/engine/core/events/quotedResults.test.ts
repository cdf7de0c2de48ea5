import { expect, test } from 'vitest';
import { isFilled } from '../../../../src/engine/core/events/quotedResults.ts';
import type { Json } from '../../../../src/engine/core/values/json.ts';

const written = { note_id: '{result.note_id}', also: ['{result.note.id}', 'N1'], text: 'tea' };

test.each<[string, Json, boolean]>([
  ['results in place of quotes', { note_id: 'N7', also: [{ of: 5 }, 'N1'], text: 'tea' }, true],
  ['quotes of nothing', written, true],
  ['another value', { note_id: 'N7', also: ['N7', 'N1'], text: 'milk' }, false],
  ['another element', { note_id: 'N7', also: ['N7', 'N2'], text: 'tea' }, false],
  ['an argument more', { ...written, all: true }, false],
  ['another name', { noteId: 'N7', also: ['N7', 'N1'], text: 'tea' }, false],
  ['an object in place of a list', { ...written, also: { 0: 'N7', 1: 'N1' } }, false],
  ['no arguments', {}, false],
])('arguments with %s', (_, value, expected) => {
  expect(isFilled(written, value)).toBe(expected);
});
