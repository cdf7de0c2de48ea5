import type { Domain, World } from '../domain/domain.ts';
import type { Offered, Side } from '../domain/tool.ts';
import type { EventOf, RolloutEvent, RolloutStarted, Writes } from '../events/event.ts';
import {
  callsIn,
  callsInARow,
  exchangedIn,
  isUnreadable,
  lastResponse,
  type Message,
  responsesInARow,
  type ToolCall,
} from '../events/message.ts';
import type { Phase, RolloutState } from '../events/state.ts';
import { withWrites } from '../events/world.ts';
import { isUnscorable } from '../reward/reward.ts';
import { checkRules, type Moment } from '../rules/rules.ts';
import { contentHash } from '../values/hash.ts';
import { impossible } from '../values/impossible.ts';
import { attachmentsOf } from '../values/media.ts';
import { providedBy } from '../values/providerFields.ts';
import { hashOf } from '../world/database.ts';
import type { Effect } from './effect.ts';
import { openQuestion } from './judgement.ts';

/** The frozen data of the domain that `advance` reads besides state and event. */
export type Setting = { readonly domain: Domain; readonly world: World };

export type Advanced = readonly [state: RolloutState, effects: readonly Effect[]];

/** The state before anything but the start happened. `world` is the domain's base database. */
export function begin(setting: Setting, started: RolloutStarted): Advanced {
  const state: RolloutState = {
    started,
    phase: { type: 'worldAwaited' },
    next: 1,
    world: setting.world,
    start: setting.world,
    messages: [],
    heard: [],
    queue: [],
    turn: 0,
    toolErrors: 0,
    ruleVerdicts: [],
    judgements: [],
    sources: {},
    snapshots: {},
    injectedFaults: [],
    verdicts: [],
    ended: null,
    reward: null,
  };
  return [state, [{ type: 'prepareWorld' }]];
}

/**
 * The whole game: what an event makes of the state, and what is to be done next.
 * Pure. An event that can't follow is a bug of the caller and throws.
 */
export function advance(setting: Setting, before: RolloutState, event: RolloutEvent): Advanced {
  const state = { ...before, next: before.next + 1 };
  switch (event.type) {
    case 'rolloutStarted':
      throw new Error('a rollout starts once: use begin');
    case 'worldPrepared':
      return prepared(setting, state, event.writes);
    case 'worldSynced':
      return synced(setting, state, event.writes);
    case 'worldEdited':
      return worldEdited(setting, { ...state, world: withWrites(state.world, event.writes) });
    case 'userReplied':
      return userReplied(setting, state, event);
    case 'agentReplied':
      return agentReplied(setting, state, event);
    case 'rulesChecked':
      return rulesChecked(setting, state, event);
    case 'toolCalled':
      return toolCalled(state, event.call as ToolCall, event.by ?? 'agent');
    case 'faultInjected':
      return [{ ...state, injectedFaults: [...state.injectedFaults, event.index] }, effectsOf(setting, state)];
    case 'sourceSaved':
      return [
        { ...state, snapshots: { ...state.snapshots, [event.source]: event.snapshot } },
        effectsOf(setting, state),
      ];
    case 'databaseWritten':
      return [{ ...state, world: withWrites(state.world, event.writes) }, effectsOf(setting, state)];
    case 'toolReturned':
      return toolReturned(setting, state, event);
    case 'rolloutEnded':
      return atEnd(setting, { ...state, queue: [], ended: { reason: event.reason, ...failureOf(event) } });
    case 'sourceRead':
      return [{ ...state, sources: { ...state.sources, [event.source]: event.state } }, effectsOf(setting, state)];
    case 'judged':
      return judged(setting, state, event);
    case 'verdictReached':
      return [{ ...state, verdicts: [...state.verdicts, event.verdict] }, effectsOf(setting, state)];
    case 'rewarded':
      return [{ ...state, phase: { type: 'closed' }, reward: { value: event.reward, reason: event.reason } }, []];
    default:
      return impossible('event', event);
  }
}

/** The state after one more event of a recording; the first begins the rollout. Throws on one that can't follow. */
export function follow(setting: Setting, before: RolloutState | null, event: RolloutEvent): RolloutState {
  if (before) return advance(setting, before, event)[0];
  if (event.type !== 'rolloutStarted') throw new Error('a recording begins with rolloutStarted');
  return begin(setting, event)[0];
}

/** Events that mean nothing without the one that closes their group. */
const unfinished: readonly RolloutEvent['type'][] = [
  'faultInjected',
  'sourceSaved',
  'databaseWritten',
  'sourceRead',
  'verdictReached',
];

/**
 * The events from which a rollout can continue: without the last ones of a group that was cut short (writes of a call
 * without its result, verdicts without the reward). Continuing makes the same ones again.
 */
export function resumable(events: readonly RolloutEvent[]): readonly RolloutEvent[] {
  const whole = events.findLastIndex(({ type }) => !unfinished.includes(type));
  return events.slice(0, whole + 1);
}

/** Returns the effects again, because a call that waits for a rule is now decided on the edited world. */
function worldEdited(setting: Setting, state: RolloutState): Advanced {
  return [state, effectsOf(setting, state)];
}

/** Hash of the world at a state: equal exactly when both sides are equal. */
export function stateHash(state: RolloutState): string {
  return contentHash([hashOf(state.world.agent), hashOf(state.world.user)]);
}

/** Returns what a state waits for, as effects. `advance` returns the same for the event that led here. */
export function effectsOf(setting: Setting, state: RolloutState): readonly Effect[] {
  const { phase } = state;
  switch (phase.type) {
    case 'worldAwaited':
      return [{ type: 'prepareWorld' }];
    case 'syncAwaited':
      return [{ type: 'sync' }];
    case 'userAwaited':
      return [{ type: 'askUser' }];
    case 'agentAwaited':
      return [{ type: 'askAgent' }];
    case 'rulesAwaited':
      return [
        {
          type: 'noteRules',
          callId: phase.call.id,
          verdicts: checkRules(setting.domain, state, callMoment(state, phase.call)),
        },
      ];
    case 'remarksAwaited':
      return [{ type: 'noteRules', callId: null, verdicts: checkRules(setting.domain, state, remarkMoment(state)) }];
    case 'callAwaited':
      return [{ type: 'callTool', call: phase.call, by: phase.by }];
    case 'resultAwaited':
      return [{ type: 'finishCall', call: phase.call, by: phase.by }];
    case 'endAwaited':
      return [{ type: 'stop', reason: phase.reason, ...failureOf(phase) }];
    case 'verdictsAwaited': {
      const question = openQuestion(setting.domain, state);
      return [question === null ? { type: 'verify' } : { type: 'askJudge', question }];
    }
    case 'closed':
      return [];
  }
}

function prepared(setting: Setting, state: RolloutState, writes: Writes): Advanced {
  const world = withWrites(state.world, writes);
  const ready = { ...state, world, start: world };
  return setting.domain.sync
    ? to(ready, { type: 'syncAwaited', call: null, by: 'agent' }, { type: 'sync' })
    : to(ready, { type: 'userAwaited' }, { type: 'askUser' });
}

/** A recording may hold it where the domain as it is now has no `sync`: what was written stays so. */
function synced(setting: Setting, before: RolloutState, writes: Writes): Advanced {
  const { phase } = before;
  const state = { ...before, world: withWrites(before.world, writes) };
  if (phase.type !== 'syncAwaited') return [state, effectsOf(setting, state)];
  if (phase.call !== null) return afterCall(setting, state, phase.call, phase.by);
  return to({ ...state, start: state.world }, { type: 'userAwaited' }, { type: 'askUser' });
}

/** Messages of calls that the user may make before it speaks again. */
const userCallsInARow = 20;

function userReplied(setting: Setting, state: RolloutState, event: EventOf<'userReplied'>): Advanced {
  const toolCalls = event.toolCalls as readonly ToolCall[] | undefined;
  const message = {
    role: 'user' as const,
    step: state.next - 1,
    content: event.content,
    ...(toolCalls ? { toolCalls } : {}),
    ...(event.tools ? { tools: event.tools as readonly Offered[] } : {}),
    ...providedBy(event),
  };
  const isTurn = !toolCalls && event.stop === null;
  const turns = isTurn ? [...state.heard, { step: message.step, world: state.world }] : state.heard;
  const heard = { ...state, messages: [...state.messages, message], heard: turns };
  if (toolCalls && callsInARow(heard.messages) > userCallsInARow) return neverSpeaks(heard);
  if (toolCalls) return nextCall(setting, { ...heard, queue: toolCalls }, 'user');
  if (event.stop !== null) return ending(heard, 'userStopped');
  const over = overBy(heard) ?? (heard.turn >= heard.started.turnCap ? 'turnCap' : null);
  return over === null ? to(heard, { type: 'agentAwaited' }, { type: 'askAgent' }) : ending(heard, over);
}

function agentReplied(setting: Setting, state: RolloutState, event: EventOf<'agentReplied'>): Advanced {
  const { content, messageId } = event;
  const toolCalls = (event.toolCalls as readonly ToolCall[]).slice(0, state.started.callsPerResponse);
  const message = {
    role: 'agent' as const,
    step: state.next - 1,
    content,
    toolCalls,
    ...(messageId === undefined ? {} : { messageId }),
    ...providedBy(event),
  };
  const spoken = { ...state, turn: state.turn + 1, messages: [...state.messages, message], queue: toolCalls };
  if (state.started.unreadableCalls === 'endRollout' && isUnread(spoken)) return endsUnread(spoken);
  const over = toolCalls.length > 0 ? overBy(spoken) : null;
  if (over !== null) return ending(spoken, over);
  if (toolCalls.length > 0) return nextCall(setting, spoken, 'agent');
  const remarks = content === null ? [] : checkRules(setting.domain, spoken, remarkMoment(spoken));
  return remarks.length > 0 ? noting(spoken, remarks) : afterUtterance(spoken);
}

/** Continues after what the agent said, when the rules have been held against it. */
function afterUtterance(state: RolloutState): Advanced {
  return afterTurn(state, { type: 'userAwaited' }, { type: 'askUser' });
}

function rulesChecked(setting: Setting, state: RolloutState, event: EventOf<'rulesChecked'>): Advanced {
  const verdicts = event.verdicts.map((verdict) => ({ ...verdict, step: state.next - 1 }));
  const noted = { ...state, ruleVerdicts: [...state.ruleVerdicts, ...verdicts] };
  if (event.callId === null) return noted.ended ? verifying(setting, noted) : afterUtterance(noted);
  const call = callIn(state.phase);
  return to(noted, { type: 'callAwaited', call, by: 'agent' }, { type: 'callTool', call, by: 'agent' });
}

/** Returns what the rules say about the whole, then the judge's answers, then the verifiers. */
function atEnd(setting: Setting, state: RolloutState): Advanced {
  const isScored = state.ended !== null && !isUnscorable(state.ended);
  const remarks = isScored ? checkRules(setting.domain, state, { type: 'end' }) : [];
  return remarks.length > 0 ? noting(state, remarks) : verifying(setting, state);
}

function verifying(setting: Setting, state: RolloutState): Advanced {
  const awaiting: RolloutState = { ...state, phase: { type: 'verdictsAwaited' } };
  return [awaiting, effectsOf(setting, awaiting)];
}

/** A judge's answer is with the others; where a rule asked for it, it is that rule's verdict. */
function judged(setting: Setting, state: RolloutState, { type: _, ...answer }: EventOf<'judged'>): Advanced {
  const step = state.next - 1;
  const noted = { ...state, judgements: [...state.judgements, { ...answer, step }] };
  const { subject, question, holds, reason } = answer;
  const rule = setting.domain.rules.find(
    (each) =>
      subject.type === 'rule' && each.check === 'judge' && each.rule === subject.rule && each.question === question,
  );
  if (!rule) return [noted, effectsOf(setting, noted)];
  const verdict = holds === null ? ('unknown' as const) : holds ? ('held' as const) : ('violated' as const);
  const found = { rule: rule.rule, check: rule.check, gate: rule.gate, verdict, reason, evidence: [step], step };
  const decided = { ...noted, ruleVerdicts: [...noted.ruleVerdicts, found] };
  return [decided, effectsOf(setting, decided)];
}

function noting(state: RolloutState, verdicts: ReturnType<typeof checkRules>): Advanced {
  return to(state, { type: 'remarksAwaited' }, { type: 'noteRules', callId: null, verdicts });
}

function callMoment({ messages }: RolloutState, call: ToolCall): Moment {
  const last = messages.findLast(({ role }) => role === 'agent');
  return { type: 'call', call, isFirst: last?.role === 'agent' && last.toolCalls[0]?.id === call.id };
}

function remarkMoment({ ended, messages }: RolloutState): Moment {
  const last = messages.at(-1);
  return ended !== null || last?.role !== 'agent'
    ? { type: 'end' }
    : { type: 'utterance', text: last.content ?? '', step: last.step };
}

function toolCalled(state: RolloutState, call: ToolCall, by: Side): Advanced {
  return to(state, { type: 'resultAwaited', call, by }, { type: 'finishCall', call, by });
}

function toolReturned(setting: Setting, state: RolloutState, event: EventOf<'toolReturned'>): Advanced {
  const call = callIn(state.phase);
  const { callId, content, isError, by } = event;
  const message = {
    role: 'tool' as const,
    step: state.next - 1,
    callId,
    name: call.name,
    content,
    isError,
    ...attachmentsOf(event),
    ...(by ? { by } : {}),
  };
  const toolErrors = state.toolErrors + (isError && by === undefined ? 1 : 0);
  const answered = { ...state, toolErrors, messages: [...state.messages, message] };
  if (toolErrors >= state.started.toolErrorCap) return ending(answered, 'toolErrorCap');
  if (isError) return nextCall(setting, answered, by ?? 'agent');
  return setting.domain.sync
    ? to(answered, { type: 'syncAwaited', call, by: by ?? 'agent' }, { type: 'sync' })
    : afterCall(setting, answered, call, by ?? 'agent');
}

/** Continues after a call that succeeded. */
function afterCall(setting: Setting, state: RolloutState, call: ToolCall, by: Side): Advanced {
  const tool = setting.domain.tools.find(({ name }) => name === call.name);
  if (tool?.handsOff && by === 'agent') return ending(state, 'handedOff');
  return nextCall(setting, state, by);
}

/**
 * Continues with the next call of a seat's message, or hands the turn back to it. Rules are about the agent's calls.
 */
function nextCall(setting: Setting, state: RolloutState, by: Side): Advanced {
  const [call, ...queue] = state.queue;
  if (call === undefined) {
    if (by === 'user') return to(state, { type: 'userAwaited' }, { type: 'askUser' });
    return isCallCapReached(state) || isTurnEnded(state)
      ? afterUtterance(state)
      : afterTurn(state, { type: 'agentAwaited' }, { type: 'askAgent' });
  }
  const verdicts = by === 'agent' ? checkRules(setting.domain, state, callMoment(state, call)) : [];
  const waiting = { ...state, queue };
  return verdicts.length > 0
    ? to(waiting, { type: 'rulesAwaited', call }, { type: 'noteRules', callId: call.id, verdicts })
    : to(waiting, { type: 'callAwaited', call, by }, { type: 'callTool', call, by });
}

/** Returns whether the agent gave as many responses with calls to one message of the user as it may. */
export function isCallCapReached({ started: { callCap }, messages }: RolloutState): boolean {
  const last = lastResponse(messages);
  const hasCalls = last !== undefined && callsIn(last).length > 0;
  return callCap !== undefined && hasCalls && responsesInARow(messages) >= callCap;
}

/** Whether the last response ends the turn of the agent because its calls could not be read. */
function isTurnEnded(state: RolloutState): boolean {
  return state.started.unreadableCalls === 'endTurn' && isUnread(state);
}

/** Whether none of the calls of the last response is made because one of them could not be read. */
export function isResponseRefused(state: RolloutState): boolean {
  const { unreadableCalls } = state.started;
  return (unreadableCalls === 'failAll' || unreadableCalls === 'endTurn') && isUnread(state);
}

function isUnread({ started, messages }: RolloutState): boolean {
  return isUnreadable(lastResponse(messages), started.callSyntax);
}

function endsUnread(state: RolloutState): Advanced {
  const failure = {
    who: 'agent' as const,
    code: 'agent/arguments',
    message: 'the arguments of a call are not a JSON object, which ends a rollout of this domain (unreadableCalls)',
  };
  const reason = 'agentFailed' as const;
  return to({ ...state, queue: [] }, { type: 'endAwaited', reason, failure }, { type: 'stop', reason, failure });
}

function neverSpeaks(state: RolloutState): Advanced {
  const failure = {
    who: 'simulator' as const,
    code: 'user/only-calls',
    message: `the user called its tools ${userCallsInARow} times in a row and said nothing`,
  };
  const reason = 'userFailed' as const;
  return to({ ...state, queue: [] }, { type: 'endAwaited', reason, failure }, { type: 'stop', reason, failure });
}

function afterTurn(state: RolloutState, phase: Phase, effect: Effect): Advanced {
  const isAnswered = phase.type === 'userAwaited' && state.started.userEnds === true;
  const over = state.turn >= state.started.turnCap && !isAnswered ? 'turnCap' : overBy(state);
  return over === null ? to(state, phase, effect) : ending(state, over);
}

/** Why the conversation is over by what was said: its closing words, or as many messages as it may have. */
function overBy({ started, messages }: RolloutState): 'userStopped' | 'messageCap' | null {
  const { closing, messageCap = Number.POSITIVE_INFINITY } = started;
  const exchanged = exchangedIn(heardIn(messages, started));
  const last = messages.at(-1);
  const isSaid = last !== undefined && last.role !== 'tool' && callsIn(last).length === 0;
  // After ACEBench, which does not look for them in the first messages.
  if (closing !== undefined && isSaid && exchanged > 2 && last.content?.includes(closing)) return 'userStopped';
  return exchanged >= messageCap ? 'messageCap' : null;
}

/** Messages without the results of responses that could not be read: to the user these are messages like others. */
function heardIn(messages: readonly Message[], { unreadableCalls, callSyntax }: RolloutState['started']) {
  if (unreadableCalls !== 'endTurn') return messages;
  let isResult = false;
  return messages.filter((message) => {
    if (message.role !== 'tool') isResult = isUnreadable(message, callSyntax);
    return message.role !== 'tool' || !isResult;
  });
}

function ending(
  state: RolloutState,
  reason: 'userStopped' | 'turnCap' | 'messageCap' | 'toolErrorCap' | 'handedOff',
): Advanced {
  return to({ ...state, queue: [] }, { type: 'endAwaited', reason }, { type: 'stop', reason });
}

function to(state: RolloutState, phase: Phase, effect: Effect): Advanced {
  return [{ ...state, phase }, [effect]];
}

function callIn(phase: Phase): ToolCall {
  if ('call' in phase && phase.call !== null) return phase.call;
  throw new Error(`no call is under way while the rollout is at ${phase.type}`);
}

function failureOf<F>(from: { readonly failure?: F | undefined }): { readonly failure?: F } {
  return from.failure === undefined ? {} : { failure: from.failure };
}
