#!/usr/bin/env node
/** Builds for production and packs `dist/package/rehearsal-<version>.vsix` from the allow list in .vscodeignore. */
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buildInputs, ensureBuilt } from './build.ts';
import { contentStamp, inRoot, isStamped, root, writeStamp } from './repository.ts';
import { announce, elapsed, Failure, formatBytes, runMain } from './terminal.ts';
import { addTypescriptPlugin } from './typescriptPlugin.ts';

/** The packaged extension stays under this size. */
export const largestPackage = 3_000_000;

/** Files and folders that decide what is in the package. */
export const packageInputs: readonly string[] = [
  ...buildInputs,
  ...['.vscodeignore', 'README.md', 'CHANGELOG.md', 'LICENSE', 'syntaxes', 'domains', 'templates', 'trainer'],
  'docs/walkthrough',
  'docs/pictures/icon.png',
  'scripts/package.ts',
];

/** Returns the path of this version's package. */
export function packagePath(): string {
  const { name, version } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')) as {
    name: string;
    version: string;
  };
  return inRoot('dist', 'package', `${name}-${version}.vsix`);
}

/**
 * Builds and packs the extension unless the package is up to date. Returns its path. Throws a `Failure` if the package
 * is above the size limit.
 */
export async function packageExtension(): Promise<string> {
  const file = packagePath();
  const stampFile = join('dist', 'package', 'stamp');
  const stamp = contentStamp(packageInputs);
  if (!existsSync(file) || !isStamped(stampFile, stamp)) {
    const started = performance.now();
    await ensureBuilt();
    await pack(file);
    writeStamp(stampFile, stamp);
    announce(`Packed the extension (${elapsed(started)})`);
  }
  checkSize(file);
  return file;
}

async function pack(file: string): Promise<void> {
  mkdirSync(inRoot('dist', 'package'), { recursive: true });
  // Imported here, because loading it takes half a second, and most commands find that the package is made already.
  const { createVSIX } = await import('@vscode/vsce');
  const options = { dependencies: false, allowMissingRepository: true, skipLicense: true, rewriteRelativeLinks: false };
  await quietly(() => createVSIX({ cwd: root, packagePath: file, ...options }));
  await addTypescriptPlugin(root, file);
}

/** Leaves out the list of files that vsce logs, which has no option for it. Its warnings and errors stay. */
async function quietly(work: () => Promise<unknown>): Promise<void> {
  const { log } = console;
  console.log = () => {};
  try {
    await work();
  } finally {
    console.log = log;
  }
}

/** Throws a `Failure` if a package is above the size limit. */
export function checkSize(file: string): void {
  const { size } = statSync(file);
  if (size <= largestPackage) return;
  throw new Failure(
    `${file} has ${formatBytes(size)}; the limit is ${formatBytes(largestPackage)}. ` +
      'List its files with `npx vsce ls --no-dependencies`, and exclude what is not needed.',
  );
}

async function main(): Promise<number> {
  const file = await packageExtension();
  console.log(`${file}  ${formatBytes(statSync(file).size)}`);
  return 0;
}

if (import.meta.main) await runMain(main);
