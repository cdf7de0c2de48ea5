import { parseDocument } from 'yaml';
import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';
import { isTooDeep } from '../../engine/core/values/nesting.ts';
import { isPersonalField, isPersonWord, isThing, kindOfField } from './fields.ts';
import type { NamedValue } from './namedValue.ts';
import { withoutSentence } from './patterns.ts';
import { matchesOf } from './text/matches.ts';

/** A key with its value, or the key of a block. */
const keyed =
  /^(?<lead>[ \t]*(?:-[ \t]+)*)(?<quote>["']?)(?<key>[\p{L}_][^:#"'\n]{0,60}?)\k<quote>:(?:[ \t]+(?<value>\S.*))?$/u;

/** A label in bold or italics, and a bullet, as Markdown has them. */
const bullet = /^(?<indent>[ \t]*)(?:[*+•]|\d{1,3}[.)])(?=[ \t])/u;
const label =
  /^(?<lead>[ \t]*(?:-[ \t]+)?)(?<sign>\*{1,3}|_{1,3})(?<key>[^*_:\n]{1,60}?)(?::\k<sign>|\k<sign>[ \t]*:)[ \t]*/u;

const withoutMarks = (line: string) => line.replace(bullet, '$<indent>-').replace(label, '$<lead>$<key>: ');

/** A line of YAML that continues the one before. */
const inner = /^(?:[ \t]+\S|[ \t]*-(?:[ \t]|$)|[ \t]*#)/;

/**
 * Returns the values of keys in YAML, also between other lines. Where a block is not YAML as a whole, each of its lines is
 * read alone.
 */
export function keyedIn(text: string): readonly NamedValue[] {
  const found: NamedValue[] = [];
  let block: string[] = [];
  const end = (): void => {
    if (block.some((line) => isPersonalField(keyed.exec(line)?.groups?.['key'] ?? ''))) found.push(...blockIn(block));
    block = [];
  };
  for (const line of text.split(/\r?\n/).map(withoutMarks)) {
    const isOfBlock =
      keyed.test(line) || line.startsWith('- ') || (block.length > 0 && (inner.test(line) || line.trim() === ''));
    if (isOfBlock) block.push(line);
    else end();
  }
  end();
  return found;
}

function blockIn(lines: readonly string[]): readonly NamedValue[] {
  const names = lines.flatMap((line) => /^[^\s-][^:]*/.exec(line)?.[0] ?? []);
  // Of keys that are repeated, YAML has the last one.
  const value = new Set(names).size === names.length ? yamlIn(lines.join('\n')) : undefined;
  if (typeof value === 'object' && value !== null && !isTooDeep(value)) return valuesOf(value as Json, '');
  const pairs = lines.flatMap((line) => {
    const groups = keyed.exec(line)?.groups;
    return groups ? [{ key: groups['key'] ?? '', value: groups['value'] }] : [];
  });
  const fields = fewOf(pairs.map(({ key }) => key));
  return pairs.flatMap(({ key, value: own }) => (own === undefined ? [] : named(key, own, '', fields)));
}

/** Returns the first names of many, each once: that other keys are personal is clear from a few. */
const fewOf = (names: readonly string[]) => [...new Set(names)].slice(0, 100);

/** Returns the value of a text in YAML, each scalar as it is written; undefined for another text. */
function yamlIn(text: string): unknown {
  try {
    const document = parseDocument(text, { schema: 'failsafe', uniqueKeys: false, logLevel: 'silent' });
    return document.errors.length === 0 ? document.toJS({ maxAliasCount: 100 }) : undefined;
  } catch {
    // A star before a word looks like an alias, of which only the value shows that it has no anchor.
    return undefined;
  }
}

function valuesOf(value: Json, within: string): readonly NamedValue[] {
  if (Array.isArray(value)) {
    const fields = value.flatMap((each) => (isObject(each) ? Object.keys(each) : ['', '']));
    // A list may have a field in each line.
    const isFields = fields.length === value.length && new Set(fields).size === fields.length && fields.length > 1;
    return isFields ? valuesOf(Object.assign({}, ...value), within) : value.flatMap((each) => valuesOf(each, within));
  }
  if (typeof value !== 'object' || value === null) return [];
  const fields = fewOf(Object.keys(value));
  return Object.entries(value as JsonObject).flatMap(([key, each]): readonly NamedValue[] => {
    const texts = (Array.isArray(each) ? each : [each]).filter((part) => typeof part === 'string');
    return [...texts.flatMap((part) => named(key, part, within, fields)), ...valuesOf(each, key)];
  });
}

function named(field: string, value: string, within: string, fields: readonly string[]): readonly NamedValue[] {
  const beside = fields.filter((each) => each !== field);
  // The words of who speaks in a transcript are not a name.
  const isTranscript = isPersonWord(field) && !beside.some((each) => kindOfField(each) !== null);
  if (isTranscript) return [];
  const plain = value.trim().replace(/^(["'`]|\*{1,3}|_{1,3})(.*)\1$/s, '$2');
  // A key of data is rarely written large.
  const own = withoutSentence(kindOfField(field), plain);
  return [{ field, within, value: own, beside, mayBeProse: /^\p{Lu}/u.test(field) }];
}

/** Returns whether a name behind `Name:` is of an item, as the keys around it show: a price, a number of stock. */
export function isNameOfThing(text: string, start: number): boolean {
  if (!/(?<!\p{L})names?["'*]*[ \t]*[:=][*"']*[ \t]*$/iu.test(text.slice(Math.max(0, start - 20), start))) return false;
  const before = text.slice(Math.max(0, start - mostAround), start);
  const behind = text.slice(start, start + mostAround);
  const around = `${before.slice(before.lastIndexOf('\n\n') + 1)}${behind.split('\n\n')[0]}`;
  const keys = matchesOf(keyAround, around).map(({ groups }) => groups?.['key'] ?? '');
  return isThing(keys);
}

/** The most signs before and behind a name that are looked at. */
const mostAround = 500;
const keyAround = /(?:^|[\n,;|({])[ \t]*[-*•]*[ \t]*["'*]*(?<key>\p{L}[\p{L}\p{N} _-]{0,30}?)["'*]*[ \t]*[:=]/gu;
