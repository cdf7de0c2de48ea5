import { expect, test } from 'vitest';
import { birthDatesIn } from '../../../src/authoring/masking/dates.ts';

test.each([
  ['a day that no month has', 'I was born on 45/03/1984.', '45/03/1984'],
  ['a month that no year has', 'DOB: 1984-13-45', '1984-13-45'],
  ['a misspelled month', 'My birthday is 14 Marhc 1984', '14 Marhc 1984'],
  ['a misspelled month first', 'born on Marhc 14th, 1984', 'Marhc 14th, 1984'],
  ['a month of another calendar', 'geboren am 14. Brumaire 1984', '14. Brumaire 1984'],
  ['a misspelled month before the word', 'Ich bin am 14 Marhc 1984 geboren.', '14 Marhc 1984'],
  ['a date, once', 'born on 14 March 1984', '14 March 1984'],
])('a date of birth is found with %s', (_, text, value) => {
  expect(birthDatesIn(text).map(({ start, end }) => text.slice(start, end))).toEqual([value]);
});
