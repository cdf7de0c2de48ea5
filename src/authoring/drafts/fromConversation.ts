import { namesValue } from '../../engine/core/dialogue/dialogue.ts';
import type { Persona } from '../../engine/core/domain/persona.ts';
import type { Task } from '../../engine/core/domain/task.ts';
import { isWrite, type Tool } from '../../engine/core/domain/tool.ts';
import type { RolloutEvent } from '../../engine/core/events/event.ts';
import { textsBy, type Utterance } from '../../engine/core/events/message.ts';
import { namesInTable } from '../../engine/core/rules/rowNames.ts';
import { excerpt } from '../../engine/core/text/excerpt.ts';
import { literal } from '../../engine/core/text/literal.ts';
import { type Json, jsonOf } from '../../engine/core/values/json.ts';
import type { Drafter } from './askedModel.ts';
import { insistenceIn, personaFor, styleOf } from './behaviour.ts';
import type { Desk } from './desk.ts';
import { demandsOf } from './draftTask.ts';
import {
  type Action,
  type Actions,
  askedOf,
  type Change,
  callsMade,
  fromCalls,
  fromWords,
  leafFacts,
} from './goldActions.ts';
import { type Told, toldIn } from './lookUps.ts';
import { lostRequests } from './lostRequests.ts';
import type { MadeCall } from './neededCalls.ts';
import { doneByUser, ownWordsIn, type UserState } from './userSide.ts';
import { parametersOf } from './values.ts';
import { withdrawalIn } from './withdrawal.ts';

/** A task drafted from a conversation, which a person must review before it counts. */
export type ConversationDraft = {
  readonly task: DraftTask;
  /** A persona that the domain does not have yet; null where one of its own behaves so. */
  readonly persona: Persona | null;
  /**
   * Sentences about what the conversation does not show. They are also in the description, where the check finds them.
   */
  readonly todos: readonly string[];
};

type DraftTask = Pick<Task, 'id' | 'description' | 'split' | 'persona'> & {
  readonly draft: true;
  readonly user: {
    readonly goal: string;
    readonly opening: string;
    readonly known: Readonly<Record<string, Json>>;
    readonly unknown?: readonly string[];
    readonly change?: Omit<Change, 'known'> & { readonly known: Readonly<Record<string, Json>> };
    readonly insist?: { readonly say: string };
  };
  readonly state?: readonly UserState[];
  readonly actions?: readonly Action[];
} & DraftDemands;

/** The conditions for success. */
type DraftDemands = Partial<Pick<Task, 'communicate' | 'assertions' | 'receipts' | 'evaluate' | 'train'>>;

/** Returns the messages of a recording with their speakers. */
export function spokenIn(events: readonly RolloutEvent[]): readonly Utterance[] {
  return events.flatMap((event, step): readonly Utterance[] => {
    if (event.type === 'userReplied' && !event.toolCalls && event.content !== '')
      return [{ role: 'user', step, content: event.content }];
    const isSaid = event.type === 'agentReplied' && event.toolCalls.length === 0;
    return isSaid && event.content ? [{ role: 'agent', step, content: event.content }] : [];
  });
}

/**
 * Drafts a task from a conversation: what the user wanted and told, how they behaved, and the calls that serve them. With
 * words alone, the calls are those that the agent proposed and reported, with the look-ups that the rules want before them.
 * @param id of the task
 * @param drafter a model that is asked for the calls which the conversation does not tell by itself
 */
export async function draftFromConversation(
  events: readonly RolloutEvent[],
  id: string,
  desk: Desk,
  drafter: Drafter | null = null,
): Promise<ConversationDraft> {
  const { loaded, values } = desk;
  const { domain } = loaded;
  const spoken = spokenIn(events);
  const users = textsBy('user', spoken);
  const told = toldIn(users, values);
  const made = await withoutFailed(callsMade(events, domain.tools), desk);
  const read = made.length > 0 ? fromCalls(made, spoken, desk) : await fromWords(spoken, desk, told);
  const asked = read.todos.length > 0 && drafter ? await askedOf(drafter, spoken, read, desk) : read;
  const found = asked === read ? withWithdrawal(read, spoken, desk) : asked;
  const insist = insistenceIn(spoken, desk.recogniser);
  const known = factsIn(found, ownWordsIn(spoken, doneByUser(spoken, domain)), told, desk);
  const unknown = unknownIn(spoken, desk, Object.keys(known));
  const [opening = ''] = users;
  const isOmitted = (value: Json) =>
    !namesValue(opening, sayOf(value)) && users.some((text) => namesValue(text, sayOf(value)));
  const traits = {
    omits: Object.values(known).some(isOmitted),
    changes: found.change !== null,
    insists: insist !== null,
  };
  const { persona, isNew } = personaFor(domain.personas, styleOf(spoken), traits, desk.newPersonas, desk.isTaken);
  const writes = writesIn(found.actions, domain.tools);
  const silence = users.length === 0 ? ['the user says nothing in it'] : [];
  const kept = { change: found.change?.say ?? null, insist };
  const lost =
    asked === read && found.todos.length === 0
      ? lostRequests(spoken, found.deeds, kept, { domain, recogniser: desk.recogniser })
      : [];
  const todos = [...new Set([...silence, ...found.todos, ...lost])];
  const task: DraftTask = {
    id,
    draft: true,
    description: [
      `Drafted from a real conversation${made.length > 0 ? ' and the calls in it' : ''}.`,
      ...(asked === read || found.todos.length > 0 ? [] : [`Its calls were written by ${drafter?.seat.model}.`]),
      ...todos.map((todo) => `TODO: ${todo}.`),
    ].join(' '),
    split: 'train',
    persona: persona.id,
    user: {
      goal: goalOf(found, writes, nameIn(spoken, known), { users, known }, desk),
      opening,
      ...changedRow(known, found.change, writes, desk),
      ...(unknown.length > 0 ? { unknown } : {}),
      ...(insist === null ? {} : { insist: { say: insist } }),
    },
    ...(found.state.length > 0 ? { state: found.state } : {}),
    ...(found.actions.length > 0 ? { actions: found.actions } : {}),
    ...(writes.length > 0 || found.communicate.length > 0 ? demandsOf(loaded, writes, found.communicate) : {}),
  };
  return { task, persona: isNew ? { ...persona, draft: true } : null, todos };
}

/** The same actions, with the words that take one of several requests back as a change of mind. */
function withWithdrawal(read: Actions, spoken: readonly Utterance[], desk: Desk): Actions {
  const { domain } = desk.loaded;
  const writes = writesIn(read.actions, domain.tools);
  if (writes.length === 0) return read;
  const named = writes.flatMap((write) => rowsOf(write, desk));
  const rows = named.flatMap(({ isOwn, text }) => (isOwn ? [text] : []));
  const otherRows = named.flatMap(({ isOwn, text }) => (isOwn ? [] : [text]));
  const tools = [...writes.map(({ tool }) => tool), ...read.deeds.map(({ tool }) => tool)];
  const explained = [...rows, ...Object.values(read.change?.before ?? {})];
  const served = { tools, rows, otherRows: otherRows.filter((text) => !explained.includes(text)) };
  const said = withdrawalIn(spoken, served, domain);
  if (said === null || said.content === read.change?.say) return read;
  if (read.change !== null)
    return {
      ...read,
      todos: [
        ...read.todos,
        `the user also takes a request back, and a task has one change: "${excerpt(said.content)}"`,
      ],
    };
  const before = spoken.findLast(({ role, step }) => role === 'agent' && step < said.step);
  const isDone =
    before !== undefined &&
    (desk.recogniser.agent(before.content).reportsDone || read.deeds.some(({ step }) => step < before.step));
  return { ...read, change: { when: isDone ? 'done' : 'proposed', say: said.content, before: {}, known: {} } };
}

/** The names of the rows in the tables that a call has ids of. */
function rowsOf({ arguments: given }: Action, { loaded: { world } }: Desk) {
  return Object.entries(given).flatMap(([name, value]) =>
    namesInTable(String(value), name, [world.agent, world.user]).map((row) => ({ ...row, isOwn: row.id === value })),
  );
}

/**
 * The calls that did not fail. A log often has the text of an error alone: where the domain's tool returns the same text
 * as an error, the call failed.
 */
async function withoutFailed(calls: readonly MadeCall[], { lookUps }: Desk): Promise<readonly MadeCall[]> {
  const isText = ({ content }: MadeCall) => typeof (jsonOf(content) ?? '') === 'string';
  if (!calls.some(isText)) return calls;
  const again = await lookUps.inTurn(calls);
  return calls.filter(({ content }, at) => !again[at]?.isError || errorIn(again[at].content) !== errorIn(content));
}

const errorIn = (content: string) =>
  content
    .replace(/^"|"$|^Error: /g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();

/**
 * Returns the facts of a user and its change of mind. Where the user names another row by its title, the fact is the
 * argument that takes the row, with its title as the words: the gold seat knows by it what the request was before.
 */
function changedRow(
  known: Readonly<Record<string, Json>>,
  changed: Actions['change'],
  writes: readonly Action[],
  { loaded: { world } }: Desk,
): Pick<DraftTask['user'], 'known' | 'change'> {
  if (changed === null) return { known };
  const { before: _, ...change } = changed;
  for (const [argument, id] of writes.flatMap((write) => Object.entries(write.arguments))) {
    if (typeof id !== 'string' || known[argument] !== undefined) continue;
    const rows = namesInTable(id, argument, [world.agent, world.user]);
    for (const [field, later] of Object.entries(change.known)) {
      const former = known[field];
      const [row, ...others] = rows.filter((each) => each.field === field && each.text === former);
      const isOwn = rows.some((each) => each.id === id && each.field === field && each.text === later);
      if (row === undefined || others.length > 0 || !isOwn) continue;
      const renamed = (facts: Readonly<Record<string, Json>>, value: string, say: Json | undefined) =>
        Object.fromEntries(
          Object.entries(facts).map(([name, each]) =>
            name === field ? [argument, { value, say: String(say) }] : [name, each],
          ),
        );
      return { known: renamed(known, row.id, former), change: { ...change, known: renamed(change.known, id, later) } };
    }
  }
  return { known, change };
}

function sayOf(fact: Json): string {
  const { say, value } = (typeof fact === 'object' && fact !== null ? fact : { value: fact }) as {
    say?: string;
    value?: Json;
  };
  return say ?? String(value);
}

/**
 * Returns what the user knows: what of the gold actions they told, and who they said they are. What they only agreed
 * to, such as the id of a row that the agent looked up, they do not know.
 * @param users what the user said by themselves
 */
function factsIn(
  { actions, change }: Actions,
  users: readonly string[],
  told: Told,
  desk: Desk,
): Readonly<Record<string, Json>> {
  const { loaded, values } = desk;
  const known: Record<string, Json> = {};
  const { tools, lexicon } = loaded.domain;
  const add = (name: string, value: Json) => {
    if (Object.values(known).some((each) => sayOf(each) === String(value) || each === value)) return;
    const other = `other_${name}`;
    const free = [name, ...(lexicon.facts[other] ? [other] : []), `${name}_2`, `${name}_3`].find(
      (each) => known[each] === undefined,
    );
    if (free !== undefined) known[free] = value;
  };
  for (const [name, value] of Object.entries(change?.before ?? {}))
    if (users.some((text) => namesValue(text, String(value)))) add(name, value);
  for (const { tool, arguments: given } of actions) {
    const described = tools.find((each) => each.name === tool);
    if (!described || described.handsOff || described.owner === 'user') continue;
    for (const parameter of parametersOf(described))
      for (const [name, value] of Object.entries(leafFacts(parameter.name, given[parameter.name]))) {
        const isTold = users.some((text) => namesValue(text, String(value)));
        if (change?.known[name] !== value && isTold) add(name, value);
      }
  }
  for (const write of writesIn(actions, tools))
    for (const { isOwn, field, text } of rowsOf(write, desk))
      if (isOwn && change?.known[field] !== text && users.some((said) => namesValue(said, text))) add(field, text);
  for (const tool of tools.filter(({ effect, owner, generic }) => effect === 'read' && owner === 'agent' && !generic))
    for (const parameter of parametersOf(tool)) {
      const value = values.isKnown(parameter) && known[parameter.name] === undefined ? told(parameter) : undefined;
      if (value !== undefined && !isChangedTo(change, value)) add(parameter.name, value);
    }
  if (writesIn(actions, tools).length === 0)
    for (const [name, value] of Object.entries(amountsIn(users, desk))) add(name, value);
  return known;
}

/** Amounts that the user names for a write that was not made: "20 seats" for `seats`. */
function amountsIn(users: readonly string[], { loaded, recogniser }: Desk): Readonly<Record<string, number>> {
  const writes = loaded.domain.tools.filter((tool) => isWrite(tool) && tool.owner === 'agent');
  const found = writes.flatMap(parametersOf).flatMap(({ name, type }) => {
    if (type !== 'integer' && type !== 'number') return [];
    const words = [name.replaceAll('_', ' '), recogniser.labelOf(name)].map(literal).join('|');
    const said = new RegExp(`\\b(\\d+(?:\\.\\d+)?) (?:${words})\\b`, 'i');
    const [, amount] = users.map((text) => said.exec(text)).findLast((match) => match !== null) ?? [];
    return amount === undefined ? [] : [[name, Number(amount)] as const];
  });
  return Object.fromEntries(found);
}

function isChangedTo(change: Actions['change'], value: string): boolean {
  return change !== null && Object.values(change.known).some((each) => String(each) === value);
}

const ignorance =
  /\b(?:don['’]?t|do not|can['’]?t|cannot) (?:know|remember|recall|find|have)\b|\bno idea\b|\bnot sure\b|\bforgot(?:ten)?\b/i;

/** Returns the facts that the user was asked for and did not know. */
function unknownIn(
  spoken: readonly Utterance[],
  { recogniser: { agent } }: Desk,
  known: readonly string[],
): readonly string[] {
  const found = spoken.flatMap(({ role, content }, at) => {
    const answer = spoken[at + 1];
    const isUnknown = role === 'agent' && answer?.role === 'user' && ignorance.test(answer.content);
    return isUnknown ? agent(content).asks : [];
  });
  return [...new Set(found)].filter((name) => !known.includes(name));
}

/** The calls of the agent that change something, without those that hand over to a person. */
function writesIn(actions: readonly Action[], tools: readonly Tool[]): readonly Action[] {
  return actions.filter(({ tool, by }) => !by && tools.some((each) => each.name === tool && isWrite(each)));
}

/** The name by which the user introduces themselves; null where `name` is the fact of something else. */
function nameIn(spoken: readonly Utterance[], { name }: Readonly<Record<string, Json>>): string | null {
  if (typeof name !== 'string') return null;
  const isOwn = spoken.some(({ role, content }, at) => {
    if (role !== 'user' || !namesValue(content, name)) return false;
    const asked = spoken[at - 1]?.content ?? '';
    return introduction.test(content) || /\byour (?:full |first |last )?name\b/i.test(asked);
  });
  return isOwn ? name : null;
}

const introduction = /\b(?:(?:my|the) (?:full )?name(?: is|'s|:)|i am|i['’]m|this is|speaking)\b/i;

/** Returns what the user wants after a change of mind, in the second person. */
function changeIn({ when, say, known }: Change): string {
  const then = when === 'done' ? 'When that is done' : 'When that is offered';
  const values = Object.entries(known).map(([key, value]) => `${key.replaceAll('_', ' ')}: ${value}`);
  return values.length > 0
    ? `${then} you want it otherwise: ${values.join(', ')}.`
    : `${then} you take back what else you asked for: "${say}"`;
}

/** Returns what the user wants, in the second person. */
function goalOf(
  { change }: Actions,
  writes: readonly Action[],
  name: string | null,
  { users, known }: { readonly users: readonly string[]; readonly known: Readonly<Record<string, Json>> },
  { loaded: { world } }: Desk,
): string {
  const who = name === null ? [] : [`You are ${name}.`];
  const facts = writes.map(({ tool, arguments: given }): Readonly<Record<string, Json>> => {
    const own = leafFacts(tool, given);
    const rows = Object.entries(own).flatMap(([key, value]) =>
      namesInTable(String(value), key, [world.agent, world.user]).filter(
        ({ id, text }) => id === value && text !== name,
      ),
    );
    return { ...Object.fromEntries(rows.map(({ field, text }) => [field, text])), ...own };
  });
  const changedAt = facts.findLastIndex((own) =>
    Object.entries(change?.known ?? {}).some(([key, value]) => own[key] === value),
  );
  const changed = change ? [changeIn(change)] : [];
  const detailsOf = writes.map((_, at) =>
    Object.entries({ ...facts[at], ...(changedAt < 0 || at === changedAt ? change?.before : {}) })
      .filter(([, value]) => typeof value !== 'boolean' && users.some((text) => namesValue(text, String(value))))
      .map(([key, value]) => `${key.replaceAll('_', ' ')}: ${value}`),
  );
  const wants = writes.map(({ tool }, at) => {
    const details = detailsOf[at] ?? [];
    const want = `You want this: ${tool.replaceAll('_', ' ')}${details.length > 0 ? ` (${details.join(', ')})` : ''}.`;
    return at === changedAt ? [want, ...changed].join(' ') : want;
  });
  const isVague = writes.some((_, at) => detailsOf[at]?.length === 0 && Object.keys(facts[at] ?? {}).length > 0);
  const request = wants.length === 0 ? requestIn(users) : isVague ? laterRequestIn(users, Object.values(known)) : null;
  const said = request === null ? [] : [`What you want, in your own words: "${request}"`];
  return [...who, ...wants, ...(changedAt < 0 ? changed : []), ...said].join(' ');
}

const isLong = (text: string) => text.split(/\s+/).length > 3;

/** The first message that says more than a greeting. */
function requestIn(users: readonly string[]): string {
  return users.find(isLong) ?? users[0] ?? '';
}

/** The first message after a greeting that says more than who the user is; null where the first one is the request. */
function laterRequestIn([opening = '', ...later]: readonly string[], known: readonly Json[]): string | null {
  if (isLong(opening)) return null;
  return later.find((text) => isLong(text) && !known.some((value) => namesValue(text, sayOf(value)))) ?? null;
}

/** A draft persona as it is in its file: without what it does not do. */
export function writtenPersona({ id, description, style, behaviours }: Persona): object {
  const own = Object.fromEntries(Object.entries(behaviours).filter(([, value]) => value !== false));
  return { id, draft: true, description, style, ...(Object.keys(own).length > 0 ? { behaviours: own } : {}) };
}
