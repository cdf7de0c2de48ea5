import { type Domain, hostedName, type World } from '../../core/domain/domain.ts';
import type { Task } from '../../core/domain/task.ts';
import { personaOf } from '../../core/domain/taskVariant.ts';
import { type Side, strangeTool, type Tool } from '../../core/domain/tool.ts';
import { type CallFault, callFaults } from '../../core/events/callFaults.ts';
import type { RolloutEvent, RolloutStarted, Writes } from '../../core/events/event.ts';
import { messagesOf, resultsSoFar, type ToolCall } from '../../core/events/message.ts';
import type { RolloutState } from '../../core/events/state.ts';
import { withWrites } from '../../core/events/world.ts';
import type { Effect } from '../../core/rollout/effect.ts';
import type { JudgeQuestion } from '../../core/rollout/judgement.ts';
import { advance, begin, isCallCapReached, isResponseRefused, resumable } from '../../core/rollout/rollout.ts';
import type { SeatView } from '../../core/seats/seat.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { randomStream, rolloutKey } from '../../core/values/random.ts';
import { draft, type Patch } from '../../core/world/database.ts';
import { Fault } from '../files/fault.ts';
import {
  agentReplied,
  decidedEvent,
  ended,
  failedOutcome,
  toolReturned,
  toolsBrought,
  unverified,
  userReplied,
} from './effectEvents.ts';
import { goldWorld } from './goldWorld.ts';
import type { Rollout, Step, ToolOutcome } from './ports.ts';
import { underFaults } from './seededFaults.ts';
import { syncWrites } from './sync.ts';
import { verification } from './verification.ts';

/** A promise that must settle between two steps: the code that drains the loop passes back its result. */
type Waiting = Promise<readonly RolloutEvent[]>;

/**
 * The one loop: decide, perform, append. Yields every step from the start on, those of a given prefix
 * included; the debugger pauses between steps, a batch drains them, training drains many at once. Between steps it
 * yields the promises that something has to come of first: a rollout that waits for nothing is drained in one go.
 * @param from the start of a new rollout, or the events of one that continues (a fork, or after a crash); a group
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
    const events = performed instanceof Promise ? ((yield performed) ?? []) : performed;
    if (events.length === 0) return;
    for (const event of events) {
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
  if (effect.type === 'verify' || effect.type === 'askJudge') return [unverified(started, error.failure)];
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
        userReplied(reply, toolsBrought(rollout.setting.domain, rollout.task, state)),
      ]);
    case 'askAgent':
      return whenThere(rollout.ports.agent(viewOf(rollout, state, 'agent')), (reply) => [agentReplied(reply)]);
    case 'noteRules':
    case 'callTool':
    case 'stop':
      return [decidedEvent(effect)];
    case 'finishCall':
      return resultOf(rollout, effect, state);
    case 'askJudge':
      return judged(rollout, effect.question);
    case 'verify':
      return verify(rollout, state);
  }
}

function whenThere<T>(value: Promise<T> | T, then: (value: T) => readonly RolloutEvent[]): Performed {
  return value instanceof Promise ? value.then(then) : then(value);
}

/** Returns the events of a call. Injected faults are among them also if the tool then fails. */
function resultOf(rollout: Rollout, effect: Extract<Effect, { type: 'finishCall' }>, state: RolloutState): Performed {
  const { call, by } = effect;
  const faults = callFaults(rollout.task, state, call.name);
  if (faults.length === 0) return whenThere(outcome(rollout, call, by, state), (made) => resultEvents(call, by, made));
  const injected = faults.map(({ index, fault }) => ({
    type: 'faultInjected' as const,
    callId: call.id,
    index,
    fault,
  }));
  return outcomeUnderFaults(rollout, effect, state, faults).then(
    (made) => [...injected, ...resultEvents(call, by, made)],
    (error) => [...injected, ...failedWith(error, effect, state)],
  );
}

function resultEvents(call: ToolCall, by: Side, outcome: ToolOutcome): readonly RolloutEvent[] {
  const { writes, saved } = outcome;
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
    toolReturned(call.id, by, outcome),
  ];
}

function outcomeUnderFaults(
  rollout: Rollout,
  { call, by }: Extract<Effect, { type: 'finishCall' }>,
  state: RolloutState,
  injected: readonly CallFault[],
): Promise<ToolOutcome> {
  const faults = injected.map(({ fault }) => fault);
  const { wait = async () => undefined } = rollout.ports;
  const timeoutMs = calledTool(rollout.setting.domain, call.name, by)?.timeoutMs ?? 0;
  return underFaults(faults, call, (given) => outcome(rollout, given, by, state), { timeoutMs, wait });
}

function outcome(rollout: Rollout, call: ToolCall, by: Side, state: RolloutState): Promise<ToolOutcome> | ToolOutcome {
  const tool = calledTool(rollout.setting.domain, call.name, by);
  const refusal = refusalOf(call, tool, by, state);
  if (!tool || refusal !== null) return failedOutcome(refusal ?? '');
  const random = randomStream(...rolloutKey(state.started), `tool:${call.name}`, state.next);
  const { world, started, next: step, messages } = state;
  const earlier = rollout.setting.domain.hosted ? { earlier: resultsSoFar(messages) } : {};
  return rollout.ports.callTool(tool, call, { world, now: started.now, random, step, ...earlier });
}

const notMade = 'a call of this response has arguments that cannot be read, so none of its calls is made';

/** Neither seat reaches the tools of the other. What a benchmark's environment answers to a tool that it has not is its own. */
export function calledTool(
  { tools, hosted }: Pick<Domain, 'tools' | 'hosted'>,
  name: string,
  by: Side,
): Tool | undefined {
  const own = tools.find((tool) => tool.name === name && tool.owner === by);
  return own ?? (hosted && strangeTool(hosted.name, name, by));
}

/** Why a call never reaches a tool, or null. */
export function refusalOf(call: ToolCall, tool: Tool | undefined, by: Side, state: RolloutState): string | null {
  if (!tool) return `there is no tool named "${call.name}"`;
  if (typeof call.arguments !== 'string') return by === 'agent' && isResponseRefused(state) ? notMade : null;
  return `the arguments of ${call.name} are not a JSON object: ${call.arguments.slice(0, 200)}`;
}

async function judged({ ports }: Rollout, asked: JudgeQuestion): Promise<readonly RolloutEvent[]> {
  const { subject, question } = asked;
  const answer = await ports.judge?.(asked);
  return [{ type: 'judged', subject, question, ...(answer ?? { holds: null, reason: 'there is no judge' }) }];
}

function verify(rollout: Rollout, state: RolloutState): Performed {
  const { setting, task, ports } = rollout;
  return verification(setting, task, state, {
    readSource: ports.readSource,
    ...(ports.verifyBy ? { verifyBy: ports.verifyBy } : {}),
    goldWorld: () => goldWorld(rollout, state),
    ...(ports.conclude ? { conclude: ports.conclude } : {}),
  });
}

function preparedWrites({ task, ports, setting }: Rollout, { world, started }: RolloutState): Promise<Writes> | Writes {
  const writes = preparation(task, world);
  if (!ports.setUp || !setUpOf(setting.domain, task)) return writes;
  const context = { world: withWrites(world, writes), now: started.now };
  return ports.setUp(task, context).then((more) => [...writes, ...more]);
}

/** Returns what a task gives the environment that works on the domain's database, if it does. */
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

/**
 * Returns what a seat may look at when it is its turn. Throws a `Fault` where the task names a persona that is not
 * there.
 */
export function viewOf(
  rollout: Pick<Rollout, 'setting' | 'task'>,
  state: RolloutState,
  seat: 'agent' | 'user',
): SeatView {
  const { domain, world } = rollout.setting;
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
    database: world.agent,
    task: rollout.task,
    persona,
    started,
    messages: messagesOf(seat, messages),
    isCallCapReached: isCallCapReached(state),
    random: randomStream(...rolloutKey(started), seat, next, ...sampleOf(started, next)),
  };
}

/** Returns what names the streams of a seat that answers again, from its first new answer on. */
function sampleOf({ parent }: RolloutStarted, next: number): readonly (string | number)[] {
  return parent?.sample !== undefined && next > parent.event ? ['sample', parent.sample] : [];
}
