import { basename, dirname, join } from 'node:path';
import { type Dialect, dialects } from '../../engine/core/domain/dialect.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { type Given, text } from '../options/command.ts';
import { readJson } from '../targets/runFolder.ts';
import { UsageError } from '../terminal/io.ts';

/** Returns what `--dialect` says, if it is given. */
export function dialectIn(given: Given): Dialect | undefined {
  const named = text(given, 'dialect');
  const dialect = dialects.find((each) => each === named);
  if (named !== undefined && !dialect) throw new UsageError(`--dialect is ${dialects.join(' or ')}, not "${named}"`);
  return dialect;
}

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
