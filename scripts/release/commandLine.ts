import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import JSZip from 'jszip';
import { runNpm } from '../process.ts';
import { inRoot, root } from '../repository.ts';
import { Failure } from '../terminal.ts';
import { linksOf } from './links.ts';
import type { Release } from './release.ts';

/** The programs of the command line. What they import is shipped with them. */
const programs = ['dist/rehearsal.mjs', 'dist/worker.mjs', 'dist/authoring.mjs', 'dist/zod.mjs'];

/** The pages that `rehearsal help docs/PAGE` prints. */
const documentation = ['docs/*.md', 'docs/{contributing,decisions,reference}/*.md'];

/** Files of the extension that the command line does not use. */
const forEditors = /^(?:dist\/webview\.|syntaxes\/|docs\/|package\.json$|README\.md$|readme\.md$)/i;

/**
 * Packs the command line for npm. Returns the path of the .tgz.
 * @param extension the packed .vsix, whose README, changelog and project of the trainer have the links of the release
 */
export async function packCommandLine(release: Release, extension: string): Promise<string> {
  const { listFiles, PackageManager } = await import('@vscode/vsce');
  const staging = join(release.staging, 'command-line');
  rmSync(staging, { recursive: true, force: true });
  const modules = importedModules(programs, (file) => readFileSync(inRoot(file), 'utf8'));
  const others = await listFiles({ cwd: root, packageManager: PackageManager.None });
  const isShipped = (file: string) => !forEditors.test(file) && !/^dist\/[^/]+\.mjs$/.test(file);
  const pages = globSync(documentation, { cwd: root });
  for (const file of ['bin/rehearsal.mjs', ...modules, ...pages, ...others.filter(isShipped)]) {
    mkdirSync(dirname(join(staging, file)), { recursive: true });
    cpSync(inRoot(file), join(staging, file));
  }
  const archive = await JSZip.loadAsync(readFileSync(extension));
  for (const file of ['README.md', 'CHANGELOG.md', 'trainer/pyproject.toml']) {
    const content = await archive.file(`extension/${file.toLowerCase()}`)?.async('nodebuffer');
    if (content === undefined) throw new Failure(`${extension} has no ${file}.`);
    writeFileSync(join(staging, file), content);
  }
  writeFileSync(join(staging, 'package.json'), `${JSON.stringify(manifestOf(release), null, 2)}\n`);
  const { code, output } = await runNpm(staging, ['pack', '--pack-destination', release.out, '--ignore-scripts']);
  if (code !== 0) throw new Failure(`npm could not pack the command line:\n${output.trim()}`);
  return join(release.out, `rehearsal-${release.version}.tgz`);
}

function manifestOf(release: Release): Readonly<Record<string, unknown>> {
  const { name, description, license, type, bin, engines, keywords } = JSON.parse(
    readFileSync(inRoot('package.json'), 'utf8'),
  ) as Record<string, unknown> & { readonly engines: Readonly<Record<string, string>> };
  const { version } = release;
  const node = { node: engines['node'] };
  return { name, version, description, license, type, keywords, bin, engines: node, ...linksOf(release) };
}

/** Returns these modules and all modules that they import by a relative path, directly or through others. */
export function importedModules(entries: readonly string[], read: (file: string) => string): readonly string[] {
  const found = new Set(entries);
  for (const file of found) {
    for (const [, path = ''] of read(file).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*["'](\.\.?\/[^"']+\.mjs)["']/g)) {
      found.add(posix.join(posix.dirname(file), path));
    }
  }
  return [...found];
}
