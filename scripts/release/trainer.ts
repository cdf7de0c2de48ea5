import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packTrainerWheel } from '../../src/cli/targets/trainerWheel.ts';
import { inRoot } from '../repository.ts';
import type { Release } from './release.ts';

/** Packs the trainer for PyPI. Returns the path of the wheel, which training targets get, too. */
export async function packTrainer(release: Release): Promise<string> {
  const { name, content } = await packTrainerWheel(inRoot('trainer'));
  const path = join(release.out, name);
  writeFileSync(path, content);
  return path;
}
