import type { EventOf, RolloutEvent } from './event.ts';
import { advance, begin, type Setting } from './rollout.ts';
import { checkRules } from './rules.ts';

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
  let [state] = begin(setting, started);
  const append = (event: RolloutEvent) => {
    [state] = advance(setting, state, event);
    regraded.push(event);
  };
  for (const event of events.slice(1)) {
    if (event.type === 'rulesChecked') continue;
    if (event.type === 'toolCalled' && state.phase.type === 'rulesAwaited') {
      const verdicts = checkRules(setting.domain, state, state.phase.call);
      append({
        type: 'rulesChecked',
        callId: event.call.id,
        verdicts: verdicts.map((verdict) => ({ ...verdict, evidence: [...verdict.evidence] })),
      });
    }
    append(event);
    if (event.type === 'rolloutEnded') return regraded;
  }
  return regraded;
}
