import { sourceOf } from '../../core/domain/sources/sources.ts';
import { factOf, type Task } from '../../core/domain/task.ts';
import type { Tool } from '../../core/domain/tool.ts';
import {
  anyKey,
  anyType,
  booleanType,
  eitherOf,
  listOf,
  numberType,
  type ObjectType,
  type PutValue,
  recordOf,
  type Type,
  textsFrom,
  textType,
  typeOfDatabase,
  typeOfSchema,
  withValuesAt,
} from '../../core/expression/type.ts';
import type { Readable } from '../../core/expression/typeCheck.ts';
import { leavesOf } from '../../core/text/value.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { type CodeWords, canWrite, codeWords } from '../source/codeWords.ts';
import { closeEnough, nearest } from '../source/nearest.ts';
import type { Bases, KnownTools } from '../source/note.ts';
import { keysInReach, returnedKeys } from '../source/returnedKeys.ts';
import { usesTable } from '../source/tablesRead.ts';
import { withDeclaredElements } from './declaredElements.ts';
import type { Parts } from './loadedDomain.ts';
import { wordsIn } from './taskWorld.ts';

/** The known types of everything that an expression of a domain can read. */
export type DomainTypes = {
  readonly agent: Type;
  readonly user: Type;
  readonly calls: Type;
  readonly messages: Type;
  readonly facts: Type;
  readonly expected: Type;
  readonly phrases: Type;
  /** The arguments of calls of these tools; anything where none is known. */
  readonly argumentsOf: (tools: readonly Tool[]) => Type;
  readonly resultOf: (...tools: readonly (Tool | undefined)[]) => Type;
  /** The type of any object in the results of these tools. */
  readonly resultPart: (...tools: readonly (Tool | undefined)[]) => Type;
  readonly written: Readable['written'];
  /** Whether the types of the tools declare a field or table of a database, or the code uses a field of this name. */
  readonly isDeclared: (of: ObjectType, name: string) => boolean;
  readonly tableOf: Readable['tableOf'];
  /** Fields that no row has and that the code of the tools can write, with almost this name. */
  readonly fieldsOfCode: (of: ObjectType, name: string) => readonly string[];
  /** The number of tasks with each value, by the name of the argument or fact. */
  readonly examples: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** The texts that tasks and rows have for an argument or a fact of this name. */
  readonly valuesOf: (name: string) => ReadonlySet<string>;
  /** Whether data can have fields and values that no file of the domain reports. */
  readonly isOpen: boolean;
  /** Whether a text is known to be a value of something. */
  readonly isKnownText: (text: string, isExample: boolean) => boolean;
};

/** Returns what the expressions of a domain can read, by its data, its tools and its tasks. */
export function domainTypes(parts: Parts, bases: Bases, known: KnownTools): DomainTypes {
  const words = codeWords(parts.scan);
  const agent = typeOfSide('agent', parts, bases);
  const user = hasUserSide(parts, known) ? typeOfSide('user', parts, bases) : noUserSide;
  const tasks = parts.tasks.map(({ value }) => value);
  const examples = examplesIn(tasks);
  const writable = new Set([...rowIdsIn(bases.agent), ...rowIdsIn(bases.user), ...argumentsIn(tasks)]);
  const columns = fieldsIn([agent, user]);
  const tables = new Map([agent, user].flatMap(({ object }) => [...(object?.fields ?? [])]));
  const everything = { columns, keys: words.keys, tables: new Map<string, Type>() };
  const ofCode = new Map<string, Type>();
  /** The type of what any of these tools returns, whose code is in files of the domain. */
  const codeResult = (tools: readonly string[]): Type => {
    const found = ofCode.get(tools.join());
    if (found) return found;
    const [only = ''] = tools;
    const made = looseType(tools.length === 1 ? `the result of ${only}` : 'the result of a tool', () => {
      const reached = tools.map((name) => keysInReach(parts.scan, name));
      // Code that names no table has its rows from elsewhere.
      const isKnown = reached.every((each) => each !== null && [...tables.keys()].some((name) => each.has(name)));
      if (!isKnown) return everything;
      const keys = new Set(reached.flatMap((each) => [...(each ?? [])]));
      const rows = fieldsIn([...tables].flatMap(([name, table]) => (keys.has(name) ? [table] : [])));
      return { columns: new Map([...columns].filter(([name]) => keys.has(name) || rows.has(name))), keys, tables };
    });
    ofCode.set(tools.join(), made);
    return made;
  };
  const resultPart: DomainTypes['resultPart'] = (...tools) => {
    const code = tools.filter((tool) => tool !== undefined && sourceOf(tool).isInFiles).map((tool) => tool?.name ?? '');
    const others = tools.filter((tool) => tool === undefined || !sourceOf(tool).isInFiles).map(typeOfResult);
    return eitherOf([...others, ...(code.length > 0 ? [codeResult(code)] : [])]);
  };
  const resultOf: DomainTypes['resultOf'] = (...tools) => {
    const returned = tools.map((tool) =>
      tool && sourceOf(tool).isInFiles ? returnedKeys(parts.scan, tool.name) : null,
    );
    const isWhole = tools.length > 0 && returned.every((keys) => keys !== null);
    const type = resultPart(...tools);
    return isWhole ? withFields(type, new Set(returned.flatMap((keys) => [...keys]))) : type;
  };
  const values = new Map<string, ReadonlySet<string>>();
  const valuesOf = (name: string) => {
    const all =
      values.get(name) ?? new Set([...(examples.get(name)?.keys() ?? []), ...(columns.get(name)?.text?.known ?? [])]);
    values.set(name, all);
    return all;
  };
  const argumentsOf = (tools: readonly Tool[]) =>
    tools.length === 0 ? anyType : eitherOf(tools.map((tool) => typeOfArguments(tool, valuesOf)));
  const names = known.complete ? textsFrom('tools', known.names) : textType;
  const callOf = (of: readonly string[] | null): Type => {
    const tools = (of ?? [...known.names]).map((name) => known.tools.get(name));
    const described = tools.filter((tool) => tool !== undefined);
    const args = described.length === tools.length ? argumentsOf(described) : anyType;
    return recordOf(
      'a call',
      {
        tool: names,
        args,
        result: known.complete ? resultOf(...tools) : anyType,
        failed: booleanType,
        by: seats,
        step: numberType,
      },
      { narrowed: callOf },
    );
  };
  const isOpen = hasUnseenWriters(parts);
  const isDeclared: DomainTypes['isDeclared'] = ({ place = [], fields }, name) =>
    canWrite(parts.scan, place.length > 1 ? words.keys : noWords, place, name, fields.keys());
  const written: DomainTypes['written'] = (of, name) => {
    // A table that the tools read and the database lacks is reported there. Declaring a table does not create it.
    const isTable = of.place?.length === 1 && !isOpen && of.fields.size > 0;
    return (isTable ? usesTable(parts.scan, name) : isDeclared(of, name)) ? anyType : null;
  };
  return {
    agent,
    user,
    calls: listOf(callOf(null)),
    messages: listOf(messageType(names)),
    facts: factsType(parts.tasks.map(({ value }) => value)),
    expected: listOf(expectedOf(callOf, null)),
    phrases: recordOf(
      'phrases.yaml',
      Object.fromEntries(Object.keys(parts.phrases).map((name) => [name, listOf(textType)])),
      { kind: 'phrases' },
    ),
    argumentsOf,
    resultOf,
    resultPart,
    examples,
    valuesOf,
    written,
    isDeclared,
    tableOf: (ids) => {
      if (ids.size === 0) return null;
      const found = [...tables].find(([, { object }]) => [...ids].every((id) => object?.rows?.keys.has(id)));
      return found?.[0] ?? null;
    },
    fieldsOfCode: (of, name) =>
      [...words.keys].filter(
        (key) => nearest(name, [key], closeEnough(name)) !== undefined && written(of, key) !== null,
      ),
    isOpen,
    isKnownText: (text, isExample) =>
      words.texts.has(text) ||
      (isExample ? wordsIn(bases.agent).has(text) || wordsIn(bases.user).has(text) : writable.has(text)),
  };
}

/** The ids of the rows of a database, which the rows of other tables refer to. */
const rowIdsIn = (base: JsonObject): readonly string[] =>
  Object.values(base).flatMap((table) => (isObject(table) ? Object.keys(table) : []));

/** Returns what the gold actions give to tools, which may write it. */
const argumentsIn = (tasks: readonly Task[]): readonly string[] =>
  tasks.flatMap(({ actions }) => actions.flatMap((action) => leavesOf(action.arguments)));

/** A word of the code is too little to take a name for that of a table. */
const noWords: ReadonlySet<string> = new Set();
const seats = textsFrom('schema', ['agent', 'user']);

/** A gold action is a call without a result. */
function expectedOf(callOf: (of: readonly string[] | null) => Type, of: readonly string[] | null): Type {
  const fields = callOf(of).object?.fields;
  const field = (name: string) => fields?.get(name) ?? anyType;
  return recordOf(
    'a gold action',
    { tool: field('tool'), args: field('args'), by: seats },
    { narrowed: (tools) => expectedOf(callOf, tools) },
  );
}

function messageType(names: Type): Type {
  return recordOf('a message', {
    role: textsFrom('schema', ['agent', 'user', 'tool']),
    step: numberType,
    content: eitherOf([textType, { null: true }]),
    reasoning: textType,
    toolCalls: listOf(
      recordOf('a call of a message', {
        id: textType,
        name: names,
        arguments: anyType,
        floats: anyType,
        integers: anyType,
      }),
    ),
    messageId: textType,
    tools: anyType,
    callId: textType,
    name: names,
    isError: booleanType,
    by: seats,
  });
}

function factsType(tasks: readonly Task[]): Type {
  const values = new Map<string, Json[]>();
  const valuesOf = (name: string) => {
    const own = values.get(name) ?? [];
    values.set(name, own);
    return own;
  };
  for (const { user } of tasks) {
    const told = [...Object.entries(user.known), ...Object.entries(user.change?.known ?? {})];
    for (const [name, fact] of told) valuesOf(name).push(factOf(fact).value);
    for (const name of user.unknown) valuesOf(name);
  }
  if (values.size === 0) return anyType;
  const fields = [...values].map(([name, all]) => [name, eitherOf([...typesOfFacts(all), { null: true }])] as const);
  return recordOf("the users' facts", Object.fromEntries(fields), { kind: 'facts' });
}

/** A type for each kind of value: thousands of tasks have thousands of texts. */
function typesOfFacts(values: readonly Json[]): readonly Type[] {
  const texts = values.filter((value) => typeof value === 'string');
  return [
    ...(texts.length > 0 ? [textsFrom('examples', texts)] : []),
    ...(values.some((value) => typeof value === 'number') ? [numberType] : []),
    ...(values.some((value) => typeof value === 'boolean') ? [booleanType] : []),
  ];
}

/** The values that tasks have for arguments and facts, by the names of these. */
function examplesIn(tasks: readonly Task[]): DomainTypes['examples'] {
  const found = new Map<string, Map<string, number>>();
  const add = (name: string, value: string) => {
    const values = found.get(name) ?? new Map<string, number>();
    found.set(name, values.set(value, (values.get(value) ?? 0) + 1));
  };
  for (const { actions, user } of tasks) {
    for (const [name, value] of actions.flatMap((action) => Object.entries(action.arguments)))
      for (const leaf of leavesOf(value)) add(name, leaf);
    for (const facts of [user.known, user.change?.known ?? {}])
      for (const [name, fact] of Object.entries(facts)) add(name, String(factOf(fact).value));
  }
  return found;
}

function typeOfArguments({ name, parameters }: Tool, valuesOf: DomainTypes['valuesOf']): Type {
  const type = typeOfSchema(parameters, `the arguments of ${name}`);
  if (!type.object) return type;
  const fields = [...type.object.fields].map(([field, own]) => {
    const isFree = own.text !== undefined && own.text.from === 'examples';
    return [field, isFree ? { ...own, ...textsFrom('examples', valuesOf(field)) } : own] as const;
  });
  return { object: { ...type.object, what: 'the arguments', kind: 'arguments', fields: new Map(fields) } };
}

function typeOfResult(tool: Tool | undefined): Type {
  const simulation = tool && sourceOf(tool).simulation;
  if (!simulation) return anyType;
  return eitherOf([typeOfSchema(simulation.result, `the result of ${tool.name}`), textType]);
}

/** Names that a result can have as fields: fields of the data, and keys in the code. */
type ResultFields = {
  readonly columns: ReadonlyMap<string, Type>;
  readonly keys: CodeWords['keys'];
  /** Names that a misspelt field does not mean. */
  readonly tables: ReadonlyMap<string, Type>;
};

/**
 * Returns the type of a result of code, which is not declared: anything whose fields are keys in the code or fields of
 * the data. A field with the name of a field in the data is assumed to have a similar type.
 */
function looseType(what: string, fieldsOf: () => ResultFields): Type {
  let made: ResultFields | undefined;
  const fields = () => {
    made ??= fieldsOf();
    return made;
  };
  const object: ObjectType = {
    what,
    fields: new Map(),
    other: (name) => {
      const known = fields().columns.get(name);
      if (known) return eitherOf([known, loose]);
      return name === anyKey || fields().keys.has(name) ? loose : null;
    },
    others: () => [...fields().columns.keys(), ...fields().keys].filter((name) => !fields().tables.has(name)),
  };
  const loose: Type = {
    null: true,
    boolean: true,
    number: true,
    ...textType,
    get list() {
      return loose;
    },
    object,
  };
  return loose;
}

/** A loose type whose own fields are these alone. */
function withFields(type: Type, keys: ReadonlySet<string>): Type {
  const { object } = type;
  if (!object?.other) return type;
  const { other } = object;
  const own: ObjectType = {
    ...object,
    other: (name) => (keys.has(name) || name === anyKey ? (other(name) ?? other(anyKey)) : null),
    others: () => keys,
  };
  return { null: true, boolean: true, number: true, ...textType, list: type, object: own };
}

/** The fields of all objects of the data by their names. */
function fieldsIn(types: readonly Type[]): ReadonlyMap<string, Type> {
  const found = new Map<string, Type>();
  const visit = ({ list, object }: Type): void => {
    if (list) visit(list);
    if (object?.rows) visit(object.rows.row);
    for (const [name, type] of object?.fields ?? []) {
      const known = found.get(name);
      found.set(name, known ? eitherOf([known, type]) : type);
      visit(type);
    }
  };
  for (const type of types) visit(type);
  return found;
}

/** The type of the user's side of a domain without a user database. */
const noUserSide = recordOf('the user database', {}, { kind: 'tables', place: ['user'] });

/** Whether the user's side can have data, also data that only a task or a tool of the user puts there. */
function hasUserSide({ file, tasks, ...parts }: Parts, known: KnownTools): boolean {
  return (
    file.value.userDatabase !== undefined ||
    tasks.some(({ value }) => value.state.some(({ side }) => side === 'user')) ||
    !known.complete ||
    [...known.tools.values()].some(({ owner }) => owner === 'user') ||
    hasUnseenWriters({ file, tasks, ...parts })
  );
}

/** A side of the database, with the states that tasks begin with. */
function typeOfSide(side: 'agent' | 'user', { tasks, scan }: Parts, bases: Bases): Type {
  const states = tasks
    .flatMap(({ value }) => value.state)
    .filter((entry) => entry.side === side && entry.value !== null);
  return withDeclaredElements(
    withValuesAt(typeOfDatabase(bases[side], side), states as readonly PutValue[]),
    side,
    scan,
  );
}

/** Whether rows are also written by something whose text is not in the domain: an environment, or a model. */
function hasUnseenWriters({ file, simulated }: Parts): boolean {
  const { environments } = file.value;
  return Object.keys(environments).length > 0 || simulated.some(({ value }) => value.writes.length > 0);
}
