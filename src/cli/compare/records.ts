import { resolve } from 'node:path';
import type { EvaluationPart } from '../../engine/core/domain/trainingKind.ts';
import type { RunRecord } from '../../engine/shell/records/runRecord.ts';
import { partsPlayed, readEvaluation, trainingConfigIn } from '../../engine/shell/runs/evaluationRecord.ts';
import { openRunRecord } from '../options/openRunRecord.ts';
import { type Io, UsageError } from '../terminal/io.ts';

/**
 * Reads the runs that a person named: of `rehearsal eval`, and evaluations by the trainer, of which the same part counts.
 * Throws a `UsageError` for what is neither.
 */
export function openRecords(io: Io, named: readonly string[]): readonly RunRecord[] {
  const asked = named.map((name) => {
    const folder = resolve(io.cwd, name);
    return { name, folder, config: trainingConfigIn(folder) };
  });
  const part = commonPart(asked.filter(({ config }) => config !== null));
  return asked.map(({ name, folder, config }) => {
    if (config === null) return openRunRecord(io, name);
    if (typeof config === 'string') throw new UsageError(config);
    if (config.kind !== 'evaluate')
      throw new UsageError(
        `${name}: is a training run (${config.kind}); compare evaluations of its checkpoints instead (npx rehearsal train evaluate)`,
      );
    const record = readEvaluation(folder, config, part);
    if (typeof record === 'string') throw new UsageError(`${name}: ${record}`);
    return record;
  });
}

/** The part that all have; where nothing is played yet, reading it says so. */
function commonPart(evaluations: readonly { readonly name: string; readonly folder: string }[]): EvaluationPart {
  const played = evaluations.map(({ name, folder }) => ({ name, parts: partsPlayed(folder) }));
  const begun = played.filter(({ parts }) => parts.length > 0);
  const common = begun[0]?.parts.find((part) => begun.every(({ parts }) => parts.includes(part)));
  if (common || begun.length === 0) return common ?? 'sampled';
  const [greedy, sampled] = (['greedy', 'sampled'] as const).map(
    (part) => begun.find(({ parts }) => parts.every((each) => each === part))?.name,
  );
  throw new UsageError(
    `${greedy} has greedy rollouts only and ${sampled} has none: evaluate both at a temperature (trials), or both greedily (greedy_trials)`,
  );
}
