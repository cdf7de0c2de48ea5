import type { Domain } from '../../core/domain/domain.ts';
import type { Task } from '../../core/domain/task.ts';
import { type Offered, offeredAs, type Side } from '../../core/domain/tool.ts';
import type { EventOf, Failure, RolloutEvent, RolloutStarted } from '../../core/events/event.ts';
import type { RolloutState } from '../../core/events/state.ts';
import type { Effect } from '../../core/rollout/effect.ts';
import type { AgentReply, UserReply } from '../../core/seats/seat.ts';
import { type Attachments, attachmentsOf } from '../../core/values/media.ts';
import { type ProvidedMessage, providedBy } from '../../core/values/providerFields.ts';
import type { ToolOutcome } from './ports.ts';

/** The event of an effect that asks no one: what happens is decided already. */
export function decidedEvent(effect: Extract<Effect, { type: 'noteRules' | 'callTool' | 'stop' }>): RolloutEvent {
  switch (effect.type) {
    case 'noteRules':
      return {
        type: 'rulesChecked',
        callId: effect.callId,
        verdicts: effect.verdicts.map((verdict) => ({ ...verdict, evidence: [...verdict.evidence] })),
      };
    case 'callTool':
      // The event comes back as the effect `finishCall`, so that it is on the disk before the tool acts.
      return { type: 'toolCalled', call: effect.call as EventOf<'toolCalled'>['call'], ...byOf(effect) };
    case 'stop':
      return ended(effect.reason, effect.failure);
  }
}

/** Returns who calls, where that is not the agent. */
export function byOf({ by }: { readonly by: Side }): { readonly by?: 'user' } {
  return by === 'user' ? { by } : {};
}

/** Returns the outcome of a call that failed, or that was refused. */
export const failedOutcome = (message: string) => ({
  content: `Error: ${message}`,
  isError: true,
  writes: [],
});

export type Returned = Attachments & Pick<ToolOutcome, 'content' | 'isError'>;

/** The result of a call. */
export function toolReturned(callId: string, by: Side, returned: Returned): EventOf<'toolReturned'> {
  const { content, isError } = returned;
  return {
    type: 'toolReturned',
    callId,
    content,
    isError,
    ...(attachmentsOf(returned) as Pick<EventOf<'toolReturned'>, keyof Attachments>),
    ...byOf({ by }),
  };
}

export function agentReplied({ content, toolCalls, messageId, ...reply }: AgentReply): RolloutEvent {
  const { reasoning, ...provided } = providedIn(reply);
  return {
    type: 'agentReplied',
    content,
    ...(reasoning === undefined ? {} : { reasoning }),
    toolCalls: toolCalls as never,
    ...(messageId === undefined ? {} : { messageId }),
    ...provided,
  };
}

/** The fields as an event has them, whose types are not read-only. */
const providedIn = (reply: ProvidedMessage) =>
  providedBy(reply) as Pick<EventOf<'agentReplied'>, 'reasoning' | 'brokenEnd' | 'providerFields'>;

/** A user that calls its tools speaks after their results, so it can't end the conversation with them. */
export function userReplied(reply: UserReply, tools: readonly Offered[]): RolloutEvent {
  const { content, stop, toolCalls = [] } = reply;
  const brought = tools.length === 0 || stop !== null ? {} : { tools: tools as never };
  return toolCalls.length === 0
    ? { type: 'userReplied', content, stop, ...brought, ...providedIn(reply) }
    : { type: 'userReplied', content, stop: null, toolCalls: toolCalls as never, ...providedIn(reply) };
}

/** The tools that the agent is offered from the user's next message on. */
export function toolsBrought(domain: Domain, task: Task, { heard }: RolloutState): readonly Offered[] {
  const names = (task.laterTools ?? []).flatMap(({ turn, tools }) => (turn === heard.length ? tools : []));
  return names.length === 0 ? [] : domain.tools.filter(({ name }) => names.includes(name)).map(offeredAs);
}

export function ended(
  reason: Extract<RolloutEvent, { type: 'rolloutEnded' }>['reason'],
  failure?: Failure,
): RolloutEvent {
  return { type: 'rolloutEnded', reason, ...(failure === undefined ? {} : { failure }) };
}

/** The end of a rollout whose verification failed, so that it has neither verdicts nor a report card. */
export function unverified({ basis }: RolloutStarted, { who, message }: Failure): EventOf<'rewarded'> {
  return { type: 'rewarded', basis, reward: null, reason: `not scored: ${message}`, failedBy: who };
}

/** Returns whether infrastructure ended the verification of a rollout, such as a judge that is unreachable. */
export function isUnverified(event: RolloutEvent | null | undefined): boolean {
  return event?.type === 'rewarded' && event.card === undefined && event.failedBy === 'infrastructure';
}
