import type { EndReason, RolloutEvent } from '../../core/event.ts';
import type { JudgeQuestion } from '../../core/judgement.ts';
import type { AgentReply, UserReply } from '../../core/seat.ts';
import { Fault } from '../fault.ts';
import { changedResult, type OfficialSimulation, type RecordedSeats } from './officialSimulation.ts';
import type { Simulation, Tau2Message } from './tau2Results.ts';

type Spoken = Exclude<Tau2Message, { readonly role: 'system' | 'tool' }>;

/** How a simulation that ended improperly ends here. */
const endReasons: Readonly<Record<string, EndReason>> = {
  max_steps: 'turnCap',
  timeout: 'turnCap',
  context_window_exceeded: 'turnCap',
  too_many_errors: 'toolErrorCap',
  agent_error: 'agentFailed',
  user_error: 'userFailed',
};

const stops: readonly (readonly [string, NonNullable<UserReply['stop']>])[] = [
  ['###STOP###', 'done'],
  ['###TRANSFER###', 'transferred'],
  ['###OUT-OF-SCOPE###', 'outOfScope'],
];

/** The simulations of a results file of tau2, as they can be played again. */
export function tau2Simulations(simulations: readonly Simulation[]): readonly OfficialSimulation[] {
  return simulations.map((simulation) => ({
    by: 'tau2',
    name: simulation.id ?? simulation.task_id,
    task: simulation.task_id,
    trial: simulation.trial ?? null,
    official: simulation.reward_info?.reward ?? null,
    raised: simulation.raised ?? null,
    obstacle: null,
    seats: (task) => new Tau2Seats(simulation, task.judge ?? []),
  }));
}

/** Both seats of a finished simulation of tau2: each says and calls again what it did, and the tools answer anew. */
class Tau2Seats implements RecordedSeats {
  readonly #simulation: Simulation;
  readonly #statements: readonly string[];
  readonly #spoken: readonly Spoken[];
  #next: number;

  /** @param statements what a judge is to find true, in the order of the task */
  constructor(simulation: Simulation, statements: readonly string[]) {
    this.#simulation = simulation;
    this.#statements = statements;
    this.#spoken = simulation.messages.filter(
      (message): message is Spoken => 'tool_calls' in message || isSpoken(message),
    );
    // The agent's greeting is the domain's, and is said before the first event.
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

  /** What the judge of the simulation said of a statement; no clear answer where it was not asked. */
  judge({ subject }: JudgeQuestion): { readonly holds: boolean | null; readonly reason: string } {
    const statement = subject.type === 'task' ? this.#statements[subject.index] : undefined;
    const found = this.#simulation.reward_info?.nl_assertions?.find((each) => each.nl_assertion === statement);
    return found
      ? { holds: found.met, reason: found.justification ?? 'as recorded' }
      : { holds: null, reason: 'the results file holds no verdict of a judge on this' };
  }

  /** Calls whose result is another one now than the recorded. */
  changedResults(events: readonly RolloutEvent[]): readonly string[] {
    const recorded = this.#simulation.messages.flatMap((message) => (message.role === 'tool' ? [message] : []));
    const made = events.filter((event) => event.type === 'toolReturned');
    return made.flatMap((event, at) => {
      const before = recorded[at]?.content ?? '';
      return changedResult(at, before, event.content);
    });
  }

  #take(role: Spoken['role']): Spoken {
    const message = this.#spoken[this.#next];
    if (message?.role === role) {
      this.#next += 1;
      return message;
    }
    const { termination_reason: reason } = this.#simulation;
    const isOver = message === undefined;
    const who = role === 'assistant' ? ('agent' as const) : ('simulator' as const);
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

function isSpoken({ role }: Tau2Message): boolean {
  return role === 'assistant' || role === 'user';
}

function callOf({ id, name, arguments: values }: NonNullable<Spoken['tool_calls']>[number]) {
  return { id, name, arguments: values };
}
