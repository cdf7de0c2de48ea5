import { namesValue } from '../../core/dialogue/dialogue.ts';
import { factOf, knownFactsOf, type Task } from '../../core/domain/task.ts';
import { isPerson } from '../../core/rules/rowNames.ts';
import { keysIn, leavesOf } from '../../core/text/value.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import {
  hasIdForm,
  idFormOf,
  isRowOrField,
  referencesIn,
  rowsByValue,
  type Table,
  tableOf,
  tablesIn,
} from '../load/tables.ts';
import { namedLeavesIn, wordsIn, worldOf } from '../load/taskWorld.ts';
import { type Placed, placeOf, textIn } from '../source/items.ts';
import type { Bases, KnownTools, Note } from '../source/note.ts';

type Context = {
  readonly placed: Placed<Task>;
  readonly bases: Bases;
  readonly world: Bases;
  readonly known: KnownTools;
  readonly note: Note;
  /** Every argument of a gold action, as a text. */
  readonly used: ReadonlySet<string>;
  readonly facts: readonly KnownFact[];
};

/** A fact that the user goes by: the new value where the user changes it. */
type KnownFact = { readonly name: string; readonly value: string; readonly path: readonly PropertyKey[] };

/**
 * Checks the ids of rows that a task names outside of its gold actions, and whose rows the gold actions are about: an id
 * that no row has, one that the rest of the task does not have, and a row of somebody else.
 */
export function checkRowIds(placed: Placed<Task>, bases: Bases, known: KnownTools, note: Note): void {
  const task = placed.value;
  const used = new Set(task.actions.flatMap(({ arguments: args }) => leavesOf(args)));
  const context: Context = { placed, bases, world: worldOf(bases, task), known, note, used, facts: finalFacts(task) };
  checkFacts(context);
  checkTexts(context);
  checkOwners(context);
}

function finalFacts(task: Task): readonly KnownFact[] {
  const { before, after } = knownFactsOf(task);
  const changed = new Set(after.map(({ name }) => name));
  return [...before.filter(({ name }) => !changed.has(name)), ...after].map(({ name, fact, path }) => ({
    name,
    value: String(factOf(fact).value),
    path,
  }));
}

/** The texts of a task that say what the user wants, with their paths. */
function saidIn({
  user: { goal, opening, change, insist },
}: Task): readonly (readonly [string, readonly PropertyKey[]])[] {
  const texts: readonly (readonly [string | undefined, readonly PropertyKey[]])[] = [
    [goal, ['user', 'goal']],
    [opening, ['user', 'opening']],
    [change?.say, ['user', 'change', 'say']],
    [insist?.say, ['user', 'insist', 'say']],
  ];
  return texts.flatMap(([text, path]) => (text === undefined ? [] : [[text, path] as const]));
}

/** A fact that is named after a table has the id of a row, and the one that the rest of the task is about. */
function checkFacts(context: Context): void {
  const { placed, bases, world, note, used, facts } = context;
  for (const { name, value, path } of facts) {
    const [base, table] = [tableOf(name, bases), tableOf(name, world)];
    if (!base || !table || used.has(value) || !hasIdForm(base, value)) continue;
    if (!isRowOrField(table, value)) {
      noteMissing(context, value, table, placeOf(placed, ...path));
      continue;
    }
    const others = placed.value.actions.flatMap(({ tool, arguments: args }) =>
      namedLeavesIn(args).flatMap((each) => (each.name === name ? [{ tool, leaf: each.leaf }] : [])),
    );
    const [other] = others;
    if (!other || saidIn(placed.value).some(([text]) => namesValue(text, value))) continue;
    note(
      placeOf(placed, ...path),
      'warning',
      'task/other-fact',
      `The user knows ${name} ${value}, which no gold action and no text of the task names. ${other.tool} gets ${name} ${other.leaf}.`,
      'Correct one of them, or name the other value in the goal.',
    );
  }
}

function noteMissing({ note }: Context, id: string, table: Table, at: Parameters<Note>[0]): void {
  const rows = Object.keys(table.rows);
  const all = `It has ${rows.slice(0, 5).join(', ')}${rows.length > 5 ? ', ...' : ''}.`;
  note(at, 'warning', 'task/missing-row', `There is no ${id} in ${table.name} of the database.`, all);
}

/** A word in the form of the ids of a table names one of its rows. */
function checkTexts(context: Context): void {
  const { placed, bases, used } = context;
  const task = placed.value;
  const created = new Set(task.state.flatMap(({ path, value }) => [...path.map(String), ...keysIn(value)]));
  const state = new Set(task.state.flatMap(({ value }) => leavesOf(value)));
  const isKnown = (id: string) =>
    used.has(id) || created.has(id) || wordsIn(bases.agent).has(id) || wordsIn(bases.user).has(id);
  const demands = demandsOf(task);
  for (const table of tablesIn(bases)) {
    const form = idFormOf(table);
    if (!form?.isDistinct) continue;
    const check = (text: string, path: readonly PropertyKey[], known: (id: string) => boolean) => {
      for (const { 0: id, index } of text.matchAll(form.words))
        if (!known(id)) noteMissing(context, id, table, textIn(placed, text, ...path).part(index, id.length));
    };
    for (const [text, path] of [...saidIn(task), ...demands]) check(text, path, (id) => isKnown(id) || state.has(id));
    for (const [index, { value }] of task.state.entries())
      for (const leaf of leavesOf(value)) check(leaf, ['state', index, 'value'], isKnown);
    checkOtherRow(context, table, form.words);
  }
}

/** The goal and the opening name the row that the user knows, where they name one. */
function checkOtherRow({ placed, world, note, used, facts }: Context, table: Table, words: RegExp): void {
  const own = facts.filter(({ name, value }) => tableOf(name, world)?.name === table.name && hasIdForm(table, value));
  const [fact] = own;
  if (!fact) return;
  const { user } = placed.value;
  const known = new Set(
    [...Object.values(user.known), ...Object.values(user.change?.known ?? {})].map((each) =>
      String(factOf(each).value),
    ),
  );
  const texts = saidIn(placed.value);
  for (const [text, path] of texts) {
    if (path.length > 2) continue;
    const named = [...text.matchAll(words)];
    if (named.some(([id]) => known.has(id))) continue;
    for (const { 0: id, index } of named) {
      const isElsewhere = texts.some(([other]) => other !== text && namesValue(other, id));
      if (used.has(id) || isElsewhere || !Object.hasOwn(table.rows, id)) continue;
      const at = textIn(placed, text, ...path).part(index, id.length);
      const message = `The ${String(path.at(-1))} names ${id} of ${table.name}, but the user knows ${fact.name} ${fact.value}. The gold actions do not name ${id} either.`;
      note(at, 'warning', 'task/other-fact', message, 'Correct one of them.');
    }
  }
}

function demandsOf({
  actions,
  assertions,
  receipts = [],
  communicate,
}: Task): readonly (readonly [string, readonly PropertyKey[]])[] {
  return [
    // An argument that is an id is checked with its call.
    ...actions.flatMap(({ arguments: args }, index) =>
      namedLeavesIn(args).flatMap(({ leaf, path }) =>
        /\s/.test(leaf) ? [[leaf, ['actions', index, 'arguments', ...path]] as const] : [],
      ),
    ),
    ...assertions.flatMap(({ that, path, equals }, index) =>
      (
        [
          ['that', that],
          ['path', path],
          ['equals', equals],
        ] as const
      ).flatMap(([key, value]) => (typeof value === 'string' ? [[value, ['assertions', index, key]] as const] : [])),
    ),
    ...receipts.flatMap(({ when, arguments: args = {} }, index) => [
      ...(when === undefined ? [] : [[when, ['receipts', index, 'when']] as const]),
      ...namedLeavesIn(args).map(({ leaf, path }) => [leaf, ['receipts', index, 'arguments', ...path]] as const),
    ]),
    ...communicate.map((text, index) => [text, ['communicate', index]] as const),
  ];
}

/** The gold actions are about rows of the person or thing that the facts describe, or the task names another one. */
function checkOwners(context: Context): void {
  const { placed, bases, known, note, facts } = context;
  const references = referencesIn(bases);
  for (const to of new Set(references.map((each) => each.to))) {
    const values = rowsByValue(to);
    const rows = new Set(facts.flatMap(({ value }) => values.get(value.toLowerCase()) ?? []));
    const [own] = rows;
    if (rows.size !== 1 || own === undefined) continue;
    const described = facts.filter(({ value }) => values.get(value.toLowerCase()) === own).map(({ name }) => name);
    const owned = ownedIn(context, to, references);
    const isOfPeople = isPerson(to.rows[own] as JsonObject);
    for (const { tool, action, name, value, at, owner, field } of owned) {
      if (owner === own) continue;
      // Who wants a second book may name it in other words. The wrong one is found where nothing is done with the first.
      const isBesideOwn = owned.some((each) => each.owner === own && (each.name === name || each.action === action));
      if (!isOfPeople && isBesideOwn) continue;
      // The user may ask for a row of somebody else; only for a person that the task names is it changed.
      const isRead = known.declared.get(tool)?.effect === 'read';
      if (isNamed(placed.value, facts, to, owner, isRead ? [owner, value] : [owner])) continue;
      note(
        at,
        'warning',
        'task/other-owner',
        `${tool} gets ${name} ${value}${field === null ? '' : `, whose ${field} is ${owner}`}, but ${described.join(' and ')} of the user ${described.length > 1 ? 'are' : 'is'} in the row ${own} of ${to.name}.`,
        `Correct the id, or say in the goal whose it is.`,
      );
    }
  }
}

/** The arguments of gold actions that are ids of rows which refer to a row of a table, or of rows of the table itself. */
function ownedIn({ placed, world, known }: Context, to: Table, references: ReturnType<typeof referencesIn>) {
  return placed.value.actions.flatMap(({ tool, by, arguments: args }, index) => {
    if (by !== 'agent' || !known.declared.has(tool)) return [];
    return namedLeavesIn(args).flatMap(({ name, leaf: value, path }) => {
      const table = tableOf(name, world);
      const row = table?.rows[value];
      if (!table || !isObject(row)) return [];
      const isOwn = table.name === to.name;
      const field = references.find((each) => each.to === to && each.table.name === table.name)?.field;
      const owner = isOwn ? value : field === undefined ? undefined : row[field];
      if (typeof owner !== 'string' || !Object.hasOwn(to.rows, owner)) return [];
      const at = placeOf(placed, 'actions', index, 'arguments', ...path);
      return [{ tool, action: index, name, value, at, owner, field: isOwn ? null : (field ?? null) }];
    });
  });
}

/** Whether the task names one of some ids, or a value that only the row of a person has. */
function isNamed(task: Task, facts: readonly KnownFact[], to: Table, owner: string, ids: readonly string[]): boolean {
  const person = to.rows[owner];
  const values = isObject(person) ? Object.values(person).filter((value) => typeof value === 'string') : [];
  const own = values.filter((value) => rowsByValue(to).get(value.toLowerCase()) === owner);
  const said = [...saidIn(task).map(([text]) => text), ...facts.map(({ value }) => value)];
  return said.some((text) => [...ids, ...own].some((value) => namesValue(text, value)));
}
