import type { Task } from '../domain/task.ts';
import { isWrite } from '../domain/tool.ts';
import { randomStream, rolloutKey } from '../values/random.ts';
import { goldAgent } from './gold.ts';
import { planOf } from './goldPlan.ts';
import type { PureAgent, SeatView } from './seat.ts';

/** A mistake in a rollout: a change is made without waiting for a yes, or the last change is never made. */
type Mistake = 'unconfirmed' | 'leftOut';

/**
 * The gold seat, except for one mistake that the seed draws for the rollout: its near-misses need no model. A task that
 * gives no occasion for one is played as gold plays it.
 */
export const faultyGoldAgent: PureAgent = (view) => {
  const mistake = mistakeOf(view);
  if (mistake === 'leftOut') return goldAgent({ ...view, task: withoutLastWrite(view) });
  const plan = planOf(view);
  const { next } = plan;
  const isDue =
    mistake === 'unconfirmed' &&
    next !== null &&
    plan.isWrite(next) &&
    !plan.isRefusalDue &&
    !plan.isHopeless(next) &&
    !plan.hasWrittenSince(-1) &&
    plan.missing(next).length === 0;
  if (!isDue) return goldAgent(view);
  const call = { id: `call_${view.messages.length}`, name: next.tool, arguments: next.arguments };
  return { content: null, toolCalls: [call] };
};

function mistakeOf(view: SeatView): Mistake | null {
  const writes = writesIn(view).length;
  const isConfirmed = view.domain.rules.some(({ check }) => check === 'confirmed');
  const mistakes: readonly Mistake[] = [
    ...(writes > 0 && isConfirmed ? (['unconfirmed'] as const) : []),
    ...(writes > 1 ? (['leftOut'] as const) : []),
  ];
  return mistakes.length === 0 ? null : randomStream(...rolloutKey(view.started), 'slip').pick(mistakes);
}

function writesIn({ domain, task }: SeatView): Task['actions'] {
  return task.actions.filter(
    ({ tool, by }) =>
      by === 'agent' && domain.tools.some((each) => each.name === tool && isWrite(each) && !each.handsOff),
  );
}

const shortened = new WeakMap<Task, Task>();

/** The same task each time, as what is worked out of a task is kept by it. */
function withoutLastWrite(view: SeatView): Task {
  const { task } = view;
  const last = writesIn(view).at(-1);
  const known = shortened.get(task) ?? { ...task, actions: task.actions.filter((action) => action !== last) };
  shortened.set(task, known);
  return known;
}
