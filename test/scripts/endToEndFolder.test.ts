import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { findLeftovers } from '../../scripts/leftovers.ts';
import { runCommand } from '../../scripts/process.ts';
import { inRoot } from '../../scripts/repository.ts';
import config from '../e2e/vitest.config.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Sets up as the end-to-end tests do, and makes two folders: one for a test, and one as the product does. */
const script = `import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { temporaryFolder } from ${JSON.stringify(inRoot('test', 'support', 'temporary.ts'))};
for (const file of JSON.parse(process.argv[1])) await (await import(file)).default();
temporaryFolder('of-a-test');
mkdirSync(tmpdir() + '/of-the-product');`;

test('what an end-to-end test leaves in the temporary folder of the run is still there for the check', async () => {
  const folder = temporaryFolder('e2e');
  const { REHEARSAL_TEST_FOLDER: _, ...environment } = process.env;
  const files = [config.test?.globalSetup ?? []].flat().map((file) => pathToFileURL(inRoot(file)).href);
  const env = { ...environment, TMPDIR: folder, REHEARSAL_VSIX: 'packed' };
  const { output } = await runCommand(process.execPath, ['--input-type=module', '-e', script, JSON.stringify(files)], {
    env,
  });
  expect(output).toBe('');
  expect(await findLeftovers(folder, 0)).toEqual(['of-the-product in the temporary folder']);
});
