import { expect, test } from 'vitest';
import { loadCommands } from '../../../src/cli/commands.ts';
import { fitted, unbroken } from '../../../src/cli/options/help.ts';

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

test('lines that the source of a text breaks are joined, and descriptions stay in their column', () => {
  const paragraph = `${'word '.repeat(23)}last\nof a paragraph.`;
  const list = `  one                ${'of '.repeat(32)}a\n                     description\n  two                short\nThe end.`;
  expect(unbroken(`${paragraph}\n\n${list}`).split('\n')).toHaveLength(5);
  const [first = '', second, , ...rest] = fitted(unbroken(`${paragraph}\n\n${list}`), 80).split('\n');
  expect([first, second]).toEqual(['word '.repeat(16).trim(), `${'word '.repeat(7)}last of a paragraph.`]);
  expect(rest.pop()).toBe('The end.');
  expect(rest.map((line) => line.search(/(?<=^ {2}\w+ +| {20,})\S/))).toEqual([21, 21, 21]);
});

test.each([undefined, 200, 20])('help has 120 columns in a terminal with %j', (columns) => {
  expect(helps.map((help) => fitted(help, columns))).toEqual(helps.map((help) => fitted(help, 120)));
});
