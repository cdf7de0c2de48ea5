import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import JSZip from 'jszip';
import { inRoot } from './repository.ts';

/** The plugin of the TypeScript server; it is found by name in a node_modules folder of the extension only. */
export const typescriptPlugin = 'node_modules/rehearsal-typescript-plugin';

/** Writes the plugin into an extension's folder, where the TypeScript server finds it. Returns what esbuild read for it. */
export async function writeTypescriptPlugin(extension: string, minify = false): Promise<Metafile> {
  const target = join(extension, typescriptPlugin);
  mkdirSync(target, { recursive: true });
  const { metafile } = await build({
    entryPoints: [inRoot('src/extension/typescriptPlugin/plugin.ts')],
    outfile: join(target, 'index.js'),
    bundle: true,
    metafile: true,
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    minify,
    legalComments: 'none',
    logLevel: 'warning',
    // The TypeScript server calls what the module exports, and ES modules cannot export a function itself.
    footer: { js: 'module.exports = module.exports.init;' },
  });
  const manifest = { name: basename(typescriptPlugin), version: '0.0.0', type: 'commonjs', main: './index.js' };
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest)}\n`);
  return metafile;
}

/** Puts the plugin of an extension's folder into its package: vsce leaves out everything in node_modules. */
export async function addTypescriptPlugin(extension: string, vsix: string): Promise<void> {
  const archive = await JSZip.loadAsync(readFileSync(vsix));
  for (const name of ['index.js', 'package.json']) {
    archive.file(`extension/${typescriptPlugin}/${name}`, readFileSync(join(extension, typescriptPlugin, name)));
  }
  const compression = { compression: 'DEFLATE', compressionOptions: { level: 9 } } as const;
  writeFileSync(vsix, await archive.generateAsync({ type: 'nodebuffer', platform: 'UNIX', ...compression }));
}
