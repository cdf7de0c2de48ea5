import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packTrainerWheel } from '../../src/cli/targets/trainerWheel.ts';
import type { Release } from './release.ts';

/** Packs the trainer of the packed extension for PyPI. Returns the path of the wheel, which training targets get, too. */
export async function packTrainer(release: Release): Promise<string> {
  const { name, content } = await packTrainerWheel(join(release.staging, 'extension', 'trainer'));
  const path = join(release.out, name);
  writeFileSync(path, content);
  return path;
}
