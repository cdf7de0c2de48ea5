import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles } from '@vscode/vsce';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import { readBundleInputs } from '../scripts/build.ts';
import { noticesOf } from '../scripts/notices.ts';
import { inRoot, root } from '../scripts/repository.ts';
import { inFullSuite } from './support/suite.ts';
import { temporaryFolder } from './support/temporary.ts';

const shipped = readFileSync(inRoot('dist', 'THIRD-PARTY-NOTICES.txt'), 'utf8');
const entries = shipped.split(`\n${'-'.repeat(80)}\n`).slice(1);

test('every package that is bundled has its name, version and licence text in the shipped notices', () => {
  const bundled = readBundleInputs().flatMap((path) => {
    const parts = path.split('/');
    const at = parts.lastIndexOf('node_modules');
    if (at < 0) return [];
    return [parts.slice(0, at + (parts[at + 1]?.startsWith('@') ? 3 : 2)).join('/')];
  });
  const folders = [...new Set(bundled)];
  expect(folders.length).toBeGreaterThan(20);
  for (const folder of folders) {
    const { name, version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
      readonly name: string;
      readonly version: string;
    };
    const entry = entries.find((text) => text.trim().startsWith(`${name} ${version} (`));
    expect(entry, name).toMatch(/copyright|permission/i);
    expect((entry ?? '').length, name).toBeGreaterThan(400);
  }
});

test('a package with code under a second licence has both texts', () => {
  const pako = entries.find((text) => text.trim().startsWith('pako '));
  expect(pako).toMatch(
    /Vitaly Puzrin[\s\S]*AS IS[\s\S]*Jean-loup Gailly and Mark Adler[\s\S]*Altered source versions must/,
  );
});

inFullSuite('the notices are in the package of the extension', async () => {
  expect(await listFiles({ cwd: root, dependencies: false } as never)).toContain('dist/THIRD-PARTY-NOTICES.txt');
});

test('a package without a licence text fails the build, and is named', async () => {
  const folder = temporaryFolder('rehearsal-notices');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const planted = join(folder, 'node_modules', '@planted', 'bare');
  mkdirSync(planted, { recursive: true });
  writeFileSync(join(planted, 'package.json'), '{"name": "@planted/bare", "version": "1.2.3", "license": "MIT"}');
  writeFileSync(join(planted, 'index.js'), 'export const one = 1;');
  writeFileSync(join(folder, 'main.js'), "import { one } from '@planted/bare'; console.log(one);");
  const { metafile } = await build({
    absWorkingDir: folder,
    entryPoints: ['main.js'],
    bundle: true,
    metafile: true,
    write: false,
  });
  expect(() => noticesOf([metafile], folder)).toThrow('No licence text was found for @planted/bare 1.2.3');
  writeFileSync(join(planted, 'LICENSE.md'), 'Permission is granted.');
  expect(noticesOf([metafile], folder)).toContain('@planted/bare 1.2.3 (MIT)\n\nPermission is granted.');
});
