import { leavesOf } from '../../core/dialogue/value.ts';
import { namesValue, type Recogniser, recogniser } from '../../core/dialogue.ts';
import type { Domain } from '../../core/domain.ts';
import { insistenceIn, personaFor, styleOf } from '../../core/drafting/behaviour.ts';
import { type Proposed, proposedIn } from '../../core/drafting/deeds.ts';
import { doneByUser, ownWordsIn, type UserState, userStateIn } from '../../core/drafting/userSide.ts';
import { type KnownValues, knownValues, parametersOf } from '../../core/drafting/values.ts';
import type { RolloutEvent } from '../../core/event.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { ToolCall, Utterance } from '../../core/message.ts';
import type { Persona } from '../../core/persona.ts';
import type { Task, VerifierName } from '../../core/task.ts';
import { isWrite, type Tool } from '../../core/tool.ts';
import type { LoadedDomain } from '../load/loadedDomain.ts';
import type { Drafter } from './askedModel.ts';
import { type LookUps, Preparation, type Told, toldIn, typedAs } from './lookUps.ts';
import { modelActions } from './modelActions.ts';

/** A task that was drafted from a conversation, to be looked at before it counts. */
export type ConversationDraft = {
  readonly task: DraftTask;
  /** A persona that the domain does not have yet; null where one of its own behaves so. */
  readonly persona: Persona | null;
  /** What the conversation does not tell, each in a sentence; it stands in the description, where the check finds it. */
  readonly todos: readonly string[];
};

type Action = { readonly tool: string; readonly by?: 'user'; readonly arguments: JsonObject };
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
type Change = {
  readonly when: 'proposed' | 'done';
  readonly say: string;
  readonly known: Readonly<Record<string, string>>;
};

/** What drafting needs to know of a domain, worked out once. */
export type Desk = {
  readonly loaded: LoadedDomain;
  readonly lookUps: LookUps;
  readonly values: KnownValues;
  readonly recogniser: Recogniser;
  /** Whether personas may be drafted that the domain does not have. */
  readonly newPersonas: boolean;
};

/** Makes ready to draft tasks of a domain whose tools are described. */
export function openDesk(loaded: LoadedDomain, lookUps: LookUps, newPersonas: boolean): Desk {
  const { domain, world } = loaded;
  const values = knownValues(domain, [world.agent, world.user]);
  return { loaded, lookUps, values, recogniser: recogniserFor(domain), newPersonas };
}

/** Understands what is said about the facts of a domain's lexicon and the arguments of its tools. */
export function recogniserFor(domain: Domain): Recogniser {
  const parameters = domain.tools.flatMap((tool) => parametersOf(tool).map(({ name }) => name));
  return recogniser(domain.lexicon, [...new Set([...Object.keys(domain.lexicon.facts), ...parameters])]);
}

/** What was said in a recording, by whom. */
export function spokenIn(events: readonly RolloutEvent[]): readonly Utterance[] {
  return events.flatMap((event, step): readonly Utterance[] => {
    if (event.type === 'userReplied' && !event.toolCalls && event.content !== '')
      return [{ role: 'user', step, content: event.content }];
    const isSaid = event.type === 'agentReplied' && event.toolCalls.length === 0;
    return isSaid && event.content ? [{ role: 'agent', step, content: event.content }] : [];
  });
}

/** The calls of the domain's own tools that succeeded. */
function callsMade(events: readonly RolloutEvent[], tools: readonly Tool[]): readonly Action[] {
  return events.flatMap((event): readonly Action[] => {
    if (event.type !== 'toolCalled' || event.by !== undefined) return [];
    const call = event.call as ToolCall;
    const answer = events.find((each) => each.type === 'toolReturned' && each.callId === call.id);
    const tool = tools.find(({ name }) => name === call.name);
    const isKept = answer?.type === 'toolReturned' && !answer.isError && tool && (!tool.generic || tool.handsOff);
    return isKept && typeof call.arguments !== 'string' ? [{ tool: call.name, arguments: call.arguments }] : [];
  });
}

/** The gold actions of a draft, and what is said of them. */
type Actions = {
  readonly actions: readonly Action[];
  /** What the words tell of the user's own side. */
  readonly state: readonly UserState[];
  readonly communicate: readonly string[];
  readonly change: (Change & { readonly before: Readonly<Record<string, string>> }) | null;
  readonly todos: readonly string[];
  /** Values that a look-up brings, the user's own too, so that the user need not know them. */
  readonly isBrought: (value: string) => boolean;
};

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
  const read = made.length > 0 ? fromCalls(made) : await fromWords(spoken, desk, told);
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
      goal: goalOf(found, known, opening, domain.tools),
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

/** The same with the calls that a model reads of the words; where it gives none, what is missing stays so. */
async function askedOf(drafter: Drafter, spoken: readonly Utterance[], read: Actions, desk: Desk): Promise<Actions> {
  const known = { begun: read.actions, missing: read.todos };
  const asked = await modelActions(spoken, known, desk.loaded.domain, drafter);
  if ('problem' in asked) return { ...read, todos: [...read.todos, `the model wrote no calls: ${asked.problem}`] };
  return {
    ...read,
    actions: actionsOf(asked.actions, desk.loaded.domain.tools),
    communicate: asked.communicate,
    todos: [],
  };
}

function fromCalls(actions: readonly Action[]): Actions {
  return { actions, state: [], communicate: [], change: null, todos: [], isBrought: () => false };
}

async function fromWords(spoken: readonly Utterance[], desk: Desk, told: Told): Promise<Actions> {
  const { loaded, lookUps, values } = desk;
  const { tools } = loaded.domain;
  const proposed = proposedIn(spoken, loaded.domain, desk.recogniser, values);
  const { deeds, change } = settled(proposed, spoken);
  const plan = new Preparation(lookUps, told);
  const todos: string[] = [];
  // What one deed lacks, the look-ups of who asks may bring.
  if (deeds.some(({ missing }) => missing.length > 0)) todos.push(...(await lookedUp(plan, spoken, told, desk)));
  const atHome = doneByUser(spoken, loaded.domain);
  const ownWords = ownWordsIn(spoken, atHome);
  const isTold = (value: string) => ownWords.some((text) => namesValue(text, value));
  const isReported = (value: string) => atHome.some(({ answer }) => namesValue(answer, value));
  const planAtHome = (from: number, to: number) => {
    for (const { tool, arguments: given, step } of atHome)
      if (step > from && step <= to) plan.planned.push({ tool, arguments: given, result: null });
  };
  let reached = -1;
  for (const { tool, arguments: said, missing: unsaid, at } of deeds) {
    const { step = reached } = spoken[at] ?? {};
    planAtHome(reached, step);
    reached = step;
    const parameters = parametersOf(tool);
    const brought = unsaid.flatMap((name) => {
      const value = plan.found(name);
      return value === undefined ? [] : [[name, value] as const];
    });
    const given: Readonly<Record<string, string>> = { ...said, ...Object.fromEntries(brought) };
    const missing = unsaid.filter((name) => given[name] === undefined);
    if (missing.length > 0) {
      todos.push(`the conversation does not tell the ${missing.join(' and the ')} of ${tool.name}`);
      continue;
    }
    const typed = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, typedBy(parameters, name, value)]),
    );
    const write = { ...typed };
    for (const { name, choices } of parameters) {
      const value = given[name];
      const isFree = value === undefined || choices !== null || isTold(value) || plan.brings(value);
      if (!isFree) await plan.reach(value);
    }
    todos.push(...(await plan.plan(tool, write)));
  }
  planAtHome(reached, Number.POSITIVE_INFINITY);
  const handOff = tools.find(({ handsOff, owner }) => handsOff && owner === 'agent');
  const isHandedOff = spoken.some(({ role, content }) => role === 'agent' && desk.recogniser.agent(content).handsOff);
  if (deeds.length === 0 && isHandedOff && handOff) todos.push(...(await handOver(handOff, plan, spoken, told, desk)));
  else if (deeds.length === 0) todos.push(...(await lookedUp(plan, spoken, told, desk)));
  const communicate = deeds.length === 0 ? toldFrom(plan, spoken) : [];
  const isEmpty =
    communicate.length === 0 &&
    !plan.planned.some(({ tool }) => tools.some((each) => each.name === tool && each.effect === 'write'));
  if (isEmpty)
    todos.push(
      'nothing in the conversation says what a right agent does: write the actions, or what it has to communicate',
    );
  const actions = actionsOf(plan.planned, tools);
  if (atHome.some(({ step }) => step === spoken.at(-1)?.step))
    todos.push('the conversation ends with what the user did, and does not tell what the agent did then');
  const state = userStateIn(atHome, actions, loaded.domain, loaded.world);
  return {
    actions,
    state,
    communicate,
    change,
    todos,
    isBrought: (value) => (plan.brings(value) || isReported(value)) && !isTold(value),
  };
}

/** Gold actions of calls, which say whose those are that the user makes. */
function actionsOf(calls: readonly Pick<Action, 'tool' | 'arguments'>[], tools: readonly Tool[]): readonly Action[] {
  return calls.map(({ tool, arguments: given }) => {
    const isUsers = tools.some(({ name, owner }) => name === tool && owner === 'user');
    return { tool, ...(isUsers ? { by: 'user' } : {}), arguments: given };
  });
}

function typedBy(parameters: ReturnType<typeof parametersOf>, name: string, value: string): Json {
  const parameter = parameters.find((each) => each.name === name);
  return parameter ? typedAs(parameter, value) : value;
}

/** The deeds that stand in the end. One that was done anew with other values was a change of mind. */
function settled(proposed: readonly Proposed[], spoken: readonly Utterance[]) {
  const deeds: Proposed[] = [];
  let change: Actions['change'] = null;
  for (const [index, each] of proposed.entries()) {
    if (each.outcome !== 'done') continue;
    const former = proposed
      .slice(0, index)
      .findLast((other) => other.tool === each.tool && other.outcome !== 'left' && isAlike(other, each));
    const values = former ? differing(former, each) : null;
    const say = former
      ? spoken
          .slice(former.at + 1, each.at)
          .findLast(({ role, content }) => role === 'user' && namesAny(content, values ?? {}))?.content
      : undefined;
    if (former && values && say !== undefined && Object.keys(values).length > 0) {
      const before = Object.fromEntries(Object.keys(values).map((name) => [name, former.arguments[name] ?? '']));
      change = { when: former.outcome === 'done' ? 'done' : 'proposed', say, known: values, before };
      if (former.outcome === 'done') deeds.splice(deeds.indexOf(former), 1);
    }
    deeds.push(each);
  }
  return { deeds, change };
}

/** Whether two calls are about the same thing: most of what they are given is equal, and something is not. */
function isAlike(one: Proposed, other: Proposed): boolean {
  const names = Object.keys(other.arguments);
  const equal = names.filter((name) => one.arguments[name] === other.arguments[name]).length;
  return equal > 0 && equal < names.length;
}

function differing(former: Proposed, later: Proposed): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(later.arguments).filter(([name, value]) => former.arguments[name] !== value),
  );
}

function namesAny(text: string, values: Readonly<Record<string, string>>): boolean {
  return Object.values(values).some((value) => namesValue(text, value));
}

async function handOver(
  tool: Tool,
  plan: Preparation,
  spoken: readonly Utterance[],
  told: Told,
  desk: Desk,
): Promise<readonly string[]> {
  const lacking = await lookedUp(plan, spoken, told, desk);
  const [first] = spoken.filter(({ role }) => role === 'user');
  const given = parametersOf(tool).flatMap((parameter): readonly (readonly [string, Json])[] => {
    const { name, isRequired, choices } = parameter;
    const value = plan.found(name) ?? told(parameter);
    if (value !== undefined) return [[name, value]];
    if (!isRequired) return [];
    return [[name, choices?.[0] ?? `The customer wrote: ${first?.content ?? ''}`]];
  });
  return [...lacking, ...(await plan.plan(tool, Object.fromEntries(given)))];
}

/** Look-ups of what the user named: of several values, with the one whose result the agent told. */
async function lookedUp(
  plan: Preparation,
  spoken: readonly Utterance[],
  told: Told,
  { loaded, lookUps }: Desk,
): Promise<readonly string[]> {
  const lacking: string[] = [];
  const said = spoken.flatMap(({ role, content }) => (role === 'agent' ? [content.toLowerCase()] : []));
  const isSaid = (leaf: string) => leaf.length >= 2 && said.some((text) => text.includes(leaf.toLowerCase()));
  for (const tool of loaded.domain.tools) {
    if (tool.effect !== 'read' || tool.owner !== 'agent' || tool.generic) continue;
    const parameters = parametersOf(tool).filter(({ isRequired }) => isRequired);
    const isTold = parameters.length > 0 && parameters.every((parameter) => told(parameter) !== undefined);
    if (!isTold || plan.planned.some((each) => each.tool === tool.name)) continue;
    const [only] = parameters;
    const choices = only && parameters.length === 1 ? [...new Set(told.all(only))] : [];
    let given = Object.fromEntries(parameters.map((each) => [each.name, typedAs(each, told(each) ?? '')]));
    for (const value of choices.length > 1 ? choices : []) {
      const one = { [only?.name ?? '']: value };
      if (leavesOf(await lookUps.call(tool.name, one)).some(isSaid)) given = one;
    }
    const before = plan.planned.length;
    const found = await plan.plan(tool, given);
    if (found.length > 0) plan.planned.length = before;
    lacking.push(...found.filter((each) => each.startsWith('the rule')));
  }
  return lacking;
}

/** What the agent told of what the look-ups bring, and the user did not say. */
function toldFrom(plan: Preparation, spoken: readonly Utterance[]): readonly string[] {
  const users = spoken.flatMap(({ role, content }) => (role === 'user' ? [content] : []));
  const agents = spoken.flatMap(({ role, content }) => (role === 'agent' ? [content] : []));
  const leaves = new Set(plan.planned.flatMap(({ result }) => leavesOf(result)));
  const named = [...leaves].filter(
    (leaf) =>
      leaf.length >= 2 &&
      !/^(?:true|false)$/.test(leaf) &&
      !users.some((text) => namesValue(text, leaf)) &&
      agents.some((text) => text.toLowerCase().includes(leaf.toLowerCase())),
  );
  return named.slice(0, 4);
}

function sayOf(fact: Json): string {
  const { say, value } = (typeof fact === 'object' && fact !== null ? fact : { value: fact }) as {
    say?: string;
    value?: Json;
  };
  return say ?? String(value);
}

/**
 * What the user knows: what of the gold actions they told, or agreed to, and who they said they are.
 * @param users what the user said by themselves
 */
function factsIn(
  { actions, change, isBrought }: Actions,
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
      const isWanted = isWrite(described) && !isBrought(String(value));
      if (!isChanged && (isTold || isWanted)) add(parameter.name, value);
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
  opening: string,
  tools: readonly Tool[],
): string {
  const name = known['name'];
  const who = typeof name === 'string' ? [`You are ${name}.`] : [];
  const writes = actions.filter(({ tool, by }) => !by && tools.some((each) => each.name === tool && isWrite(each)));
  const wants = writes.map(({ tool, arguments: given }) => {
    const former = { ...given, ...change?.before };
    const details = Object.entries(former).map(([key, value]) => `${key.replaceAll('_', ' ')}: ${value}`);
    return `You want this: ${tool.replaceAll('_', ' ')} (${details.join(', ')}).`;
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
