import { isTable } from '../../core/expression/type.ts';
import { keysIn } from '../../core/text/value.ts';
import { isObject, type Json } from '../../core/values/json.ts';
import type { Parts } from '../load/loadedDomain.ts';
import { codeWords } from '../source/codeWords.ts';
import { replacing } from '../source/edit.ts';
import { placeOf } from '../source/items.ts';
import { nearest } from '../source/nearest.ts';
import type { Bases, KnownTools, Note } from '../source/note.ts';
import { remembered } from '../source/source.ts';

/** Notes a field under `compare:` that nothing in the domain has, and whose name is almost one that something has. */
export function checkCompared({ file, scan, tasks }: Parts, bases: Bases, known: KnownTools, note: Note): void {
  const { compare } = file.value;
  if (!compare) return;
  const names = new Set([
    ...[bases.agent, bases.user].flatMap((base) => [...remembered(fieldsOfBase, base, () => fieldNames(base))]),
    ...tasks.flatMap(({ value }) =>
      value.state.flatMap((entry) => [...entry.path.map(String), ...keysIn(entry.value)]),
    ),
    ...[...known.tools.values()].flatMap(({ outputSchema }) => keysIn(outputSchema)),
    ...codeWords(scan).keys,
  ]);
  const written = [
    ...compare.unordered.map((pattern, at) => ({ pattern, at: placeOf(file, 'compare', 'unordered', at) })),
    ...Object.keys(compare.tolerance).map((pattern) => ({
      pattern,
      at: file.places.key(['compare', 'tolerance', pattern]),
    })),
  ];
  for (const { pattern, at } of written) {
    const wrong = pattern.split('.').find((part) => part !== '*' && !names.has(part) && nearest(part, names));
    const meant = wrong === undefined ? undefined : nearest(wrong, names);
    if (wrong === undefined || meant === undefined) continue;
    const path = pattern.split('.').map((part) => (part === wrong ? meant : part));
    const message = `Nothing in the domain has a field ${wrong}.`;
    const fix = replacing(at, pattern, path.join('.'));
    note(at, 'warning', 'domain/unknown-field', message, `Did you mean "${meant}"?`, fix);
  }
}

const fieldsOfBase = new WeakMap<object, ReadonlySet<string>>();

/** The names of the tables and fields of a database, without the ids of its rows. */
function fieldNames(value: Json): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (each: Json): void => {
    if (typeof each !== 'object' || each === null) return;
    if (isObject(each) && !isTable(each)) for (const key of Object.keys(each)) found.add(key);
    for (const member of Object.values(each)) visit(member as Json);
  };
  visit(value);
  return found;
}
