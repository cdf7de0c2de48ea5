import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { ensureBuilt, extensionBundle } from '../scripts/build.ts';
import { inRoot } from '../scripts/repository.ts';

/**
 * Bundles the bench like the product, because sources and a compiler would count as its memory. Returns the program.
 * @param entry the entry file of the bundle
 * @param folder the folder of the bundle
 */
export async function bundleBench(entry = 'bench/main.ts', folder = inRoot('.bench')): Promise<string> {
  await ensureBuilt();
  rmSync(folder, { recursive: true, force: true });
  const options = extensionBundle(true);
  // The engine looks for the files that it ships (workers, bridge/, personas/) next to its own file.
  const product = pathToFileURL(inRoot('dist', 'bench.mjs')).href;
  await build({
    ...options,
    define: { ...options.define, 'import.meta.url': JSON.stringify(product) },
    entryPoints: { bench: entry },
    outdir: folder,
    packages: 'external',
  });
  return join(folder, 'bench.mjs');
}
