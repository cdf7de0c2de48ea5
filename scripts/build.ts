#!/usr/bin/env node
/**
 * Builds dist/: the extension, the command line, the worker, the shipped modules of a domain, the webview and the
 * types for the editor. `--production` minifies, `--watch` rebuilds on change.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type BuildOptions, type BuildResult, build, context, type Plugin } from 'esbuild';
import { withLock } from './lock.ts';
import { noticesFile, noticesOf } from './notices.ts';
import { runCommand } from './process.ts';
import { contentStamp, inRoot, isStamped, listFiles, root, writeStamp } from './repository.ts';
import { announce, elapsed, Failure, formatBytes, runMain } from './terminal.ts';
import { typescriptPlugin, writeTypescriptPlugin } from './typescriptPlugin.ts';

const sharedEntry = 'src/cli/rehearsal.ts';

type Bundle = { entry: string; options: BuildOptions };

/** CommonJS packages inside an ES module still call `require` for Node's own modules. */
const requireBanner =
  `import { createRequire as __createRequire } from 'node:module';` +
  `const require = __createRequire(import.meta.url);`;

/** Domain code and the engine share one copy of zod: the file that is shipped beside the bundle. */
const shippedZod: Plugin = {
  name: 'shipped-zod',
  setup: (bundler) => {
    bundler.onResolve({ filter: /^zod$/ }, () => ({ path: './zod.mjs', external: true }));
  },
};

/** Returns the build options of the extension, which shares the engine with the command line. */
export function extensionBundle(production: boolean): BuildOptions {
  const found = bundles(production).find(({ entry }) => entry === sharedEntry);
  if (!found) throw new Error(`${sharedEntry} is not the entry of a bundle`);
  return withEntry(found);
}

function bundles(production: boolean): Bundle[] {
  const common: BuildOptions = {
    absWorkingDir: root,
    bundle: true,
    logLevel: 'warning',
    minify: production,
    sourcemap: production ? false : 'linked',
    sourcesContent: false,
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': production ? '"production"' : '"development"' },
  };
  // `main` alone would take jsonc-parser's UMD build, whose own requires a bundle cannot answer.
  const mainFields = ['module', 'main'];
  const node: BuildOptions = { ...common, platform: 'node', target: 'node22', mainFields };
  const esm: BuildOptions = { ...node, format: 'esm', banner: { js: requireBanner } };
  return [
    {
      // The extension and the command line share the engine: what both need is shipped once, and read when it is needed.
      entry: sharedEntry,
      options: {
        ...esm,
        splitting: true,
        external: ['vscode'],
        entryPoints: {
          rehearsal: 'src/cli/rehearsal.ts',
          language: 'src/extension/language/worker.ts',
          extension: 'src/extension/main.ts',
        },
        outdir: 'dist',
        outExtension: { '.js': '.mjs' },
        chunkNames: 'chunk-[name]-[hash]',
      },
    },
    {
      entry: 'src/engine/shell/workers/worker.ts',
      options: { ...esm, plugins: [shippedZod], outfile: 'dist/worker.mjs' },
    },
    { entry: 'src/engine/authoring.ts', options: { ...esm, plugins: [shippedZod], outfile: 'dist/authoring.mjs' } },
    { entry: 'node_modules/zod/index.js', options: { ...esm, banner: {}, outfile: 'dist/zod.mjs' } },
    {
      entry: 'src/webview/main.tsx',
      options: {
        ...common,
        platform: 'browser',
        target: 'es2022',
        format: 'iife',
        jsx: 'automatic',
        jsxImportSource: 'preact',
        outfile: 'dist/webview.js',
      },
    },
  ];
}

const withEntry = ({ entry, options }: Bundle): BuildOptions => ({ entryPoints: [entry], ...options });

/** Writes the types for a domain's TypeScript: zod's declarations, and those of the `rehearsal` module. */
async function writeTypes(): Promise<void> {
  const types = inRoot('dist', 'types');
  rmSync(types, { recursive: true, force: true });
  copyZodTypes(join(types, 'zod'));
  const target = join(types, 'rehearsal');
  const flags = ['--declaration', '--emitDeclarationOnly', '--skipLibCheck', '--allowImportingTsExtensions'];
  const module = [
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--strict',
    '--rootDir',
    'src/engine',
    '--ignoreConfig',
  ];
  const args = [
    inRoot('node_modules/typescript/bin/tsc'),
    ...flags,
    ...module,
    '--outDir',
    target,
    'src/engine/authoring.ts',
  ];
  const { code, output } = await runCommand(process.execPath, args, { cwd: root });
  if (code !== 0) throw new Failure(`The types of src/engine/authoring.ts could not be written:\n${output.trim()}`);
  const manifest = { name: 'rehearsal', type: 'module', types: './authoring.d.ts' };
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest)}\n`);
}

/** Copies what `import * as z from 'zod'` needs for the type checker: the declarations of the classic API. */
function copyZodTypes(target: string): void {
  const source = inRoot('node_modules', 'zod');
  const wanted = ['index.d.ts', 'v4/classic', 'v4/core', 'v4/locales'];
  for (const file of wanted.flatMap((path) => listFiles(join(source, path)))) {
    if (!file.endsWith('.d.ts') || file.includes('/tests/')) continue;
    const copy = join(target, file.slice(source.length));
    mkdirSync(dirname(copy), { recursive: true });
    cpSync(file, copy);
  }
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { version: string };
  const manifest = { name: 'zod', version, type: 'module', types: './index.d.ts' };
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest)}\n`);
}

/** Copies what is shipped unchanged: the Python bridge and the packs of personas. */
function copyShipped(): void {
  const filter = (path: string) => !path.endsWith('__pycache__');
  for (const name of ['bridge', 'personas']) {
    rmSync(inRoot('dist', name), { recursive: true, force: true });
    cpSync(inRoot('src', 'engine', name), inRoot('dist', name), { recursive: true, filter });
  }
}

/** Makes the command line executable; its entry file carries the shebang. */
function finishCommandLine(): void {
  const file = inRoot('dist', 'rehearsal.mjs');
  const text = readFileSync(file, 'utf8');
  if (!text.startsWith('#!')) writeFileSync(file, `#!/usr/bin/env node\n${text}`);
  chmodSync(file, 0o755);
}

/**
 * Removes code of earlier builds and leaves everything else in dist/ (packages, test bundles). It runs after the
 * build, so that a process which still uses the old files keeps most of them while they are replaced.
 */
function removeStale(results: readonly BuildResult[]): void {
  const written = new Set(results.flatMap((result) => Object.keys(result.metafile?.outputs ?? {})));
  for (const name of readdirSync(inRoot('dist'))) {
    if (/\.(?:[cm]?js|css)(?:\.map)?$/.test(name) && !written.has(`dist/${name}`)) rmSync(inRoot('dist', name));
  }
}

async function watchAll(): Promise<void> {
  for (const bundle of bundles(false)) {
    const watcher = await context({ ...withEntry(bundle), logLevel: 'info' });
    await watcher.watch();
  }
  await writeTypescriptPlugin(root);
  announce('Watching; Ctrl+C ends');
  await new Promise(() => {});
}

const stampFile = join('dist', 'stamp');
/** Files and folders that decide what is in dist/. */
export const buildInputs: readonly string[] = [
  'src',
  'trainer/rehearsal_trainer/keys.json',
  'package.json',
  'package-lock.json',
  'scripts/build.ts',
  'scripts/licences',
  'scripts/notices.ts',
  'scripts/schemas.ts',
  'scripts/typescriptPlugin.ts',
];

function buildStamp(production: boolean): string {
  return contentStamp(buildInputs, production ? 'production' : 'development');
}

/** Builds everything for production unless dist/ is up to date. If another process builds, waits for that. */
export async function ensureBuilt(): Promise<void> {
  // npm removes the plugin from node_modules whenever it installs something.
  const isBuilt = () => existsSync(inRoot(typescriptPlugin, 'index.js')) && isStamped(stampFile, buildStamp(true));
  if (isBuilt()) return;
  await withLock(inRoot('dist', 'building'), async () => {
    if (!isBuilt()) await buildAll(true);
  });
}

/** Builds one bundle; esbuild prints its own messages. */
async function buildBundle(bundle: Bundle): Promise<BuildResult> {
  try {
    return await build({ ...withEntry(bundle), metafile: true });
  } catch {
    throw new Failure(`${bundle.entry} could not be bundled; see the messages of esbuild above.`);
  }
}

/** The files that esbuild read for the bundles in dist/. */
const inputsFile = join('dist', 'bundle-inputs.json');

/** Returns the files that esbuild read for the bundles in dist/, relative to the repository. */
export function readBundleInputs(): readonly string[] {
  return JSON.parse(readFileSync(inRoot(inputsFile), 'utf8')) as string[];
}

/** Builds everything once. */
export async function buildAll(production: boolean): Promise<void> {
  const started = performance.now();
  const stamp = buildStamp(production);
  const all = bundles(production);
  const plugin = writeTypescriptPlugin(root, production);
  const [results, pluginMetafile] = await Promise.all([Promise.all(all.map(buildBundle)), plugin, writeTypes()]);
  removeStale(results);
  const metafiles = [...results.flatMap(({ metafile }) => metafile ?? []), pluginMetafile];
  writeFileSync(inRoot('dist', noticesFile), noticesOf(metafiles, root));
  writeFileSync(inRoot(inputsFile), JSON.stringify(metafiles.flatMap(({ inputs }) => Object.keys(inputs))));
  finishCommandLine();
  // Imported here, because it loads the engine, and most commands find that dist/ is built already.
  const { writeSchemas } = await import('./schemas.ts');
  writeSchemas();
  copyShipped();
  writeStamp(stampFile, stamp);
  const size = listFiles(inRoot('dist'))
    .filter((file) => /\.(?:[cm]?js|css)$/.test(file))
    .reduce((sum, file) => sum + statSync(file).size, 0);
  announce(`Built ${all.length} bundles, ${formatBytes(size)} of code (${elapsed(started)})`);
}

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { production: { type: 'boolean' }, watch: { type: 'boolean' } } });
  mkdirSync(inRoot('dist'), { recursive: true });
  if (values.watch) await watchAll();
  else await buildAll(values.production ?? false);
  return 0;
}

if (import.meta.main) await runMain(main);
