import { visibleTo } from '../../core/domain/simulatedTool.ts';
import { sourceOf } from '../../core/domain/sources/sources.ts';
import type { Task } from '../../core/domain/task.ts';
import { externalSource, runsInWorker, type Side, type Tool } from '../../core/domain/tool.ts';
import { type CallFault, callFaults } from '../../core/events/callFaults.ts';
import {
  type EventOf,
  type EventType,
  eventSchema,
  type Failure,
  type RolloutEvent,
  type RolloutStarted,
  type Writes,
} from '../../core/events/event.ts';
import { numberFormsOf, resultsSoFar, type ToolCall } from '../../core/events/message.ts';
import { isFilled } from '../../core/events/quotedResults.ts';
import type { RolloutState } from '../../core/events/state.ts';
import { differenceHash, withWrites, writesBetween } from '../../core/events/world.ts';
import { isProperEnd } from '../../core/reward/reward.ts';
import type { Effect } from '../../core/rollout/effect.ts';
import type { JudgeAnswer, JudgeQuestion } from '../../core/rollout/judgement.ts';
import { type Advanced, advance, begin, resumable, type Setting, stateHash } from '../../core/rollout/rollout.ts';
import type { AgentReply, UserReply } from '../../core/seats/seat.ts';
import { issueText } from '../../core/text/issueText.ts';
import { contentHash } from '../../core/values/hash.ts';
import { impossible } from '../../core/values/impossible.ts';
import { canonicalJson, type Json, type JsonObject } from '../../core/values/json.ts';
import { type Attachments, attachmentsOf } from '../../core/values/media.ts';
import { type Random, randomStream, rolloutKey } from '../../core/values/random.ts';
import { messageOf } from '../files/fault.ts';
import { redactedPart } from '../keys/secrets.ts';
import { calledTool, preparation, refusalOf, setUpOf, viewOf } from '../rollout/driver.ts';
import {
  agentReplied,
  decidedEvent,
  ended,
  type Returned,
  toolReturned,
  toolsBrought,
  unverified,
  userReplied,
} from '../rollout/effectEvents.ts';
import { callUnderFaults, resultByFaults, resultUnderFaults } from '../rollout/seededFaults.ts';
import { conclude, type Gold, needsGold, openSource } from '../rollout/verification.ts';
import { simulatedOutcome } from './externalCalls.ts';
import { acceptedEvent, claimOf, claimText } from './workerChannel.ts';
import type {
  Answer,
  ClaimedEvent,
  GivenArguments,
  Question,
  RemoteView,
  SimulatedAnswer,
  WorkerEvent,
  WorkerEvidence,
  WorkerGold,
  WorkerSeats,
} from './workerMessage.ts';

/** Gold worlds of a worker by the numbers that it gave them. */
export type GoldCache = Map<number, Gold>;

/** More than a worker keeps itself (`goldWorld.ts`), so that none is forgotten which it still speaks of. */
const goldsKept = 512;

/** Something that a worker says happened and that cannot have happened. */
export class ForgedMessage extends Error {
  override readonly name = 'ForgedMessage';
}

/** A question of a worker, with everything that decides what is asked taken from the supervisor's own state. */
export type CheckedQuestion =
  | { readonly type: 'agent' | 'user'; readonly view: RemoteView }
  | { readonly type: 'judge'; readonly question: JudgeQuestion }
  | ({ readonly type: 'tool'; readonly source: string } & AskedCall)
  | (Extract<Question, { readonly type: 'python' }> & { readonly now: string; readonly seed: string } & AskedCall)
  | ({
      readonly type: 'simulated';
      /** The problem with the previous answer. */
      readonly problem: string | null;
      readonly now: string;
      readonly visible: JsonObject;
    } & AskedCall)
  | Extract<Question, { readonly type: 'hosted' | 'source' }>;

/** A call of a tool that the supervisor makes; `step` is the same for every attempt of it. */
type AskedCall = { readonly name: string; readonly step: number } & GivenArguments;

type CheckedOptions = {
  readonly setting: Setting;
  readonly task: Task;
  readonly seats: WorkerSeats;
  readonly from: RolloutStarted | readonly RolloutEvent[];
};

/**
 * The most times that a worker may ask the same question at one step: a model that simulates a tool is asked again after
 * an answer that does not fit, and a new Python process after a stale one. Questions that cost nothing have no limit.
 */
const asksPerStep: Partial<Record<Question['type'], number>> = {
  agent: 1,
  user: 1,
  judge: 1,
  tool: 1,
  python: 2,
  simulated: 3,
};

/**
 * A rollout as the supervisor folds it, from what the worker says happened. A worker runs the domain's code in the same
 * process as the loop, so that nothing it says is trusted: what follows from the events before has to be exactly that
 * (rules, verdicts, the reward, every state), and what an answer of the supervisor decides has to be that answer. Taken
 * over is what the domain decides anyway: results and writes of its tools, of `sync` and of the gold actions, what its
 * verifiers say, and the replies of seats without a model, which speak by its tasks and personas.
 */
export class CheckedRollout {
  readonly #options: CheckedOptions;
  /** Events that were there before the worker continued from them. */
  readonly #prefix: readonly RolloutEvent[];
  #state: RolloutState | null = null;
  #hash = '';
  #effects: readonly Effect[] = [];
  /** The call under way: the faults that are still due, and the requests for it. */
  #call: { readonly step: number; readonly faults: readonly CallFault[]; left: CallFault[] } | null = null;
  /** Number of the event after the last call. */
  #callStep = 0;
  #asked: { step: number; count: number } = { step: -1, count: 0 };
  #asking: CheckedQuestion | null = null;
  #answer: { readonly about: Question; readonly value: Answer } | null = null;
  /** The answer of a tool outside the worker to the call in progress. */
  #result: ({ readonly step: number; readonly saved: Json; readonly writes?: Writes } & Returned) | null = null;
  /** The problem with the last answer of a model that simulates the tool of the call in progress. */
  #problem: { readonly step: number; readonly text: string } | null = null;
  /** Answers to reads that a worker may keep until something is written, by call. */
  readonly #reads = new Map<string, Returned>();

  constructor(options: CheckedOptions) {
    this.#options = options;
    const { from } = options;
    this.#prefix = 'type' in from ? [from] : resumable(from);
  }

  /** Number of the next event. */
  get next(): number {
    return this.#state?.next ?? 0;
  }

  /** Whether a question of the worker is under way. */
  get isAsking(): boolean {
    return this.#asking !== null;
  }

  /** The time limit of the domain's code that runs at this event, in ms; null where none of it does. */
  get limitMs(): number | null {
    const { domain } = this.#options.setting;
    const effect = this.#effect;
    if (effect?.type === 'sync') return domain.file.toolTimeoutMs;
    if (effect?.type !== 'finishCall') return null;
    const tool = calledTool(domain, effect.call.name, effect.by);
    return tool && runsInWorker(tool) ? tool.timeoutMs : null;
  }

  /** Whether the reward is there. */
  get isClosed(): boolean {
    return this.#state?.phase.type === 'closed';
  }

  /** Hash of what the rollout changed in the domain's databases. */
  get databaseDiff(): string {
    return differenceHash(this.#options.setting.world, this.#standing.world);
  }

  get #standing(): RolloutState {
    if (!this.#state) throw new ForgedMessage('it speaks of a rollout before its start');
    return this.#state;
  }

  /** Takes an event over, with the state after it. Throws `ForgedMessage` where it cannot have happened. */
  accept(claimed: ClaimedEvent): WorkerEvent {
    const { n, type } = claimed;
    if (n !== this.next) throw new ForgedMessage(`event ${n} came where event ${this.next} is due`);
    try {
      const due = this.#due(claimed);
      const text = claimText(n, due);
      if (text !== claimed.text)
        throw new ForgedMessage(`event ${n} is ${shortened(claimed.text)} where ${shortened(text)} is due`);
      if (due === claimed.event) throwIfOdd(n, due);
      this.#advance(due);
      return acceptedEvent(claimed, this.#hash);
    } catch (error) {
      if (error instanceof ForgedMessage) throw error;
      throw new ForgedMessage(`event ${n} (${type}) cannot follow: ${messageOf(error)}`);
    }
  }

  /**
   * Verdicts and reward, when the worker has nothing more to say about the rollout. Throws `ForgedMessage` where it is
   * not at its end, or something is missing that decides them.
   */
  conclude({ gold, custom }: WorkerEvidence, golds: GoldCache): readonly WorkerEvent[] {
    if (this.isClosed) return [];
    const { setting, task } = this.#options;
    const state = this.#standing;
    if (this.#effect?.type !== 'verify') throw new ForgedMessage('it closed a rollout that is not at its end');
    if (openSource(task, state)) throw new ForgedMessage('it closed a rollout before all states were read');
    const isGoldNeeded = needsGold(task, state);
    if (isGoldNeeded && !gold) throw new ForgedMessage('it closed a rollout without the gold actions that decide it');
    const played = isGoldNeeded && gold ? this.#played(gold, golds) : null;
    return conclude(setting, task, state, { gold: played, custom }).map((event) => this.#append(event));
  }

  /** Returns what the gold actions write from the start of the conversation on. */
  goldWrites({ gold }: WorkerEvidence, golds: GoldCache): Writes {
    return gold ? writesBetween(this.#standing.start, this.#played(gold, golds).world) : [];
  }

  /** Ends the rollout with a failure, without its worker. Gives the events that say so. */
  fail(failure: Failure): readonly WorkerEvent[] {
    if (this.isClosed) return [];
    const { setting, task } = this.#options;
    const made = this.#prefix.slice(this.next).map((event) => this.#append(event));
    const { started, ended: end } = this.#standing;
    if (end !== null) {
      return [...made, this.#append(unverified(started, failure))];
    }
    made.push(this.#append(ended('environmentFailed', failure)));
    const concluded = conclude(setting, task, this.#standing, { gold: null, custom: [] });
    return [...made, ...concluded.map((event) => this.#append(event))];
  }

  #append(event: RolloutEvent): WorkerEvent {
    const n = this.next;
    this.#advance(event);
    return acceptedEvent(claimOf(n, event), this.#hash);
  }

  /** A question of the worker as it may be asked. Throws `ForgedMessage` where nothing in the rollout waits for it. */
  ask(about: Question): CheckedQuestion {
    if (this.#asking) throw new ForgedMessage('it asked again before it had an answer');
    const checked = this.#askable(about);
    const step = this.next;
    this.#asked = { step, count: this.#asked.step === step ? this.#asked.count + 1 : 1 };
    // Gold actions in Python are all played at the step that verifies.
    const limit = this.#effect?.type === 'verify' ? undefined : asksPerStep[about.type];
    if (limit !== undefined && this.#asked.count > limit)
      throw new ForgedMessage(`it asked ${this.#asked.count} times for one ${about.type} step`);
    this.#asking = checked;
    this.#result = null;
    return checked;
  }

  /** Accepts the answer to the question in progress. */
  answered(about: Question, value: Answer): void {
    const asked = this.#asking;
    this.#asking = null;
    this.#answer = { about, value };
    const effect = this.#effect;
    if (!asked || effect?.type !== 'finishCall') return;
    const step = this.#callStep;
    if (asked.type === 'simulated') {
      const outcome = this.#simulated(asked, value as SimulatedAnswer);
      this.#problem = 'problem' in outcome ? { step, text: outcome.problem } : null;
      if ('problem' in outcome) return;
      const { content, isError, writes } = outcome;
      this.#result = { step, content, isError, saved: null, writes };
    }
    const result = resultOf(value);
    if (result === null) return;
    const saved = ('saved' in value ? (value.saved as Json | undefined) : undefined) ?? null;
    this.#result ??= { step, ...result, saved };
    if ('arguments' in asked && !result.isError) this.#reads.set(callKey(asked), result);
  }

  #simulated({ name, arguments: given }: AskedCall, answer: SimulatedAnswer): ReturnType<typeof simulatedOutcome> {
    const { tool } = this.#called() ?? {};
    if (!tool) throw new ForgedMessage(`it continued before ${name} was answered`);
    return simulatedOutcome(tool, given, this.#standing.world, answer);
  }

  /** The question under way was refused. */
  refused(): void {
    this.#asking = null;
  }

  /** Lets another worker resume from the accepted events: it repeats the questions whose answers led to no event. */
  resume(): void {
    this.#asking = null;
    this.#asked = { step: -1, count: 0 };
    this.#answer = null;
    this.#result = null;
    this.#problem = null;
  }

  get #effect(): Effect | undefined {
    return this.#effects[0];
  }

  #advance(event: RolloutEvent): void {
    const before = this.#state;
    const [state, effects] = this.#advanced(before, event);
    if (before?.world !== state.world) {
      this.#hash = stateHash(state);
      this.#reads.clear();
    }
    this.#state = state;
    if (event.type === 'toolCalled') this.#callStep = state.next;
    this.#effects = effects;
  }

  #advanced(before: RolloutState | null, event: RolloutEvent): Advanced {
    const { setting } = this.#options;
    if (before) return advance(setting, before, event);
    if (event.type === 'rolloutStarted') return begin(setting, event);
    throw new ForgedMessage('a rollout begins with rolloutStarted');
  }

  /** The event that is due: by what was recorded before where that decides it, else the one that came. */
  #due(arrived: ClaimedEvent): RolloutEvent {
    const known = this.#prefix[arrived.n];
    if (known) return known;
    const effect = this.#effect;
    if (!effect) throw new ForgedMessage(`event ${arrived.n} came after the end`);
    if (isGivenUp(effect, arrived, this.#standing)) return arrived.event;
    const { setting, task, seats } = this.#options;
    const state = this.#standing;
    switch (effect.type) {
      case 'prepareWorld':
        if (setUpOf(setting.domain, task) !== undefined) return only(arrived, 'worldPrepared');
        return { type: 'worldPrepared', writes: preparation(task, state.world) };
      case 'sync':
        return only(arrived, 'worldSynced');
      case 'askUser': {
        if (seats.user !== 'remote') return only(arrived, 'userReplied');
        return userReplied(this.#take('user') as UserReply, toolsBrought(setting.domain, task, state));
      }
      case 'askAgent':
        return seats.agent === 'remote'
          ? agentReplied(this.#take('agent') as AgentReply)
          : only(arrived, 'agentReplied');
      case 'noteRules':
      case 'callTool':
      case 'stop':
        return decidedEvent(effect);
      case 'finishCall':
        return this.#resultDue(effect, arrived.event);
      case 'askJudge': {
        const { subject, question } = effect.question;
        return { type: 'judged', subject, question, ...(this.#take('judge') as JudgeAnswer) };
      }
      case 'verify':
        return this.#stateDue(arrived);
    }
  }

  /** An event of the group that a call comes to. */
  #resultDue({ call, by }: Extract<Effect, { type: 'finishCall' }>, event: RolloutEvent): RolloutEvent {
    const tool = calledTool(this.#options.setting.domain, call.name, by);
    const { faults, left } = this.#faultsOf(call.name);
    if ('callId' in event && event.callId !== call.id)
      throw new ForgedMessage(`${event.type} speaks of another call than ${call.id}`);
    switch (event.type) {
      case 'faultInjected': {
        const due = left.shift();
        if (!due) throw new ForgedMessage(`the call of ${call.name} has no such fault`);
        return { type: 'faultInjected', callId: call.id, index: due.index, fault: due.fault };
      }
      case 'sourceSaved': {
        const { source, snapshot } = event;
        if (canonicalJson({ source, snapshot } as Json) !== canonicalJson(this.#result?.saved ?? null))
          throw new ForgedMessage(`the snapshot of ${source} is not what was saved`);
        return event;
      }
      case 'databaseWritten':
        if (!this.#mayWrite(call, tool, by, event.writes))
          throw new ForgedMessage(`${call.name} may not write what it wrote`);
        return event;
      case 'toolReturned': {
        if (left.length > 0) throw new ForgedMessage(`a fault of the call of ${call.name} is missing`);
        if ((event.by ?? 'agent') !== by) throw new ForgedMessage(`${call.name} was called by the other side`);
        const reached = this.#reached(call, tool, by);
        if ('content' in reached) return toolReturned(call.id, by, reached);
        const seeded = faults.map(({ fault }) => fault);
        if (tool && runsInWorker(tool)) {
          const content = event.isError ? null : resultByFaults(seeded);
          return toolReturned(call.id, by, { content: content ?? event.content, isError: event.isError });
        }
        const answer = this.#answerTo(reached, tool);
        const due = answer && resultUnderFaults(seeded, answer);
        if (!due || resultKey(due) !== resultKey(event))
          throw new ForgedMessage(`${call.name} did not answer ${shortened(event.content)}`);
        return event;
      }
      default:
        throw new ForgedMessage(`${event.type} is not part of a call`);
    }
  }

  #faultsOf(name: string): { readonly faults: readonly CallFault[]; readonly left: CallFault[] } {
    const state = this.#standing;
    const step = state.messages.length;
    if (this.#call?.step !== step) {
      const faults = callFaults(this.#options.task, state, name);
      this.#call = { step, faults, left: [...faults] };
    }
    return this.#call;
  }

  /** The call as it reaches its tool, or its result where seeded faults or its arguments keep it from that. */
  #reached(call: ToolCall, tool: Tool | undefined, by: Side): ToolCall | Returned {
    const faults = this.#faultsOf(call.name).faults.map(({ fault }) => fault);
    const given = callUnderFaults(faults, call, tool?.timeoutMs ?? 0);
    if ('content' in given) return given;
    const refusal = refusalOf(given, tool, by, this.#standing);
    return refusal === null ? given : { content: `Error: ${refusal}`, isError: true };
  }

  /** Returns what a tool outside the worker answered: to the call under way, or to the same read before it. */
  #answerTo(call: ToolCall, tool: Tool | undefined): Returned | undefined {
    if (this.#result?.step === this.#callStep) return this.#result;
    return tool?.cache === true && tool.effect === 'read' ? this.#reads.get(callKey(call)) : undefined;
  }

  /**
   * A tool in code writes on its owner's side only, and a read writes nothing; a benchmark's environment decides itself,
   * and a model that simulates a tool what it answered.
   */
  #mayWrite(call: ToolCall, tool: Tool | undefined, by: Side, writes: Writes): boolean {
    if (!tool || 'content' in this.#reached(call, tool, by)) return false;
    const { runs } = sourceOf(tool);
    switch (runs) {
      case 'inPython':
        return true;
      case 'inWorker':
        return tool.effect === 'write' && writes.every(({ side }) => side === tool.owner);
      case 'byModel':
        return this.#result?.step === this.#callStep && isSame(this.#result.writes, writes);
      case 'atSource':
        return false;
      default:
        return impossible('place of calls', runs);
    }
  }

  /** The state of a tool source outside the worker, which is read at the end. */
  #stateDue(arrived: ClaimedEvent): RolloutEvent {
    const state = this.#standing;
    const found = only(arrived, 'sourceRead');
    const open = openSource(this.#options.task, state);
    const isUnread = found.state === null && state.ended !== null && !isProperEnd(state.ended.reason);
    const isRead = isUnread || canonicalJson(found.state as Json) === canonicalJson(stateIn(this.#answer));
    if (!open || found.source !== open.source || !isRead)
      throw new ForgedMessage(`the state of ${found.source} is not what was read`);
    return found;
  }

  /** The world after the gold actions, from the start of the rollout whose worker told them first. */
  #played({ id, actions }: WorkerGold, golds: GoldCache): Gold {
    const known = golds.get(id);
    if (known) return known;
    if (!actions) throw new ForgedMessage('it speaks of gold actions that it did not tell');
    let { start: world } = this.#standing;
    try {
      const steps = actions.map(({ turn, content, writes }) => {
        world = withWrites(world, writes);
        return { turn, content, writes, world };
      });
      const gold = { steps, world };
      // A world that was hashed is compared by its hash.
      stateHash({ ...this.#standing, world });
      golds.set(id, gold);
      const [oldest] = golds.keys();
      if (golds.size > goldsKept && oldest !== undefined) golds.delete(oldest);
      return gold;
    } catch (error) {
      throw new ForgedMessage(`the gold actions cannot have written this: ${messageOf(error)}`);
    }
  }

  #take(type: Question['type']): Answer {
    const answer = this.#answer;
    this.#answer = null;
    if (answer?.about.type !== type) throw new ForgedMessage(`there was no answer of the ${type} to continue with`);
    return answer.value;
  }

  #askable(about: Question): CheckedQuestion {
    const effect = this.#effect;
    const state = this.#standing;
    const { setting, task, seats } = this.#options;
    const { now } = state.started;
    switch (about.type) {
      case 'agent':
      case 'user': {
        if (effect?.type !== (about.type === 'agent' ? 'askAgent' : 'askUser') || seats[about.type] !== 'remote') break;
        const { domain: _domain, random: _random, ...view } = viewOf({ setting, task }, state, about.type);
        return { type: about.type, view };
      }
      case 'judge':
        if (effect?.type !== 'askJudge') break;
        return { type: 'judge', question: effect.question };
      case 'simulated': {
        const called = this.#called();
        const simulation = called && sourceOf(called.tool).simulation;
        if (!simulation) break;
        const { tool, asked } = called;
        if (this.#result?.step === asked.step) throw new ForgedMessage(`it asked for ${asked.name} again`);
        const problem = this.#problem?.step === asked.step ? this.#problem.text : null;
        const visible = visibleTo(simulation, asked.arguments, state.world[tool.owner]);
        return { ...asked, type: 'simulated', problem, now, visible };
      }
      case 'tool': {
        const called = this.#called();
        const source = called && externalSource(called.tool);
        if (!called || !source) break;
        return { ...called.asked, type: 'tool', source };
      }
      case 'python': {
        const called = this.#called() ?? this.#goldAction(about.step, about.filled);
        if (!called || sourceOf(called.tool).runs !== 'inPython') break;
        const { asked, random } = called;
        const seed = `${random.integer(1 << 30)}-${random.integer(1 << 30)}`;
        return { ...about, ...asked, type: 'python', now, seed };
      }
      case 'hosted': {
        const due = this.#hostedParams(about.method, about.params);
        if (about.environment !== setting.domain.hosted?.name || !due) break;
        return { ...about, params: due };
      }
      case 'source':
        if (effect?.type === 'verify' && openSource(task, state)?.source === about.source) return about;
    }
    throw new ForgedMessage(`it asked for ${about.type}, which nothing waits for`);
  }

  /** The call under way as it reaches its tool; null where none does. */
  #called(): Called | null {
    const effect = this.#effect;
    if (effect?.type !== 'finishCall') return null;
    const { call, by } = effect;
    const tool = calledTool(this.#options.setting.domain, call.name, by);
    const given = this.#reached(call, tool, by);
    if (!tool || 'content' in given) return null;
    const step = this.#callStep;
    const random = randomStream(...rolloutKey(this.#standing.started), `tool:${call.name}`, step);
    return { tool, asked: askedCall(given, step), random };
  }

  /**
   * A gold action, which is played where the rollout is verified.
   * @param given its arguments with the results that it quotes
   */
  #goldAction(index: number, given: Json = {}): Called | null {
    if (this.#effect?.type !== 'verify' && !this.isClosed) return null;
    const { setting, task } = this.#options;
    const action = task.actions[index];
    const tool = action && calledTool(setting.domain, action.tool, action.by);
    if (!action || !tool) return null;
    const written = action.arguments as JsonObject;
    const values = isFilled(written, given) ? (given as JsonObject) : written;
    const call = { id: '', name: action.tool, arguments: values, ...numberFormsOf(action) };
    const random = randomStream(...rolloutKey(this.#standing.started), 'gold', index);
    return { tool, asked: askedCall(call, index), random };
  }

  /** Returns what the environment on the domain's database is asked with, where the worker asks exactly that. */
  #hostedParams(
    method: Extract<Question, { readonly type: 'hosted' }>['method'],
    params: JsonObject,
  ): JsonObject | null {
    const { setting, task } = this.#options;
    const state = this.#standing;
    const effect = this.#effect?.type;
    const isVerifying = effect === 'verify';
    const due: Json[] = [];
    if (method === 'sync' && (isVerifying || effect === 'sync')) due.push({});
    if (method === 'set_up' && effect === 'prepareWorld') due.push({ data: setUpOf(setting.domain, task) ?? null });
    if (method === 'ask' && isVerifying) {
      const { tool, by, arguments: given } = openSource(task, state)?.assertion.call ?? {};
      if (tool !== undefined) due.push({ tool, by, arguments: given } as Json);
    }
    if (method === 'call') {
      const earlier = resultsSoFar(state.messages);
      const called = this.#called();
      const more = called && earlier.length > 0 ? { earlier } : {};
      const filled = params['arguments'];
      const all = called ? [called] : task.actions.flatMap((_, index) => this.#goldAction(index, filled) ?? []);
      for (const { tool, asked } of all) {
        const { name: _, step: __, ...given } = asked;
        due.push({ tool: tool.name, by: tool.owner, ...given, ...more } as Json);
      }
    }
    const text = canonicalJson(params);
    return (due.find((each) => canonicalJson(each) === text) as JsonObject | undefined) ?? null;
  }
}

type Called = { readonly tool: Tool; readonly asked: AskedCall; readonly random: Random };

const askedCall = (call: ToolCall, step: number): AskedCall => ({
  name: call.name,
  step,
  arguments: call.arguments as JsonObject,
  ...numberFormsOf(call),
});

/** A call by what its tool gets. */
function callKey(call: Pick<ToolCall, 'name' | 'arguments' | 'floats' | 'integers'>): string {
  return canonicalJson([call.name, call.arguments, numberFormsOf(call) as Json]);
}

/**
 * Whether an event says that an effect could not be performed, which a worker may say about every one that asks
 * something.
 */
function isGivenUp(effect: Effect, arrived: ClaimedEvent, { started }: RolloutState): boolean {
  if (effect.type === 'noteRules' || effect.type === 'callTool' || effect.type === 'stop') return false;
  const isVerifying = effect.type === 'verify' || effect.type === 'askJudge';
  if (arrived.type !== (isVerifying ? 'rewarded' : 'rolloutEnded')) return false;
  const { event } = arrived;
  if (event.type === 'rolloutEnded') return event.failure !== undefined && !isProperEnd(event.reason);
  if (event.type !== 'rewarded' || event.card !== undefined || event.basis !== started.basis) return false;
  return event.reward === null && event.reason.startsWith('not scored: ');
}

/** Nothing but its worker decides this event, so that its shape is checked as readers of a recording will check it. */
function throwIfOdd(n: number, event: RolloutEvent): void {
  const { data, error } = eventSchema.safeParse(event);
  if (error) throw new ForgedMessage(`event ${n} is not a valid ${event.type} (${issueText(error, 'the event')})`);
  if (hasOtherKeys(event, data)) {
    const text = shortened(JSON.stringify(event));
    throw new ForgedMessage(`event ${n} has keys that ${event.type} does not have: ${text}`);
  }
}

/** Whether a value has keys that its schema dropped. What no schema looks into is the same value. */
function hasOtherKeys(value: unknown, parsed: unknown): boolean {
  if (value === parsed || typeof value !== 'object' || value === null) return false;
  const entries = Object.entries(value);
  const kept = parsed as Readonly<Record<string, unknown>>;
  return entries.length > Object.keys(kept).length || entries.some(([key, inner]) => hasOtherKeys(inner, kept[key]));
}

function only<Type extends EventType>(arrived: ClaimedEvent, type: Type): EventOf<Type> {
  if (arrived.type !== type) throw new ForgedMessage(`${arrived.type} came where ${type} is due`);
  return arrived.event as EventOf<Type>;
}

const isSame = (one: unknown, other: unknown) =>
  one !== undefined && canonicalJson(one as Json) === canonicalJson(other as Json);

/** Returns what a tool outside the worker is known to have said. */
function resultOf(value: Answer): Returned | null {
  if ('refusal' in value) return { content: value.refusal, isError: true };
  if ('rows' in value) return { content: value.content ?? '', isError: value.isError ?? false };
  if (!('isError' in value) || !('content' in value)) return null;
  const { content = '', isError = false } = value;
  return { content, isError, ...attachmentsOf(value as Attachments) };
}

const resultKey = ({ content, isError, ...attached }: Returned) =>
  contentHash([content, isError, attachmentsOf(attached) as Json]);

/** The state that the last answer gave, of a source or of what an environment says. */
function stateIn(answer: { readonly value: Answer } | null): Json {
  const value = answer?.value;
  if (value === undefined) return null;
  if ('state' in value) return value.state;
  return 'said' in value ? (value.said ?? null) : null;
}

function shortened(text: string): string {
  return text.length > 300 ? `${redactedPart(text, 0, 300)}…` : text;
}
