#!/usr/bin/env node
/** `npm run release -- --dry-run` packs everything that users install. Without --dry-run it also makes the tag. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildAll } from './build.ts';
import { git } from './git.ts';
import { packCommandLine } from './release/commandLine.ts';
import { packExtension } from './release/extension.ts';
import { describeRelease, type Release } from './release/release.ts';
import { missingAddressText, originOf, repositoryAddress, webAddress } from './release/repositoryAddress.ts';
import { packTrainer } from './release/trainer.ts';
import { announce, elapsed, Failure, formatBytes, runMain, warn } from './terminal.ts';

const usage = `Usage: npm run release -- [--dry-run] [--repository URL]

Packs the extension (.vsix), the command line (.tgz for npm) and the trainer (.whl for PyPI) into dist/release, with
SHA256SUMS. Then makes the tag of the version. Pushing the tag starts .github/workflows/release.yml, which packs and
publishes them.

  --dry-run         only pack
  --repository URL  the https address of the repository (default: that of the remote "origin"); without one, the README
                    of the packed files has no pictures and links`;

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { 'dry-run': { type: 'boolean' }, repository: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const { repository: named } = values;
  if (named !== undefined && webAddress(named) === undefined)
    throw new Failure(`--repository is an address such as https://HOST/OWNER/NAME, not "${named}".`);
  const release = describeRelease(named === undefined ? repositoryAddress() : webAddress(named));
  const isDry = values['dry-run'] ?? false;
  if (release.repository === undefined) reportMissingRepository(isDry);
  if (!isDry) await checkRepository(release);
  const files = await packRelease(release);
  for (const file of files) console.log(`${file}  ${formatBytes(statSync(file).size)}`);
  if (!isDry) await makeTag(release);
  return 0;
}

/** Packs every part and writes the checksums. Returns the paths of the files. */
export async function packRelease(release: Release): Promise<readonly string[]> {
  const started = performance.now();
  rmSync(release.out, { recursive: true, force: true });
  mkdirSync(release.out, { recursive: true });
  await buildAll(true);
  const extension = await packExtension(release);
  const files = [extension, await packCommandLine(release, extension), await packTrainer(release)];
  rmSync(release.staging, { recursive: true });
  const sums = join(release.out, 'SHA256SUMS');
  writeFileSync(sums, checksums(files));
  announce(`Packed version ${release.version} (${elapsed(started)})`);
  return [...files, sums];
}

/** Returns the lines that `sha256sum --check` reads. */
function checksums(files: readonly string[]): string {
  const sum = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
  return files.map((file) => `${sum(file)}  ${basename(file)}\n`).join('');
}

function reportMissingRepository(isDry: boolean): void {
  const text = missingAddressText(originOf());
  if (!isDry) throw new Failure(text);
  warn(text);
}

/** Throws a `Failure` unless the clone is clean and the version has no tag yet. */
async function checkRepository({ version }: Release): Promise<void> {
  if ((await git('status', '--porcelain')) !== '') {
    throw new Failure('There are uncommitted changes, and a release is what is committed. Commit or stash them.');
  }
  if ((await git('tag', '--list', `v${version}`)) !== '') {
    throw new Failure(
      `The tag v${version} exists already. Set a new version; test/scripts/versions.test.ts names the files.`,
    );
  }
}

async function makeTag({ version }: Release): Promise<void> {
  await git('tag', '--annotate', `v${version}`, '--message', `Version ${version}`);
  announce(`Made the tag v${version}. Publish with: git push origin v${version}`);
}

if (import.meta.main) await runMain(main);
