import { isProposal, namesValue } from '../dialogue/dialogue.ts';
import { factOf, type GoldAction, type Task } from '../domain/task.ts';
import { type Facts, factsBehind, factsOf, isChangeSaid, recogniserOf, tells } from '../events/facts.ts';
import { answeredIn, fieldsOf, textsBy, utterancesOf } from '../events/message.ts';
import { filledActions } from '../events/quotedResults.ts';
import { isTransient } from '../rules/calls.ts';
import { isExpression } from '../rules/confirmed.ts';
import { binds } from '../rules/seen.ts';
import { wordsOf } from '../text/text.ts';
import { mapLeaves } from '../text/value.ts';
import { canonicalJson, type Json, type JsonObject, jsonOf } from '../values/json.ts';
import { onceMore } from './agendaSpeech.ts';
import { instructedIn } from './ownTools.ts';
import type { SeatView } from './seat.ts';
import { objectsIn } from './seenRows.ts';
import { userGoalOf } from './userGoal.ts';

/** A call of the conversation with its result. */
type Made = { readonly action: GoldAction; readonly step: number; readonly isError: boolean; readonly content: string };

/**
 * Returns the calls so far. A call that the user was asked to make counts as made by the user's answer, because the
 * agent sees nothing else of it.
 */
function madeIn(view: SeatView): readonly Made[] {
  const instructed = instructedIn(view).map(({ tool, arguments: values, step, answer, isError }): Made => {
    const action: GoldAction = { tool, by: 'user', arguments: values as GoldAction['arguments'] };
    return { action, step, isError, content: answer };
  });
  const own = answeredIn(view.messages).flatMap(({ call, result: { step, isError, content } }): readonly Made[] => {
    if (call === undefined || typeof call.arguments === 'string') return [];
    const action: GoldAction = { tool: call.name, by: 'agent', arguments: call.arguments as GoldAction['arguments'] };
    return [{ action, step, isError, content }];
  });
  return [...own, ...instructed].toSorted((one, other) => one.step - other.step);
}

/** The progress of the gold seat in its task, derived from the conversation. */
export type Plan = {
  /** The gold action that comes next, as the user wants it now; null when nothing can be done now. */
  readonly next: GoldAction | null;
  readonly facts: Facts;
  readonly isWrite: (action: GoldAction) => boolean;
  /** Facts the call needs and the user has not told. */
  readonly missing: (action: GoldAction) => readonly string[];
  readonly missingLater: readonly string[];
  /** It failed and another try makes no sense. */
  readonly isHopeless: (action: GoldAction) => boolean;
  /** Proposals of this call that the user did not agree to. */
  readonly denials: (action: GoldAction) => number;
  /** Arguments whose values a rule wants named in the proposal; all of them where no rule says which. */
  readonly namesToConfirm: (tool: string) => readonly string[];
  readonly hasWrittenSince: (step: number) => boolean;
  /** Successful writes that the agent has not spoken about yet. */
  readonly unreported: readonly Pick<Made, 'action' | 'content'>[];
  readonly isRefusalDue: boolean;
  /** All the agent has said. */
  readonly spoken: string;
  /** The user has done what it was asked to do with its own tools. */
  readonly hasInstructed: boolean;
  /** Has offered more help, since a change of mind where there was one. */
  readonly hasClosed: boolean;
  /** The user will still change its mind. */
  readonly isChangeOpen: boolean;
  readonly isThanked: boolean;
  readonly findings: readonly (readonly [string, string])[];
  readonly status: string | null;
  readonly hasFailedToHandOff: boolean;
  readonly valueSeen: (name: string) => Json | undefined;
  readonly summary: string;
};

/** Whether another try makes sense after an error. */
const mayPass = (content: string) => isTransient(content) || /\blater\b/i.test(content);

/** Times that the gold seat makes a call at most, if it fails for a cause that may pass. */
export const mostTries = 3;

/** The plan that a view leads to. */
export function planOf(view: SeatView): Plan {
  const { domain, task, messages } = view;
  const isChanged = isChangeSaid(task, messages);
  const facts = factsOf(task, isChanged);
  const made = madeIn(view);
  const pending = pendingActions(view, made);
  const userText = messages.flatMap((message) => (message.role === 'user' ? [message.content] : []));
  const isTold = (fact: string) =>
    facts[fact] !== undefined &&
    (userText.some((text) => tells(text, facts[fact] as Facts[string])) || timesAsked(view, fact) > 1);
  const isWrite = ({ tool }: GoldAction) =>
    domain.tools.some(
      ({ name, effect, handsOff, owner }) => name === tool && effect === 'write' && !handsOff && owner === 'agent',
    );
  const missing = (action: GoldAction) =>
    action.by === 'user' ? [] : factsBehind(facts, action).filter((fact) => !isTold(fact));
  const written = made.filter(({ action, isError }) => !isError && isWrite(action));
  const next = nextNow(view, pending, isChanged, made, written.length > 0);
  const changedAt = isChanged ? (messages.find((message) => isChangeSaid(task, [message]))?.step ?? -1) : -1;
  const lastSpoken = utterancesOf(messages).findLast(({ role }) => role === 'agent')?.step ?? -1;
  const reads = made.filter(({ action, isError }) => !isError && action.by === 'agent' && !isWrite(action));
  return {
    next,
    facts,
    isWrite,
    missing,
    get missingLater() {
      return pending.length > 1 && next !== null
        ? pending
            .slice(1)
            .map((action) => forNow(task, action, isChanged, made))
            .flatMap((action) => (action ? missing(action) : []))
        : [];
    },
    isHopeless: (action) => isHopeless(made, action),
    denials: (action) => denialsOf(view, action),
    namesToConfirm: (tool) => namesToConfirm(view, tool),
    hasWrittenSince: (step) => written.some((each) => each.step > step),
    unreported: written.filter(({ step }) => step > lastSpoken),
    isRefusalDue: isRefusalDue(view, isWrite),
    get spoken() {
      return textsBy('agent', utterancesOf(messages)).join('\n');
    },
    hasInstructed: made.some(({ action, isError }) => !isError && action.by === 'user'),
    hasClosed: utterancesOf(messages).some(
      ({ role, content, step }) =>
        step > changedAt && role === 'agent' && recogniserOf(domain, task).agent(content).offersMore,
    ),
    isChangeOpen: task.user.change !== undefined && view.persona.behaviours.changes && !isChanged,
    isThanked: recogniserOf(domain, task).user(userText.at(-1) ?? '').thanks,
    get findings() {
      return findingsOf(reads.at(-1)?.content);
    },
    get status() {
      return statusOf(reads);
    },
    hasFailedToHandOff: made.some(
      ({ action, isError }) => isError && domain.tools.some(({ name, handsOff }) => name === action.tool && handsOff),
    ),
    valueSeen: (name) =>
      made
        .filter(({ action, isError }) => !isError && action.by === 'agent')
        .map(({ action, content }) => action.arguments[name] ?? fieldsOf(content)[name])
        .findLast((value) => value !== undefined),
    get summary() {
      return `The customer's request: ${userGoalOf(task, isChanged)} ${written.length > 0 ? `Done so far: ${written.map(({ action }) => action.tool.replaceAll('_', ' ')).join(', ')}.` : 'Nothing was changed.'} I could not complete it.`;
    },
  };
}

/** The gold actions of both seats that nothing has done yet, in order. */
function pendingActions({ task }: SeatView, made: readonly Made[]): readonly GoldAction[] {
  const succeeded = made.filter(({ isError }) => !isError);
  const done = succeeded.map(({ action }) => keyOf(action));
  const calls = () => succeeded.map(({ action, content }) => ({ ...action, content }));
  return filledActions(task.actions, calls).filter((action) => {
    const at = done.indexOf(keyOf(action));
    if (at < 0) return true;
    done.splice(at, 1);
    return false;
  });
}

/**
 * The next action as it is now. A read that was made for the former request is not made again before the change of
 * mind, which the user says to a proposal: what comes after the read is proposed with what the read found.
 */
function nextNow(
  { domain, task, persona }: SeatView,
  pending: readonly GoldAction[],
  isChanged: boolean,
  made: readonly Made[],
  hasWritten: boolean,
): GoldAction | null {
  if (persona.behaviours.changes && !isChanged && hasWritten && asksForMore(task)) return null;
  const found: Json[] = [];
  for (const action of pending) {
    const now = forNow(task, action, isChanged, made, found);
    if (now !== null) return now;
    const isRead = domain.tools.some(
      ({ name, effect, owner }) => name === action.tool && effect === 'read' && owner === 'agent',
    );
    if (!isRead || hasWritten) return null;
    const former = formerOf(task, action);
    const same = made.filter((each) => former !== null && isMade(each, former));
    found.push(...same.map(({ content }) => (jsonOf(content) ?? null) as Json));
  }
  return null;
}

/** Whether the user asks for something more once the first request is done, and changes nothing of it. */
const asksForMore = ({ user: { change } }: Task) => change?.when === 'done' && Object.keys(change.known).length === 0;

const isMade = ({ action, isError }: Made, wanted: GoldAction) => !isError && keyOf(action) === keyOf(wanted);

/**
 * A gold action holds what the user wants in the end. Before a change of mind was said it is the former
 * request that has to be served, and once that is done there is nothing to do but to say so.
 * @param found what earlier reads returned for the former request
 */
function forNow(
  task: Task,
  action: GoldAction,
  isChanged: boolean,
  made: readonly Made[],
  found: readonly Json[] = [],
): GoldAction | null {
  const { change } = task.user;
  if (!change || isChanged) return action;
  const former = formerOf(task, action);
  if (former === null) return null;
  const wanted = { ...former, arguments: withFound(former.arguments, found, task) };
  if (keyOf(wanted) !== keyOf(action)) return made.some((each) => isMade(each, wanted)) ? null : wanted;
  // What would serve the former request is not known, and this serves the other one.
  return found.length > 0 && change.when === 'done' ? null : wanted;
}

/** The action with the values before the change of mind; null where the user did not have one before. */
function formerOf(task: Task, action: GoldAction): GoldAction | null {
  const { change, known } = task.user;
  const before = new Map(
    Object.entries(change?.known ?? {}).map(([name, fact]) => [String(factOf(fact).value), known[name]]),
  );
  const own = new Set(Object.values(known).map((fact) => String(factOf(fact).value)));
  let isUnknown = false;
  const former = mapLeaves(action.arguments, (value) => {
    if (!before.has(String(value)) || own.has(String(value))) return value;
    const fact = before.get(String(value));
    if (fact === undefined) isUnknown = true;
    return fact === undefined ? value : factOf(fact).value;
  });
  return isUnknown ? null : { ...action, arguments: former as GoldAction['arguments'] };
}

/** Arguments that no fact has and no result, with the value that a result has in a field of their name. */
function withFound(given: GoldAction['arguments'], found: readonly Json[], task: Task): GoldAction['arguments'] {
  const rows = found.flatMap(objectsIn);
  if (rows.length === 0) return given;
  const facts = Object.values(factsOf(task, false));
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const isKnown =
        facts.some((fact) => fact.value === value) || rows.some((row) => Object.values(row).includes(value));
      return [name, isKnown ? value : (rows.find((row) => Object.hasOwn(row, name))?.[name] ?? value)];
    }),
  ) as GoldAction['arguments'];
}

function isHopeless(made: readonly Made[], action: GoldAction): boolean {
  const failures = made.filter((each) => each.isError && keyOf(each.action) === keyOf(action));
  const last = failures.at(-1);
  return last !== undefined && (failures.length >= mostTries || !mayPass(last.content));
}

function denialsOf({ domain, task, messages }: SeatView, action: GoldAction): number {
  const spoken = utterancesOf(messages);
  const values = Object.values(action.arguments).flatMap((value) =>
    value === null ? [] : [typeof value === 'object' ? JSON.stringify(value) : String(value)],
  );
  const isDenial = (text: string) =>
    recogniserOf(domain, task).user(text).denies && !onceMore.some((line) => namesValue(text, line));
  return spoken.filter(
    ({ role, content }, at) =>
      role === 'agent' &&
      isDenial(spoken[at + 1]?.content ?? '') &&
      isProposal(content, domain.lexicon) &&
      values.every((value) => namesValue(content, value)),
  ).length;
}

function namesToConfirm({ domain, task }: SeatView, tool: string): readonly string[] {
  const names = domain.rules.flatMap((rule) =>
    rule.check === 'confirmed' && binds(rule.tools, tool, domain.tools)
      ? rule.names.filter((name) => !isExpression(name))
      : [],
  );
  if (names.length > 0) return names;
  return [...new Set(task.actions.flatMap((action) => (action.tool === tool ? Object.keys(action.arguments) : [])))];
}

function timesAsked({ domain, task, messages }: SeatView, fact: string): number {
  const { agent } = recogniserOf(domain, task);
  return utterancesOf(messages).filter(({ role, content }) => role === 'agent' && agent(content).asks.includes(fact))
    .length;
}

/**
 * A refusal is due when the user's last words insist on what the policy forbids, and once on a request to
 * change something for which the task has no change as its right answer.
 */
function isRefusalDue(view: SeatView, isWrite: (action: GoldAction) => boolean): boolean {
  const { domain, task, messages } = view;
  const spoken = utterancesOf(messages);
  const last = spoken.at(-1);
  const { insist } = task.user;
  const insists =
    insist !== undefined &&
    last?.role === 'user' &&
    (namesValue(last.content, insist.say) || onceMore.some((line) => namesValue(last.content, line)));
  if (insists) return true;
  if (
    task.actions.some((action) => action.by === 'user' || isWrite(action)) ||
    task.actions.some(({ tool }) => domain.tools.some(({ name, handsOff }) => name === tool && handsOff))
  )
    return false;
  const hasRefused = spoken.some(
    ({ role, content }) => role === 'agent' && recogniserOf(domain, task).agent(content).refuses,
  );
  return !hasRefused && (insist !== undefined || wantsChange(view));
}

/** Whether the user's request mentions what a write tool does. */
function wantsChange({ domain, task, messages }: SeatView): boolean {
  const first = messages.find((message) => message.role === 'user');
  const words = new Set(wordsOf(`${task.user.goal} ${first?.content ?? ''}`));
  return domain.tools.some(
    ({ name, effect, handsOff, owner }) =>
      effect === 'write' && !handsOff && owner === 'agent' && words.has(wordsOf(name)[0] ?? ''),
  );
}

function statusOf(reads: readonly Made[]): string | null {
  const status = reads.map(({ content }) => fieldsOf(content)['status']).findLast((value) => typeof value === 'string');
  return typeof status === 'string' ? status : null;
}

/** Up to three things that the last look-up brought, for telling them. */
function findingsOf(content: string | undefined): readonly (readonly [string, string])[] {
  if (content === undefined) return [];
  return Object.entries(fieldsOf(content))
    .filter(([name, value]) => !/(?:^|_)id$/.test(name) && ['string', 'number', 'boolean'].includes(typeof value))
    .slice(0, 3)
    .map(([name, value]) => [name, String(value)] as const);
}

function keyOf({ tool, arguments: values }: GoldAction): string {
  const known = texts.get(values);
  const text = known ?? canonicalJson(values as JsonObject);
  if (known === undefined) texts.set(values, text);
  return `${tool} ${text}`;
}

/** Texts of arguments: a plan is made again each turn, of the same calls. */
const texts = new WeakMap<object, string>();
