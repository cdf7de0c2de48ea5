import { basename, dirname, join } from 'node:path';
import { type Dialect, dialects } from '../../engine/core/domain/dialect.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { readJson } from '../targets/runFolder.ts';

/**
 * The dialect in which a checkpoint was trained, as its run says; undefined for a model of no run.
 * @param model as `modelNamed` gives it
 */
export function trainedDialect(model: string): Dialect | undefined {
  const checkpoints = dirname(model);
  if (basename(checkpoints) !== runFiles.checkpoints) return undefined;
  const { dialect } = readJson(join(dirname(checkpoints), runFiles.config));
  return dialects.find((each) => each === dialect);
}
