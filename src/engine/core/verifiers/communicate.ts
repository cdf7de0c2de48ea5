import type { Task } from '../domain/task.ts';
import type { Verdict } from '../events/event.ts';
import { utterancesOf } from '../events/message.ts';
import type { RolloutState } from '../events/state.ts';
import { impossible } from '../values/impossible.ts';
import { saysPhrase } from './spokenPhrase.ts';

type Said = { readonly content: string; readonly step: number };

/** Whether the agent said each of the texts to the user. */
export function communicateVerdict({ communicate: texts, communicateBy }: Task, state: RolloutState): Verdict {
  const said = saidOf(communicateBy, state);
  const steps = texts.map((text) => said.find(({ content }) => isFound(text, content, communicateBy))?.step);
  const missing = texts.filter((_, index) => steps[index] === undefined);
  return {
    verifier: 'communicate',
    held: missing.length === 0,
    detail:
      missing.length === 0
        ? 'the agent said every required text'
        : `the agent never said ${missing.map((text) => `"${text}"`).join(', ')}`,
    evidence: evidenceOf(steps) ?? said.slice(-1).map(({ step }) => step),
    met: texts.length - missing.length,
    of: texts.length,
  };
}

/** Returns the step from which on every text was said, if all were. */
function evidenceOf(steps: readonly (number | undefined)[]): number[] | null {
  const known = steps.filter((step) => step !== undefined);
  return known.length === 0 || known.length < steps.length ? null : [Math.max(...known)];
}

/**
 * Whether what the agent said has a text in it that it must say. Domains look for words and numbers; the evaluators of
 * tau-bench and tau2-bench take the commas out of what was said, and not out of what they look for.
 */
export function isFound(text: string, said: string, by: Task['communicateBy']): boolean {
  return by === undefined
    ? saysPhrase(said, text) || saysPhrase(withoutNegativeContractions(said), withoutNegativeContractions(text))
    : said.toLowerCase().replaceAll(',', '').includes(text.toLowerCase());
}

/** "I can't" as "I cannot", and "it isn't" as "it is not". */
function withoutNegativeContractions(text: string): string {
  return text
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/\bcan(?:'t| not)\b/gi, 'cannot')
    .replace(/\bwon't\b/gi, 'will not')
    .replace(/\bshan't\b/gi, 'shall not')
    .replace(/\b(\w+)n't\b/gi, '$1 not');
}

/** Returns what counts as said to the user. */
function saidOf(by: Task['communicateBy'], state: RolloutState): readonly Said[] {
  switch (by) {
    case undefined:
      return [...greetingOf(state), ...heardOf(state)];
    case 'tau2':
      return textsOf(state);
    case 'tau1':
      return heardOf(state);
    default:
      return impossible('evaluator', by);
  }
}

function greetingOf({ started }: RolloutState): readonly Said[] {
  return started.greeting === undefined ? [] : [{ content: started.greeting, step: 0 }];
}

/** Returns what the user heard of the agent after its greeting. */
function heardOf({ messages }: RolloutState): readonly Said[] {
  return utterancesOf(messages).filter(({ role }) => role === 'agent');
}

/** Every text of the agent's, also one beside a call, which the user does not hear. */
function textsOf(state: RolloutState): readonly Said[] {
  const texts = state.messages.flatMap((message) =>
    message.role === 'agent' && message.content?.trim() ? [{ content: message.content, step: message.step }] : [],
  );
  return [...greetingOf(state), ...texts];
}
