import { packageExtension } from '../../../scripts/package.ts';

/** Packs the extension once for all workers. */
export default async function setUp(): Promise<void> {
  process.env['REHEARSAL_VSIX'] ??= await packageExtension();
}
