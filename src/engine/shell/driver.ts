import { draft, type Patch } from '../core/database.ts';
import { type Domain, hostedName, type World } from '../core/domain.ts';
import type { Effect } from '../core/effect.ts';
import type { Failure, RolloutEvent, RolloutStarted, Writes } from '../core/event.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { JudgeAnswer, JudgeQuestion } from '../core/judgement.ts';
import { messagesOf, type ToolCall } from '../core/message.ts';
import type { Random } from '../core/random.ts';
import { randomStream, rolloutKey } from '../core/random.ts';
import { advance, begin, resumable, type Setting } from '../core/rollout.ts';
import type { AgentReply, SeatView, UserReply } from '../core/seat.ts';
import { type Strike, strikesOf } from '../core/seededFault.ts';
import type { RolloutState } from '../core/state.ts';
import type { Task } from '../core/task.ts';
import { type Offered, offeredAs, type Side, strangeTool, type Tool } from '../core/tool.ts';
import { personaOf } from '../core/underPersona.ts';
import { withWrites } from '../core/world.ts';
import { Fault } from './fault.ts';
import { goldWorld } from './goldWorld.ts';
import { underFaults } from './seededFaults.ts';
import { syncWrites } from './sync.ts';
import { type VerificationPorts, verification } from './verification.ts';

/**
 * What a call came to. `writes` is empty for a read, and for a call that failed, unless an environment on the domain's
 * database keeps what its failed calls wrote.
 */
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
  /** The same for gold actions, where an environment plays them on an instance of their own. */
  readonly callGold?: Ports['callTool'] | undefined;
  /** Runs the domain's `sync` on a world; absent where no domain has one. */
  readonly sync?: (context: Pick<ToolContext, 'world' | 'now'>) => Promise<Writes> | Writes;
  /** Puts a task's own start into a world by the environment that works on it; absent where there is none. */
  readonly setUp?: (task: Task, context: Pick<ToolContext, 'world' | 'now'>) => Promise<Writes>;
  /** What an assertion looks into that is not in the world. */
  readonly readSource: VerificationPorts['readSource'];
  /** Asks the judge; absent where there is none, and its answers are then unknown. */
  readonly judge?: (question: JudgeQuestion) => Promise<JudgeAnswer>;
  readonly verifyBy?: VerificationPorts['verifyBy'];
  /** Lets time pass, for a seeded latency; without it none passes. */
  readonly wait?: (ms: number) => Promise<void>;
};

/** One stop: the event, and the state after it. */
export type Step = { readonly n: number; readonly event: RolloutEvent; readonly state: RolloutState };

export type Rollout = { readonly setting: Setting; readonly task: Task; readonly ports: Ports };

/** What has to be waited for between two steps: whoever drains the loop gives back what it came to. */
type Waiting = Promise<readonly RolloutEvent[]>;

/**
 * The one loop: decide, perform, append. Yields every step from the start on, those of a given prefix
 * included; the debugger pauses between steps, a batch drains them, training drains many at once. Between steps it
 * yields the promises that something has to come of first: a rollout that waits for nothing is drained in one go.
 * @param from the start of a new rollout, or the events of one that goes on (a fork, or after a crash); a group
 *   of events that was cut short is made again
 */
export function* play(
  rollout: Rollout,
  from: RolloutStarted | readonly RolloutEvent[],
): Generator<Step | Waiting, void, readonly RolloutEvent[] | undefined> {
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
    const performed = performSafely(rollout, effect, state);
    for (const event of performed instanceof Promise ? ((yield performed) ?? []) : performed) {
      [state, effects] = advance(setting, state, event);
      yield { n: state.next - 1, event, state };
    }
  }
}

/** The steps of the loop, waited for. */
export async function* run(...started: Parameters<typeof play>): AsyncGenerator<Step> {
  const steps = play(...started);
  for (let next = steps.next(); !next.done; ) {
    const { value } = next;
    if (value instanceof Promise) next = steps.next(await value);
    else {
      yield value;
      next = steps.next();
    }
  }
}

/** Events that an effect came to; a promise only where something had to be waited for. */
type Performed = readonly RolloutEvent[] | Promise<readonly RolloutEvent[]>;

function performSafely(rollout: Rollout, effect: Effect, state: RolloutState): Performed {
  try {
    const performed = perform(rollout, effect, state);
    return performed instanceof Promise ? performed.catch((error) => failedWith(error, effect, state)) : performed;
  } catch (error) {
    return failedWith(error, effect, state);
  }
}

function failedWith(error: unknown, effect: Effect, { started }: RolloutState): readonly RolloutEvent[] {
  if (!(error instanceof Fault)) throw error;
  if (effect.type === 'verify' || effect.type === 'askJudge')
    return [{ type: 'rewarded', basis: started.basis, reward: null, reason: `not scored: ${error.message}` }];
  return [ended(error.reason, error.failure)];
}

function perform(rollout: Rollout, effect: Effect, state: RolloutState): Performed {
  switch (effect.type) {
    case 'prepareWorld':
      return whenThere(preparedWrites(rollout, state), (writes) => [{ type: 'worldPrepared', writes }]);
    case 'sync':
      return whenThere(syncWrites(rollout, state), (writes) => [{ type: 'worldSynced', writes }]);
    case 'askUser':
      return whenThere(rollout.ports.user(viewOf(rollout, state, 'user')), (reply) => [
        userReplied(reply, toolsBrought(rollout, state)),
      ]);
    case 'askAgent':
      return whenThere(rollout.ports.agent(viewOf(rollout, state, 'agent')), (reply) => [agentReplied(reply)]);
    case 'noteRules':
      return [
        {
          type: 'rulesChecked',
          callId: effect.callId,
          verdicts: effect.verdicts.map((verdict) => ({ ...verdict, evidence: [...verdict.evidence] })),
        },
      ];
    case 'callTool':
      // The event comes back as the effect `finishCall`, so that it is on the disk before the tool acts.
      return [
        {
          type: 'toolCalled',
          call: effect.call as Extract<RolloutEvent, { type: 'toolCalled' }>['call'],
          ...byOf(effect),
        },
      ];
    case 'finishCall':
      return resultOf(rollout, effect, state);
    case 'stop':
      return [ended(effect.reason, effect.failure)];
    case 'askJudge':
      return judged(rollout, effect.question);
    case 'verify':
      return verify(rollout, state);
  }
}

function whenThere<T>(value: Promise<T> | T, then: (value: T) => readonly RolloutEvent[]): Performed {
  return value instanceof Promise ? value.then(then) : then(value);
}

/** What was begun is said also where the tool then fails. */
function resultOf(rollout: Rollout, effect: Extract<Effect, { type: 'finishCall' }>, state: RolloutState): Performed {
  const { call, by } = effect;
  const strikes = strikesOf(rollout.task, state, call.name);
  if (strikes.length === 0) return whenThere(outcome(rollout, call, by, state), (made) => resultEvents(call, by, made));
  const struck = strikes.map(({ index, fault }) => ({
    type: 'faultInjected' as const,
    callId: call.id,
    index,
    fault,
  }));
  return struckOutcome(rollout, effect, state, strikes).then(
    (made) => [...struck, ...resultEvents(call, by, made)],
    (error) => [...struck, ...failedWith(error, effect, state)],
  );
}

function resultEvents(
  call: ToolCall,
  by: Side,
  { content, isError, writes, saved }: ToolOutcome,
): readonly RolloutEvent[] {
  return [
    ...(saved
      ? [
          {
            type: 'sourceSaved' as const,
            callId: call.id,
            source: saved.source,
            snapshot: saved.snapshot as never,
          },
        ]
      : []),
    ...(writes.length > 0 ? [{ type: 'databaseWritten' as const, callId: call.id, writes }] : []),
    { type: 'toolReturned', callId: call.id, content, isError, ...byOf({ by }) },
  ];
}

function byOf({ by }: { readonly by: Side }): { readonly by?: 'user' } {
  return by === 'user' ? { by } : {};
}

function struckOutcome(
  rollout: Rollout,
  { call, by }: Extract<Effect, { type: 'finishCall' }>,
  state: RolloutState,
  strikes: readonly Strike[],
): Promise<ToolOutcome> {
  const faults = strikes.map(({ fault }) => fault);
  const { wait = async () => undefined } = rollout.ports;
  const timeoutMs = toolNamed(rollout, call.name, by)?.timeoutMs ?? 0;
  return underFaults(faults, call, (given) => outcome(rollout, given, by, state), { timeoutMs, wait });
}

function outcome(rollout: Rollout, call: ToolCall, by: Side, state: RolloutState): Promise<ToolOutcome> | ToolOutcome {
  const tool = toolNamed(rollout, call.name, by) ?? unknownTool(rollout, call.name, by);
  if (!tool) return failed(`there is no tool named "${call.name}"`);
  if (typeof call.arguments === 'string')
    return failed(`the arguments of ${call.name} are not a JSON object: ${call.arguments.slice(0, 200)}`);
  const random = randomStream(...rolloutKey(state.started), `tool:${call.name}`, state.next);
  return rollout.ports.callTool(tool, call, { world: state.world, now: state.started.now, random, step: state.next });
}

/** Neither seat reaches the tools of the other. */
function toolNamed({ setting }: Rollout, called: string, by: Side): Tool | undefined {
  return setting.domain.tools.find(({ name, owner }) => name === called && owner === by);
}

/** What a benchmark's environment answers to a tool that it has not is its own. */
function unknownTool({ setting }: Rollout, name: string, by: Side): Tool | undefined {
  const { hosted } = setting.domain;
  return hosted && strangeTool(hosted.name, name, by);
}

async function judged({ ports }: Rollout, asked: JudgeQuestion): Promise<readonly RolloutEvent[]> {
  const { subject, question } = asked;
  const answer = await ports.judge?.(asked);
  return [{ type: 'judged', subject, question, ...(answer ?? { holds: null, reason: 'nobody judges here' }) }];
}

function verify(rollout: Rollout, state: RolloutState): Performed {
  const { setting, task, ports } = rollout;
  return verification(setting, task, state, {
    readSource: ports.readSource,
    ...(ports.verifyBy ? { verifyBy: ports.verifyBy } : {}),
    goldWorld: () => goldWorld(rollout, state),
  });
}

function preparedWrites({ task, ports, setting }: Rollout, { world, started }: RolloutState): Promise<Writes> | Writes {
  const writes = preparation(task, world);
  if (!ports.setUp || !setUpOf(setting.domain, task)) return writes;
  const context = { world: withWrites(world, writes), now: started.now };
  return ports.setUp(task, context).then((more) => [...writes, ...more]);
}

/** What a task gives the environment that works on the domain's database, if it does. */
export function setUpOf({ file }: Pick<Domain, 'file'>, { setUp }: Task): Json | undefined {
  const name = hostedName(file);
  return name === null ? undefined : (setUp?.[name] as Json | undefined);
}

/** The writes that turn the domain's database into the task's own start. */
export function preparation(task: Task, world: World): Writes {
  const known = preparations.get(task);
  if (known?.world === world) return known.writes;
  const writes = prepared(task, world);
  preparations.set(task, { world, writes });
  return writes;
}

/** By task: rollouts that begin alike share one start, and what was worked out of it. */
const preparations = new WeakMap<Task, { readonly world: World; readonly writes: Writes }>();

function prepared(task: Task, world: World): Writes {
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

/** What a seat may look at when it is its turn. Throws a `Fault` where the task names a persona that is not there. */
export function viewOf(
  rollout: Pick<Rollout, 'setting' | 'task'>,
  state: RolloutState,
  seat: 'agent' | 'user',
): SeatView {
  const { domain } = rollout.setting;
  const persona = personaOf(domain, rollout.task);
  if (!persona)
    throw new Fault({
      who: 'environment',
      code: 'task/persona',
      message: `task ${rollout.task.id} names the persona "${rollout.task.under ?? rollout.task.persona}", which this domain does not have`,
    });
  const { started, messages, next } = state;
  return {
    domain,
    task: rollout.task,
    persona,
    started,
    messages: messagesOf(seat, messages),
    random: randomStream(...rolloutKey(started), seat, next, ...sampleOf(started, next)),
  };
}

/** What names the streams of a seat that answers anew, from its first new answer on. */
function sampleOf({ parent }: RolloutStarted, next: number): readonly (string | number)[] {
  return parent?.sample !== undefined && next > parent.event ? ['sample', parent.sample] : [];
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

/** A user that calls its tools speaks after their results, so it can't end the conversation with them. */
function userReplied({ content, stop, toolCalls = [] }: UserReply, tools: readonly Offered[]): RolloutEvent {
  const brought = tools.length === 0 || stop !== null ? {} : { tools: tools as never };
  return toolCalls.length === 0
    ? { type: 'userReplied', content, stop, ...brought }
    : { type: 'userReplied', content, stop: null, toolCalls: toolCalls as never };
}

/** The tools that the agent is offered from the user's next message on. */
function toolsBrought({ task, setting }: Rollout, { heard }: RolloutState): readonly Offered[] {
  const names = (task.laterTools ?? []).flatMap(({ turn, tools }) => (turn === heard.length ? tools : []));
  return names.length === 0 ? [] : setting.domain.tools.filter(({ name }) => names.includes(name)).map(offeredAs);
}

function ended(reason: Extract<RolloutEvent, { type: 'rolloutEnded' }>['reason'], failure?: Failure): RolloutEvent {
  return { type: 'rolloutEnded', reason, ...(failure === undefined ? {} : { failure }) };
}

function failed(message: string): ToolOutcome {
  return { content: `Error: ${message}`, isError: true, writes: [] };
}
