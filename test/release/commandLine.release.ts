import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emptyFolder, partOf, run, targetsIn } from './parts.ts';

/** The command line as npm installs it, in a folder outside of the repository. */
const folder = emptyFolder();
const rehearsal = (...args: readonly string[]) => run(folder, join(folder, 'node_modules/.bin/rehearsal'), args);

beforeAll(() => {
  const { code, output } = run(folder, 'npm', ['install', '--offline', '--no-audit', '--no-fund', partOf('.tgz')]);
  expect(output).toContain('added 1 package');
  expect(code).toBe(0);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('it has no file of the editor and nothing of the sources', () => {
  const installed = join(folder, 'node_modules', 'rehearsal');
  expect(readdirSync(installed).toSorted()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'bin',
    'dist',
    'docs',
    'domains',
    'package.json',
    'templates',
    'trainer',
  ]);
  const modules = readdirSync(join(installed, 'dist'));
  expect(modules).toContain('THIRD-PARTY-NOTICES.txt');
  expect(modules.filter((name) => /^(?:extension|language|webview)\./.test(name))).toEqual([]);
});

test.each(['README.md', 'CHANGELOG.md'])('the links of its %s are absolute', (file) => {
  const page = readFileSync(join(folder, 'node_modules', 'rehearsal', file), 'utf8');
  expect(targetsIn(page).relative).toEqual([]);
});

test.each([
  [['new', 'desk', '--template', 'support-desk'], 0, 'desk'],
  [['check', 'desk', '--audit'], 0, ''],
  [['eval', 'desk', '--out', 'run', '--gate', 'reward>=1'], 0, 'reward'],
  [['report', 'run', '--html', 'report.html'], 0, ''],
  [['verify', 'run'], 0, ''],
  [['eval', 'desk', '--tasks', 'nothing'], 2, 'nothing'],
] as const)('rehearsal %j', (args, code, words) => {
  const result = rehearsal(...args);
  expect(result.output).toContain(words);
  expect(result.code).toBe(code);
});

test('it prints a page of the documentation', () => {
  expect(rehearsal('help', 'docs/rule-language')).toMatchObject({ code: 0, output: expect.stringMatching(/^# /) });
});

test('the five minutes of the README work in a terminal', () => {
  expect(rehearsal('new', 'order-desk', '--sample', 'order-desk').code).toBe(0);
  const script = ['continue', 'edit message "I can change the lamp to white. Shall I do that?"', 'continue'];
  writeFileSync(join(folder, 'minutes.txt'), script.join('\n'));
  const { code, output } = rehearsal('debug', 'order-desk', 'lamp-variant', '--script', 'minutes.txt');
  expect(code).toBe(0);
  const readme = readFileSync(join(folder, 'node_modules', 'rehearsal', 'README.md'), 'utf8');
  const [block = ''] = /(?<=^```\n)\$ rehearsal new[^`]*/m.exec(readme) ?? [];
  const printed = block.split('\n').filter((line) => line !== '' && !/^(?:\$|debug>|\.\.\.)/.test(line));
  expect(printed).toHaveLength(2);
  for (const line of printed) expect(output).toContain(line);
});
