import type { Task } from '../engine/core/domain/task.ts';
import type { RolloutEvent } from '../engine/core/events/event.ts';
import { callArguments, parsedArguments } from '../engine/core/events/message.ts';
import type { AgentReply, UserReply } from '../engine/core/seats/seat.ts';
import { canonicalJson, type Json } from '../engine/core/values/json.ts';
import { Fault } from '../engine/shell/files/fault.ts';
import { changedResult, type OfficialSimulation, type RecordedSeats } from './officialSimulation.ts';
import type { Tau1Message, Tau1Run } from './tau1Results.ts';
import { respondAction } from './tau1Task.ts';

const stopWord = '###STOP###';

type Spoken = Extract<Tau1Message, { readonly role: 'assistant' | 'user' }>;
type Given = NonNullable<Tau1Run['info']['task']>;

/** The trajectories of a list of tau-bench, as they can be played again. */
export function tau1Simulations(runs: readonly Tau1Run[]): readonly OfficialSimulation[] {
  return runs.map((run) => ({
    by: 'tau1',
    name: run.id ?? `${run.task_id} ${run.trial}`,
    task: String(run.task_id),
    isOf: (ours) => isOf(run, ours),
    trial: run.trial,
    official: run.reward,
    // Whatever raises in tau-bench, its evaluator too, empties the trajectory: that is an obstacle, and never compared.
    raised: null,
    obstacle: obstacleOf(run),
    seats: (ours) => new Tau1Seats(run, ours),
  }));
}

/** The task at its place in one of the splits that tells the user, or demands, the same: wordings change, demands rarely do. */
function isOf({ task_id: place, info }: Tau1Run, ours: Task): boolean {
  if (info.task === undefined || ours.origin?.id.endsWith(`/${place}`) !== true) return false;
  return ours.user.goal === info.task.instruction || otherDemands(info.task, ours).length === 0;
}

function obstacleOf({ traj, info }: Tau1Run): string | null {
  if (info.error !== undefined) return `its run in tau-bench failed: ${info.error}`;
  if (info.task === undefined) return 'it does not say which task it is of (info.task)';
  if (traj.some((message) => message.role === 'user' && message.content?.startsWith('API output: ')))
    return 'its calls are in its texts (strategy act or react); only results of tool-calling and few-shot can be replayed';
  return null;
}

/** Both seats of a trajectory of tau-bench. */
class Tau1Seats implements RecordedSeats {
  readonly #run: Tau1Run;
  readonly #task: Task;
  readonly #spoken: readonly Spoken[];
  #next = 0;

  constructor(run: Tau1Run, task: Task) {
    this.#run = run;
    this.#task = task;
    this.#spoken = run.traj.filter(
      (message): message is Spoken => message.role === 'assistant' || message.role === 'user',
    );
  }

  agent(): AgentReply {
    const message = this.#take('assistant');
    const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
    const [first] = calls;
    // A call by this name is what tau-bench takes a text for.
    if (first?.function.name === respondAction) {
      const said = parsedArguments(first.function.arguments);
      return { content: typeof said === 'string' ? said : String(said['content'] ?? ''), toolCalls: [] };
    }
    const toolCalls = calls.map(({ id, function: called }, at) => ({
      id: id ?? `call_${this.#next}_${at}`,
      name: called.name,
      ...callArguments(called.arguments),
    }));
    return { content: message.content ?? (toolCalls.length > 0 ? null : ''), toolCalls };
  }

  user(): UserReply {
    const isFirst = this.#next === 0;
    const said = this.#take('user').content ?? '';
    // tau-bench does not look for the word in the first message.
    return { content: said, stop: !isFirst && said.includes(stopWord) ? 'done' : null };
  }

  judge(): { readonly holds: null; readonly reason: string } {
    return { holds: null, reason: 'tau-bench has no judge' };
  }

  changedResults(events: readonly RolloutEvent[]): readonly string[] {
    const recorded = this.#run.traj.flatMap((message) => (message.role === 'tool' ? [message] : []));
    const made = events.filter((event) => event.type === 'toolReturned');
    const changed = made.flatMap((event, at) => {
      const before = recorded[at]?.content ?? '';
      const isUnknown = before.startsWith('Unknown action ') && event.isError;
      return isUnknown ? [] : changedResult(at, before, event.content);
    });
    const { task } = this.#run.info;
    return [...(task ? otherDemands(task, this.#task) : []), ...changed];
  }

  /** The next message. Where none is left, tau-bench had ended the run at its cap on steps. */
  #take(role: Spoken['role']): Spoken {
    const message = this.#spoken[this.#next];
    if (message?.role === role) {
      this.#next += 1;
      return message;
    }
    if (message === undefined)
      throw new Fault(
        { who: 'agent', code: 'trajectory/ended', message: 'tau-bench ended the run at its cap on steps' },
        { reason: 'turnCap' },
      );
    throw new Fault({
      who: 'infrastructure',
      code: 'trajectory/order',
      message: `message ${this.#next + 1} is of the ${message.role}, but it is the ${role}'s turn`,
    });
  }
}

/** Returns where the file's task demands something else than the imported one, its reward is one for something else. */
function otherDemands(given: Given, { actions, communicate }: Task): readonly string[] {
  const now = actions.map(({ tool, arguments: values }) => [tool, values]);
  const before = given.actions.map(({ name, kwargs }) => [name, kwargs]);
  const same = (one: unknown, other: unknown) => canonicalJson(one as Json) === canonicalJson(other as Json);
  return [
    ...(same(now, before) ? [] : ['its gold actions are others in the file than in the imported task']),
    ...(same(communicate, given.outputs) ? [] : ['its outputs are others in the file than in the imported task']),
  ];
}
