import { existsSync } from 'node:fs';
import { describeRelease } from '../../scripts/release/release.ts';
import { packRelease } from '../../scripts/release.ts';

/** A placeholder repository for the links, because the address of this one is not always known. */
const repository = 'https://example.org/team/rehearsal';

/** Packs the release, unless REHEARSAL_RELEASE names the folder of a packed one. */
export default async function setUp(): Promise<void> {
  const packed = process.env['REHEARSAL_RELEASE'];
  if (packed !== undefined && existsSync(packed)) return;
  const release = describeRelease(repository);
  await packRelease(release);
  process.env['REHEARSAL_RELEASE'] = release.out;
}
