/** `npm run docs`: builds the documentation site from `docs/` into `dist/docs` and checks the links between its pages. */
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { npmFolder } from './benchmarks/copy.ts';
import { git, inWorktree } from './git.ts';
import { runCommand } from './process.ts';
import { inRoot } from './repository.ts';
import { announce, elapsed, Failure, runMain } from './terminal.ts';

const usage = `Usage: npm run docs -- [--out FOLDER] [--base PATH] [--versions]

Builds the documentation site of this version, and checks the links between its pages.

  --out FOLDER  where the site is written (default: dist/docs)
  --base PATH   the path of the site on its server, such as /rehearsal/ (default: /)
  --versions    also build the pages of each earlier tag, into OUT/TAG, and link to them`;

/** Installed into the cache folder and not as a dependency: nothing else needs it, and it is large. */
const vitepress = npmFolder(['vitepress@1.6.4'], {
  name: 'vitepress-1.6.4',
  variable: 'REHEARSAL_VITEPRESS',
  bytes: 25_000_000,
});

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      out: { type: 'string', default: inRoot('dist', 'docs') },
      base: { type: 'string', default: '/' },
      versions: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const { base } = values;
  const out = resolve(values.out);
  if (!/^\/(?:.*\/)?$/.test(base)) throw new Failure(`--base is a path that begins and ends with /, not "${base}".`);
  const started = performance.now();
  await vitepress.setUp();
  const tags = values.versions ? await earlierTags() : [];
  await build(inRoot('docs'), out, base, tags);
  for (const tag of tags)
    await inWorktree(tag, (folder) => build(join(folder, 'docs'), join(out, tag), `${base}${tag}/`));
  announce(`Built ${out} (${elapsed(started)}). Open it with any web server.`);
  return 0;
}

async function build(docs: string, out: string, base: string, tags: readonly string[] = []): Promise<void> {
  const program = join(vitepress.path(), 'node_modules', 'vitepress', 'bin', 'vitepress.js');
  const env = { ...process.env, REHEARSAL_DOCS_VERSIONS: tags.join(' ') };
  const command = [program, 'build', docs, '--outDir', out, '--base', base];
  // VitePress links Vue into the folder that it starts in, for the time of the build.
  const { code, output } = await runCommand(process.execPath, command, { env, cwd: dirname(docs) });
  if (code !== 0) throw new Failure(`The documentation could not be built:\n${output.trim()}`);
}

/** Returns the tags of earlier versions, newest first. */
async function earlierTags(): Promise<readonly string[]> {
  const output = await git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-version:refname');
  const current = await git('tag', '--list', 'v*', '--points-at', 'HEAD');
  const here = current.split('\n');
  return output.split('\n').filter((tag) => tag !== '' && !here.includes(tag));
}

await runMain(main);
