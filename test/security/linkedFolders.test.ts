import { mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { addPack, personaPacks } from '../../src/engine/shell/domain/personaPack.ts';
import { smallDomain } from '../support/smallDomain.ts';
import { rehearsalIn } from '../support/terminal.ts';

// Folders of a domain that are links out of it.

const task = 'id: one\npersona: plain\nuser: { goal: Go. }\n';

/** Makes a domain with a link to an empty folder outside. */
function domainWith(link: string): { readonly folder: string; readonly outside: string } {
  const folder = smallDomain({}, task);
  const outside = `${folder}.outside`;
  mkdirSync(outside);
  symlinkSync(outside, join(folder, link));
  return { folder, outside };
}

test.each([
  ['a run', ['run', '.', 'one', '--agent', 'gold', '--user', 'scripted']],
  ['an evaluation', ['eval', '.', '--agent', 'gold', '--user', 'scripted']],
])('%s is not written through a link of the domain', async (_, argv) => {
  const { folder, outside } = domainWith('.rehearsal');
  const { code, err } = await rehearsalIn(folder, ...argv);
  expect(err).toMatch(
    /\.rehearsal: is a symbolic link to .*\.outside, outside of .*name the folder to write to with --out/,
  );
  expect(code).toBe(2);
  expect(readdirSync(outside)).toEqual([]);
});

test('doctor writes nothing through a link of the folder', async () => {
  const { folder, outside } = domainWith('.rehearsal');
  const { out } = await rehearsalIn(folder, 'doctor');
  expect(out).toMatch(/run folder.*\.rehearsal: is a symbolic link to/);
  expect(readdirSync(outside)).toEqual([]);
});

test('personas are not written through a folder that is a link of the domain', async () => {
  const { folder, outside } = domainWith('people');
  writeFileSync(join(folder, 'domain.yaml'), 'name: hall\nturnCap: 6\npersonas: people\n');
  const { code, err } = await rehearsalIn(folder, 'personas', '.', '--add', 'red-team');
  expect([code, err]).toEqual([2, expect.stringMatching(/people is a link to .*\.outside, outside of/)]);
  const [pack] = personaPacks();
  expect(() => pack && addPack(loadDomain(folder), pack)).toThrow(
    /people: is a symbolic link to .*\.outside, outside of .*Put a folder in its place$/,
  );
  expect(readdirSync(outside)).toEqual([]);
});

test('personas are written to a linked folder inside the domain', async () => {
  const folder = smallDomain({}, task);
  renameSync(join(folder, 'personas'), join(folder, 'people'));
  symlinkSync('people', join(folder, 'personas'));
  expect(await rehearsalIn(folder, 'personas', '.', '--add', 'red-team')).toMatchObject({ code: 0 });
  expect(readdirSync(join(folder, 'people'))).toContain('red-team.persona.yaml');
});
