import type { SeatSpec } from '../../engine/core/domain/seatSpec.ts';
import { type Tool, worksOnDatabase } from '../../engine/core/domain/tool.ts';
import { type Action, kindOf, type ShadowedRollout, type ShadowTurn } from '../../engine/core/evaluation/shadow.ts';
import type { EventOf, RolloutEvent } from '../../engine/core/events/event.ts';
import { advance, begin, type Setting } from '../../engine/core/rollout/rollout.ts';
import { type ExternalSeats, workerSeats } from '../../engine/shell/externalSeats.ts';
import { Fault, personGone } from '../../engine/shell/files/fault.ts';
import { forEach } from '../../engine/shell/files/forEach.ts';
import type { LiveRollout } from '../../engine/shell/liveRollout.ts';
import { settingOf } from '../../engine/shell/replay.ts';
import type { Supervisor } from '../../engine/shell/supervisor.ts';
import type { Traffic } from './traffic.ts';

export type ShadowOptions = {
  readonly agent: SeatSpec;
  readonly externalSeats: ExternalSeats;
  /** Whether reads that the agent calls first are executed, on the recorded state. */
  readonly reads: boolean;
  /** Turns at once. */
  readonly concurrency: number;
  readonly signal?: AbortSignal;
  /** Called after each turn with the number of turns done and planned. */
  readonly onTurn?: (done: number, planned: number) => void;
};

/** Reads that one turn may begin with. */
const mostReads = 10;

/** The turns of the agent in a recorded conversation, by the number of their event. */
function agentTurns(supervisor: Supervisor, { events }: Traffic): readonly number[] {
  const base = settingOf(supervisor.loaded);
  // What the rules say is not part of what an agent is shown.
  const setting: Setting = { ...base, domain: { ...supervisor.domain, rules: [] } };
  const [started, ...rest] = events;
  if (started?.type !== 'rolloutStarted') return [];
  let [state, effects] = begin(setting, started);
  const turns: number[] = [];
  for (const [index, event] of rest.entries()) {
    if (event.type === 'rolloutEnded') break;
    if (event.type === 'agentReplied' && event.origin === undefined && effects[0]?.type === 'askAgent')
      turns.push(index + 1);
    [state, effects] = advance(setting, state, event);
  }
  return turns;
}

/**
 * Runs an agent on each of its turns in recorded conversations and compares what it proposes with what was done. Each
 * turn is a fork that ends at the agent's proposal: it executes no write, asks no user, records nothing, and makes no
 * call to a tool outside the worker. Throws the `Fault` of a person who is no longer available to answer.
 */
export async function shadow(
  supervisor: Supervisor,
  traffic: readonly Traffic[],
  options: ShadowOptions,
): Promise<{ readonly rollouts: readonly ShadowedRollout[]; readonly planned: number }> {
  const turns = traffic.flatMap((each) =>
    agentTurns(supervisor, each).map((n, index) => ({ traffic: each, n, turn: index + 1 })),
  );
  const found = new Map<Traffic, ShadowTurn[]>(traffic.map((each) => [each, []]));
  let done = 0;
  const gone = new AbortController();
  const signal = AbortSignal.any([gone.signal, ...(options.signal ? [options.signal] : [])]);
  const work = async ({ traffic: own, n, turn }: (typeof turns)[number]) => {
    try {
      found.get(own)?.push(await shadowTurn(supervisor, own, n, turn, { ...options, signal }));
    } catch (error) {
      gone.abort();
      throw error;
    }
    options.onTurn?.(++done, turns.length);
  };
  // One person answers one question at a time.
  await forEach(turns, options.agent.type === 'human' ? 1 : options.concurrency, work, signal);
  const rollouts = traffic.map((each) => ({
    name: each.name,
    task: each.task,
    turns: (found.get(each) ?? []).toSorted((a, b) => a.turn - b.turn),
  }));
  return { rollouts, planned: turns.length };
}

async function shadowTurn(
  supervisor: Supervisor,
  traffic: Traffic,
  n: number,
  turn: number,
  options: ShadowOptions,
): Promise<ShadowTurn> {
  const { content, toolCalls } = traffic.events[n] as EventOf<'agentReplied'>;
  const done = { content, toolCalls } as Action;
  const at = { turn, place: traffic.sourceNumberOf(n), done };
  const proposal = await proposed(supervisor, traffic, n, done, options);
  if ('action' in proposal)
    return { ...at, kind: kindOf(done, proposal.action), proposed: proposal.action, reads: proposal.reads };
  const { who, message } = proposal.failure;
  const kind = who === 'agent' ? ('failed' as const) : ('unanswered' as const);
  return { ...at, kind, proposed: null, reads: 0, problem: message };
}

type Proposal =
  | { readonly action: Action; readonly reads: number }
  | { readonly failure: { readonly who: string; readonly message: string } };

/** Returns what the agent would do after the first `n` events. */
function proposed(
  supervisor: Supervisor,
  { under, events, hasState }: Traffic,
  n: number,
  done: Action,
  { agent, externalSeats, reads: mayRead, signal }: ShadowOptions,
): Promise<Proposal> {
  const from = events.slice(0, n);
  const { promise, resolve, reject } = Promise.withResolvers<Proposal>();
  let last: { readonly action: Action; readonly reads: number } | null = null;
  let reads = 0;
  const take = (live: LiveRollout, event: RolloutEvent) => {
    if (event.type === 'rolloutEnded') {
      const { who = 'infrastructure', code, message = event.reason } = event.failure ?? {};
      if (event.failure && code === personGone) reject(new Fault(event.failure));
      resolve(last && !event.failure ? last : { failure: { who, message } });
      live.abandon();
      return;
    }
    if (event.type !== 'agentReplied') {
      live.step();
      return;
    }
    const action = { content: event.content, toolCalls: event.toolCalls } as Action;
    last = { action, reads };
    const goesOn =
      mayRead && hasState && reads < mostReads && kindOf(done, action) !== 'sameCall' && isReading(supervisor, action);
    if (goesOn) {
      reads += action.toolCalls.length;
      live.step();
      return;
    }
    resolve(last);
    live.abandon();
  };
  const seats = workerSeats(agent, { type: 'human' });
  const request = {
    task: under,
    from,
    seats,
    externalSeats: alone(externalSeats),
    recording: null,
    recordedSources: {},
  };
  const live = supervisor.start({ ...request, pace: 'step' }, (arrived) => {
    for (const each of arrived) {
      if (each.n >= n) take(live, each.event);
      else if (each.n === n - 1) live.step();
    }
  });
  const stop = () => live.cancel();
  signal?.addEventListener('abort', stop, { once: true });
  live.closed.catch(reject);
  return promise.finally(() => signal?.removeEventListener('abort', stop));
}

/** Whether a proposal calls nothing but reads of the world that the events hold. */
function isReading({ domain }: Supervisor, { toolCalls }: Action): boolean {
  const isRead = (tool: Tool) => tool.effect === 'read' && worksOnDatabase(tool);
  return (
    toolCalls.length > 0 &&
    toolCalls.every((call) => domain.tools.some((tool) => tool.name === call.name && isRead(tool)))
  );
}

/** Returns an `ExternalSeats` in which only the agent's seat answers; requests to the others are rejected. */
function alone(externalSeats: ExternalSeats): ExternalSeats {
  const nobody = () => {
    const message = 'in a shadow only the agent is asked';
    return Promise.reject(new Fault({ who: 'environment', code: 'shadow/asked', message }));
  };
  const { forRollout } = externalSeats;
  const only = { user: nobody, judge: nobody, simulate: nobody };
  return {
    ...externalSeats,
    ...only,
    ...(forRollout ? { forRollout: (log) => ({ ...forRollout(log), ...only }) } : {}),
  };
}
