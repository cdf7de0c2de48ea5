import { parseExpression } from '../../core/expression/expression.ts';
import type { ObjectType, Texts, Type } from '../../core/expression/type.ts';
import { isOfOtherForm, type Readable, type TypeProblem, typeProblems } from '../../core/expression/typeCheck.ts';
import { capitalized } from '../../core/text/capitalized.ts';
import { impossible } from '../../core/values/impossible.ts';
import type { Location } from '../files/diagnostic.ts';
import type { DomainTypes } from '../load/expressionTypes.ts';
import { fixOf, respelt } from '../source/edit.ts';
import type { PlacedText } from '../source/items.ts';
import { closeEnough, didYouMean, nearest } from '../source/nearest.ts';
import type { Note } from '../source/note.ts';

export type ExpressionContext = {
  readonly kind: 'rule' | 'task';
  /** The names that the expression can start with, and the type of each. */
  readonly names: Readonly<Record<string, Type>>;
  readonly types: DomainTypes;
  readonly note: Note;
};

/** Notes what is wrong with an expression, at its place in the file. Gives the type of its value. */
export function checkExpression(placed: PlacedText, context: ExpressionContext): Type | null {
  return checkPath(placed, 0, context);
}

/**
 * Notes what is wrong with a text that is an expression behind a prefix, such as a path into a state.
 * @param prefix how many characters of the text are not in the file
 */
export function checkPath(placed: PlacedText, prefix: number, context: ExpressionContext): Type | null {
  const { kind, names, types, note } = context;
  const parsed = parseExpression(placed.text);
  if ('problem' in parsed) {
    const message = `This is not an expression: ${parsed.problem}.`;
    const hint = 'The page rule-language of the documentation describes expressions.';
    const { sign = ' ', meant } = parsed.misspelt ?? {};
    const at = placed.part(parsed.at - prefix, sign.length);
    const isExact = at.line === at.endLine && at.endColumn - at.column === sign.length;
    const edit = isExact && meant !== undefined ? { ...at, text: meant } : null;
    note(at, 'error', `${kind}/bad-expression`, message, hint, fixOf(`Change ${sign} to ${meant}`, edit));
    return null;
  }
  const readable: Readable = {
    names: (name) => (Object.hasOwn(names, name) ? names[name] : undefined),
    written: types.written,
    tableOf: types.tableOf,
  };
  const { type, problems } = typeProblems(parsed.expression, readable);
  for (const problem of problems) noteProblem(problem, placed.part(problem.at - prefix, problem.word.length), context);
  return type;
}

function noteProblem(problem: TypeProblem, at: Location, context: ExpressionContext): void {
  const { kind, names, note } = context;
  const { word } = problem;
  switch (problem.kind) {
    case 'name': {
      const all = Object.keys(names);
      const hint = didYouMean(word, all, `Here an expression can start with ${all.join(', ')}.`);
      note(at, 'error', `${kind}/unknown-name`, `${word} is not known here.`, hint, fixFor(at, word, all));
      return;
    }
    case 'field':
      noteField(word, problem.of, at, context);
      return;
    case 'member':
      note(
        at,
        'warning',
        `${kind}/type-mismatch`,
        `${word} is read from ${problem.of}, which has no fields, so it is always null.`,
        problem.of === 'a list' ? 'Take an element with [0], find or any, or count the list with count.' : 'Remove it.',
      );
      return;
    case 'row':
      noteRow(word, problem.of, at, context);
      return;
    case 'key': {
      const { of, table } = problem;
      const message = `The ids here are those of ${table}, and ${of.what} has other ids, so no row is found.`;
      note(at, 'warning', `${kind}/unknown-row`, message, `Read db.${table}, or name a row of ${of.what}.`);
      return;
    }
    case 'value':
      noteValue(word, problem.texts, at, context);
      return;
    case 'type':
      note(
        at,
        'warning',
        `${kind}/type-mismatch`,
        `Here ${problem.message}.`,
        'Compare and compute with values of one kind: 1 is a number, "1" is a text.',
      );
      return;
    default:
      impossible('problem', problem);
  }
}

/** Notes a field that an object does not have. */
export function noteField(name: string, of: ObjectType, at: Location, { kind, types, note }: ExpressionContext): void {
  const own = [...of.fields.keys()];
  const seen = of.others ? [...own, ...of.others()] : own;
  const isSeen = of.kind !== undefined || of.others !== undefined || nearest(name, seen) !== undefined;
  const candidates = isSeen ? seen : [...seen, ...types.fieldsOfCode(of, name)];
  const meant = nearest(name, candidates) ?? candidates.find((each) => each === `${name}_id`);
  const fix = fixFor(at, name, candidates);
  const say = (severity: 'error' | 'warning', code: string, message: string, otherwise: string) =>
    note(at, severity, `${kind}/${code}`, message, meant === undefined ? otherwise : `Did you mean "${meant}"?`, fix);
  switch (of.kind) {
    case 'arguments': {
      const message = `None of the tools of this check has an argument ${name}.`;
      say('error', 'unknown-argument', message, `Their arguments are ${own.join(', ')}.`);
      return;
    }
    case 'phrases': {
      const none = 'Write its phrases into phrases.yaml.';
      const all = own.length === 0 ? none : `Its lists are ${own.join(', ')}.`;
      say('error', 'unknown-phrases', `phrases.yaml has no list ${name}.`, all);
      return;
    }
    case 'tables': {
      if (own.length === 0 && of.place?.[0] === 'user') {
        const message = `user.${name} is always null: this domain has no user database.`;
        note(
          at,
          'error',
          `${kind}/unknown-table`,
          message,
          'Read db, or name the file of the user database in domain.yaml: userDatabase: user.json.',
        );
        return;
      }
      const severity = types.isOpen || types.isDeclared(of, name) ? 'warning' : 'error';
      say(severity, 'unknown-table', `The database has no ${name}.`, `It has ${own.join(', ')}.`);
      return;
    }
    case 'facts':
      // A rule may ask for a fact that the tasks so far do not have.
      if (meant !== undefined) say('warning', 'unknown-field', `No user of a task knows a fact ${name}.`, '');
      return;
    case undefined: {
      // Fields that only an environment or a model writes are seen nowhere in the domain.
      const isUnsure = of.others !== undefined || (of.place !== undefined && types.isOpen);
      if (isUnsure && of.others === undefined && meant === undefined) return;
      const none = of.others
        ? 'Neither the code of the tool nor the rows that it reads have it.'
        : 'No row, tool or schema has it.';
      const all = own.length === 0 ? none : `It has ${own.join(', ')}.`;
      say(isUnsure ? 'warning' : 'error', 'unknown-field', `${capitalized(of.what)} has no field ${name}.`, all);
      return;
    }
    default:
      impossible('kind', of.kind);
  }
}

/** A row that a task names can be one that its calls create, unless it is almost the name of another. */
function noteRow(key: string, { rows, what }: ObjectType, at: Location, { kind, note }: ExpressionContext): void {
  const keys = [...(rows?.keys ?? [])];
  const meant = /\d/.test(key) ? undefined : nearest(key, keys);
  if (kind === 'task' && meant === undefined) return;
  const some = `It has ${keys.slice(0, 5).join(', ')}${keys.length > 5 ? ' and more' : ''}.`;
  const hint = meant === undefined ? some : `Did you mean "${meant}"?`;
  note(at, 'warning', `${kind}/unknown-row`, `${capitalized(what)} has no row ${key}.`, hint, fixFor(at, key, keys));
}

/** Letters below which a word is too short to be taken for a misspelt one. */
const shortWord = 5;

/** Notes a text that is compared with something that never has it, as far as is known. */
export function noteValue(value: string, { known, from }: Texts, at: Location, context: ExpressionContext): void {
  const { kind, types, note } = context;
  const isNear = !/\d/.test(value) && nearest(value, known, closeEnough(value)) !== undefined;
  // Most values of tasks are like no other, and end here.
  if (from === 'examples' && !isNear) return;
  const fix = fixFor(at, value, known);
  const first = [...known].slice(0, 8).join(', ');
  const all = known.size === 0 ? 'There are none.' : `Known are ${first}${known.size > 8 ? ' and more' : ''}.`;
  const hint = didYouMean(value, known, all);
  switch (from) {
    case 'tools':
      note(at, 'error', `${kind}/unknown-tool`, `There is no tool ${value}.`, hint, fix);
      return;
    case 'schema':
      note(at, 'warning', `${kind}/unknown-value`, `"${value}" is not one of the possible values here.`, hint, fix);
      return;
    case 'rows': {
      const table = types.tableOf(known);
      const isOther = table !== null && isOfOtherForm(known, new Set([value]));
      const owner = isOther ? types.tableOf(new Set([value])) : null;
      if (owner !== null) {
        const message = `"${value}" is an id of ${owner}, and the values here are ids of ${table}.`;
        note(at, 'warning', `${kind}/unknown-value`, message, all);
        return;
      }
      if (types.isKnownText(value, false) || (types.isOpen && !isNear)) return;
      note(at, 'warning', `${kind}/unknown-value`, `No row has the value "${value}" here.`, hint, fix);
      return;
    }
    case 'examples':
      // Short words are near each other by chance, and data that no file reports can have any of them. So are paths.
      if (/[\\/]/.test(value) || (types.isOpen && value.length < shortWord) || types.isKnownText(value, true)) return;
      note(at, 'warning', `${kind}/unknown-value`, `No task, row or tool has the value "${value}".`, hint, fix);
      return;
    default:
      impossible('source', from);
  }
}

/** The edit that respells a word, where the place is exactly that of the word. */
function fixFor(at: Location, word: string, candidates: Iterable<string>) {
  const isExact = at.line === at.endLine && at.endColumn - at.column === word.length;
  // Fields and values are often alike, and a fix may be made without a question.
  return isExact ? respelt(at, word, candidates, closeEnough(word)) : undefined;
}
