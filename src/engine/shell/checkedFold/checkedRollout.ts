import { runsInWorker } from '../../core/domain/tool.ts';
import type { Failure, RolloutEvent, RolloutStarted, Writes } from '../../core/events/event.ts';
import { differenceHash, writesBetween } from '../../core/events/world.ts';
import { resumable } from '../../core/rollout/rollout.ts';
import { messageOf } from '../files/fault.ts';
import { calledTool } from '../rollout/driver.ts';
import { ended, unverified } from '../rollout/effectEvents.ts';
import { conclude, needsGold, openSource } from '../rollout/verification.ts';
import { acceptedEvent, claimOf, claimText } from '../workers/workerChannel.ts';
import type { Answer, ClaimedEvent, Question, WorkerEvent, WorkerEvidence } from '../workers/workerMessage.ts';
import { AskableQuestions } from './askableQuestions.ts';
import { CallUnderWay } from './callUnderWay.ts';
import type { CheckedQuestion } from './checkedQuestion.ts';
import { DueEvents } from './dueEvents.ts';
import { FoldedRollout, type FoldOptions } from './foldedRollout.ts';
import { ForgedMessage, shortened, throwIfInvalid } from './forgedMessage.ts';
import { type GoldCache, playedGold } from './goldCache.ts';

type CheckedOptions = FoldOptions & { readonly from: RolloutStarted | readonly RolloutEvent[] };

/**
 * A rollout as the supervisor folds it, from what the worker says happened. A worker runs the domain's code in the same
 * process as the loop, so that nothing it says is trusted: what follows from the events before has to be exactly that
 * (rules, verdicts, the reward, every state), and what an answer of the supervisor decides has to be that answer. Taken
 * over is what the domain decides anyway: results and writes of its tools, of `sync` and of the gold actions, what its
 * verifiers say, and the replies of seats without a model, which speak by its tasks and personas.
 */
export class CheckedRollout {
  /** Events that were there before the worker continued from them. */
  readonly #prefix: readonly RolloutEvent[];
  readonly #rollout: FoldedRollout;
  readonly #call: CallUnderWay;
  readonly #events: DueEvents;
  readonly #questions: AskableQuestions;
  #asking: CheckedQuestion | null = null;

  constructor({ from, ...options }: CheckedOptions) {
    this.#prefix = 'type' in from ? [from] : resumable(from);
    this.#rollout = new FoldedRollout(options);
    this.#call = new CallUnderWay(this.#rollout);
    this.#events = new DueEvents(this.#rollout, this.#call);
    this.#questions = new AskableQuestions(this.#rollout, this.#call);
  }

  /** Number of the next event. */
  get next(): number {
    return this.#rollout.next;
  }

  /** Whether a question of the worker is under way. */
  get isAsking(): boolean {
    return this.#asking !== null;
  }

  /** The time limit of the domain's code that runs at this event, in ms; null where none of it does. */
  get limitMs(): number | null {
    const { effect, setting } = this.#rollout;
    const { domain } = setting;
    if (effect?.type === 'sync') return domain.file.toolTimeoutMs;
    if (effect?.type !== 'finishCall') return null;
    const tool = calledTool(domain, effect.call.name, effect.by);
    return tool && runsInWorker(tool) ? tool.timeoutMs : null;
  }

  /** Whether the reward is there. */
  get isClosed(): boolean {
    return this.#rollout.isClosed;
  }

  /** Hash of what the rollout changed in the domain's databases. */
  get databaseDiff(): string {
    const { setting, state } = this.#rollout;
    return differenceHash(setting.world, state.world);
  }

  /** Takes an event over, with the state after it. Throws `ForgedMessage` where it cannot have happened. */
  accept(claimed: ClaimedEvent): WorkerEvent {
    const { n, type } = claimed;
    if (n !== this.next) throw new ForgedMessage(`event ${n} arrived instead of event ${this.next}`);
    try {
      const due = this.#prefix[n] ?? this.#events.due(claimed);
      const text = claimText(n, due);
      if (text !== claimed.text)
        throw new ForgedMessage(`event ${n} is ${shortened(claimed.text)} instead of ${shortened(text)}`);
      // Only an event that its worker decides was parsed.
      if (claimed.isParsed && due === claimed.event) throwIfInvalid(n, due);
      this.#advance(due);
      return acceptedEvent(claimed, due, this.#rollout.hash);
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
    const { setting, task, state, effect } = this.#rollout;
    if (effect?.type !== 'verify') throw new ForgedMessage('it closed a rollout that is not at its end');
    if (openSource(task, state)) throw new ForgedMessage('it closed a rollout before all states were read');
    const isGoldNeeded = needsGold(task, state);
    if (isGoldNeeded && !gold) throw new ForgedMessage('it closed a rollout without the gold actions that decide it');
    const played = isGoldNeeded && gold ? playedGold(gold, state, golds) : null;
    return conclude(setting, task, state, { gold: played, custom }).map((event) => this.#append(event));
  }

  /** Returns what the gold actions write from the start of the conversation on. */
  goldWrites({ gold }: WorkerEvidence, golds: GoldCache): Writes {
    if (!gold) return [];
    const { state } = this.#rollout;
    return writesBetween(state.start, playedGold(gold, state, golds).world);
  }

  /** Ends the rollout with a failure, without its worker. Gives the events that say so. */
  fail(failure: Failure): readonly WorkerEvent[] {
    if (this.isClosed) return [];
    const { setting, task } = this.#rollout;
    const made = this.#prefix.slice(this.next).map((event) => this.#append(event));
    const { started, ended: end } = this.#rollout.state;
    if (end !== null) {
      return [...made, this.#append(unverified(started, failure))];
    }
    made.push(this.#append(ended('environmentFailed', failure)));
    const concluded = conclude(setting, task, this.#rollout.state, { gold: null, custom: [] });
    return [...made, ...concluded.map((event) => this.#append(event))];
  }

  /** A question of the worker as it may be asked. Throws `ForgedMessage` where nothing in the rollout waits for it. */
  ask(about: Question): CheckedQuestion {
    if (this.#asking) throw new ForgedMessage('it asked again before it had an answer');
    const checked = this.#questions.ask(about);
    this.#asking = checked;
    this.#call.forgetResult();
    return checked;
  }

  /** Accepts the answer to the question in progress. */
  answered(about: Question, value: Answer): void {
    const asked = this.#asking;
    this.#asking = null;
    this.#events.answered(about, value);
    if (asked) this.#call.answered(asked, value);
  }

  /** The question under way was refused. */
  refused(): void {
    this.#asking = null;
  }

  /** Lets another worker resume from the accepted events: it repeats the questions whose answers led to no event. */
  resume(): void {
    this.#asking = null;
    this.#questions.resume();
    this.#events.resume();
    this.#call.resume();
  }

  #append(event: RolloutEvent): WorkerEvent {
    const n = this.next;
    this.#advance(event);
    return acceptedEvent(claimOf(n, event), event, this.#rollout.hash);
  }

  #advance(event: RolloutEvent): void {
    if (this.#rollout.advance(event)) this.#call.forgetReads();
  }
}
