import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { loadCommands } from '../../src/cli/commands.ts';

const commands = await loadCommands();
const pageOf = (name: string) => readFileSync(inRoot('docs', name), 'utf8');
const pages = globSync('training-*.md', { cwd: inRoot('docs') });

/** The commands in the code blocks of a page, with their continued lines. */
const commandsOf = (page: string): readonly string[] =>
  [...pageOf(page).matchAll(/^```(?:console|sh)?\n(.*?)^```/gms)].flatMap(([, block = '']) =>
    block
      .replaceAll('\\\n', ' ')
      .split('\n')
      .flatMap((line) => /^(?:\$ )?rehearsal (.+)/.exec(line)?.[1] ?? []),
  );

test('docs/overview.md links every page of docs/', () => {
  const overview = pageOf('overview.md');
  const others = globSync('*.md', { cwd: inRoot('docs') }).filter((page) => !/^(?:index|overview)\.md$/.test(page));
  expect(others.filter((page) => !overview.includes(`(${page}`))).toEqual([]);
});

test.each(pages)('%s has commands and options that exist', (page) => {
  const wrong = commandsOf(page).filter((line) => {
    const [, name] = /^(\S+)/.exec(line) ?? [];
    const command = commands.find((each) => each.name === name);
    const options = [...line.replace(/ #.*/, '').matchAll(/ --([a-z-]+)/g)].map(([, option]) => option);
    return command === undefined || options.some((option) => !command.help.includes(`--${option}`));
  });
  // The options of docker are in a list of arguments, which --python takes.
  expect(wrong.filter((line) => !line.includes('"docker"') && !line.includes('"apptainer"'))).toEqual([]);
});

test.each(pages)('%s has commands that run without a clone', (page) => {
  expect(commandsOf(page).filter((line) => line.includes('domains/'))).toEqual([]);
});

test('the two pages with the results of training have the same figures', () => {
  const rows = (page: string) =>
    pageOf(page)
      .match(/^\| SFT.*of 512 .*$/gm)
      ?.slice(0, 2)
      .map((row) => row.replace(/ +/g, ' ').trim());
  expect(rows('performance.md')).toEqual(rows('training-results.md'));
});
