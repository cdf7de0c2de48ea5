import type { Lexicon } from '../../core/dialogue/lexicon.ts';
import { resultFields } from '../../core/domain/simulatedTool.ts';
import type { Task } from '../../core/domain/task.ts';
import type { Tool } from '../../core/domain/tool.ts';
import type { Type } from '../../core/expression/type.ts';
import { binds } from '../../core/rules/seen.ts';
import { type Diagnostic, errorsOf, type Location } from '../files/diagnostic.ts';
import { isInDraft } from '../load/drafts.ts';
import { type DomainTypes, domainTypes } from '../load/expressionTypes.ts';
import type { Parts } from '../load/loadedDomain.ts';
import { keysOfTool } from '../source/codeWords.ts';
import { respelt, within } from '../source/edit.ts';
import { type Placed, placeOf } from '../source/items.ts';
import { didYouMean, nearest } from '../source/nearest.ts';
import { argumentsOf, type Bases, checkToolName, type KnownTools, type Note, notebook } from '../source/note.ts';
import type { Scan } from '../source/scan.ts';
import { checkAmbient } from './checkAmbient.ts';
import { checkCompared } from './checkCompared.ts';
import { checkCoverage } from './checkCoverage.ts';
import { checkDatabase, checkTables } from './checkDatabase.ts';
import { checkGold } from './checkGold.ts';
import { checkPersonas } from './checkPersonas.ts';
import { checkRowIds } from './checkRowIds.ts';
import { checkRule, checkRules } from './checkRules.ts';
import { checkSeats } from './checkSeats.ts';
import { checkSides } from './checkSides.ts';
import { checkSources } from './checkSources.ts';
import { nowProblem } from './checkState.ts';
import { checkReferences, checkTasks } from './checkTasks.ts';
import { checkTools } from './checkTools.ts';
import { checkPersonaEnding } from './checkUser.ts';

/** Work in steps, which leaves others time between them: checking thousands of tasks takes seconds. */
export type Steps<Result> = Generator<void, Result>;

/** Takes all steps at once. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Findings that need more than one file of the domain. */
export function* crossCheck(
  parts: Parts,
  bases: Bases,
  known: KnownTools,
  folder: string,
): Steps<readonly Diagnostic[]> {
  const { found, note } = notebook();
  if (!parts.namesFiles) return found;
  const types = domainTypes(parts, bases, known);
  yield;
  checkDomainFile(parts, types, known, outside(parts.lost, note));
  checkRules(parts, types, known, note);
  checkPersonas(parts, note);
  checkSeats(parts, folder, note);
  yield* checkTasks(parts, bases, types, known, note);
  checkTools(parts, bases, known, note);
  checkSources(parts, folder, known, note);
  checkDatabase(parts, bases, note);
  if (!types.isOpen) checkTables(parts, bases, note);
  checkCompared(parts, bases, known, note);
  checkSides(parts, known, note);
  yield* checkBroken(parts, bases, types, known, note);
  return found;
}

/** Returns what is wrong with the keys that fit their schema of tasks and rules with others that do not. */
function* checkBroken(
  parts: Parts,
  bases: Bases,
  types: DomainTypes,
  known: KnownTools,
  note: Note,
): Generator<void, void> {
  for (const { placed, lost } of parts.broken.tasks) {
    yield;
    checkReferences(placed, parts, bases, types, known, errorsOutside(lost, placed.value.draft === true, note));
  }
  for (const { placed, lost, keys } of parts.broken.rules)
    checkRule(placed, parts, types, known, errorsOutside(lost, false, note), keys);
}

/** A note that leaves out what is at the place of a key that could not be read. */
function outside(lost: readonly Location[], note: Note): Note {
  return (at, ...finding) => {
    if (!lost.some((each) => isInside(at, each))) note(at, ...finding);
  };
}

/** The same for errors alone: warnings may follow from what could not be read. */
function errorsOutside(lost: readonly Location[], isDraft: boolean, note: Note): Note {
  const noteOutside = outside(lost, note);
  return (at, severity, ...finding) => {
    if (severity === 'error') noteOutside(at, isDraft ? 'warning' : severity, ...finding);
  };
}

function isInside(at: Location, whole: Location): boolean {
  const isBefore = at.line < whole.line || (at.line === whole.line && at.column < whole.column);
  const isAfter = at.line > whole.endLine || (at.line === whole.endLine && at.column > whole.endColumn);
  return at.file === whole.file && !isBefore && !isAfter;
}

/**
 * Returns what makes an environment deceive although it runs: gold actions against the policy, code that reads a clock,
 * rules that no task tries.
 * @param before what was found already: a wrong name would be found a second time, as what it makes wrong
 */
export function* checkSoundness(
  parts: Parts,
  bases: Bases,
  known: KnownTools,
  before: readonly Diagnostic[],
): Steps<readonly Diagnostic[]> {
  const { found, note } = notebook();
  for (const placed of parts.personas) checkPersonaEnding(placed, note);
  checkAmbient(parts, note);
  const errors = errorsOf(before);
  for (const placed of tasksWithoutErrors(parts, errors)) {
    checkGold(placed, parts, bases, known, note);
    checkRowIds(placed, bases, known, note);
    yield;
  }
  if (errors.every((error) => isInDraft(error, parts))) checkCoverage(parts, known, note);
  return found;
}

/** The tasks that no error concerns. One in the rules or in the domain's file concerns every task. */
function tasksWithoutErrors({ tasks }: Parts, errors: readonly Diagnostic[]): readonly Placed<Task>[] {
  const byFile = Map.groupBy(errors, ({ file }) => file);
  const files = new Set(tasks.map(({ file }) => file));
  if (![...byFile.keys()].every((file) => files.has(file))) return [];
  return tasks.filter((placed) => {
    const own = byFile.get(placed.file) ?? [];
    if (own.length === 0) return true;
    const { line: from, endLine: to } = placeOf(placed);
    return own.every(({ line }) => line < from || line > to);
  });
}

function checkDomainFile(parts: Parts, types: DomainTypes, known: KnownTools, note: Note): void {
  const { file } = parts;
  checkLexiconFacts(parts, known, note);
  const problem = nowProblem(file.value.now);
  if (problem) note(placeOf(file, 'now'), 'error', 'domain/wrong-date', problem.message, problem.hint);
  for (const [name, words] of Object.entries(file.value.lexicon.tools)) {
    if (!checkToolName(name, file.places.key(['lexicon', 'tools', name]), 'domain', known, note)) continue;
    const tool = known.tools.get(name);
    if (!tool) continue;
    if (words.done.length > 0 && words.propose.length === 0 && isConfirmed(tool, parts, known))
      note(
        file.places.key(['lexicon', 'tools', name]),
        'info',
        'domain/no-proposal',
        `${name} has no sentence under propose:, and a rule requires that it is confirmed: the gold seat proposes it with the names of its arguments, as in "I will ${name.replaceAll('_', ' ')} with …".`,
        `Write propose: with a sentence that asks for a yes, such as ["Shall I …?"].`,
      );
    for (const key of ['propose', 'done', 'instruct', 'tell'] as const) {
      const slots = slotsOf(tool, key, types, known, parts.scan);
      if (!slots) continue;
      for (const [index, text] of words[key].entries()) {
        const whole = placeOf(file, 'lexicon', 'tools', name, key, index);
        checkSlots(whole, text, name, slots, note);
      }
    }
  }
}

/** Whether a tool writes and needs a yes before. */
function isConfirmed({ name, effect }: Tool, { rules }: Parts, known: KnownTools): boolean {
  const tools = [...known.tools.values()];
  return (
    effect === 'write' && rules.some(({ value }) => value.check === 'confirmed' && binds(value.tools, name, tools))
  );
}

/** A fact that no task and no tool has, but almost. One that is like none is for tasks to come. */
function checkLexiconFacts({ file, tasks }: Parts, known: KnownTools, note: Note): void {
  const names = new Set([
    ...tasks.flatMap(({ value: { user } }) => [
      ...Object.keys(user.known),
      ...user.unknown,
      ...Object.keys(user.change?.known ?? {}),
    ]),
    ...[...known.tools.values()].flatMap(argumentsOf),
  ]);
  for (const name of Object.keys(file.value.lexicon.facts)) {
    const meant = names.has(name) ? undefined : nearest(name, names);
    if (meant === undefined) continue;
    const at = file.places.key(['lexicon', 'facts', name]);
    const message = `No task has a fact ${name}, nor does any tool have an argument of that name.`;
    note(at, 'warning', 'domain/unknown-field', message, `Did you mean "${meant}"?`, respelt(at, name, names));
  }
}

type Slots = {
  readonly what: string;
  readonly names: readonly string[];
  /** The type that `{result.FIELD}` reads, if there is a result. */
  readonly result?: Type;
  /** The type that `{argument.FIELD}` reads: any object that a tool returned. */
  readonly beside?: Type;
  /** Names that the code of the tool uses. A misspelt field most likely means one of them. */
  readonly own?: ReadonlySet<string>;
  /** Names of tables. A misspelt field never means one of them. */
  readonly tables?: ReadonlySet<string>;
};

/** Returns what `{}` can mean in a sentence about a call. Null where no one knows, as what code returns in `tell`. */
function slotsOf(
  tool: Tool,
  key: keyof Lexicon['tools'][string],
  types: DomainTypes,
  known: KnownTools,
  scan: Scan,
): Slots | null {
  const named = argumentsOf(tool);
  if (key !== 'tell') {
    const beside = types.resultPart(...[...known.names].map((name) => known.tools.get(name)));
    const tables = new Set([types.agent, types.user].flatMap(({ object }) => [...(object?.fields.keys() ?? [])]));
    const result = key === 'done' ? { result: types.resultOf(tool) } : {};
    return { what: 'argument', names: named, beside, own: keysOfTool(scan, tool.name), tables, ...result };
  }
  const fields = resultFields(tool);
  return fields && { what: 'argument or result', names: [...new Set([...named, ...Object.keys(fields), 'result'])] };
}

function checkSlots(whole: Location, text: string, tool: string, slots: Slots, note: Note): void {
  const { what, names, result, beside } = slots;
  // Of `{loan_id.title}`, the part before the dot is the argument.
  for (const { 1: slot = '', 2: path = '', index: offset } of text.matchAll(/\{([A-Za-z_]\w*)(\.[\w.]+)?\}/g)) {
    const isResult = result !== undefined && path !== '' && slot === 'result';
    if (isResult || names.includes(slot)) {
      checkFields(
        whole,
        text,
        offset + 1 + slot.length,
        path,
        isResult ? slots : { ...slots, result: beside, own: new Set() },
        note,
      );
      continue;
    }
    const message = `{${slot}} is not an ${what} of ${tool}.`;
    const at = within(whole, text, offset + 1, slot.length);
    const all = names.length === 0 ? 'It has none.' : `Its ${what}s are ${names.join(', ')}.`;
    const fix = at === whole ? undefined : respelt(at, slot, names);
    note(whole, 'error', 'domain/unknown-argument', message, didYouMean(slot, names, all), fix);
  }
}

type FieldsOf = { readonly result?: Type | undefined } & Pick<Slots, 'own' | 'tables'>;

/** Fields that a hint lists at most. */
const mostNamed = 8;

/** Notes the first field of a path, such as `.loan.due`, that nothing in the domain's files writes. */
function checkFields(
  whole: Location,
  text: string,
  offset: number,
  path: string,
  { result, own = new Set(), tables = new Set() }: FieldsOf,
  note: Note,
): void {
  let of = result;
  let from = offset;
  for (const field of path.split('.').slice(1)) {
    if (of === undefined || of.any || !of.object) return;
    const { object } = of;
    const next = object.fields.get(field) ?? object.rows?.row ?? object.other?.(field) ?? undefined;
    if (next === undefined) {
      const all = [...object.fields.keys(), ...(object.others?.() ?? [])].filter((name) => !tables.has(name));
      const near = all.filter((name) => own.has(name));
      const names = nearest(field, near) === undefined ? all : near;
      const at = within(whole, text, from + 1, field.length);
      const message = `No tool returns a field ${field}, according to the data and the code of the tools, so this sentence is never used.`;
      const fix = at === whole ? undefined : respelt(at, field, names);
      note(
        whole,
        'warning',
        'domain/unknown-field',
        message,
        didYouMean(
          field,
          names,
          all.length === 0 || all.length > mostNamed ? 'Correct it, or remove it.' : `Known are ${all.join(', ')}.`,
        ),
        fix,
      );
      return;
    }
    of = next;
    from += 1 + field.length;
  }
}
