/** `npm run docs`: builds the documentation site from `docs/` into `dist/docs` and checks the links between its pages. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { npmFolder } from './benchmarks/copy.ts';
import { runCommand } from './process.ts';
import { inRoot } from './repository.ts';
import { announce, elapsed, Failure, runMain } from './terminal.ts';

const usage = 'Usage: npm run docs [-- --out FOLDER]';

/** Installed into the cache folder and not as a dependency: nothing else needs it, and it is large. */
const vitepress = npmFolder(['vitepress@1.6.4'], {
  name: 'vitepress-1.6.4',
  variable: 'REHEARSAL_VITEPRESS',
  bytes: 25_000_000,
});

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { out: { type: 'string' }, help: { type: 'boolean', short: 'h' } } });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const started = performance.now();
  await vitepress.setUp();
  const program = join(vitepress.path(), 'node_modules', 'vitepress', 'bin', 'vitepress.js');
  const out = values.out ?? inRoot('dist', 'docs');
  const { code, output } = await runCommand(process.execPath, [program, 'build', inRoot('docs'), '--outDir', out]);
  if (code !== 0) throw new Failure(`The documentation could not be built:\n${output.trim()}`);
  announce(`Built ${out} (${elapsed(started)}). Open it with any web server.`);
  return 0;
}

await runMain(main);
