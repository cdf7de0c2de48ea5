import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { attacks } from './attacks.ts';
import { dataAttacks } from './dataAttacks.ts';
import { forgedPromise } from './forgeries.ts';

// Every promise of docs/security.md links to its test, and the link's title is the name of the test.

const page = inRoot('docs', 'security.md');
const text = readFileSync(page, 'utf8');
const tampering = readFileSync(inRoot('docs', 'security-tampering.md'), 'utf8');

/** Returns the items of the lists that `**Promises: …**` introduces. */
const promises = [...text.matchAll(/^\*\*Promises: .*\*\*\n\n((?:- .*\n)+)/gm)].flatMap(([, list = '']) =>
  list.trimEnd().split('\n'),
);
/** Returns the cells of the table of attackers, without its first column. */
const cells = [...text.matchAll(/^\| (?:An? |Model).*$/gm)].flatMap(([line]) => line.split(' | ').slice(1));
type Link = { readonly file: string; readonly name: string | undefined };
const linksIn = (part: string): readonly Link[] =>
  [...part.matchAll(/\[test\]\(([^ )]+)(?: "([^"]*)")?\)/g)].map(([, file = '', name]) => ({ file, name }));

test('every section that promises something has a list of promises, each with a test', () => {
  const sections = text.split(/^## /m).filter((section) => section.includes('**Promises: '));
  const titles = sections.map((section) => section.split('\n')[0]);
  expect(titles).toEqual(['The sandbox', 'Approval', 'Keys', 'Recordings and rewards', 'Input']);
  expect(promises.length).toBeGreaterThan(40);
  expect(promises.filter((promise) => linksIn(promise).length === 0)).toEqual([]);
});

test('each promise that an attack tries to break is on the page', () => {
  const broken = new Set([...attacks, ...dataAttacks].map(({ promise }) => promise)).add(forgedPromise);
  expect([...broken].filter((promise) => !promises.some((each) => each.startsWith(`- ${promise} (`)))).toEqual([]);
});

test('each promise of the table of attackers links to its test, or is that of the column before', () => {
  const rest = cells.filter((cell) => linksIn(cell).length === 0);
  expect(cells).toHaveLength(15);
  expect(rest.filter((cell) => !/^(?:The same|Nothing listens)/.test(cell))).toEqual([]);
});

const all = linksIn(text + tampering).map(({ file, name }) => [file, name] as const);

test('docs/security-tampering.md says how many kills the suites make', () => {
  const [, full = ''] = /REHEARSAL_KILLS: '(\d+)'/.exec(readFileSync(inRoot('scripts', 'test.ts'), 'utf8')) ?? [];
  const [, usual = ''] =
    /REHEARSAL_KILLS'\] \?\? (\d+)/.exec(readFileSync(inRoot('test', 'cli', 'kills.test.ts'), 'utf8')) ?? [];
  expect(Number(full)).toBeGreaterThanOrEqual(30);
  expect(tampering).toContain(`a worker ${full} times`);
  expect(tampering).toContain(`\`npm test\` kills ${usual}.`);
});

test.each(all)('%s has a test or a row that is called "%s"', (file, name) => {
  const path = join(dirname(page), file);
  expect(existsSync(path)).toBe(true);
  expect(namesIn(readFileSync(path, 'utf8'))).toContain(name);
});

/** Returns the strings of a test file that begin a list of arguments, a row of a table or a property of a row. */
function namesIn(source: string): readonly string[] {
  return [...source.matchAll(/[([:]\s*(?:'((?:[^'\\\n]|\\.)*)'|"([^"\n]*)"|`([^`]*)`)/g)].map(
    ([, single, double, template]) => single?.replace(/\\(.)/g, '$1') ?? double ?? template ?? '',
  );
}

test('a name that no test has is found out', () => {
  expect(namesIn(`test.each([['a row', 1]])('a %s', () => undefined); // 'a comment'`)).toEqual(['a row', 'a %s']);
});
