import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { trainerFolder } from '../python/pythonEnvironment.ts';
import { environmentFault } from './targetFaults.ts';
import { packTrainerWheel, type TrainerWheel } from './trainerWheel.ts';
import { type Tree, treeOf, treeWith } from './trees.ts';

/** The programs that every target receives: the engine with what it reads, and the wheel of the trainer in a tree. */
export type Programs = { readonly engine: Tree; readonly trainer: Tree; readonly wheel: TrainerWheel };

/** Reads the engine, and packs the trainer. Throws a `Fault` if the engine is not built. */
export async function programsOf(): Promise<Programs> {
  const trainer = realpathSync(trainerFolder());
  const engine = join(dirname(trainer), 'dist');
  if (!existsSync(join(engine, 'rehearsal.mjs')))
    throw environmentFault(
      'engine/missing',
      `${join(engine, 'rehearsal.mjs')} is missing: build it (npm run build), or install Rehearsal again`,
    );
  const isOfEngine = (file: string) =>
    /^(bridge|personas)\//.test(file) || (/^[^/]+\.mjs$/.test(file) && !/^(extension|language)\.mjs$/.test(file));
  const wheel = await packTrainerWheel(trainer);
  const { name, content, sha256 } = wheel;
  const file = { from: content, content: sha256, size: content.length, canRun: false };
  return {
    engine: treeOf(engine, isOfEngine),
    trainer: treeWith('trainer', new Map([[`trainer/${name}`, file]])),
    wheel,
  };
}
