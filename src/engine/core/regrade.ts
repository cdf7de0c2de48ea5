import type { Effect } from './effect.ts';
import type { EventOf, RolloutEvent } from './event.ts';
import { advance, begin, type Setting } from './rollout.ts';

/**
 * The events of an old rollout up to its end, as the present rules see them: what was said, called and written stays,
 * and every verdict of a rule is reached again. What the verifiers then say of it is the shell's work.
 * @param started the start that the new recording gets
 */
export function underPresentRules(
  setting: Setting,
  started: EventOf<'rolloutStarted'>,
  events: readonly RolloutEvent[],
): readonly RolloutEvent[] {
  const regraded: RolloutEvent[] = [started];
  let [state, effects] = begin(setting, started);
  const append = (event: RolloutEvent) => {
    [state, effects] = advance(setting, state, event);
    regraded.push(event);
  };
  for (const event of events.slice(1)) {
    if (event.type === 'rulesChecked') continue;
    for (let [effect] = effects; effect?.type === 'noteRules'; [effect] = effects) append(rulesChecked(effect));
    append(event);
    if (event.type === 'rolloutEnded') return regraded;
  }
  return regraded;
}

function rulesChecked({ callId, verdicts }: Extract<Effect, { type: 'noteRules' }>): RolloutEvent {
  return {
    type: 'rulesChecked',
    callId,
    verdicts: verdicts.map((verdict) => ({ ...verdict, evidence: [...verdict.evidence] })),
  };
}
