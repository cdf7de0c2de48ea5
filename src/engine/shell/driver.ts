import { draft, type Patch } from '../core/database.ts';
import type { World } from '../core/domain.ts';
import type { Effect } from '../core/effect.ts';
import type { Failure, RolloutEvent, RolloutStarted, Writes } from '../core/event.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { ToolCall } from '../core/message.ts';
import type { Random } from '../core/random.ts';
import { randomStream } from '../core/random.ts';
import { isUnscorable, rewardOf } from '../core/reward.ts';
import { advance, begin, resumable, type Setting } from '../core/rollout.ts';
import type { AgentReply, SeatView, UserReply } from '../core/seat.ts';
import { type Strike, strikesOf } from '../core/seededFault.ts';
import type { RolloutState } from '../core/state.ts';
import type { Task, VerifierName } from '../core/task.ts';
import type { Tool } from '../core/tool.ts';
import { verdictsOf } from '../core/verify.ts';
import { Fault } from './fault.ts';
import { underFaults } from './seededFaults.ts';

/** What a call came to. `writes` is empty for a read, and for every call that failed. */
export type ToolOutcome = {
  readonly content: string;
  readonly isError: boolean;
  readonly writes: Writes;
  /** The snapshot of a source outside the lane that the call has changed. */
  readonly saved?: { readonly source: string; readonly snapshot: Json };
};

export type ToolContext = {
  readonly world: World;
  readonly now: string;
  readonly random: Random;
  /** Number of the event before the call: the same for every attempt of one call. */
  readonly step: number;
};

/** Everything a rollout needs of the outside. A port that can't do its part throws a `Fault`. */
export type Ports = {
  readonly agent: (view: SeatView) => Promise<AgentReply> | AgentReply;
  readonly user: (view: SeatView) => Promise<UserReply> | UserReply;
  readonly callTool: (tool: Tool, call: ToolCall, context: ToolContext) => Promise<ToolOutcome> | ToolOutcome;
  /** State of a tool source outside the lane, by its reader. */
  readonly readSource: (source: string) => Promise<Json>;
  /** Lets time pass, for a seeded latency; without it none passes. */
  readonly wait?: (ms: number) => Promise<void>;
};

/** One stop: the event, and the state after it. */
export type Step = { readonly n: number; readonly event: RolloutEvent; readonly state: RolloutState };

export type Rollout = { readonly setting: Setting; readonly task: Task; readonly ports: Ports };

/**
 * The one loop: decide, perform, append. Yields every step from the start on, those of a given prefix
 * included; the debugger pauses between steps, a batch drains them, training drains many at once.
 * @param from the start of a new rollout, or the events of one that goes on (a fork, or after a crash); a group
 *   of events that was cut short is made again
 */
export async function* run(rollout: Rollout, from: RolloutStarted | readonly RolloutEvent[]): AsyncGenerator<Step> {
  const { setting } = rollout;
  const [started, ...prefix] = 'type' in from ? [from] : resumable(from);
  if (started?.type !== 'rolloutStarted') throw new Error('a rollout begins with rolloutStarted');
  let [state, effects] = begin(setting, started);
  yield { n: 0, event: started, state };
  for (const event of prefix) {
    [state, effects] = advance(setting, state, event);
    yield { n: state.next - 1, event, state };
  }
  for (let [effect] = effects; effect !== undefined; [effect] = effects) {
    for await (const event of performSafely(rollout, effect, () => state)) {
      [state, effects] = advance(setting, state, event);
      yield { n: state.next - 1, event, state };
    }
  }
}

async function* performSafely(rollout: Rollout, effect: Effect, now: () => RolloutState): AsyncGenerator<RolloutEvent> {
  try {
    yield* perform(rollout, effect, now);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (effect.type === 'verify') {
      yield { type: 'rewarded', basis: now().started.basis, reward: null, reason: `not scored: ${error.message}` };
      return;
    }
    yield ended(error.reason, error.failure);
  }
}

async function* perform(rollout: Rollout, effect: Effect, now: () => RolloutState): AsyncGenerator<RolloutEvent> {
  const state = now();
  switch (effect.type) {
    case 'prepareWorld':
      yield { type: 'worldPrepared', writes: preparation(rollout.task, state.world) };
      return;
    case 'askUser':
      yield { type: 'userReplied', ...(await rollout.ports.user(viewOf(rollout, state, 'user'))) };
      return;
    case 'askAgent':
      yield agentReplied(await rollout.ports.agent(viewOf(rollout, state, 'agent')));
      return;
    case 'noteRules':
      yield {
        type: 'rulesChecked',
        callId: effect.callId,
        verdicts: effect.verdicts.map((verdict) => ({ ...verdict, evidence: [...verdict.evidence] })),
      };
      return;
    case 'callTool':
      yield { type: 'toolCalled', call: effect.call as Extract<RolloutEvent, { type: 'toolCalled' }>['call'] };
      yield* result(rollout, effect.call, now());
      return;
    case 'finishCall':
      yield* result(rollout, effect.call, state);
      return;
    case 'stop':
      yield ended(effect.reason, effect.failure);
      return;
    case 'verify':
      yield* verify(rollout, now);
  }
}

async function* result(rollout: Rollout, call: ToolCall, state: RolloutState): AsyncGenerator<RolloutEvent> {
  const strikes = strikesOf(rollout.task, state, call.name);
  for (const { index, fault } of strikes) yield { type: 'faultInjected', callId: call.id, index, fault };
  const { content, isError, writes, saved } =
    strikes.length === 0 ? await outcome(rollout, call, state) : await struckOutcome(rollout, call, state, strikes);
  if (saved) yield { type: 'sourceSaved', callId: call.id, source: saved.source, snapshot: saved.snapshot as never };
  if (writes.length > 0) yield { type: 'databaseWritten', callId: call.id, writes };
  yield { type: 'toolReturned', callId: call.id, content, isError };
}

function struckOutcome(
  rollout: Rollout,
  call: ToolCall,
  state: RolloutState,
  strikes: readonly Strike[],
): Promise<ToolOutcome> {
  const faults = strikes.map(({ fault }) => fault);
  const { wait = async () => undefined } = rollout.ports;
  const timeoutMs = toolNamed(rollout, call.name)?.timeoutMs ?? 0;
  return underFaults(faults, call, (given) => outcome(rollout, given, state), { timeoutMs, wait });
}

function outcome(rollout: Rollout, call: ToolCall, state: RolloutState): Promise<ToolOutcome> | ToolOutcome {
  const tool = toolNamed(rollout, call.name);
  if (!tool) return failed(`there is no tool named "${call.name}"`);
  if (typeof call.arguments === 'string')
    return failed(`the arguments of ${call.name} are not a JSON object: ${call.arguments.slice(0, 200)}`);
  const random = randomStream(...streamOf(state), `tool:${call.name}`, state.next);
  return rollout.ports.callTool(tool, call, { world: state.world, now: state.started.now, random, step: state.next });
}

function toolNamed({ setting }: Rollout, called: string): Tool | undefined {
  return setting.domain.tools.find(({ name, owner }) => name === called && owner === 'agent');
}

/** Reads what the assertions look into, runs the verifiers of the basis, and says the reward. */
async function* verify(rollout: Rollout, now: () => RolloutState): AsyncGenerator<RolloutEvent> {
  const { task, ports } = rollout;
  const { basis } = now().started;
  if (!isUnscorable(endOf(now()))) {
    for (const source of sourcesOf(task, task[basis]))
      yield { type: 'sourceRead', source, state: (await ports.readSource(source)) as never };
    const gold = task[basis].includes('database') ? await goldWorld(rollout, now().started) : now().world;
    for (const verdict of verdictsOf(task[basis], task, now(), gold)) yield { type: 'verdictReached', verdict };
  }
  const { value, reason } = rewardOf(now());
  yield { type: 'rewarded', basis, reward: value, reason };
}

/**
 * The world after the task's gold actions, from the same start. A gold action that fails changes nothing
 * (tau2-bench does the same).
 */
export async function goldWorld(rollout: Rollout, started: RolloutStarted): Promise<World> {
  const { setting, task, ports } = rollout;
  let [state] = advance(setting, begin(setting, started)[0], {
    type: 'worldPrepared',
    writes: preparation(task, setting.world),
  });
  for (const [index, action] of task.actions.entries()) {
    const tool = setting.domain.tools.find(({ name }) => name === action.tool);
    // What a model would answer, and what lies outside, is no part of the gold world.
    if (tool?.source.type !== 'code' && tool?.source.type !== 'python') continue;
    const random = randomStream(...streamOf(state), 'gold', index);
    const call = { id: `gold_${index}`, name: action.tool, arguments: action.arguments as JsonObject };
    const { writes } = await ports.callTool(tool, call, { world: state.world, now: started.now, random, step: index });
    [state] = advance(setting, state, { type: 'worldEdited', writes });
  }
  return state.world;
}

/** The writes that turn the domain's database into the task's own start. */
export function preparation(task: Task, world: World): Writes {
  return (['agent', 'user'] as const).flatMap((side) => {
    const entries = task.state.filter((entry) => entry.side === side);
    if (entries.length === 0) return [];
    const open = draft(world[side]);
    for (const { path, value } of entries) place(open.view, path, value as Json);
    return [{ side, patches: open.finish().patches as Patch[] as never }];
  });
}

function place(root: JsonObject, path: readonly (string | number)[], value: Json): void {
  const target = path
    .slice(0, -1)
    .reduce<Json | undefined>((node, key) => (node as JsonObject | undefined)?.[key], root);
  const key = path.at(-1);
  if (typeof target !== 'object' || target === null || key === undefined) {
    throw new Fault({
      who: 'environment',
      code: 'task/state',
      message: `the task's state names ${path.join('.')}, which is not in the database`,
    });
  }
  if (value === null) delete (target as Record<string, Json>)[key];
  else (target as Record<string, Json>)[key] = value;
}

function viewOf(rollout: Rollout, state: RolloutState, seat: 'agent' | 'user'): SeatView {
  const { domain } = rollout.setting;
  const persona = domain.personas.find(({ id }) => id === rollout.task.persona);
  if (!persona)
    throw new Fault({
      who: 'environment',
      code: 'task/persona',
      message: `task ${rollout.task.id} names the persona "${rollout.task.persona}", which this domain does not have`,
    });
  const { started, messages, next } = state;
  return {
    domain,
    task: rollout.task,
    persona,
    started,
    messages,
    random: randomStream(...streamOf(state), seat, next),
  };
}

function agentReplied({ content, reasoning, toolCalls, messageId }: AgentReply): RolloutEvent {
  return {
    type: 'agentReplied',
    content,
    ...(reasoning === undefined ? {} : { reasoning }),
    toolCalls: toolCalls as never,
    ...(messageId === undefined ? {} : { messageId }),
  };
}

function ended(reason: Extract<RolloutEvent, { type: 'rolloutEnded' }>['reason'], failure?: Failure): RolloutEvent {
  return { type: 'rolloutEnded', reason, ...(failure === undefined ? {} : { failure }) };
}

function endOf(state: RolloutState) {
  if (state.ended === null) throw new Error('verify comes after the end');
  return state.ended;
}

function sourcesOf(task: Task, basis: readonly VerifierName[]): readonly string[] {
  if (!basis.includes('assertions')) return [];
  return [...new Set(task.assertions.map((assertion) => assertion.in))].filter(
    (name) => name !== 'agent' && name !== 'user',
  );
}

function streamOf({ started }: RolloutState): readonly (string | number)[] {
  return [started.seed, started.task.id, started.trial];
}

function failed(message: string): ToolOutcome {
  return { content: `Error: ${message}`, isError: true, writes: [] };
}
