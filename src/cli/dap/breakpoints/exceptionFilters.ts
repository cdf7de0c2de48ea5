import { endReasonText } from '../../../engine/core/events/displayText.ts';
import { callsIn, offeredNow } from '../../../engine/core/events/message.ts';
import { contentHash } from '../../../engine/core/values/hash.ts';
import type { InWords } from '../../../engine/shell/domain/reasonInWords.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import { violationsAt } from './ruleReasons.ts';

type Filter = {
  readonly filter: string;
  readonly label: string;
  readonly description: string;
  readonly default: boolean;
  /** Why a step stops, in words, or null. */
  readonly reason: (step: Step, inWords: InWords) => string | null;
};

/** Calls with the same arguments, one after the other, that are taken for a loop. */
const loopLength = 3;

const all: readonly Filter[] = [
  {
    filter: 'violation',
    label: 'Policy violation',
    description: 'Stop when a rule of the policy is violated',
    default: true,
    reason: (step, inWords) =>
      violationsAt(step, inWords)
        .map(({ text }) => text)
        .join('; ') || null,
  },
  {
    filter: 'toolError',
    label: 'Tool error',
    description: 'Stop when a tool returns an error',
    default: false,
    reason: ({ event }) => (event.type === 'toolReturned' && event.isError ? event.content : null),
  },
  {
    filter: 'invalidCall',
    label: 'Invalid call',
    description: 'Stop when a tool is called that is not offered, or with arguments that are not a JSON object',
    default: false,
    reason: invalidCall,
  },
  {
    filter: 'loop',
    label: 'Loop',
    description: `Stop when a tool is called ${loopLength} times in a row with the same arguments`,
    default: false,
    reason: loop,
  },
  {
    filter: 'protocol',
    label: 'Protocol violation',
    description: "Stop when the agent's answers can't be read, so that the rollout ends",
    default: false,
    reason: (step) => failureOf(step, 'agent'),
  },
  {
    filter: 'simulator',
    label: 'Simulator fault',
    description: 'Stop when the simulated user breaks, so that the rollout ends',
    default: false,
    reason: (step) => failureOf(step, 'simulator'),
  },
  {
    filter: 'budget',
    label: 'Budget used up',
    description: 'Stop when turns, messages or tool errors reach their cap',
    default: false,
    reason: ({ event }) =>
      event.type === 'rolloutEnded' && /Cap$/.test(event.reason) ? endReasonText(event.reason) : null,
  },
  {
    filter: 'reward0',
    label: 'Reward 0',
    description: 'Stop at the end of a rollout whose reward is 0',
    default: false,
    reason: ({ event }) => (event.type === 'rewarded' && event.reward === 0 ? `reward 0: ${event.reason}` : null),
  },
];

/** As a client receives them. */
export const filters = all.map(({ reason: _, ...filter }) => filter);

/** The first of the active filters that stops at a step, with the reason in words, or null. */
export function exceptionAt(
  step: Step,
  active: ReadonlySet<string>,
  inWords: InWords,
): { readonly label: string; readonly text: string } | null {
  for (const { filter, label, reason } of all) {
    const text = active.has(filter) ? reason(step, inWords) : null;
    if (text !== null) return { label, text };
  }
  return null;
}

function invalidCall({ event, state }: Step): string | null {
  if (event.type !== 'toolCalled') return null;
  const { name, arguments: given } = event.call;
  const { tools, userTools = [] } = state.started;
  const offered = event.by === 'user' ? userTools : offeredNow(tools, state.messages);
  if (!offered.some((tool) => tool.name === name)) return `${name} is called, which is not offered`;
  return typeof given === 'string' ? `${name} is called with arguments that are not a JSON object: ${given}` : null;
}

function loop({ event, state }: Step): string | null {
  if (event.type !== 'toolCalled') return null;
  const calls = state.messages.flatMap((message) => callsIn(message));
  const at = calls.findLastIndex(({ id }) => id === event.call.id);
  const last = calls.slice(Math.max(0, at - loopLength + 1), at + 1);
  const same = last.filter((call) => keyOf(call) === keyOf(event.call));
  return same.length === loopLength
    ? `${event.call.name} is called ${loopLength} times in a row with the same arguments`
    : null;
}

const keyOf = ({ name, arguments: given }: { readonly name: string; readonly arguments: unknown }) =>
  contentHash([name, given] as never);

function failureOf({ event }: Step, who: 'agent' | 'simulator'): string | null {
  return event.type === 'rolloutEnded' && event.failure?.who === who ? event.failure.message : null;
}
