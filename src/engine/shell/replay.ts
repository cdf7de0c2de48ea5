import { openDatabase } from '../core/database.ts';
import type { Recorded } from '../core/event.ts';
import { advance, baseHash, begin, type Setting, stateHash } from '../core/rollout.ts';
import type { RolloutState } from '../core/state.ts';
import type { LoadedDomain } from './load/loadDomain.ts';
import { type RecordingProblem, readRecording } from './recording.ts';

export type ReplayedStep = Recorded & { readonly after: RolloutState };

export type Replayed = { readonly steps: readonly ReplayedStep[]; readonly problems: readonly RecordingProblem[] };

/** What `advance` reads, of a domain whose code has not run: recorded results stand for the tools. */
export function settingOf({ domain, world }: Pick<LoadedDomain, 'domain' | 'world'>): Setting {
  return { domain, world: { agent: openDatabase(world.agent), user: openDatabase(world.user) } };
}

/**
 * Folds a recording again from the domain's database. Problems: a broken chain, a database that is not the
 * recorded one, a state that differs from the recorded one.
 */
export function replayRecording(domain: LoadedDomain, path: string): Replayed {
  const { lines, problems } = readRecording(path);
  const setting = settingOf(domain);
  const first = lines[0];
  if (first?.event.type !== 'rolloutStarted')
    return { steps: [], problems: [...problems, { line: 1, message: 'a recording begins with rolloutStarted' }] };
  if (first.event.database !== baseHash(setting.world)) {
    return {
      steps: [],
      problems: [
        ...problems,
        { line: 1, message: `was recorded on another database than the one in ${domain.folder}` },
      ],
    };
  }
  const found: RecordingProblem[] = [...problems];
  let state = begin(setting, first.event)[0];
  const steps = lines.map((line): ReplayedStep => {
    if (line.event.type !== 'rolloutStarted') [state] = advance(setting, state, line.event);
    const hash = stateHash(state);
    if (hash !== line.state)
      found.push({
        line: line.n + 1,
        message: `after event ${line.n} (${line.event.type}) the state is ${hash.slice(0, 12)}, recorded was ${line.state.slice(0, 12)}`,
      });
    return { ...line, after: state };
  });
  return { steps, problems: found };
}
