import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkSize } from '../package.ts';
import { inRoot, root } from '../repository.ts';
import { addTypescriptPlugin } from '../typescriptPlugin.ts';
import { linksOf, withoutRelativeLinks, withProjectUrls } from './links.ts';
import type { Release } from './release.ts';

/** Keys of the manifest that mean something in a clone only. */
const unshipped = Object.fromEntries(
  ['private', 'scripts', 'dependencies', 'devDependencies', 'allowScripts', 'bin'].map((key) => [key, undefined]),
);

/**
 * Packs the extension for the Marketplace and Open VSX. Returns the path of the .vsix.
 *
 * It is packed from a copy, because its manifest names the repository, and its README has no relative links there.
 */
export async function packExtension(release: Release): Promise<string> {
  const { createVSIX, listFiles, PackageManager } = await import('@vscode/vsce');
  const staging = join(release.staging, 'extension');
  rmSync(staging, { recursive: true, force: true });
  const files = await listFiles({ cwd: root, packageManager: PackageManager.None });
  for (const file of [...files, '.vscodeignore']) {
    mkdirSync(dirname(join(staging, file)), { recursive: true });
    cpSync(inRoot(file), join(staging, file));
  }
  const manifest = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')) as Record<string, unknown>;
  writeFileSync(
    join(staging, 'package.json'),
    `${JSON.stringify({ ...manifest, ...unshipped, ...linksOf(release) }, null, 2)}\n`,
  );
  const project = readFileSync(inRoot('trainer', 'pyproject.toml'), 'utf8');
  writeFileSync(join(staging, 'trainer', 'pyproject.toml'), withProjectUrls(project, release));
  if (release.repository === undefined) {
    for (const page of ['README.md', 'CHANGELOG.md'])
      writeFileSync(join(staging, page), withoutRelativeLinks(readFileSync(inRoot(page), 'utf8')));
  }
  const packagePath = join(release.out, `rehearsal-${release.version}.vsix`);
  await createVSIX({
    cwd: staging,
    packagePath,
    dependencies: false,
    preRelease: release.isPreRelease,
    skipLicense: true,
    allowMissingRepository: true,
    rewriteRelativeLinks: release.repository !== undefined,
    ...(release.repository && {
      baseContentUrl: `${release.repository}/blob/v${release.version}`,
      baseImagesUrl: `${release.repository}/raw/v${release.version}`,
    }),
  });
  await addTypescriptPlugin(root, packagePath);
  checkSize(packagePath);
  return packagePath;
}
