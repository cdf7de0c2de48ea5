import { expect, test } from 'vitest';
import { maskerOf } from '../../../src/authoring/masking/masker.ts';

/** Returns the masked texts of one conversation. */
function masked(...texts: readonly string[]): readonly string[] {
  const { text } = maskerOf({ seed: 'test' }).conversation(texts.map((value) => ({ value })));
  return texts.map(text);
}

const cards = ['4539148803436467', '4929 6710 0891 6262', '5181-2555-1482-1453'];
const before = ['', 'My card is ', '2 ', 'order, ', '10:30 ', '2026-05-01 '];
const behind =
  '| 12/27| 12/27 123| 12/2027| 12-27|, 12/27, 123| 123| 2026-05-01| 10:30| 49.90| 49,90| €49| EUR 49| 1|\t12/27\t123|/12';

test.each(cards)('a card is masked next to any other number: %s', (card) => {
  const left = before.flatMap((lead) =>
    behind.split('|').filter((rest) => {
      const [made = ''] = masked(`${lead}${card}${rest}`);
      return made.includes(card) || !made.startsWith(lead) || !made.endsWith(rest);
    }),
  );
  expect(left).toEqual([]);
});

test.each([' ', '/', ' / ', ', ', '\t', '\n', ' - '])('both of two cards are masked with %j between them', (sign) => {
  for (const [first, second] of [cards, cards.toReversed()]) {
    const [made = ''] = masked(`${first}${sign}${second}`);
    expect(made).not.toContain(first);
    expect(made).not.toContain(second);
    expect(made).toContain(sign);
  }
});

test.each([
  ['My card is 4539 1488 0343 6467', '4539148803436467'],
  ['Meine Steuer-ID ist 65 929 970 480', '65929970480'],
  ['My phone is 07911 483726', '07911483726'],
  ['My phone is 07911 483726', '+447911483726'],
  ['O meu CPF é 483.726.150-08', '48372615008'],
  ['My SSN is 212-48-3726', '212483726'],
])('a known value has its stand-in next to any other number: %s as %s', (said, value) => {
  const [, alone = ''] = masked(said, value);
  expect(alone).not.toBe(value);
  for (const [lead, rest] of [
    ['', ' 10:30'],
    ['', ' 2026-05-01'],
    ['', ' 3 items'],
    ['12 ', ' 3'],
    ['12345678 ', ''],
    ['', ' 12345678'],
    ['ID\t', '\t14/03/1981'],
  ])
    expect(masked(said, `${lead}${value}${rest}`)[1]).toBe(`${lead}${alone}${rest}`);
});

test.each([
  ['', '+44 7911 483726', ' 2 items please'],
  ['Rückruf ', '0171 4837261', ' 14:30'],
  ['14:30 ', '0171 4837261', ''],
  ['14/03/1981 ', '0171 4837261', ''],
  ['Ring ', '07911483726', ' 2 times'],
  ['', '06 48 37 26 15', ' 18'],
  ['', '+447911483726', '\t14/03/1981'],
  ['Hej, ', '19810314-4837', ' 2026-05-01'],
  ['my number is ', '12345678', ' 2 items'],
])('what is next to a number stays: %s%s%s', (lead, value, rest) => {
  const [made = ''] = masked(`${lead}${value}${rest}`);
  expect(made).not.toContain(value);
  expect(made.startsWith(lead) && made.endsWith(rest)).toBe(true);
  expect(made.replace(/\d/g, '0')).toBe(`${lead}${value}${rest}`.replace(/\d/g, '0'));
});

test.each(['call me on 07394 545286 07292 984227', '079 495 44 55 079 962 63 84', '0171 4837261 089 1234567'])(
  'both of two phone numbers are masked: %s',
  (text) => {
    expect(masked(text)[0]).not.toMatch(/545286|984227|495 44|962 63|4837261|1234567/);
  },
);

test('a phone and a date of birth in one row have the stand-ins that they have elsewhere', () => {
  const [, phone, date, row] = masked(
    'born on 14 March 1981',
    '+447911483726',
    '14/03/1981',
    '+447911483726\t14/03/1981',
  );
  expect(row).toBe(`${phone}\t${date}`);
  expect(row).not.toMatch(/7911483726|1981/);
});

test.each([
  'mi móvil es 676 799 546',
  'Llámame al 676 799 546, por favor',
  'mój numer komórki to 518 575 832',
  'Proszę dzwonić: 518 575 832',
  'Volejte 604 333 689',
  '676 799 546 ist meine Nummer',
  'Volejte 604 333 689 / 602 483 726',
])('a mobile phone in groups of three is masked: %s', (text) => {
  expect(masked(text)[0]).not.toMatch(/676 799|518 575|604 333|602 483/);
});

test.each([
  '676 799 546 €',
  '€ 676 799 546',
  'CZK 604 333 689',
  '676 799 546 km',
  'budget 600 000 000',
  '12 676 799 546',
  '676 799 546 123',
  '112 345 678',
])('an amount in groups of three stays: %s', (text) => {
  expect(masked(text)).toEqual([text]);
});

test.each(['736028/5163', '65929970489', '86 095 742 719', '198103142389'])(
  'a number of a person is known by its check digits: %s',
  (value) => {
    expect(masked(`x ${value}`)[0]).not.toContain(value);
    const last = (Number(value.at(-1)) + 1) % 10;
    const other = `x ${value.slice(0, -1)}${last}`;
    expect(masked(other)[0]).toBe(other);
  },
);

test.each(['1 ', '1', '1/', '4111 ', '0171 ', '676 ', '12-34 '])(
  'a run of %j is read in a time that grows with it',
  (part) => {
    const secondsFor = (count: number) => {
      const started = process.cpuUsage();
      masked('my phone is 0171 4837261', part.repeat(count));
      return process.cpuUsage(started).user / 1e6;
    };
    secondsFor(500);
    expect(secondsFor(8000)).toBeLessThan(8 * (secondsFor(2000) + 0.02));
  },
);

test('a phone number with a slash has the digits of its other spellings', () => {
  const pieces = [{ value: 'Meine Nummer: 0171/4837261' }, { value: '+49 171 4837261; 0171-48 37 261; 01714837261' }];
  const { text } = maskerOf({ seed: 's' }).conversation(pieces);
  const spelled = pieces.flatMap(({ value }) =>
    text(value)
      .replace(/[^\d;]/g, '')
      .split(';'),
  );
  expect(new Set(spelled.map((digits) => digits.slice(-10)))).toHaveLength(1);
  expect(spelled.join()).not.toContain('4837261');
});
