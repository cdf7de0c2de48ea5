import type { Domain } from '../domain/domain.ts';
import { factOf } from '../domain/task.ts';
import { type Type, typeOfDatabase } from '../expression/type.ts';
import { wordsOf } from '../text/text.ts';
import { containsWords } from '../text/value.ts';
import { isObject, type Json } from '../values/json.ts';
import { type Database, readView } from '../world/database.ts';

/** Values of one kind: those of a fact in all tasks, of a column, of an `enum`, or the ids of a table. */
type Kind = { readonly values: ReadonlySet<string>; readonly from: 'tasks' | 'domain' };

type Kinds = { readonly database: Database | undefined; readonly byFact: Map<string, readonly Kind[]> };
/** The parts of a domain in which values of facts are known. */
export type ValueSource = Pick<Domain, 'tasks' | 'tools'>;

const remembered = new WeakMap<ValueSource, Kinds>();

/**
 * Returns the values of the kinds that a fact is of: what other tasks have for it, and the columns, ids of tables and
 * `enum`s that contain its value. Where none contains it, the columns and `enum`s of its name. Without a database only
 * the former.
 */
export function kindsOf(
  domain: ValueSource,
  database: Database | undefined,
  fact: string,
  value: string,
): readonly Kind[] {
  let known = remembered.get(domain);
  if (known === undefined || known.database !== database) {
    known = { database, byFact: new Map() };
    remembered.set(domain, known);
  }
  const key = `${fact}\0${value}`;
  const found = known.byFact.get(key);
  if (found) return found;
  const all = database ? [...enumsOf(domain), ...columnsOf(database)] : [];
  const containing = all.filter(({ values }) => values.has(value));
  const inDomain = containing.length > 0 ? containing : all.filter(({ name }) => name === fact);
  const made: readonly Kind[] = [
    { values: valuesInTasks(domain, fact), from: 'tasks' },
    ...inDomain.map(({ values }) => ({ values, from: 'domain' as const })),
  ];
  known.byFact.set(key, made);
  return made;
}

const inTasks = new WeakMap<ValueSource, Map<string, ReadonlySet<string>>>();

function valuesInTasks(domain: ValueSource, fact: string): ReadonlySet<string> {
  const known = inTasks.get(domain) ?? new Map<string, ReadonlySet<string>>();
  inTasks.set(domain, known);
  const found = known.get(fact);
  if (found) return found;
  const values = domain.tasks
    .flatMap(({ user }) => [user.known[fact], user.change?.known[fact]])
    .filter((each) => each !== undefined)
    .map((each) => String(factOf(each).value));
  const made = new Set(values);
  known.set(fact, made);
  return made;
}

/** A column, an argument with an `enum`, or a table, with its texts or ids. */
type Named = { readonly name: string; readonly values: ReadonlySet<string> };

const enums = new WeakMap<ValueSource, readonly Named[]>();

/** The texts of each `enum` in the schemas of the tools. */
function enumsOf(domain: ValueSource): readonly Named[] {
  const known = enums.get(domain);
  if (known) return known;
  const found: Named[] = [];
  const visit = (schema: Json, name: string): void => {
    if (Array.isArray(schema)) for (const each of schema) visit(each, name);
    if (!isObject(schema)) return;
    for (const [key, each] of Object.entries(schema)) {
      if (key === 'enum' && Array.isArray(each))
        found.push({ name, values: new Set(each.filter((text) => typeof text === 'string')) });
      else visit(each, key === 'items' || key === 'anyOf' || key === 'oneOf' ? name : key);
    }
  };
  for (const { parameters } of domain.tools) visit(parameters, '');
  enums.set(domain, found);
  return found;
}

const columns = new WeakMap<Type, readonly Named[]>();

/** The texts of each column, and the ids of each table. */
function columnsOf(database: Database): readonly Named[] {
  const type = typeOfDatabase(readView(database), 'agent');
  const known = columns.get(type);
  if (known) return known;
  const found: Named[] = [];
  const visit = ({ text, list, object }: Type, name: string): void => {
    if (text) found.push({ name, values: text.known });
    if (list) visit(list, name);
    if (object?.rows) {
      found.push({ name, values: object.rows.keys });
      visit(object.rows.row, name);
    }
    for (const [field, each] of object?.fields ?? []) visit(each, field);
  };
  visit(type, '');
  columns.set(type, found);
  return found;
}

/** Values with more words are sentences, such as descriptions. */
const longestValue = 8;

type Spelled = ReadonlyMap<string, { readonly value: string; readonly words: readonly string[] }>;
const spellings = new WeakMap<ReadonlySet<string>, Spelled>();

/** Returns the values that words of a text (of `wordsOf`) name. Bare numbers and single letters say too little. */
export function namedOf(values: ReadonlySet<string>, said: readonly string[]): readonly string[] {
  const spelled = spelledOf(values);
  const named: string[] = [];
  for (let start = 0; start < said.length; start++) {
    let joined = '';
    // A word of a value may be written as two.
    for (let end = start; end < said.length && end <= start + longestValue; end++) {
      joined += said[end];
      const found = spelled.get(joined);
      if (found && containsWords(said, found.words)) named.push(found.value);
    }
  }
  return named;
}

function spelledOf(values: ReadonlySet<string>): Spelled {
  const known = spellings.get(values);
  if (known) return known;
  const made = new Map<string, { value: string; words: readonly string[] }>();
  for (const value of values) {
    if (!/\p{L}{2}/u.test(value) || value.length > 100) continue;
    const words = wordsOf(value);
    if (words.length <= longestValue) made.set(words.join(''), { value, words });
  }
  spellings.set(values, made);
  return made;
}
