import { type JSONVisitor, type ParseError, parse as parseJsonc, printParseErrorCode, visit } from 'jsonc-parser';
import type { JsonObject } from '../../core/json.ts';
import type { Diagnostic, Location } from '../diagnostic.ts';
import { messageOf } from '../fault.ts';
import { locate, remembered, type Source } from './source.ts';

export type DatabaseFile = { readonly value: JsonObject | null; readonly problems: readonly Diagnostic[] };

const parsed = new WeakMap<Source, DatabaseFile>();

/** Parses the JSON of a database once. Positions are looked for only when something is wrong. */
export function parseDatabase(source: Source): DatabaseFile {
  return remembered(parsed, source, () => parse(source));
}

/** Keys that stand twice in one object: JSON keeps the last one silently. Slow, so only `check` asks. */
export function duplicateKeys(source: Source): readonly Diagnostic[] {
  const open: Set<string>[] = [];
  const found: Diagnostic[] = [];
  const visitor: JSONVisitor = {
    onObjectBegin: () => void open.push(new Set()),
    onObjectEnd: () => void open.pop(),
    onObjectProperty: (key, offset, length) => {
      const keys = open.at(-1);
      if (keys?.has(key)) {
        const message = `The key ${key} stands here a second time, so the first value is lost.`;
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
  const forbidden = source.text.indexOf('"__proto__"');
  if (forbidden >= 0)
    return fail(
      locate(source, forbidden, 11),
      'forbidden-key',
      'The key __proto__ cannot stand in a database.',
      'Rename it.',
    );
  return { value: value as JsonObject, problems: [] };
}

function syntaxFault(
  source: Source,
  error: unknown,
  fail: (at: Location, code: string, message: string, hint: string) => DatabaseFile,
) {
  const faults: ParseError[] = [];
  parseJsonc(source.text, faults, { disallowComments: true, allowTrailingComma: false });
  const [fault] = faults;
  if (!fault) {
    const reason = messageOf(error);
    return fail(locate(source, 0, 1), 'syntax', `This is not JSON: ${reason}.`, 'Check the text.');
  }
  const words = printParseErrorCode(fault.error)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return fail(locate(source, fault.offset, fault.length), 'syntax', `This is not JSON: ${words}.`, hintFor(words));
}

function hintFor(words: string): string {
  if (words.includes('comment')) return 'JSON has no comments: take it out.';
  if (words.includes('property name expected')) return 'Take the last comma out, or put the name in double quotes.';
  if (words.includes('value expected')) return 'Take the comma before it out, or write a value.';
  return 'Check commas, quotes and brackets up to this place.';
}
