import type { RolloutEvent } from '../../core/events/event.ts';
import type { RolloutState } from '../../core/events/state.ts';
import { isProperEnd } from '../../core/reward/reward.ts';
import type { Effect } from '../../core/rollout/effect.ts';
import type { JudgeAnswer } from '../../core/rollout/judgement.ts';
import type { AgentReply, UserReply } from '../../core/seats/seat.ts';
import { canonicalJson, type Json } from '../../core/values/json.ts';
import { preparation, setUpOf } from '../rollout/driver.ts';
import { agentReplied, decidedEvent, toolsBrought, userReplied } from '../rollout/effectEvents.ts';
import { openSource } from '../rollout/verification.ts';
import type { Answer, ClaimedEvent, Question } from '../workers/workerMessage.ts';
import type { CallUnderWay } from './callUnderWay.ts';
import type { FoldedRollout } from './foldedRollout.ts';
import { ForgedMessage, only } from './forgedMessage.ts';

/** The events that are due, by the effect of the fold and by the last answer of the supervisor. */
export class DueEvents {
  readonly #rollout: FoldedRollout;
  readonly #call: CallUnderWay;
  #answer: { readonly about: Question; readonly value: Answer } | null = null;

  constructor(rollout: FoldedRollout, call: CallUnderWay) {
    this.#rollout = rollout;
    this.#call = call;
  }

  /** Accepts the answer from which the next event follows. */
  answered(about: Question, value: Answer): void {
    this.#answer = { about, value };
  }

  /** Lets another worker repeat the question. */
  resume(): void {
    this.#answer = null;
  }

  /**
   * Returns the event that is due where this one came: the same one where the domain decides it. Throws `ForgedMessage`
   * where it cannot follow.
   */
  due(arrived: ClaimedEvent): RolloutEvent {
    const { effect } = this.#rollout;
    if (!effect) throw new ForgedMessage(`event ${arrived.n} came after the end`);
    const { setting, task, seats, state } = this.#rollout;
    if (isGivenUp(effect, arrived, state)) return arrived.event;
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
        return this.#call.due(effect, arrived.event);
      case 'askJudge': {
        const { subject, question } = effect.question;
        return { type: 'judged', subject, question, ...(this.#take('judge') as JudgeAnswer) };
      }
      case 'verify':
        return this.#stateDue(arrived);
    }
  }

  /** The state of a tool source outside the worker, which is read at the end. */
  #stateDue(arrived: ClaimedEvent): RolloutEvent {
    const { state, task } = this.#rollout;
    const found = only(arrived, 'sourceRead');
    const open = openSource(task, state);
    const isUnread = found.state === null && state.ended !== null && !isProperEnd(state.ended.reason);
    const isRead = isUnread || canonicalJson(found.state as Json) === canonicalJson(stateIn(this.#answer));
    if (!open || found.source !== open.source || !isRead)
      throw new ForgedMessage(`the state of ${found.source} is not what was read`);
    return found;
  }

  #take(type: Question['type']): Answer {
    const answer = this.#answer;
    this.#answer = null;
    if (answer?.about.type !== type) throw new ForgedMessage(`there was no answer of the ${type} to continue with`);
    return answer.value;
  }
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

/** The state that the last answer gave, of a source or of what an environment says. */
function stateIn(answer: { readonly value: Answer } | null): Json {
  const value = answer?.value;
  if (value === undefined) return null;
  if ('state' in value) return value.state;
  return 'said' in value ? (value.said ?? null) : null;
}
