import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writerTo } from '../../src/cli/main.ts';
import { fitted } from '../../src/cli/options/help.ts';
import { calledAs } from '../../src/cli/terminal/calledAs.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Returns the folder of an installed program, and one for PATH that leads to it. */
function installed() {
  const folder = temporaryFolder('called');
  const [own, path] = [join(folder, 'rehearsal.mjs'), join(folder, 'bin')];
  writeFileSync(own, '');
  mkdirSync(path);
  symlinkSync(own, join(path, 'rehearsal'));
  return { own, path };
}

test('commands in messages begin as a person can type them', () => {
  const { own, path } = installed();
  const other = installed();
  expect(calledAs({ PATH: `/nowhere:${path}` }, own)).toBe('rehearsal');
  expect(calledAs({ PATH: path, npm_command: 'exec' }, own)).toBe('npx rehearsal');
  expect(calledAs({ PATH: `${other.path}:${path}` }, own)).toBe('npx rehearsal');
  expect(calledAs({}, own)).toBe('npx rehearsal');
});

test('a text has the command of the installation, and JSON stays as it was recorded', () => {
  const written: string[] = [];
  const write = writerTo({ isTTY: false, write: (text) => written.push(String(text)) > 0 }, 'rehearsal');
  const json = '{"text":"npx rehearsal explain run"}\n';
  for (const text of ['explain its failures: npx rehearsal explain run\n', json]) write(text);
  expect(written).toEqual(['explain its failures: rehearsal explain run\n', json]);
});

test('a page of the documentation keeps its commands', () => {
  const written: string[] = [];
  const write = writerTo({ isTTY: false, write: (text) => written.push(String(text)) > 0 }, 'rehearsal');
  write('write `rehearsal` instead of `npx rehearsal`\n', true);
  expect(written).toEqual(['write `rehearsal` instead of `npx rehearsal`\n']);
});

test('no line of a help ends within the command', () => {
  const text = `${'word '.repeat(11)}\`npx rehearsal tools\` lists them.`;
  expect(fitted(text, 60)).toContain('\n`npx rehearsal tools`');
});
