import { relative } from 'node:path';
import type { Failure } from '../../engine/core/events/event.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { rolloutName } from '../../engine/shell/records/recordingName.ts';
import { finalRollouts } from '../../engine/shell/runs/batch.ts';
import type { Io } from '../terminal/io.ts';
import { shellWord } from '../terminal/shellWord.ts';

type Lost = { readonly task: string; readonly trial: number; readonly failure: Failure | null };

/** Why a run is not whole, with the rollouts that have no reward. */
export type Shortfall =
  | { readonly type: 'stopped'; readonly hasRecordings: boolean }
  /** Infrastructure ended them, or they could not be run. */
  | { readonly type: 'lost'; readonly rollouts: readonly Lost[] }
  | { readonly type: 'unscored'; readonly rollouts: readonly Lost[]; readonly isEnvironment: boolean }
  | { readonly type: 'left'; readonly trials: number };

/** The run, its domain, and `--out` as it was typed. */
export type RunPlace = { readonly folder: string; readonly domain: string; readonly out: string | undefined };

/** Returns what to run next to get the rest of a run. */
export function nextRun(
  shortfall: Shortfall,
  { folder, domain, out }: RunPlace,
  { typed = [], cwd }: Pick<Io, 'typed' | 'cwd'>,
): string {
  switch (shortfall.type) {
    case 'stopped': {
      // A new folder without a recording is removed.
      if (!shortfall.hasRecordings) return 'Run the command again';
      const words = out === undefined ? [...typed, '--out', relative(cwd, folder) || '.'] : typed;
      return `Resume with: npx rehearsal ${words.map(shellWord).join(' ')}`;
    }
    case 'lost': {
      const codes = shortfall.rollouts.flatMap(({ failure }) => (failure?.who === 'environment' ? failure.code : []));
      if (codes.some((code) => !code.startsWith('task/')))
        return 'Correct the domain and run again with another --out: this run has rollouts of the domain as it was';
      if (codes.length > 0) return `Correct the task and run what is left with --out ${shellWord(folder)}`;
      return again(shortfall.rollouts, folder);
    }
    case 'unscored':
      return shortfall.isEnvironment ? findError(domain, { cwd }) : again(shortfall.rollouts, folder);
    case 'left':
      return `Choose all tasks of the run and ${counted(shortfall.trials, 'trial')} to finish it`;
  }
}

/** Returns the command that finds the error of a domain. */
export function findError(domain: string, { cwd }: Pick<Io, 'cwd'>): string {
  return `Find the error in the domain with: npx rehearsal check ${shellWord(relative(cwd, domain) || '.')} --audit`;
}

/** Rollouts that ended have a receipt, and are run again only with `--retry-unscored`. */
function again(rollouts: readonly Lost[], folder: string): string {
  const final = finalRollouts(folder);
  const isFinal = rollouts.some(({ task, trial }) => final.has(rolloutName({ id: task }, trial)));
  const them = rollouts.length === 1 ? 'it' : 'them';
  return `Run ${them} again with --out ${shellWord(folder)}${isFinal ? ' --retry-unscored 1' : ''}`;
}
