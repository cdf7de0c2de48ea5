import type { Task } from '../engine/core/domain/task.ts';
import type { EndReason, RolloutEvent } from '../engine/core/events/event.ts';
import type { JudgeQuestion } from '../engine/core/rollout/judgement.ts';
import type { AgentReply, UserReply } from '../engine/core/seats/seat.ts';
import { canonicalJson, type Json } from '../engine/core/values/json.ts';
import { Fault } from '../engine/shell/files/fault.ts';
import { changedResult, type OfficialSimulation, type RecordedSeats } from './officialSimulation.ts';
import type { Simulation, Tau2Message, Tau2Results } from './tau2Results.ts';
import type { Tau2Task } from './tau2Task.ts';

type Spoken = Exclude<Tau2Message, { readonly role: 'system' | 'tool' }>;

/**
 * The end reason for each termination reason of a simulation that did not end normally. tau2 gives all of these the
 * reward 0, and leaves simulations that end by `infrastructure_error` out of its metrics.
 */
const endReasons: Readonly<Record<string, EndReason>> = {
  max_steps: 'turnCap',
  timeout: 'turnCap',
  context_window_exceeded: 'turnCap',
  too_many_errors: 'toolErrorCap',
  agent_error: 'agentFailed',
  user_error: 'userInvalid',
  unexpected_error: 'turnCap',
};

const stops: readonly (readonly [string, NonNullable<UserReply['stop']>])[] = [
  ['###STOP###', 'done'],
  ['###TRANSFER###', 'transferred'],
  ['###OUT-OF-SCOPE###', 'outOfScope'],
];

/** The simulations of a results file of tau2, as they can be played again. */
export function tau2Simulations(
  simulations: readonly Simulation[],
  { isSolo, tasks }: Pick<Tau2Results, 'isSolo' | 'tasks'>,
): readonly OfficialSimulation[] {
  return simulations.map((simulation) => ({
    by: 'tau2',
    name: simulation.id ?? simulation.task_id,
    task: simulation.task_id,
    trial: simulation.trial ?? null,
    official: simulation.reward_info?.reward ?? null,
    raised: simulation.raised ?? null,
    obstacle: isSolo || hasNoUser(simulation) ? solo : null,
    seats: (task) => new Tau2Seats(simulation, task, tasks.get(simulation.task_id)),
  }));
}

const solo = 'its run was in solo mode, where no user takes part; only runs with a user can be scored again';

function hasNoUser({ messages }: Simulation): boolean {
  return messages.length > 0 && messages.every(({ role }) => role !== 'user');
}

/** Both seats of a finished simulation of tau2: each says and calls again what it did, and the tools answer again. */
class Tau2Seats implements RecordedSeats {
  readonly #simulation: Simulation;
  readonly #task: Task;
  /** The task as the results file has it. */
  readonly #given: Tau2Task | undefined;
  readonly #spoken: readonly Spoken[];
  #next: number;

  constructor(simulation: Simulation, task: Task, given: Tau2Task | undefined) {
    this.#simulation = simulation;
    this.#task = task;
    this.#given = given;
    this.#spoken = simulation.messages.filter(
      (message): message is Spoken => 'tool_calls' in message || isSpoken(message),
    );
    // The agent's greeting is the domain's, and is reported before the first event.
    this.#next = this.#spoken[0]?.role === 'assistant' && !this.#spoken[0].tool_calls?.length ? 1 : 0;
  }

  agent(): AgentReply {
    const { content, tool_calls: calls } = this.#take('assistant');
    return { content: content ?? (calls?.length ? null : ''), toolCalls: (calls ?? []).map(callOf) };
  }

  user(): UserReply {
    const { termination_reason: reason } = this.#simulation;
    if (this.#next >= this.#spoken.length && reason === 'agent_stop') return { content: '', stop: 'done' };
    const { content, tool_calls: calls } = this.#take('user');
    if (calls?.length) return { content: content ?? '', stop: null, toolCalls: calls.map(callOf) };
    const said = content ?? '';
    const isLast = this.#next >= this.#spoken.length && reason === 'user_stop';
    const stop = stops.find(([token]) => said.includes(token))?.[1] ?? 'done';
    return { content: said, stop: isLast ? stop : null };
  }

  /** Returns the answer of the simulation's judge about a statement; `holds` is null if it was not asked. */
  judge({ subject }: JudgeQuestion): { readonly holds: boolean | null; readonly reason: string } {
    const statement = subject.type === 'task' ? this.#task.judge?.[subject.index] : undefined;
    const found = this.#simulation.reward_info?.nl_assertions?.find((each) => each.nl_assertion === statement);
    return found
      ? { holds: found.met, reason: found.justification ?? 'as recorded' }
      : {
          holds: null,
          reason: 'the results file has no verdict of a judge on this, and Rehearsal does not ask a model again',
        };
  }

  /** Returns the calls whose result differs from the recorded one. */
  changedResults(events: readonly RolloutEvent[]): readonly string[] {
    const recorded = this.#simulation.messages.flatMap((message) => (message.role === 'tool' ? [message] : []));
    const made = events.filter((event) => event.type === 'toolReturned');
    const changed = made.flatMap((event, at) => changedResult(at, recorded[at]?.content ?? '', event.content));
    return [...(this.#given ? otherVersion(this.#given, this.#task) : []), ...changed];
  }

  #take(role: Spoken['role']): Spoken {
    const message = this.#spoken[this.#next];
    if (message?.role === role) {
      this.#next += 1;
      return message;
    }
    const { termination_reason: reason } = this.#simulation;
    const isOver = message === undefined;
    const isOfUser = reason === 'user_error' || (role === 'user' && reason !== 'agent_error');
    const who = isOfUser ? ('simulator' as const) : ('agent' as const);
    const properly = reason === 'user_stop' || reason === 'agent_stop';
    if (isOver && !properly)
      throw new Fault(
        { who, code: 'trajectory/ended', message: `tau2 ended the simulation by ${reason}` },
        { reason: endReasons[reason] ?? 'infrastructureFailed' },
      );
    throw new Fault({
      who: 'infrastructure',
      code: 'trajectory/order',
      message: isOver
        ? `the simulation says ${reason}, and its messages end before that`
        : `message ${this.#next + 1} is of the ${message.role}, but it is the ${role}'s turn`,
    });
  }
}

/** Returns where the file's task demands something else than the imported one: its reward is one for something else. */
function otherVersion({ evaluation_criteria: criteria }: Tau2Task, { actions, communicate }: Task): readonly string[] {
  const { actions: given, communicate_info: told } = criteria ?? {};
  const demands: readonly (readonly [what: string, file: unknown, imported: unknown])[] = [
    [
      'gold actions',
      (given ?? []).map(({ name, arguments: values }) => [name, values]),
      actions.map(({ tool, arguments: values }) => [tool, values]),
    ],
    ['communicate_info', told ?? [], communicate],
  ];
  const other = demands.filter(([, one, two]) => canonicalJson(one as Json) !== canonicalJson(two as Json));
  return other.map(
    ([what]) => `its ${what} in the file are not those of the imported task: the file is of another version of tau2`,
  );
}

function isSpoken({ role }: Tau2Message): boolean {
  return role === 'assistant' || role === 'user';
}

function callOf({ id, name, arguments: values, floats }: NonNullable<Spoken['tool_calls']>[number]) {
  return { id, name, arguments: values, ...(floats ? { floats } : {}) };
}
