import type { RuleVerdict } from '../../core/domain/rule.ts';
import type { GoldAction, Task } from '../../core/domain/task.ts';
import { isWrite, worksOnDatabase } from '../../core/domain/tool.ts';
import type { Verdict } from '../../core/events/event.ts';
import { numberFormsOf, type ToolCall } from '../../core/events/message.ts';
import type { AgentReply, UserReply } from '../../core/seats/seat.ts';
import { canonicalJson, type JsonObject } from '../../core/values/json.ts';
import type { RolloutClosed } from '../liveRollout.ts';
import type { LoadedDomain } from '../load/loadedDomain.ts';
import { type Placed, placeOf } from '../source/items.ts';
import type { Note } from '../source/note.ts';
import { madeIn } from './goldReplay.ts';
import type { Stage } from './stage.ts';

/** The gold actions of a task in another order: one write is made after the next one. */
export type Reordered = {
  readonly placed: Placed<Task>;
  /** A task of the audit's own, which is verified by its end state alone. */
  readonly task: Task;
  readonly actions: readonly GoldAction[];
  /** The places of the two writes in the gold actions. */
  readonly swapped: readonly [number, number];
};

/** Orders of one task that are tried at most. */
const ordersPerTask = 8;

/**
 * Other orders of the gold actions of tasks whose end state is compared with theirs. Tasks that were imported are as
 * their benchmark has them.
 */
export function reorderedGold({ domain }: LoadedDomain, tasks: readonly Placed<Task>[]): readonly Reordered[] {
  const writes = new Set(domain.tools.filter((tool) => isWrite(tool) && worksOnDatabase(tool)).map(({ name }) => name));
  return tasks.flatMap((placed, number) => {
    const { value } = placed;
    const isCompared = value.evaluate.includes('database') || value.train.includes('database');
    if (value.origin || !isCompared) return [];
    const { faults: _, ...whole } = value;
    const task: Task = { ...whole, id: `audit-order-${number}`, evaluate: ['database'], train: ['database'] };
    const places = value.actions.flatMap(({ tool }, at) => (writes.has(tool) ? [at] : []));
    return places
      .slice(1)
      .flatMap((second, at): Reordered[] => {
        const first = places[at] ?? 0;
        const [one, other] = [value.actions[first], value.actions[second]];
        // The agent chooses the order of its own calls. The user follows the agent's instructions.
        if (one?.by !== 'agent' || other?.by !== 'agent' || callText(one) === callText(other)) return [];
        const actions = value.actions.toSpliced(second + 1, 0, one).toSpliced(first, 1);
        return [{ placed, task, actions, swapped: [first, second] }];
      })
      .slice(0, ordersPerTask);
  });
}

/** Makes the calls of both seats in their order, and ends. */
export function playOrder(stage: Stage, { task, actions }: Reordered): Promise<RolloutClosed> {
  let made = 0;
  const nextBy = (seat: GoldAction['by']): readonly ToolCall[] => {
    const action = actions[made];
    if (action?.by !== seat) return [];
    const { tool: name, arguments: values } = action;
    return [{ id: `audit_${made++}`, name, arguments: values as JsonObject, ...numberFormsOf(action) }];
  };
  const agent = (): AgentReply => {
    const toolCalls = nextBy('agent');
    return { content: toolCalls.length > 0 ? null : 'Please go on.', toolCalls };
  };
  const user = (): UserReply => {
    const toolCalls = nextBy('user');
    if (toolCalls.length > 0) return { content: '', stop: null, toolCalls };
    return made < actions.length ? { content: 'Please go on.', stop: null } : { content: 'Bye.', stop: 'done' };
  };
  return stage.play({ task, agent, user });
}

/** Notes an order in which every call succeeds and no rule forbids one, but which leads to another end state. */
export function noteOrder({ placed, actions, swapped }: Reordered, closed: RolloutClosed, note: Note): void {
  const made = madeIn(closed.arrived);
  const isWhole = made.length === actions.length && made.every(({ isError }) => !isError);
  if (!isWhole || isForbidden(closed)) return;
  const verdict = closed.arrived
    .flatMap(({ event }) => (event.type === 'verdictReached' ? [event.verdict as Verdict] : []))
    .find(({ verifier }) => verifier === 'database');
  if (!verdict || verdict.held) return;
  const [first, second] = swapped.map((at) => callText(placed.value.actions[at] as GoldAction));
  note(
    placeOf(placed, 'actions', swapped[1]),
    'info',
    'task/gold-order',
    `The order of the gold actions alone decides the end state. They make ${first} before ${second}; in the other order all calls succeed as well, and ${verdict.detail}.`,
    'Say in user.goal or in the policy which comes first. If the order of a list has no meaning, list its field under compare.unordered in domain.yaml.',
  );
}

/** Whether a rule on the order or the condition of calls forbids this order, so that no right agent chooses it. */
function isForbidden({ arrived }: RolloutClosed): boolean {
  return arrived.some(
    ({ event }) =>
      event.type === 'rulesChecked' &&
      (event.verdicts as readonly RuleVerdict[]).some(
        ({ check, verdict }) => verdict === 'violated' && ['before', 'onlyIf', 'never'].includes(check),
      ),
  );
}

const callText = ({ tool, arguments: values }: GoldAction) => `${tool}(${canonicalJson(values as JsonObject)})`;
