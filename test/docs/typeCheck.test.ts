import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../../scripts/process.ts';
import { inRoot, root } from '../../scripts/repository.ts';
import { sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';

const [, configuration = ''] =
  /```json\n(\{\n {2}"compilerOptions".*?\n\})\n```/s.exec(readFileSync(inRoot('docs', 'tools.md'), 'utf8')) ?? [];

/** Returns the output of tsc for a copy of order-desk with the tsconfig.json of docs/tools.md. */
async function typeErrors(change: (text: string) => string): Promise<string> {
  const folder = join(temporaryFolder('rehearsal-types'), 'desk');
  cpSync(inRoot('domains', 'order-desk'), folder, { recursive: true });
  writeFileSync(join(folder, 'tsconfig.json'), configuration.replaceAll('../../dist', inRoot('dist')));
  const file = join(folder, 'tools.ts');
  writeFileSync(file, change(readFileSync(file, 'utf8')));
  const tsc = inRoot('node_modules', 'typescript', 'bin', 'tsc');
  return (await runCommand(process.execPath, [tsc, '-p', folder], { cwd: root })).output;
}

test.each<[string, (text: string) => string, RegExp]>(
  sampled(
    [
      ['nothing in a sample domain', (text) => text, /^$/],
      [
        'a misspelt field of a row',
        (text) => text.replace('customer.email', 'customer.emial'),
        /tools\.ts\(\d+,\d+\): .*'emial'/,
      ],
      [
        'syntax that a worker cannot run',
        (text) => `${text}\nexport enum Colour { red }\n`,
        /tools\.ts\(\d+,\d+\): .*erasableSyntaxOnly/,
      ],
    ],
    3,
  ),
)('the tsconfig.json of docs/tools.md finds %s', async (_, change, errors) => {
  expect(await typeErrors(change)).toMatch(errors);
});
