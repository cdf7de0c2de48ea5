import { type JSONVisitor, type ParseError, parse as parseJsonc, printParseErrorCode, visit } from 'jsonc-parser';
import type { JsonObject } from '../../core/values/json.ts';
import { deepest, isTooDeep } from '../../core/values/nesting.ts';
import type { Diagnostic, Location } from '../files/diagnostic.ts';
import { messageOf } from '../files/fault.ts';
import { unkept, unkeptHint } from '../source/number.ts';
import { locate, remembered, type Source } from '../source/source.ts';

export type DatabaseFile = { readonly value: JsonObject | null; readonly problems: readonly Diagnostic[] };

const parsed = new WeakMap<Source, DatabaseFile>();

/** Parses the JSON of a database once. Positions are looked for only when something is wrong. */
export function parseDatabase(source: Source): DatabaseFile {
  return remembered(parsed, source, () => parse(source));
}

/** Keys that appear twice in one object: JSON keeps the last one silently. Slow, so asked only where one is missing. */
function duplicateKeys(source: Source): readonly Diagnostic[] {
  const open: Set<string>[] = [];
  const found: Diagnostic[] = [];
  const visitor: JSONVisitor = {
    onObjectBegin: () => void open.push(new Set()),
    onObjectEnd: () => void open.pop(),
    onObjectProperty: (key, offset, length) => {
      const keys = open.at(-1);
      if (keys?.has(key)) {
        const message = `The key ${key} appears here a second time, so the first value is lost.`;
        found.push({
          ...locate(source, offset, length),
          code: 'database/duplicate-key',
          severity: 'error',
          message,
          hint: 'Keep one of the two.',
        });
      }
      keys?.add(key);
    },
  };
  visit(source.text, visitor);
  return found;
}

function parse(source: Source): DatabaseFile {
  const fail = (at: Location, code: string, message: string, hint: string): DatabaseFile => ({
    value: null,
    problems: [{ ...at, code: `database/${code}`, severity: 'error', message, hint }],
  });
  if (source.text.trim() === '')
    return fail(locate(source, 0, 0), 'empty', 'The database is empty.', 'Write {} for a database with nothing in it.');
  let value: unknown;
  try {
    value = JSON.parse(source.text);
  } catch (error) {
    return syntaxFault(source, error, fail);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const found = Array.isArray(value) ? 'a list' : String(value);
    return fail(
      locate(source, 0, 1),
      'wrong-type',
      `The database is ${found}, but an object is expected.`,
      'Give it names: {"orders": ...}.',
    );
  }
  if (isTooDeep(value))
    return fail(
      locate(source, 0, 1),
      'too-deep',
      `The database is nested deeper than ${deepest} levels.`,
      'Keep rows in flat tables, and name one row in another by its id.',
    );
  const forbidden = source.text.indexOf('"__proto__"');
  if (forbidden >= 0)
    return fail(
      locate(source, forbidden, 11),
      'forbidden-key',
      'A database cannot have the key __proto__.',
      'Rename it.',
    );
  const numbers = /\d{16}|[eE]\+?\d{3}/.test(source.text) ? unkeptNumbers(source) : [];
  const repeated = writtenKeys(source.text) === keptKeys(value) ? [] : duplicateKeys(source);
  const isKept = numbers.every(({ severity }) => severity !== 'error');
  return { value: isKept ? (value as JsonObject) : null, problems: [...numbers, ...repeated] };
}

/** Returns how many keys are in a text that is JSON: the strings before a colon. */
function writtenKeys(text: string): number {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    do at = text.indexOf('"', at + 1);
    while (isEscaped(text, at));
    do at += 1;
    while (' \n\t\r'.includes(text[at] ?? '.'));
    if (text[at] === ':') count += 1;
  }
  return count;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}

function keptKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  let count = own;
  for (const each of Object.values(value)) count += keptKeys(each);
  return count;
}

/** Numbers that a reader of JSON makes other ones of, silently. */
function unkeptNumbers(source: Source): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  visit(source.text, {
    onLiteralValue: (value, offset, length) => {
      if (typeof value !== 'number') return;
      const written = source.text.slice(offset, offset + length);
      const isTooLarge = !Number.isFinite(value);
      if (!isTooLarge && (Number.isSafeInteger(value) || !/^-?\d+$/.test(written))) return;
      found.push({
        ...locate(source, offset, length),
        code: 'database/unkept-number',
        severity: isTooLarge ? 'error' : 'warning',
        message: unkept(written, value),
        hint: unkeptHint,
      });
    },
  });
  return found;
}

function syntaxFault(
  source: Source,
  error: unknown,
  fail: (at: Location, code: string, message: string, hint: string) => DatabaseFile,
) {
  const fault = firstFault(source.text);
  if (!fault) {
    const reason = messageOf(error);
    return fail(locate(source, 0, 1), 'syntax', `This is not JSON: ${reason}.`, 'Check the text.');
  }
  const words = printParseErrorCode(fault.error)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return fail(locate(source, fault.offset, fault.length), 'syntax', `This is not JSON: ${words}.`, hintFor(words));
}

function firstFault(text: string): ParseError | undefined {
  const faults: ParseError[] = [];
  try {
    parseJsonc(text, faults, { disallowComments: true, allowTrailingComma: false });
  } catch (error) {
    // It goes down with the text, so one that is nested too deep is known by its first words alone.
    if (!(error instanceof RangeError)) throw error;
  }
  return faults[0];
}

function hintFor(words: string): string {
  if (words.includes('comment')) return 'JSON has no comments: remove it.';
  if (words.includes('property name expected')) return 'Remove the last comma, or put the name in double quotes.';
  if (words.includes('value expected')) return 'Remove the comma before it, or write a value.';
  return 'Check commas, quotes and brackets up to this place.';
}
