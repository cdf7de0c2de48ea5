import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import JSZip from 'jszip';
import { inRoot } from './repository.ts';

/** The name under which the TypeScript server looks for the plugin, in the extension's node_modules. */
const pluginName = 'rehearsal-typescript-plugin';

/** The files of the plugin's package, by their paths in it. */
async function typescriptPluginFiles(): Promise<ReadonlyMap<string, string>> {
  const result = await build({
    entryPoints: [inRoot('src/extension/typescriptPlugin/plugin.ts')],
    bundle: true,
    platform: 'node',
    target: 'node18',
    format: 'cjs',
    write: false,
    // The TypeScript server expects the factory itself, which ES modules cannot export.
    footer: { js: 'module.exports = module.exports.init;' },
  });
  const manifest = { name: pluginName, version: '0.0.0', private: true, main: './index.js' };
  return new Map([
    ['index.js', result.outputFiles[0]?.text ?? ''],
    ['package.json', `${JSON.stringify(manifest)}\n`],
  ]);
}

/** Writes the plugin where the TypeScript server finds it: `node_modules` of the extension's folder. */
export async function writeTypeScriptPlugin(extensionFolder: string): Promise<void> {
  const target = join(extensionFolder, 'node_modules', pluginName);
  mkdirSync(target, { recursive: true });
  for (const [path, text] of await typescriptPluginFiles()) writeFileSync(join(target, path), text);
}

/** Adds the plugin to a finished .vsix: vsce leaves every folder named node_modules out. */
export async function addTypeScriptPlugin(vsix: string): Promise<void> {
  const zip = await JSZip.loadAsync(readFileSync(vsix));
  for (const [path, text] of await typescriptPluginFiles()) {
    zip.file(`extension/node_modules/${pluginName}/${path}`, text);
  }
  const options = { type: 'nodebuffer', compression: 'DEFLATE', compressionOptions: { level: 9 } } as const;
  writeFileSync(vsix, await zip.generateAsync(options));
}
