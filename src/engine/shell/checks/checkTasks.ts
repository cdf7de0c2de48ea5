import { type DomainFile, readableSources } from '../../core/domain/domain.ts';
import type { Persona } from '../../core/domain/persona.ts';
import { sourceOf } from '../../core/domain/sources/sources.ts';
import { type Assertion, factOf, type Task } from '../../core/domain/task.ts';
import { externalSource, type Tool } from '../../core/domain/tool.ts';
import { quotedIn, quotedNameIn } from '../../core/events/quotedResults.ts';
import { anyType, listOf, type Type, textType } from '../../core/expression/type.ts';
import { kindProblem, valueProblem } from '../../core/expression/typeCheck.ts';
import { leavesOf } from '../../core/text/value.ts';
import { contentHash } from '../../core/values/hash.ts';
import { type Json, type JsonObject, valueAt } from '../../core/values/json.ts';
import { type assertionNames, pathExpression } from '../../core/verifiers/assertions.ts';
import { argumentProblems } from '../load/arguments.ts';
import { accepted, acceptedFirst } from '../load/drafts.ts';
import type { DomainTypes } from '../load/expressionTypes.ts';
import type { Parts } from '../load/loadedDomain.ts';
import { namedLeaves, quotingLeavesIn } from '../load/taskWorld.ts';
import { respelt } from '../source/edit.ts';
import { keyOf, type Placed, placeOf, textIn } from '../source/items.ts';
import { didYouMean, nearest } from '../source/nearest.ts';
import { argumentsOf, type Bases, checkDuplicates, checkToolName, type KnownTools, type Note } from '../source/note.ts';
import { remembered } from '../source/source.ts';
import { checkExpression, checkPath, noteValue } from './checkExpression.ts';
import { checkReward } from './checkReward.ts';
import { checkSpelling, spellingsOf } from './checkSpelling.ts';
import { checkState } from './checkState.ts';
import { checkChange, checkGoal } from './checkUser.ts';
import { checkValues } from './checkValues.ts';

/** Returns what tasks say against the rest of their domain, and against each other. */
export function* checkTasks(
  parts: Parts,
  bases: Bases,
  types: DomainTypes,
  known: KnownTools,
  note: Note,
): Generator<void, void> {
  const inOrder = acceptedFirst(parts.tasks);
  checkDuplicates(inOrder, 'task', note);
  yield* checkContents(inOrder, note);
  const spellings = spellingsOf(parts, bases, types, known);
  for (const placed of parts.tasks) {
    yield;
    checkSpelling(placed, spellings, note);
    checkTodo(placed, note);
    checkReferences(placed, parts, bases, types, known, note);
    checkFacts(placed, note);
    checkScript(placed, parts, note);
    checkValues(placed, bases, types, note);
    checkReward(placed, known, note);
    checkGoal(placed, known, note);
    checkChange(placed, known, note);
  }
}

/** Checks each key that refers to another part of the domain, independently of the other keys of the task. */
export function checkReferences(
  placed: Placed<Task>,
  parts: Parts,
  bases: Bases,
  types: DomainTypes,
  known: KnownTools,
  note: Note,
): void {
  checkPersona(placed, parts, note);
  checkCalls(placed, types, known, note);
  checkState(placed, bases, parts.file.value.userDatabase !== undefined, note);
  checkAssertions(placed, parts, types, note);
  checkReceipts(placed, types, known, note);
  checkVerifiers(placed, parts, note);
}

/** Reports the remaining work that a draft lists. */
function checkTodo(placed: Placed<Task>, note: Note): void {
  const [, todo] = /\bTODO:? ?(.*)$/s.exec(placed.value.description ?? '') ?? [];
  if (todo === undefined || placed.value.draft !== true) return;
  const message = `This draft is not finished: ${todo.replaceAll('TODO: ', '')}`;
  note(
    placeOf(placed, 'description'),
    'warning',
    'task/todo',
    message,
    'Do it, then remove the TODO from the description.',
  );
}

const contents = new WeakMap<Task, string>();

/** Two tasks with the same content under two names measure one thing twice; across splits they leak. */
function* checkContents(tasks: readonly Placed<Task>[], note: Note): Generator<void, void> {
  const first = new Map<string, Placed<Task>>();
  for (const placed of tasks) {
    yield;
    const { split } = placed.value;
    const hash = remembered(contents, placed.value, () => {
      const { id: _, description: __, draft: ___, split: ____, ...content } = placed.value;
      return contentHash(content as unknown as JsonObject);
    });
    const earlier = first.get(hash);
    if (!earlier) {
      first.set(hash, placed);
      continue;
    }
    if (earlier.value.id === placed.value.id && earlier.value.split === split) continue;
    const other = `${earlier.value.id} (${placeOf(earlier).file}:${placeOf(earlier).line})`;
    const at = placeOf(placed, 'id');
    if (earlier.value.split === split)
      note(
        at,
        'warning',
        'task/duplicate-content',
        `This task says the same as ${other}.`,
        'Change one of the two, or delete it.',
      );
    else
      note(
        at,
        'error',
        'task/split-leak',
        `This task of the ${split} split says the same as ${other} of the ${earlier.value.split} split.`,
        'Keep it in one split: training on a test task makes the test worthless.',
      );
  }
}

function checkPersona(placed: Placed<Task>, parts: Parts, note: Note): void {
  const { persona: id, under, user } = placed.value;
  const persona = personaNamed(placed, 'persona', id, parts, 'this task has no persona to play its user', note);
  if (!persona) return;
  if (under !== undefined)
    personaNamed(placed, 'under', under, parts, 'it cannot be applied on top of another persona', note);
  for (const [behaviour, key] of [
    ['changes', 'change'],
    ['insists', 'insist'],
  ] as const) {
    if (persona.behaviours[behaviour] && !user[key]) {
      note(
        placeOf(placed, 'persona'),
        'warning',
        `task/${key}-missing`,
        `The persona ${id} ${behaviour}, but user.${key} is missing, so this has no effect.`,
        `Write user.${key}, or choose another persona.`,
      );
    }
    if (!persona.behaviours[behaviour] && user[key]) {
      note(
        keyOf(placed, 'user', key),
        'warning',
        `task/${key}-unused`,
        `user.${key} is not used: the persona ${id} does not have \`${behaviour}: true\`.`,
        'Choose a persona that does, or remove it.',
      );
    }
  }
}

/**
 * The persona that a task names. Reports a persona that is missing, and one that is a draft.
 * @param loss what a draft means for the task, in a sentence
 */
function personaNamed(
  placed: Placed<Task>,
  key: 'persona' | 'under',
  id: string,
  { personas, texts }: Parts,
  loss: string,
  note: Note,
): Persona | undefined {
  const at = placeOf(placed, key);
  const persona = personas.find(({ value }) => value.id === id)?.value;
  if (persona?.draft === true) {
    const message = `The persona ${id} is a draft, so ${loss}.`;
    note(at, 'error', 'task/draft-persona', message, `Accept the persona ${id} first.`);
  }
  if (persona || isWritten(texts, id)) return persona;
  const ids = [...new Set(accepted(personas).map(({ value }) => value.id))];
  const all = personasInWords(ids);
  const hint = didYouMean(id, ids, all);
  note(at, 'error', 'task/unknown-persona', `There is no persona ${id}.`, hint, respelt(at, id, ids));
  return undefined;
}

function personasInWords(ids: readonly string[]): string {
  if (ids.length === 0) return 'This domain has no personas yet: add one in personas/.';
  return ids.length === 1 ? `The only persona is ${ids[0]}.` : `The personas are ${ids.join(', ')}.`;
}

/** Whether a file of personas has this id, although it can't be read: what is wrong there is reported there. */
function isWritten(texts: Parts['texts'], id: string): boolean {
  const ids = /^[ \t]*(?:-[ \t]+)?id[ \t]*:[ \t]*["']?([\w-]+)/gm;
  return [...texts.values()].some(
    ({ kind, source }) => kind === 'persona' && [...source.text.matchAll(ids)].some(([, written]) => written === id),
  );
}

function checkFacts(placed: Placed<Task>, note: Note): void {
  const { known, unknown, change } = placed.value.user;
  for (const [index, fact] of unknown.entries()) {
    if (!Object.hasOwn(known, fact)) continue;
    note(
      placeOf(placed, 'user', 'unknown', index),
      'error',
      'task/fact-known-and-unknown',
      `${fact} is in both user.known and user.unknown.`,
      'Remove it from one of them.',
    );
  }
  const texts = placed.value.actions.flatMap(({ arguments: given }) => leavesOf(given));
  const padded = new Map(texts.flatMap((text) => (/^0\d+$/.test(text) ? [[Number(text), text] as const] : [])));
  for (const [name, fact] of Object.entries(known)) {
    const { value } = factOf(fact);
    const meant = typeof value === 'number' ? padded.get(value) : undefined;
    if (meant === undefined) continue;
    const path = typeof fact === 'object' ? ['value'] : [];
    note(
      placeOf(placed, 'user', 'known', name, ...path),
      'warning',
      'task/number-for-text',
      `${name} is the number ${value}, and a gold action has the text "${meant}".`,
      'Put the value in quotes, so that it keeps its zeros.',
    );
  }
  for (const fact of Object.keys(change?.known ?? {})) {
    if (Object.hasOwn(known, fact)) continue;
    const names = Object.keys(known);
    note(
      keyOf(placed, 'user', 'change', 'known', fact),
      'error',
      'task/unknown-fact',
      `The change replaces ${fact}, which is not in user.known.`,
      didYouMean(fact, names, `Known are ${names.join(', ') || 'no facts'}.`),
    );
  }
}

function checkCalls(placed: Placed<Task>, types: DomainTypes, known: KnownTools, note: Note): void {
  const earlier = new Set<Tool | undefined>();
  for (const [index, action] of placed.value.actions.entries()) {
    const tool = known.tools.get(action.tool);
    checkCall(placed, ['actions', index], action, known, note);
    checkQuotes(placed, index, tool, earlier, types, note);
    earlier.add(tool);
    const owner = tool?.owner;
    if (owner === undefined || owner === action.by) continue;
    note(
      placeOf(placed, 'actions', index),
      placed.value.origin ? 'warning' : 'error',
      'task/wrong-seat',
      `${action.tool} belongs to the ${owner}, but this action is by the ${action.by}.`,
      `Write \`by: ${owner}\`.`,
    );
  }
  checkScriptedCalls(placed, ['script'], placed.value.script ?? [], known, note);
  checkScriptedCalls(placed, ['user', 'script'], placed.value.user.script ?? [], known, note);
}

/**
 * An argument of a gold action can quote what the actions before it return.
 * @param earlier the tools of those; undefined for one that is not known
 */
function checkQuotes(
  placed: Placed<Task>,
  index: number,
  own: Tool | undefined,
  earlier: ReadonlySet<Tool | undefined>,
  types: DomainTypes,
  note: Note,
): void {
  const given = placed.value.actions[index]?.arguments;
  for (const { leaf, path: within } of namedLeaves(given)) {
    const name = quotedNameIn(leaf);
    if (name === null || name === 'result' || nearest(name, ['result'], 2) === undefined) continue;
    const at = placeOf(placed, 'actions', index, 'arguments', ...within);
    const message = `${leaf} is passed on as this text.`;
    note(at, 'warning', 'task/unknown-name', message, `Did you mean "${leaf.replace(name, 'result')}"?`);
  }
  const quoting = quotingLeavesIn(given);
  if (quoting.length === 0) return;
  const before = [...earlier].filter((tool) => isQuotable(tool, own, placed.value));
  for (const { leaf, path: within } of quoting) {
    const path = ['actions', index, 'arguments', ...within];
    if (before.length === 0) {
      const message =
        index === 0
          ? `${leaf} quotes the result of an earlier gold action, and this is the first one.`
          : `${leaf} quotes a result that ${own?.name} does not have where the gold actions are played for comparison: only tools with the same state are called there.`;
      const hint =
        index === 0
          ? 'Write the value, or an action that returns it.'
          : 'Write the value, or compare what the rollout leaves with that: or path: in the assertions of the task.';
      note(placeOf(placed, ...path), 'error', 'task/unknown-name', message, hint);
      continue;
    }
    const result = types.resultOf(...before);
    if (result.text && Object.keys(result).length === 1) {
      const message = `${leaf} quotes a field, and what the tools before it return is a text.`;
      note(placeOf(placed, ...path), 'error', 'task/unknown-name', message, quotable);
      continue;
    }
    const context = { kind: 'task', names: { result }, types, note } as const;
    checkPath({ ...textIn(placed, leaf, ...path), text: quotedIn(leaf) ?? '' }, -1, context);
  }
}

/** Describes what a gold action can quote. */
export const quotable =
  'Only the fields of a result in JSON can be quoted, not a text or a part of it. Write the value, or let the tool return JSON.';

/** Whether a tool has the result of an earlier gold action also where the gold actions are played for comparison. */
function isQuotable(earlier: Tool | undefined, own: Tool | undefined, { evaluate, train, assertions }: Task): boolean {
  if (!own || !earlier) return true;
  const source = externalSource(own);
  const isPlayed =
    source === null
      ? [...evaluate, ...train].some((basis) => basis === 'database' || basis === 'turns')
      : assertions.some((assertion) => assertion.in === source && assertion.sameAs === 'gold');
  return !isPlayed || (externalSource(earlier) === source && sourceOf(earlier).isRepeatable);
}

/** A script may call what is not right; a call of the other seat's tool is never what it means. */
function checkScriptedCalls(
  placed: Placed<Task>,
  path: readonly string[],
  script: NonNullable<Task['script']>,
  known: KnownTools,
  note: Note,
): void {
  const seat = path.includes('user') ? 'user' : 'agent';
  for (const [index, turn] of script.entries()) {
    if (typeof turn === 'string') continue;
    for (const [nth, call] of turn.entries()) {
      const { arguments: values, ...named } = call;
      if (typeof values !== 'string')
        checkCall(placed, [...path, index, nth], { ...named, arguments: values }, known, note, 'warning');
      const owner = known.tools.get(call.tool)?.owner ?? seat;
      if (owner === seat) continue;
      const message = `${call.tool} belongs to the ${owner}, but this is the script of the ${seat}.`;
      const hint = 'Let its owner call it: for the other seat the tool does not exist.';
      note(placeOf(placed, ...path, index, nth, 'tool'), 'warning', 'task/wrong-seat', message, hint);
    }
  }
}

type Call = {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly integers?: readonly string[] | undefined;
};

function checkCall(
  placed: Placed<Task>,
  path: readonly PropertyKey[],
  call: Pick<Task['actions'][number], 'tool' | 'arguments'>,
  known: KnownTools,
  note: Note,
  severity: 'error' | 'warning' = 'error',
): void {
  // A benchmark's own call stays as it is: it is in the reward.
  const ownWeight = placed.value.origin ? 'warning' : 'error';
  if (!checkToolName(call.tool, placeOf(placed, ...path, 'tool'), 'task', known, note, ownWeight)) return;
  const tool = known.tools.get(call.tool);
  if (!tool) return;
  checkExtraArguments(placed, path, call, tool, note);
  for (const problem of argumentProblems(tool, (call as Call).arguments, (call as Call).integers)) {
    const at = problem.isKey
      ? keyOf(placed, ...path, 'arguments', ...problem.path)
      : placeOf(placed, ...path, 'arguments', ...problem.path);
    const weight = ownWeight === 'warning' ? ownWeight : severity;
    const written = problem.isKey ? problem.path.at(-1) : valueAt((call as Call).arguments, problem.path);
    // The tool gets what the result holds.
    if (path[0] === 'actions' && quotedIn(written) !== null) continue;
    const fix = typeof written === 'string' ? respelt(at, written, problem.candidates ?? []) : undefined;
    note(at, weight, 'task/bad-arguments', `${call.tool}: ${problem.message}`, problem.hint, fix);
  }
}

const unknownArgument = (tool: Tool, name: string) => `${tool.name} has no argument ${name}.`;

/** An argument that a schema allows, without naming it, is a misspelling where it is almost one that is named. */
function checkExtraArguments(
  placed: Placed<Task>,
  path: readonly PropertyKey[],
  call: Pick<Task['actions'][number], 'arguments'>,
  tool: Tool,
  note: Note,
): void {
  if (tool.parameters.additionalProperties === false) return;
  const names = argumentsOf(tool);
  for (const name of Object.keys(call.arguments)) {
    const meant = names.includes(name) ? undefined : nearest(name, names);
    if (meant === undefined) continue;
    const at = keyOf(placed, ...path, 'arguments', name);
    note(
      at,
      'warning',
      'task/bad-arguments',
      unknownArgument(tool, name),
      `Did you mean "${meant}"?`,
      respelt(at, name, names),
    );
  }
}

function checkScript(placed: Placed<Task>, { file }: Parts, note: Note): void {
  const { agent = file.value.agent, script } = placed.value;
  if (agent !== 'scripted' || script) return;
  const isOwn = placed.value.agent === 'scripted';
  const at = isOwn ? placeOf(placed, 'agent') : placeOf(placed, 'id');
  const whose = isOwn ? 'The agent of this task' : 'The agent of the domain';
  note(
    at,
    'error',
    'task/script-missing',
    `${whose} is scripted, but the task has no script.`,
    'Write script: with the turns of the agent, or choose another agent.',
  );
}

function checkAssertions(placed: Placed<Task>, { file }: Parts, types: DomainTypes, note: Note): void {
  const environments = Object.keys(file.value.environments);
  const readers = readableSources(file.value);
  for (const [index, assertion] of placed.value.assertions.entries()) {
    checkDemand(placed, index, file.value, types, note);
    const isDatabase = assertion.in === 'agent' || assertion.in === 'user';
    if (assertion.sameAs !== undefined && isDatabase) {
      const what = `sameAs compares the state of a tool source, and ${assertion.in} is a side of the database.`;
      const advice = 'Name a source with in:, or compare the database by the verifier `database`.';
      note(placeOf(placed, 'assertions', index), 'error', 'task/unknown-source', what, advice);
    }
    if (isDatabase || readers.includes(assertion.in)) continue;
    // What an assertion of an environment says: its name is behind a colon.
    if (environments.includes(assertion.in.split(':')[0] ?? '')) continue;
    const isServer = Object.hasOwn(file.value.mcpServers, assertion.in);
    const message = isServer
      ? `The server ${assertion.in} has no state reader.`
      : `There is no state of ${assertion.in}.`;
    const hint = isServer
      ? `Add reader: to mcpServers.${assertion.in} in domain.yaml.`
      : `Write ${['agent', 'user', ...readers].join(', ')}.`;
    const at = placeOf(placed, 'assertions', index, 'in');
    const candidates = isServer ? [] : ['agent', 'user', ...readers];
    const fix = respelt(at, assertion.in, candidates);
    note(at, 'error', 'task/unknown-source', message, didYouMean(assertion.in, candidates, hint), fix);
  }
}

/** An assertion is a path with what is expected there, or an expression. */
function checkDemand(placed: Placed<Task>, index: number, domain: DomainFile, types: DomainTypes, note: Note): void {
  const assertion = placed.value.assertions[index];
  if (!assertion) return;
  const { path, call, that, equals, contains, exists, sameAs } = assertion;
  const at = placeOf(placed, 'assertions', index);
  const expectations = [equals, contains, exists, sameAs].filter((each) => each !== undefined);
  if (that !== undefined) {
    const names = namesOf(assertion, domain, types);
    checkExpression(textIn(placed, that, 'assertions', index, 'that'), { kind: 'task', names, types, note });
    if (path === undefined && expectations.length === 0) return;
    const message = 'This assertion has an expression and a path.';
    note(at, 'error', 'task/assertion-twice', message, 'Write two assertions.');
  } else if (sameAs !== undefined && (call !== undefined || expectations.length > 1)) {
    const message = 'This assertion has sameAs and another requirement.';
    note(at, 'error', 'task/assertion-twice', message, 'Write two assertions.');
  } else if ((path === undefined && call === undefined && sameAs === undefined) || expectations.length === 0) {
    const hint =
      path === undefined && call === undefined
        ? 'Add that:, or path: and equals:.'
        : 'Add equals:, contains: or exists:.';
    note(at, 'error', 'task/assertion-empty', 'This assertion requires nothing.', hint);
  } else if (path !== undefined) checkAssertedPath(placed, index, path, namesOf(assertion, domain, types), types, note);
}

function namesOf(
  { in: source, call }: Assertion,
  domain: DomainFile,
  types: DomainTypes,
): Readonly<Record<string, Type>> {
  const { agent, user, calls } = types;
  const own = call ? anyType : source === 'agent' ? agent : source === 'user' ? user : typeOfSource(source, domain);
  return { state: own, db: agent, user, calls, now: textType, timeZone: textType } satisfies Record<
    (typeof assertionNames)[number],
    Type
  >;
}

/** A reader may declare that its state is a list. */
function typeOfSource(source: string, { mcpServers }: DomainFile): Type {
  const { lines, rows } = (Object.hasOwn(mcpServers, source) ? mcpServers[source]?.reader : undefined) ?? {};
  return rows === true || lines !== undefined ? listOf(anyType) : anyType;
}

/** A path is read from the state, and what is expected there is a value that can be there. */
function checkAssertedPath(
  placed: Placed<Task>,
  index: number,
  path: string,
  names: Readonly<Record<string, Type>>,
  types: DomainTypes,
  note: Note,
): void {
  const assertion = placed.value.assertions[index];
  const text = pathExpression('state', path);
  const written = textIn(placed, path, 'assertions', index, 'path');
  const context = { kind: 'task', names, types, note } as const;
  const type = checkPath({ ...written, text }, text.startsWith('state[') ? 5 : 6, context);
  const expected = (assertion?.equals ?? null) as Json;
  const at = placeOf(placed, 'assertions', index, 'equals');
  const problem = type && kindProblem(type, expected);
  if (problem) {
    const hint = 'Write a number as 1, a text as "1".';
    note(at, 'warning', 'task/type-mismatch', `Here ${problem}.`, hint);
    return;
  }
  const texts = type && valueProblem(type, expected);
  if (texts) noteValue(String(expected), texts, at, context);
}

function checkReceipts(placed: Placed<Task>, types: DomainTypes, known: KnownTools, note: Note): void {
  for (const [index, receipt] of (placed.value.receipts ?? []).entries()) {
    const isKnown = checkToolName(receipt.tool, placeOf(placed, 'receipts', index, 'tool'), 'task', known, note);
    const tool = isKnown ? known.tools.get(receipt.tool) : undefined;
    if (receipt.when !== undefined) {
      const own = tool ? [tool] : [];
      const names = { args: types.argumentsOf(own), result: types.resultOf(tool), timeZone: textType };
      checkExpression(textIn(placed, receipt.when, 'receipts', index, 'when'), { kind: 'task', names, types, note });
    }
    if (!tool) continue;
    const names = argumentsOf(tool);
    for (const name of Object.keys(receipt.arguments ?? {})) {
      if (names.includes(name)) continue;
      const hint = didYouMean(name, names, `Its arguments are ${names.join(', ')}.`);
      const at = keyOf(placed, 'receipts', index, 'arguments', name);
      note(at, 'error', 'task/bad-arguments', unknownArgument(tool, name), hint, respelt(at, name, names));
    }
  }
}

function checkVerifiers(placed: Placed<Task>, { verifiers }: Parts, note: Note): void {
  for (const [index, name] of (placed.value.verifiers ?? []).entries()) {
    if (verifiers.includes(name)) continue;
    const all = verifiers.length === 0 ? 'There is no verifiers.ts with any.' : `It has ${verifiers.join(', ')}.`;
    const at = placeOf(placed, 'verifiers', index);
    note(
      at,
      'error',
      'task/unknown-verifier',
      `verifiers.ts exports no verifier ${name}.`,
      didYouMean(name, verifiers, all),
      respelt(at, name, verifiers),
    );
  }
}
