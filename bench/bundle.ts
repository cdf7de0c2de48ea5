import { rmSync } from 'node:fs';
import { build } from 'esbuild';
import { ensureBuilt, extensionBundle } from '../scripts/build.ts';
import { inRoot } from '../scripts/repository.ts';

/** Bundles the bench as the product is, since a heap that also holds sources and their compiler is nobody's. Gives the program. */
export async function bundleBench(): Promise<string> {
  await ensureBuilt();
  const folder = inRoot('.bench');
  rmSync(folder, { recursive: true, force: true });
  await build({
    ...extensionBundle(true),
    entryPoints: { bench: 'bench/main.ts' },
    outdir: folder,
    packages: 'external',
  });
  return inRoot('.bench', 'bench.mjs');
}
