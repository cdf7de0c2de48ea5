import type { Task } from '../domain/task.ts';
import type { Verdict } from '../events/event.ts';
import { callsIn, type Message } from '../events/message.ts';
import type { RolloutState } from '../events/state.ts';
import { endStateVerdicts } from './endState.ts';

type Milestone = NonNullable<Task['milestones']>[number][number];
type Calls = Exclude<Milestone, string>;

/**
 * Returns how far the agent came on the way that was expected (the process accuracy of ACEBench): responses that are
 * exactly the milestones, in their order, up to the first that is missing; the best of several lists. All of it where
 * the end state is right, whatever the way was.
 */
export function milestonesVerdict(task: Task, state: RolloutState): Verdict {
  const lists = task.milestones ?? [];
  const [end] = endStateVerdicts(task, state);
  const evidence = [state.next - 1];
  const made = state.messages.slice(0, -1).flatMap((message) => writtenOf(message, task.endState?.since === 'call'));
  const ways = lists.map((list) => ({ of: list.length, ...reached(list, made) }));
  const best = ways.reduce((one, other) => (share(other) > share(one) ? other : one), ways[0] ?? { of: 0, met: 0 });
  if (end?.held)
    return {
      verifier: 'milestones',
      held: true,
      detail: 'the end state is right',
      evidence,
      met: best.of,
      of: best.of,
    };
  const held = best.met === best.of;
  const missing = 'missing' in best ? best.missing : undefined;
  return {
    verifier: 'milestones',
    held,
    detail: held ? `${best.of} milestones were reached` : `${best.met} of ${best.of}: then not ${missing}`,
    evidence,
    met: best.met,
    of: best.of,
  };
}

const share = ({ met, of }: { readonly met: number; readonly of: number }) => (of === 0 ? 1 : met / of);

/** After the first milestone that is missing no other one is looked for, as in ACEBench. */
function reached(list: readonly Milestone[], made: readonly string[]) {
  let from = 0;
  for (const [met, milestone] of list.entries()) {
    const text = typeof milestone === 'string' ? milestone.trim() : callsText(milestone);
    const at = made.indexOf(text, from);
    if (at < 0) return { met, missing: text };
    from = at + 1;
  }
  return { met: list.length };
}

/** A response of the agent in the form in which milestones are compared; texts count where they are carried out too. */
function writtenOf(message: Message, isTextTried: boolean): readonly string[] {
  if (message.role !== 'agent') return [];
  const calls = callsIn(message);
  if (calls.length === 0) return isTextTried && message.content !== null ? [message.content.trim()] : [];
  if (calls.some(({ arguments: each }) => typeof each === 'string')) return [];
  return [callsText(calls.map(({ name, arguments: values, floats }) => ({ tool: name, arguments: values, floats })))];
}

type Written = Pick<Calls[number], 'tool'> & {
  readonly arguments: unknown;
  readonly floats?: readonly string[] | undefined;
};

/** Calls as one text, in which also the order of arguments counts, and whether 5 was written as 5.0. */
function callsText(calls: readonly Written[]): string {
  return calls
    .map(({ tool, arguments: values, floats = [] }) => {
      const marked = floats.length > 0 ? ` with floats at ${[...floats].sort().join(' ')}` : '';
      return `${tool}(${JSON.stringify(values)}${marked})`;
    })
    .join(', ');
}
