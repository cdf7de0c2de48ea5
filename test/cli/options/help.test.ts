import { expect, test } from 'vitest';
import { loadCommands } from '../../../src/cli/commands.ts';
import { fitted } from '../../../src/cli/options/help.ts';

const helps = (await loadCommands()).map(({ help }) => help);
const wordsOf = (text: string) => text.split(/\s+/);

test.each([50, 60, 80, 100, 119])('help is wrapped between words for %d columns', (columns) => {
  for (const help of helps) {
    const text = fitted(help, columns);
    expect(wordsOf(text)).toEqual(wordsOf(help));
    const long = text.split('\n').filter((line) => line.length > columns);
    expect(long.filter((line) => line.slice(21).trim().includes(' '))).toEqual([]);
  }
});

test('lines that were broken at 120 columns are filled again, and descriptions stay in their column', () => {
  const help = `${'word '.repeat(23)}last
of a paragraph.
  --name NAME        ${'of '.repeat(32)}a
                     description`;
  const [first = '', second, ...rest] = fitted(help, 80).split('\n');
  expect([first, second]).toEqual(['word '.repeat(16).trim(), `${'word '.repeat(7)}last of a paragraph.`]);
  expect(rest.map((line) => line.search(/(?<=^ {2}--name NAME +| {20,})\S/))).toEqual([21, 21]);
});

test.each([undefined, 120, 200, 20])('help is unchanged for %j columns', (columns) => {
  expect(helps.map((help) => fitted(help, columns))).toEqual(helps);
});
