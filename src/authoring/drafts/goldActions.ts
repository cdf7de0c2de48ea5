import { namesValue } from '../../engine/core/dialogue/dialogue.ts';
import { isWrite, type Tool } from '../../engine/core/domain/tool.ts';
import { readsAsError } from '../../engine/core/events/errorText.ts';
import type { RolloutEvent } from '../../engine/core/events/event.ts';
import { textsBy, type Utterance } from '../../engine/core/events/message.ts';
import { namesInTable } from '../../engine/core/rules/rowNames.ts';
import type { Instructed } from '../../engine/core/seats/ownTools.ts';
import { leavesOf } from '../../engine/core/text/value.ts';
import { type Json, type JsonObject, jsonOf } from '../../engine/core/values/json.ts';
import type { Drafter } from './askedModel.ts';
import { type Deed, type Proposed, proposedIn } from './deeds.ts';
import type { Desk } from './desk.ts';
import { Preparation, type Told, typedAs } from './lookUps.ts';
import type { PlacedDeed } from './lostRequests.ts';
import { modelActions } from './modelActions.ts';
import { brings, type MadeCall, madeCalls } from './neededCalls.ts';
import { withQuotedIds } from './quotedIds.ts';
import { doneByUser, ownWordsIn, type UserState, userStateIn } from './userSide.ts';
import { type Parameter, parametersOf } from './values.ts';

export type Action = { readonly tool: string; readonly by?: 'user'; readonly arguments: JsonObject };

export type Change = {
  readonly when: 'proposed' | 'done';
  readonly say: string;
  readonly known: LeafFacts;
};

/** Facts by their names, as tools take them. */
type LeafFacts = Readonly<Record<string, string | number | boolean>>;

/** The gold actions of a draft, and what a message says about them. */
export type Actions = {
  readonly actions: readonly Action[];
  /** The state of the user's own side, according to the message. */
  readonly state: readonly UserState[];
  readonly communicate: readonly string[];
  readonly change: (Change & { readonly before: LeafFacts }) | null;
  /** The writes and hand-overs among the actions, where the conversation has them. */
  readonly deeds: readonly PlacedDeed[];
  readonly todos: readonly string[];
};

/** The calls of the domain's own tools that succeeded, by what their results say where nothing marks an error. */
export function callsMade(events: readonly RolloutEvent[], tools: readonly Tool[]): readonly MadeCall[] {
  return madeCalls(events).filter(({ tool: name, by, isError, content }) => {
    const tool = tools.find((each) => each.name === name);
    return by === 'agent' && !isError && !readsAsError(content) && tool && (!tool.generic || tool.handsOff);
  });
}

/** The calls of a log, without those that a later one replaced because the user changed its mind. */
export function fromCalls(calls: readonly MadeCall[], spoken: readonly Utterance[], desk: Desk): Actions {
  const { loaded, recogniser, values } = desk;
  const { domain } = loaded;
  const placed = calls.map((call) => ({ call, place: { role: 'agent', step: call.n, content: '' } as Utterance }));
  const timeline = [...spoken, ...placed.map(({ place }) => place)].toSorted((one, other) => one.step - other.step);
  const done = new Map(
    placed.flatMap(({ call, place }): readonly (readonly [MadeCall, Proposed])[] => {
      const tool = domain.tools.find(({ name }) => name === call.tool);
      if (!tool || !isWrite(tool)) return [];
      const given = Object.entries(call.arguments).map(([name, value]) => [name, textOf(value)]);
      const deed = { tool, arguments: Object.fromEntries(given), missing: [], at: timeline.indexOf(place) };
      return [[call, { ...deed, outcome: 'done' }]];
    }),
  );
  // The calls themselves say what was done.
  const open = proposedIn(spoken, domain, recogniser, values).flatMap((each): readonly Proposed[] => {
    const said = spoken[each.at];
    return said && each.outcome !== 'done' ? [{ ...each, at: timeline.indexOf(said) }] : [];
  });
  const proposed = [...open, ...done.values()].toSorted((one, other) => one.at - other.at);
  const { deeds, change: proposedAgain } = settled(proposed, timeline, desk);
  const left = calls.filter((call) => {
    const deed = done.get(call);
    return deed === undefined || deeds.includes(deed);
  });
  const again = proposedAgain === null ? lookedUpAgain(left, spoken, domain.tools) : null;
  const change = proposedAgain ?? again?.change ?? null;
  const kept = left.filter((call) => call !== again?.replaced);
  const users = textsBy('user', spoken);
  const actions = withQuotedIds(kept, users, loaded).map(({ tool, arguments: given }) => ({ tool, arguments: given }));
  const isServed = done.size > 0 || kept.some((call) => isHandOff(call, domain.tools));
  const todos = isServed ? [] : [nothingRight];
  const placedDeeds = kept.filter((call) => done.has(call) || isHandOff(call, domain.tools));
  const deedsAt = placedDeeds.map(({ tool, n }) => ({ tool, step: n }));
  return { actions, state: [], communicate: [], todos, change, deeds: deedsAt };
}

const isHandOff = ({ tool }: MadeCall, tools: readonly Tool[]) =>
  tools.some(({ name, handsOff }) => handsOff && name === tool);

const nothingRight =
  'nothing in the conversation shows what a correct agent does: write the actions, or what it has to communicate';

/**
 * Returns a change of mind about what only a look-up takes, such as a day: the user named another value after the first
 * look-up, and a write has what the second one brought. Returns null without one.
 */
function lookedUpAgain(calls: readonly MadeCall[], spoken: readonly Utterance[], tools: readonly Tool[]) {
  const argumentFacts = ({ arguments: given }: MadeCall) =>
    Object.assign({}, ...Object.entries(given).map(([name, value]) => leafFacts(name, value))) as LeafFacts;
  for (const later of calls) {
    const tool = tools.find(({ name }) => name === later.tool);
    const replaced = calls.findLast((each) => each.tool === later.tool && each.n < later.n);
    if (!tool || isWrite(tool) || !replaced) continue;
    const facts = differences(argumentFacts(replaced), argumentFacts(later));
    const first = spoken.filter(({ step }) => step < replaced.n);
    const second = spoken.filter(({ step }) => step > replaced.n && step < later.n);
    const isNamed = textsBy('user', first).some((text) => namesAny(text, facts.before));
    const say = textsBy('user', second).findLast((text) => namesAny(text, facts.known));
    if (!isNamed || say === undefined || !changesMind.test(say) || addsMore.test(say)) continue;
    const others = calls.filter(({ n }) => n > replaced.n).flatMap((call) => leavesOf(call.arguments));
    const needs = (one: MadeCall, other: MadeCall) =>
      others.some((value) => brings(one, value) && !brings(other, value));
    if (!needs(later, replaced) || needs(replaced, later)) continue;
    return { replaced, change: { when: 'proposed', say, ...facts } as const };
  }
  return null;
}

/** The calls that the agent proposed and reported in words, with the look-ups that the rules want before them. */
export async function fromWords(spoken: readonly Utterance[], desk: Desk, told: Told): Promise<Actions> {
  const { loaded, lookUps, values } = desk;
  const { domain, world } = loaded;
  const { deeds, change } = settled(proposedIn(spoken, domain, desk.recogniser, values), spoken, desk);
  const atHome = doneByUser(spoken, domain);
  const ownWords = ownWordsIn(spoken, atHome);
  const isTold = (value: string) => ownWords.some((text) => namesValue(text, value));
  const plan = new Preparation(lookUps, told);
  // What one deed lacks, the look-ups of who asks may bring.
  const isLacking = deeds.some(({ missing }) => missing.length > 0);
  const todos = isLacking ? [...(await lookedUp(plan, spoken, told, desk))] : [];
  todos.push(...(await planDeeds(deeds, atHome, spoken, plan, isTold)));
  if (deeds.length === 0) todos.push(...(await planWithoutDeeds(plan, spoken, told, desk)));
  const communicate = deeds.length === 0 ? toldFrom(plan, spoken) : [];
  if (deeds.length === 0 && communicate.length === 0 && !hasWrite(plan, domain.tools)) todos.push(nothingRight);
  if (atHome.some(({ step }) => step === spoken.at(-1)?.step))
    todos.push('the conversation ends with what the user did, and does not tell what the agent did then');
  const actions = actionsOf(plan.planned, domain.tools);
  return {
    actions,
    state: userStateIn(atHome, actions, domain, world),
    communicate,
    change,
    deeds: deeds.map(({ tool, at }) => ({ tool: tool.name, step: spoken[at]?.step ?? 0 })),
    todos,
  };
}

/** Plans the deeds, and between them what the user did, in the order in which they happened. Says what is missing. */
async function planDeeds(
  deeds: readonly Proposed[],
  atHome: readonly Instructed[],
  spoken: readonly Utterance[],
  plan: Preparation,
  isTold: (value: string) => boolean,
): Promise<readonly string[]> {
  const todos: string[] = [];
  let reached = -1;
  const planAtHome = (to: number) => {
    for (const { tool, arguments: given, step } of atHome)
      if (step > reached && step <= to) plan.planned.push({ tool, arguments: given, result: null });
    reached = to;
  };
  for (const deed of deeds) {
    planAtHome(spoken[deed.at]?.step ?? reached);
    const heard = spoken.slice(0, deed.at + 1).map(({ content }) => content);
    todos.push(...(await planDeed(deed, heard.reverse(), plan, isTold)));
  }
  planAtHome(Number.POSITIVE_INFINITY);
  return todos;
}

/**
 * Plans a deed, behind the look-ups that bring what the user did not tell. Says what is missing.
 * @param heard what was said up to it, the latest first
 */
async function planDeed(
  { tool, arguments: said, missing: unsaid }: Proposed,
  heard: readonly string[],
  plan: Preparation,
  isTold: (value: string) => boolean,
): Promise<readonly string[]> {
  const parameters = parametersOf(tool);
  const given: Record<string, string> = { ...said };
  for (const name of unsaid) {
    const value = await plan.valueOf(name, heard);
    if (value !== undefined) given[name] = value;
  }
  const missing = unsaid.filter((name) => given[name] === undefined);
  if (missing.length > 0) return [`the conversation does not tell the ${missing.join(' and the ')} of ${tool.name}`];
  for (const { name, choices } of parameters) {
    const value = given[name];
    const isFree = value === undefined || choices !== null || isTold(value) || plan.brings(value);
    if (!isFree) await plan.reach(value);
  }
  const typed = Object.entries(given).map(([name, value]) => [name, typedBy(parameters, name, value)] as const);
  return plan.plan(tool, Object.fromEntries(typed));
}

/**
 * Returns where nothing was done: the call that hands over, or the look-ups of what the user asked. Says what is
 * missing.
 */
async function planWithoutDeeds(
  plan: Preparation,
  spoken: readonly Utterance[],
  told: Told,
  desk: Desk,
): Promise<readonly string[]> {
  const handOff = desk.loaded.domain.tools.find(({ handsOff, owner }) => handsOff && owner === 'agent');
  const isHandedOff = spoken.some(({ role, content }) => role === 'agent' && desk.recogniser.agent(content).handsOff);
  return isHandedOff && handOff ? handOver(handOff, plan, spoken, told, desk) : lookedUp(plan, spoken, told, desk);
}

function hasWrite({ planned }: Preparation, tools: readonly Tool[]): boolean {
  return planned.some(({ tool }) => tools.some(({ name, effect }) => name === tool && effect === 'write'));
}

/** The same with the calls that a model reads of the words; where it gives none, what is missing stays so. */
export async function askedOf(
  drafter: Drafter,
  spoken: readonly Utterance[],
  read: Actions,
  desk: Desk,
): Promise<Actions> {
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

/** Gold actions of calls, which say whose those are that the user makes. */
function actionsOf(calls: readonly Pick<Action, 'tool' | 'arguments'>[], tools: readonly Tool[]): readonly Action[] {
  return calls.map(({ tool, arguments: given }) => {
    const isUsers = tools.some(({ name, owner }) => name === tool && owner === 'user');
    return { tool, ...(isUsers ? { by: 'user' } : {}), arguments: given };
  });
}

function typedBy(parameters: ReturnType<typeof parametersOf>, name: string, value: string): Json {
  if (/^[[{]/.test(value)) return (jsonOf(value) as Json | undefined) ?? value;
  const parameter = parameters.find((each) => each.name === name);
  return parameter ? typedAs(parameter, value) : value;
}

/** A value as the words of a conversation are compared with it. */
const textOf = (value: Json): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** The facts in the value of an argument: the value itself, or those in a list or an object, by their keys. */
export function leafFacts(name: string, value: Json | undefined): LeafFacts {
  if (value === null || value === undefined) return {};
  if (typeof value !== 'object') return { [name]: value };
  const inside = Array.isArray(value)
    ? value.map((each, at) => leafFacts(at === 0 ? name : `${name}_${at + 1}`, each))
    : Object.entries(value).map(([key, each]) => leafFacts(key, each));
  return Object.assign({}, ...inside);
}

/** The facts that differ between two calls of a tool: those of the first call, and those of the second. */
function changedFacts(tool: Tool, former: Deed['arguments'], later: Deed['arguments']) {
  const parameters = parametersOf(tool);
  const typedFacts = (given: Deed['arguments']): LeafFacts =>
    Object.assign(
      {},
      ...Object.keys(later).map((name) =>
        leafFacts(name, given[name] === undefined ? null : typedBy(parameters, name, given[name])),
      ),
    );
  return differences(typedFacts(former), typedFacts(later));
}

function differences(before: LeafFacts, known: LeafFacts) {
  const without = (facts: LeafFacts, others: LeafFacts): LeafFacts =>
    Object.fromEntries(Object.entries(facts).filter(([name, value]) => others[name] !== value));
  return { before: without(before, known), known: without(known, before) };
}

/** The deeds that are in the end. One that was done again with other values was a change of mind. */
function settled(proposed: readonly Proposed[], spoken: readonly Utterance[], desk: Desk) {
  const deeds: Proposed[] = [];
  const done = proposed.filter(({ outcome }) => outcome === 'done');
  let change: Actions['change'] = null;
  for (const [index, each] of proposed.entries()) {
    if (each.outcome !== 'done') continue;
    const former = proposed
      .slice(0, index)
      .findLast((other) => other.tool === each.tool && other.outcome !== 'left' && isAlike(other, each, desk));
    const values = former ? differing(former, each, desk) : {};
    const facts = changedFacts(each.tool, former?.arguments ?? {}, values);
    const users = former ? textsBy('user', spoken.slice(former.at + 1, each.at)) : [];
    const say = users.findLast((text) => namesAny(text, facts.known));
    if (former && say !== undefined && isReplaced(former, values, say)) {
      const known = toldFacts(facts.known, users, desk);
      const before = {
        ...rowNamedIn(spoken[former.at]?.content ?? '', former, values, desk),
        ...namedFacts(facts.before, each, desk),
      };
      change = { when: former.outcome === 'done' ? 'done' : 'proposed', say, before, known };
      if (former.outcome === 'done') deeds.splice(deeds.indexOf(former), 1);
    }
    deeds.push(each);
    change ??= changedBefore(each, done, spoken, desk);
  }
  return { deeds, change };
}

/** The facts that the user named, a row by its name. What the agent looked up, such as its id, is not theirs. */
function toldFacts(facts: LeafFacts, users: readonly string[], { loaded: { world } }: Desk): LeafFacts {
  const isTold = (value: LeafFacts[string]) => users.some((text) => namesValue(text, String(value)));
  const told = Object.entries(facts).flatMap(([name, value]) => {
    if (isTold(value)) return [[name, value] as const];
    const rows = namesInTable(String(value), name, [world.agent, world.user]);
    return rows.flatMap(({ id, field, text }) => (id === value && isTold(text) ? [[field, text] as const] : []));
  });
  return Object.fromEntries(told);
}

/** The same facts, with the names of a row beside its id, and the field of a name that a proposal has in place of the id. */
function namedFacts(facts: LeafFacts, { arguments: given }: Proposed, { loaded: { world } }: Desk): LeafFacts {
  const named = Object.entries(facts).flatMap(([name, value]) => {
    const rows = namesInTable(given[name] ?? '', name, [world.agent, world.user]);
    const own = rows.filter(({ id }) => id === String(value)).map(({ field, text }) => [field, text] as const);
    const isNamed = rows.find(({ text }) => isSameText(text, String(value)));
    return [...own, [isNamed?.field ?? name, value] as const];
  });
  return Object.fromEntries(named);
}

/** The names of the one row that a proposal names in place of another one, where only its words tell which. */
function rowNamedIn(
  proposal: string,
  former: Proposed,
  later: Readonly<Record<string, string>>,
  { loaded: { world } }: Desk,
): LeafFacts {
  const named = Object.entries(later).flatMap(([name, value]) => {
    if (former.arguments[name] !== undefined) return [];
    const rows = namesInTable(value, name, [world.agent, world.user]);
    const others = rows.filter(({ id, text }) => id !== value && namesValue(proposal, text));
    return new Set(others.map(({ id }) => id)).size === 1
      ? others.map(({ field, text }) => [field, text] as const)
      : [];
  });
  return Object.fromEntries(named);
}

const isSameText = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

const changesMind =
  /\b(?:actually|instead|rather|changed my mind|on second thought|after all|make (?:it|that)|no|not|wait|sorry|hold on|scratch that)\b/i;
const addsMore = /\b(?:as well|also|too|another|besides|in addition|next)\b/i;

/** Whether a deed with other values replaces one that was done, rather than being done for something else, too. */
function isReplaced(former: Proposed, values: Readonly<Record<string, string>>, say: string): boolean {
  if (Object.keys(values).length === 0) return false;
  if (former.outcome !== 'done') return true;
  const [object] = parametersOf(former.tool);
  const isOfSame = object !== undefined && values[object.name] === undefined;
  return !addsMore.test(say) && (isOfSame || changesMind.test(say));
}

/** A change of mind before anything was proposed: the user named one thing, and then another in its place. */
function changedBefore(
  deed: Proposed,
  done: readonly Proposed[],
  spoken: readonly Utterance[],
  desk: Desk,
): Actions['change'] {
  const users = textsBy('user', spoken.slice(0, deed.at));
  if (!users.slice(1).some((text) => changesMind.test(text))) return null;
  for (const { fact, wanted, others } of parametersOf(deed.tool).flatMap((each) => sayings(each, deed, done, desk))) {
    const first = users.findIndex((text) => namesValue(text, wanted));
    const say = users[first];
    if (first < 1 || say === undefined || !changesMind.test(say) || addsMore.test(say)) continue;
    const former = users.slice(0, first).flatMap(others).at(-1);
    if (former === undefined || Object.values(deed.arguments).includes(former)) continue;
    return { when: 'proposed', say, ...changedFacts(deed.tool, { [fact]: former }, { [fact]: wanted }) };
  }
  return null;
}

/** A fact by which a user names the value of an argument, and the other values that a text names by it. */
type Saying = {
  readonly fact: string;
  readonly wanted: string;
  readonly others: (text: string) => readonly string[];
};

/** The value itself, and the title or name of its row. A row that something was done with is not replaced. */
function sayings(
  parameter: Parameter,
  deed: Proposed,
  done: readonly Proposed[],
  { loaded, values }: Desk,
): readonly Saying[] {
  const { name } = parameter;
  const wanted = deed.arguments[name];
  if (wanted === undefined) return [];
  const used = new Set(done.flatMap((each) => Object.values(each.arguments)));
  const rows = namesInTable(wanted, name, [loaded.world.agent, loaded.world.user]);
  const own = rows.filter(({ id }) => id === wanted);
  const others = rows.filter(({ id, text }) => !used.has(id) && !own.some((each) => each.text === text));
  return [
    { fact: name, wanted, others: (text) => values.named(parameter, text) },
    ...own.map(({ field, text }) => ({
      fact: field,
      wanted: text,
      others: (said: string) =>
        others.flatMap((each) => (each.field === field && namesValue(said, each.text) ? [each.text] : [])),
    })),
  ];
}

/** Whether two calls are about the same thing: most of what they are given is equal, and something is not. */
function isAlike(one: Proposed, other: Proposed, desk: Desk): boolean {
  const different = Object.keys(differing(one, other, desk)).length;
  return different > 0 && different < Object.keys(other.arguments).length;
}

/** The arguments of a later call that are not those of a former one, which can have the name of a row for its id. */
function differing(former: Proposed, later: Proposed, { loaded: { world } }: Desk): Readonly<Record<string, string>> {
  const isSame = (name: string, value: string) => {
    const before = former.arguments[name];
    if (before === undefined || before === value) return before === value;
    const rows = namesInTable(value, name, [world.agent, world.user]);
    return rows.some(({ id, text }) => id === value && isSameText(text, before));
  };
  return Object.fromEntries(Object.entries(later.arguments).filter(([name, value]) => !isSame(name, value)));
}

function namesAny(text: string, facts: LeafFacts): boolean {
  return Object.values(facts).some((value) => namesValue(text, String(value)));
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
  const said = textsBy('agent', spoken).map((text) => text.toLowerCase());
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

/** Returns what the agent reported of what the look-ups bring, and the user did not say. */
function toldFrom(plan: Preparation, spoken: readonly Utterance[]): readonly string[] {
  const users = textsBy('user', spoken);
  const agents = textsBy('agent', spoken);
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
