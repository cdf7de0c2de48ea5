import type { EventOf, RolloutEvent } from '../events/event.ts';
import { contentHash } from '../values/hash.ts';
import type { Effect } from './effect.ts';
import type { JudgeQuestion } from './judgement.ts';
import { advance, begin, type Setting } from './rollout.ts';

/**
 * The events of an old rollout up to its end, as the present rules see them: what was said, called and written stays,
 * and every verdict of a rule is reached again; a judge's answer counts for the same question. What the verifiers then
 * say about it is the shell's work.
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
    if (event.type === 'rolloutEnded') break;
  }
  const answers = events.filter((event) => event.type === 'judged');
  for (let [effect] = effects; effect !== undefined; [effect] = effects) {
    const next =
      effect.type === 'noteRules'
        ? rulesChecked(effect)
        : effect.type === 'askJudge' && answerTo(effect.question, answers);
    if (!next) break;
    append(next);
  }
  return regraded;
}

/** Returns what the judge of the old rollout said to the same question. Another question stays open. */
function answerTo({ subject, question }: JudgeQuestion, answers: readonly EventOf<'judged'>[]) {
  return answers.find((answer) => answer.question === question && contentHash(answer.subject) === contentHash(subject));
}

function rulesChecked({ callId, verdicts }: Extract<Effect, { type: 'noteRules' }>): RolloutEvent {
  return {
    type: 'rulesChecked',
    callId,
    verdicts: verdicts.map((verdict) => ({ ...verdict, evidence: [...verdict.evidence] })),
  };
}
