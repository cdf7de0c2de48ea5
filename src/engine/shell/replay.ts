import { hash } from 'node:crypto';
import type { Recorded } from '../core/events/event.ts';
import type { RolloutState } from '../core/events/state.ts';
import { baseHash } from '../core/events/world.ts';
import { follow, type Setting, stateHash } from '../core/rollout/rollout.ts';
import { useNativeHash } from '../core/values/hash.ts';
import { openDatabase } from '../core/world/database.ts';
import type { LoadedDomain } from './domain/loadDomain.ts';
import { messageOf } from './files/fault.ts';
import { noStart, type RecordingProblem, readRecording } from './records/recording.ts';
import { remembered } from './source/source.ts';

export type ReplayedStep = Recorded & { readonly after: RolloutState };

export type Replayed = { readonly steps: readonly ReplayedStep[]; readonly problems: readonly RecordingProblem[] };

// The hash of a large database takes seconds in plain TypeScript.
useNativeHash((text) => hash('sha256', text, 'hex'));

const worlds = new WeakMap<LoadedDomain['world'], Setting['world']>();

/**
 * Returns what `advance` reads, of a domain whose code has not run: recorded results replace the tools. The databases
 * of a domain are opened once, since that and their hash take a second where they are large.
 */
export function settingOf({ domain, world }: Pick<LoadedDomain, 'domain' | 'world'>): Setting {
  const opened = () => ({ agent: openDatabase(world.agent), user: openDatabase(world.user) });
  return { domain, world: remembered(worlds, world, opened) };
}

/** Hash of a domain's base database. */
export function baseHashOf(domain: Pick<LoadedDomain, 'domain' | 'world'>): string {
  return baseHash(settingOf(domain).world);
}

/**
 * Folds a recording again from the domain's database. Problems: a broken chain, a database that is not the
 * recorded one, an event that can't follow, a state that differs from the recorded one.
 */
export function replayRecording(domain: LoadedDomain, path: string): Replayed {
  const { lines, problems } = readRecording(path);
  const setting = settingOf(domain);
  const first = lines[0];
  if (first?.event.type === 'rolloutStarted' && first.event.database !== baseHash(setting.world)) {
    return {
      steps: [],
      problems: [
        ...problems,
        { line: 1, message: `was recorded on another database than the one in ${domain.folder}` },
      ],
    };
  }
  const found = [...problems, ...(lines.length === 0 && problems.length === 0 ? [noStart] : [])];
  const steps: ReplayedStep[] = [];
  for (const { step, problem } of replayed(setting, lines)) {
    if (step) steps.push(step);
    if (problem) found.push(problem);
  }
  return { steps, problems: found };
}

/** Folds recorded lines one by one, and says what is wrong with each. It ends at an event that can't follow. */
export function* replayed(
  setting: Setting,
  lines: readonly Recorded[],
): Generator<{ readonly step: ReplayedStep | null; readonly problem: RecordingProblem | null }> {
  let after: RolloutState | null = null;
  for (const line of lines) {
    const { n, event, state } = line;
    try {
      after = follow(setting, after, event);
    } catch (error) {
      const message = `event ${n} (${event.type}) can't follow here: ${messageOf(error)}`;
      return yield { step: null, problem: { line: n + 1, message } };
    }
    const hash = stateHash(after);
    const message = `after event ${n} (${event.type}) the state is ${hash.slice(0, 12)}, but ${state.slice(0, 12)} was recorded`;
    yield { step: { ...line, after }, problem: hash === state ? null : { line: n + 1, message } };
  }
}
