import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import JSZip from 'jszip';
import { expect, it, onTestFinished } from 'vitest';
import { addTypescriptPlugin, writeTypescriptPlugin } from '../../../scripts/typescriptPlugin.ts';
import { temporaryFolder } from '../../support/temporary.ts';

it('the plugin lies in the package where the TypeScript server looks for it', async () => {
  const folder = temporaryFolder('rehearsal-vsix');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const vsix = join(folder, 'rehearsal.vsix');
  const zip = new JSZip().file('extension/package.json', '{}');
  writeFileSync(vsix, await zip.generateAsync({ type: 'nodebuffer' }));
  await writeTypescriptPlugin(folder, true);
  await addTypescriptPlugin(folder, vsix);
  const { files } = await JSZip.loadAsync(readFileSync(vsix));
  const at = 'extension/node_modules/rehearsal-typescript-plugin';
  expect(Object.keys(files)).toEqual(expect.arrayContaining(['extension/package.json', `${at}/package.json`]));
  const module = { exports: {} };
  new Function('module', 'exports', 'require', '__dirname', (await files[`${at}/index.js`]?.async('string')) ?? '')(
    module,
    module.exports,
    (name: string) => process.getBuiltinModule(name),
    folder,
  );
  expect(typeof module.exports).toBe('function');
});
