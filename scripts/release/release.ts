import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../repository.ts';

/** Describes a release. All its parts share these values. */
export type Release = {
  readonly version: string;
  /** VS Code asks for odd minor versions in the pre-release channel, and even ones in the other. */
  readonly isPreRelease: boolean;
  /** The https address of the repository, if it is known. */
  readonly repository: string | undefined;
  /** The folder that the packed files are written to. */
  readonly out: string;
  /** A folder for copies that are packed. */
  readonly staging: string;
};

/** Returns the release of the version in package.json, which is packed into dist/release. */
export function describeRelease(repository: string | undefined): Release {
  const { version } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')) as { version: string };
  const out = inRoot('dist', 'release');
  return { version, isPreRelease: isPreRelease(version), repository, out, staging: join(out, 'staging') };
}

/** Returns whether a version belongs to the pre-release channel of the Marketplace. */
function isPreRelease(version: string): boolean {
  return Number(version.split('.')[1]) % 2 === 1;
}
