import { demandsIn, namesValue, type Recogniser, saysMore } from '../../engine/core/dialogue/dialogue.ts';
import { type Fact, factOf, type Task, taskHash } from '../../engine/core/domain/task.ts';
import { taskIn } from '../../engine/core/domain/taskVariant.ts';
import { externalSource, isWrite } from '../../engine/core/domain/tool.ts';
import type { RolloutEvent, RolloutStarted } from '../../engine/core/events/event.ts';
import { fieldsOf, numberFormsOf } from '../../engine/core/events/message.ts';
import { quotes } from '../../engine/core/events/quotedResults.ts';
import { leavesOf } from '../../engine/core/text/value.ts';
import type { Json, JsonObject } from '../../engine/core/values/json.ts';
import { isFound } from '../../engine/core/verifiers/communicate.ts';
import { Fault } from '../../engine/shell/files/fault.ts';
import { withDrafts } from '../../engine/shell/load/drafts.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import type { ReadRecording } from '../../engine/shell/records/recording.ts';
import { baseHashOf } from '../../engine/shell/replay.ts';
import { factsIn, givenArguments } from '../domains/mcpDomain.ts';
import { draftText } from '../draftText.ts';
import { recogniserFor } from './desk.ts';
import { brings, type MadeCall, madeCalls, neededCalls } from './neededCalls.ts';
import { withQuotedIds } from './quotedIds.ts';

/** A task that was drafted, as the text of its file. */
export type DraftedTask = {
  readonly id: string;
  readonly task: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** Sentences about what a person should check; they are also in a comment above the text. */
  readonly notes: readonly string[];
};

/** Texts that the agent told are demanded at most. */
const mostTold = 4;

/**
 * Makes a task of what happened in a recording: its gold actions are the calls that changed something and those that
 * they needed, its user that of the recorded task, else the user's own words.
 * @param loaded the domain, with its tools described where that is possible
 * @throws Fault where the recording is of another domain, or nothing in it can count
 */
export function draftTask(loaded: LoadedDomain, recording: ReadRecording, id?: string): DraftedTask {
  const events = recording.lines.map(({ event }) => event);
  const started = startOf(recording, events, loaded);
  const original = taskIn(withDrafts(loaded).domain, started.task.id);
  const calls = madeCalls(events);
  const said = saidIn(events);
  // What a person typed in the user's seat need not be what the task had them want.
  const isTyped =
    started.seats.user === 'human' || events.some((event) => event.type === 'userReplied' && event.origin);
  const needed = neededCalls(loaded, calls, (value, before) => isTold(value, before, said.user, calls, original));
  const users = said.user.map(({ text }) => text);
  const kept = withQuotedIds(needed, users, loaded);
  const writes = kept.filter(({ tool, writes: own }) => own.length > 0 || isChange(loaded, tool));
  const communicate = original
    ? original.communicate.filter((text) => said.agent.some((own) => isFound(text, own.text, original.communicateBy)))
    : writes.length > 0
      ? []
      : toldValues(calls, said);
  if (writes.length === 0 && communicate.length === 0)
    throw refused(
      recording.path,
      'nothing can count in it: no call changed anything, and the agent told nothing that a tool returned. Choose another recording',
    );
  const reads =
    writes.length > 0
      ? kept
      : calls.filter(({ isError, content }) => !isError && communicate.some((text) => contains(content, text)));
  const task = {
    id: id ?? freeId(loaded, started.task.id),
    draft: true,
    description: `What happened in a rollout of ${started.task.id} (${started.seats.agent}, ${started.seats.user}).`,
    split: original?.split ?? started.task.split,
    persona: personaFor(loaded, original, recording.path),
    ...(original?.under === undefined ? {} : { under: original.under }),
    ...(started.now === loaded.file.now ? {} : { now: started.now }),
    user: userOf(original, reads, calls, said.user, isTyped, loaded),
    ...startState(original, events),
    actions: reads.map(actionOf),
    ...demandsOf(loaded, writes, communicate),
  };
  const notes = notesOn(loaded, recording, started, original, events);
  const comment = [
    `Drafted from ${recording.path.split(/[\\/]/).at(-1)}: read it, correct it, and accept it.`,
    ...notes,
  ];
  return { id: task.id, task, text: draftText([task], comment), notes };
}

function refused(path: string, why: string): Fault {
  return new Fault({ who: 'infrastructure', code: 'draft/recording', message: `${path}: ${why}` });
}

function startOf(
  { path, problems }: ReadRecording,
  events: readonly RolloutEvent[],
  loaded: LoadedDomain,
): RolloutStarted {
  const [first] = events;
  if (first?.type !== 'rolloutStarted')
    throw refused(
      path,
      problems[0] ? `line ${problems[0].line} ${problems[0].message}` : 'is not a recording: it holds no rollout',
    );
  if (first.domain.name !== loaded.domain.name)
    throw refused(
      path,
      `was recorded in the domain "${first.domain.name}", and ${loaded.folder} is the domain "${loaded.domain.name}". Name its own domain with --domain FOLDER`,
    );
  return first;
}

type Said = { readonly n: number; readonly text: string };

function saidIn(events: readonly RolloutEvent[]): { readonly agent: readonly Said[]; readonly user: readonly Said[] } {
  const of = (type: 'agentReplied' | 'userReplied') =>
    events.flatMap((event, n): Said[] =>
      event.type === type && event.content && (event.toolCalls ?? []).length === 0 ? [{ n, text: event.content }] : [],
    );
  return { agent: of('agentReplied'), user: of('userReplied') };
}

/** Whether the user had told a value before an event out of what they know, and not from what they looked up. */
function isTold(
  value: string,
  before: number,
  said: readonly Said[],
  calls: readonly MadeCall[],
  original: Task | undefined,
): boolean {
  const facts = Object.values({ ...original?.user.known, ...original?.user.change?.known }).map((fact) => factOf(fact));
  if (facts.some((fact) => String(fact.value) === value)) return true;
  const isLookedUp = calls.some(
    (call) => call.by === 'user' && !call.isError && call.n < before && brings(call, value),
  );
  return !isLookedUp && said.some(({ n, text }) => n < before && namesValue(text, value));
}

function isChange({ domain, parts }: LoadedDomain, tool: string): boolean {
  const described = domain.tools.find(({ name }) => name === tool);
  if (described) return isWrite(described) || described.handsOff === true;
  const scanned = parts.scan.declared.get(tool);
  return scanned?.effect === 'write' || scanned?.handsOff === true;
}

const contains = (text: string, part: string) =>
  text.toLowerCase().includes(part.toLowerCase()) || namesValue(text, part);

/** Values of results that the agent told the user, who had not said them: what it had to find out. */
function toldValues(calls: readonly MadeCall[], said: ReturnType<typeof saidIn>): readonly string[] {
  const values = calls.flatMap(({ content, isError }) => (isError ? [] : leavesOf(fieldsOf(content))));
  const own = values.filter(
    (value) =>
      value.length > 2 &&
      value.length <= 40 &&
      said.agent.some(({ text }) => namesValue(text, value)) &&
      !said.user.some(({ text }) => namesValue(text, value)),
  );
  return [...new Set(own)].slice(0, mostTold);
}

/** Returns an unused task id. A number at its end distinguishes ids that would be equal. */
export function freeId({ parts }: LoadedDomain, wanted: string, more: readonly string[] = []): string {
  const taken = new Set([...parts.tasks.map(({ value }) => value.id), ...more].map((id) => id.toLowerCase()));
  const base = wanted.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 120);
  if (!taken.has(base.toLowerCase())) return base;
  let number = 2;
  while (taken.has(`${base}-${number}`.toLowerCase())) number += 1;
  return `${base}-${number}`;
}

function personaFor({ domain, folder }: LoadedDomain, original: Task | undefined, path: string): string {
  // A persona that changes or insists needs words of the task for it.
  const plain = domain.personas.find(({ behaviours: { changes, insists } }) => !changes && !insists);
  const persona = original?.persona ?? (plain ?? domain.personas[0])?.id;
  if (persona !== undefined) return persona;
  throw refused(path, `the domain in ${folder} has no persona that could play its user. Add one in personas/ first`);
}

/** The user of the recorded task, who also knows what was disclosed; else one with the words that were said. */
function userOf(
  original: Task | undefined,
  kept: readonly MadeCall[],
  calls: readonly MadeCall[],
  said: readonly Said[],
  isTyped: boolean,
  { domain }: LoadedDomain,
): object {
  const facts: Record<string, Fact> = { ...(isTyped ? usedFacts(original, kept, said) : original?.user.known) };
  const isKnown = (value: string) =>
    Object.values({ ...facts, ...original?.user.change?.known }).some((fact) => String(factOf(fact).value) === value);
  for (const { by, arguments: args, n } of kept) {
    if (by === 'user') continue;
    for (const [name, value] of Object.entries(factsIn(args))) {
      if (isKnown(String(value)) || !isTold(String(value), n, said, calls, original)) continue;
      facts[Object.hasOwn(facts, name) ? `${name}_2` : name] = value;
    }
  }
  const isOther = original === undefined || isTyped;
  const {
    goal,
    opening,
    known: _,
    unknown = [],
    ...rest
  } = isOther ? inWords(said, recogniserFor(domain)) : original.user;
  return {
    goal,
    ...(opening === undefined ? {} : { opening }),
    ...(Object.keys(facts).length > 0 ? { known: facts } : {}),
    ...(unknown.length > 0 ? { unknown } : {}),
    ...rest,
  };
}

/** Of what the recorded task's user knew: what the person who typed in their place said, or what a call has. */
function usedFacts(
  original: Task | undefined,
  kept: readonly MadeCall[],
  said: readonly Said[],
): Readonly<Record<string, Fact>> {
  const values = kept.flatMap(({ arguments: args }) => leavesOf(args));
  const isUsed = (fact: Fact) => {
    const value = String(factOf(fact).value);
    return values.includes(value) || said.some(({ text }) => namesValue(text, value));
  };
  return Object.fromEntries(Object.entries(original?.user.known ?? {}).filter(([, fact]) => isUsed(fact)));
}

/** A user with the recorded request, without answers that only agree or take leave; a person says it better. */
function inWords(said: readonly Said[], { user }: Recogniser): Partial<Task['user']> {
  const [opening, ...later] = said;
  const requests = later.filter(({ text }) => {
    const { closes, confirms, thanks } = user(text);
    return !closes && !thanks && (!confirms || saysMore(demandsIn(text)));
  });
  const words = [...(opening ? [opening] : []), ...requests]
    .slice(0, 3)
    .map(({ text }) => `"${text.replace(/\s+/g, ' ').trim()}"`);
  return {
    goal: `You want what you said: ${words.join(', then ') || 'nothing'}`,
    ...(opening ? { opening: opening.text } : {}),
  };
}

/**
 * Returns how the world differs from the databases at the start: as in the recorded task, and as a person edited it.
 */
function startState(original: Task | undefined, events: readonly RolloutEvent[]): object {
  const edits = events.flatMap((event) =>
    event.type !== 'worldEdited'
      ? []
      : event.writes.flatMap(({ side, patches }) =>
          patches.map(({ path, op, value }) => ({
            ...(side === 'user' ? { side } : {}),
            path,
            value: op === 'remove' ? null : (value as Json),
          })),
        ),
  );
  const state = [
    ...(original?.state ?? []).map(({ side, ...entry }) => ({ ...(side === 'user' ? { side } : {}), ...entry })),
    ...edits,
  ];
  return {
    ...(state.length > 0 ? { state } : {}),
    ...(original?.setUp === undefined ? {} : { setUp: original.setUp }),
    ...(original?.faults === undefined ? {} : { faults: original.faults }),
    ...(original?.tools === undefined ? {} : { tools: original.tools }),
    ...(original?.laterTools === undefined ? {} : { laterTools: original.laterTools }),
  };
}

function actionOf({ tool, by, arguments: args, ...forms }: MadeCall): object {
  return {
    tool,
    ...(by === 'user' ? { by } : {}),
    ...givenArguments(args),
    ...numberFormsOf(forms),
  };
}

/** Returns what counts as done: the database, the state of a server that is not shared, or receipts of another server. */
export function demandsOf(
  { domain }: Pick<LoadedDomain, 'domain'>,
  writes: readonly Pick<MadeCall, 'tool' | 'arguments'>[],
  communicate: readonly string[],
): object {
  const sourceOf = ({ tool }: Pick<MadeCall, 'tool'>) => {
    const found = domain.tools.find(({ name }) => name === tool);
    return found === undefined ? null : externalSource(found);
  };
  const external = writes.flatMap((call) => {
    const source = sourceOf(call);
    return source === null ? [] : [{ call, source }];
  });
  const said = communicate.length > 0 ? { communicate } : {};
  if (external.length === 0) return writes.length > 0 ? said : { ...said, train: ['database', 'communicate'] };
  const canCompare = (source: string) => {
    const { reader, sharedState } = domain.file.mcpServers[source] ?? {};
    return reader !== undefined && !sharedState;
  };
  const compared = [...new Set(external.map(({ source }) => source))].filter(canCompare);
  const assertions = compared.map((source) => ({ in: source, sameAs: 'gold' }));
  const receipts = external
    .filter(({ source }) => !canCompare(source))
    .map(({ call: { tool, arguments: args } }): JsonObject => {
      const fixed = Object.entries(args).filter(([, value]) => !quotes({ arguments: { value } }));
      return { tool, ...givenArguments(Object.fromEntries(fixed)) };
    });
  const own = { ...(assertions.length > 0 && { assertions }), ...(receipts.length > 0 && { receipts }) };
  const train = [...(external.length < writes.length ? ['database'] : []), ...Object.keys(own)];
  return { ...said, ...own, evaluate: [...train, ...Object.keys(said)], train };
}

function notesOn(
  loaded: LoadedDomain,
  { problems }: ReadRecording,
  started: RolloutStarted,
  original: Task | undefined,
  events: readonly RolloutEvent[],
): readonly string[] {
  const [problem] = problems;
  // A person in the user's seat may have wanted something else than the task, which the reward is about.
  const rewarded = started.seats.user === 'human' ? undefined : events.findLast((event) => event.type === 'rewarded');
  const edited = events.findIndex(({ type }) => type === 'worldEdited');
  const written = events.findIndex(({ type }) => type === 'databaseWritten');
  return [
    ...(problem ? [`Review: the recording is incomplete (line ${problem.line} ${problem.message}).`] : []),
    ...(original
      ? []
      : [`Review: the domain has no task ${started.task.id}, so goal, persona and facts come from the user's words.`]),
    ...(original && taskHash(original) !== started.task.hash
      ? [`Review: the task ${original.id} was changed since; its user follows the current version.`]
      : []),
    ...(started.database === baseHashOf(loaded)
      ? []
      : ['Review: the database was changed since, so the start state may differ.']),
    ...(edited >= 0 && written >= 0 && written < edited
      ? ['Review: a person edited the world midway; here the edit applies at the start.']
      : []),
    ...(rewarded?.type === 'rewarded' && rewarded.reward !== null && rewarded.reward < 1
      ? [
          `Review: this rollout had reward ${rewarded.reward} (${rewarded.reason.replace(/\s+/g, ' ')}), so its calls may not be right.`,
        ]
      : []),
  ];
}
