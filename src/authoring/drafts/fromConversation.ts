import { namesValue } from '../../engine/core/dialogue/dialogue.ts';
import type { Persona } from '../../engine/core/domain/persona.ts';
import type { Task, VerifierName } from '../../engine/core/domain/task.ts';
import { isWrite, type Tool } from '../../engine/core/domain/tool.ts';
import type { RolloutEvent } from '../../engine/core/events/event.ts';
import type { Utterance } from '../../engine/core/events/message.ts';
import type { Json } from '../../engine/core/values/json.ts';
import type { Drafter } from './askedModel.ts';
import { insistenceIn, personaFor, styleOf } from './behaviour.ts';
import type { Desk } from './desk.ts';
import { type Action, type Actions, askedOf, type Change, callsMade, fromCalls, fromWords } from './goldActions.ts';
import { type Told, toldIn } from './lookUps.ts';
import { doneByUser, ownWordsIn, type UserState } from './userSide.ts';
import { parametersOf } from './values.ts';

/** A task that was drafted from a conversation, to be looked at before it counts. */
export type ConversationDraft = {
  readonly task: DraftTask;
  /** A persona that the domain does not have yet; null where one of its own behaves so. */
  readonly persona: Persona | null;
  /** What the conversation does not tell, each in a sentence; it stands in the description, where the check finds it. */
  readonly todos: readonly string[];
};

type DraftTask = Pick<Task, 'id' | 'description' | 'split' | 'persona'> & {
  readonly draft: true;
  readonly user: {
    readonly goal: string;
    readonly opening: string;
    readonly known: Readonly<Record<string, Json>>;
    readonly unknown?: readonly string[];
    readonly change?: Change;
    readonly insist?: { readonly say: string };
  };
  readonly state?: readonly UserState[];
  readonly actions?: readonly Action[];
  readonly communicate?: readonly string[];
  readonly train?: readonly VerifierName[];
};

/** What was said in a recording, by whom. */
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
  const users = spoken.flatMap(({ role, content }) => (role === 'user' ? [content] : []));
  const told = toldIn(users, values);
  const made = callsMade(events, domain.tools);
  const read = made.length > 0 ? fromCalls(made, spoken, desk) : await fromWords(spoken, desk, told);
  const found = read.todos.length > 0 && drafter ? await askedOf(drafter, spoken, read, desk) : read;
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
  const { persona, isNew } = personaFor(domain.personas, styleOf(spoken), traits, desk.newPersonas);
  const { before: _, ...change } = found.change ?? { before: {} };
  const silence = users.length === 0 ? ['the user says nothing in it'] : [];
  const todos = [...new Set([...silence, ...found.todos])];
  const task: DraftTask = {
    id,
    draft: true,
    description: [
      `Drafted from a real conversation${made.length > 0 ? ' and the calls in it' : ''}.`,
      ...(found === read || found.todos.length > 0 ? [] : [`Its calls were written by ${drafter?.seat.model}.`]),
      ...todos.map((todo) => `TODO: ${todo}.`),
    ].join(' '),
    split: 'train',
    persona: persona.id,
    user: {
      goal: goalOf(found, known, users, domain.tools),
      opening,
      known,
      ...(unknown.length > 0 ? { unknown } : {}),
      ...(found.change ? { change: change as Change } : {}),
      ...(insist === null ? {} : { insist: { say: insist } }),
    },
    ...(found.state.length > 0 ? { state: found.state } : {}),
    ...(found.actions.length > 0 ? { actions: found.actions } : {}),
    // Without a write the database tells nothing apart, in training neither.
    ...(found.communicate.length > 0
      ? { communicate: found.communicate, train: ['database', 'communicate'] as const }
      : {}),
  };
  return { task, persona: isNew ? { ...persona, draft: true } : null, todos };
}

function sayOf(fact: Json): string {
  const { say, value } = (typeof fact === 'object' && fact !== null ? fact : { value: fact }) as {
    say?: string;
    value?: Json;
  };
  return say ?? String(value);
}

/**
 * What the user knows: what of the gold actions they told, and who they said they are. What they only agreed to, such as
 * the id of a row that the agent looked up, they do not know.
 * @param users what the user said by themselves
 */
function factsIn(
  { actions, change }: Actions,
  users: readonly string[],
  told: Told,
  { loaded, values }: Desk,
): Readonly<Record<string, Json>> {
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
    if (users.some((text) => namesValue(text, value))) add(name, value);
  for (const { tool, arguments: given } of actions) {
    const described = tools.find((each) => each.name === tool);
    if (!described || described.handsOff || described.owner === 'user') continue;
    for (const parameter of parametersOf(described)) {
      const value = given[parameter.name];
      if (value === undefined || typeof value === 'object') continue;
      const isChanged = change !== null && change.known[parameter.name] === String(value);
      const isTold = users.some((text) => namesValue(text, String(value)));
      if (!isChanged && isTold) add(parameter.name, value);
    }
  }
  for (const tool of tools.filter(({ effect, owner, generic }) => effect === 'read' && owner === 'agent' && !generic))
    for (const parameter of parametersOf(tool)) {
      const value = values.isKnown(parameter) && known[parameter.name] === undefined ? told(parameter) : undefined;
      if (value !== undefined && !isChangedTo(change, value)) add(parameter.name, value);
    }
  return known;
}

function isChangedTo(change: Actions['change'], value: string): boolean {
  return change !== null && Object.values(change.known).includes(value);
}

const ignorance =
  /\b(?:don['’]?t|do not|can['’]?t|cannot) (?:know|remember|recall|find|have)\b|\bno idea\b|\bnot sure\b|\bforgot(?:ten)?\b/i;

/** What the user was asked for and did not know. */
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

/** What the user wants, in the second person. */
function goalOf(
  { actions, change }: Actions,
  known: Readonly<Record<string, Json>>,
  users: readonly string[],
  tools: readonly Tool[],
): string {
  const [opening = ''] = users;
  const name = known['name'];
  const who = typeof name === 'string' ? [`You are ${name}.`] : [];
  const writes = actions.filter(({ tool, by }) => !by && tools.some((each) => each.name === tool && isWrite(each)));
  const wants = writes.map(({ tool, arguments: given }) => {
    const former = { ...given, ...change?.before };
    const details = Object.entries(former)
      .filter(([, value]) => users.some((text) => namesValue(text, String(value))))
      .map(([key, value]) => `${key.replaceAll('_', ' ')}: ${value}`);
    return `You want this: ${tool.replaceAll('_', ' ')}${details.length > 0 ? ` (${details.join(', ')})` : ''}.`;
  });
  const changed = change
    ? [
        `${change.when === 'done' ? 'When that is done' : 'When that is offered'} you want it otherwise: ${Object.entries(
          change.known,
        )
          .map(([key, value]) => `${key.replaceAll('_', ' ')}: ${value}`)
          .join(', ')}.`,
      ]
    : [];
  const said = wants.length === 0 ? [`What you want, in your own words: "${opening}"`] : [];
  return [...who, ...wants, ...changed, ...said].join(' ');
}

/** A draft persona as it stands in its file: without what it does not do. */
export function writtenPersona({ id, description, style, behaviours }: Persona): object {
  const own = Object.fromEntries(Object.entries(behaviours).filter(([, value]) => value !== false));
  return { id, draft: true, description, style, ...(Object.keys(own).length > 0 ? { behaviours: own } : {}) };
}
