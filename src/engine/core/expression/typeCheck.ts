import { calendarDay } from '../text/calendar.ts';
import { impossible } from '../values/impossible.ts';
import type { Json } from '../values/json.ts';
import { arityOf, type FunctionName } from './signature.ts';
import type { Expression, Operator } from './syntax.ts';
import {
  anyType,
  booleanType,
  eitherOf,
  elementOf,
  listOf,
  numberType,
  type ObjectType,
  recordOf,
  type Texts,
  type Type,
  textsFrom,
  textType,
} from './type.ts';

/** Returns the type of the value that a name refers to; undefined for an unknown name. */
export type Names = (name: string) => Type | undefined;

/** A problem in an expression that its author cannot have intended. */
export type TypeProblem = {
  /** The offset of the word in the text of the expression. */
  readonly at: number;
  readonly word: string;
} & (
  | { readonly kind: 'name' }
  | { readonly kind: 'field'; readonly of: ObjectType }
  | { readonly kind: 'member'; readonly of: string }
  | { readonly kind: 'row'; readonly of: ObjectType }
  | { readonly kind: 'key'; readonly of: ObjectType; readonly table: string }
  | { readonly kind: 'value'; readonly texts: Texts }
  | { readonly kind: 'type'; readonly message: string }
);

/** The types of the values that expressions can read. */
export type Readable = {
  readonly names: Names;
  /** The type of a field of data that no row has, or null where no tool can write one. */
  readonly written: (object: ObjectType, name: string) => Type | null;
  /** The name of a table that has rows with all these ids, or null. */
  readonly tableOf: (ids: ReadonlySet<string>) => string | null;
};

type Run = Readable & { readonly note: (problem: TypeProblem) => void };

/** Finds names, fields, rows, values and operands in an expression that do not fit the types of what it reads. */
export function typeProblems(
  expression: Expression,
  readable: Readable,
): { readonly type: Type; readonly problems: readonly TypeProblem[] } {
  const problems: TypeProblem[] = [];
  const type = typeOf(expression, { ...readable, note: (problem) => problems.push(problem) });
  return { type, problems };
}

/** Returns the texts that a value of this type can have; null if this value is one of them or any text is possible. */
export function valueProblem(type: Type, value: Json): Texts | null {
  const { text } = type;
  if (typeof value !== 'string' || type.any || text === undefined || text.known.has(value)) return null;
  return text;
}

/** Returns why a value is never equal to a value of this type, by their kinds; null where it can be. */
export function kindProblem(type: Type, value: Json): string | null {
  const [wanted, given] = [kindOf(type), value === null ? null : kindOf(typeOfValue(value))];
  return wanted === null || given === null || wanted === given ? null : `${given} is never equal to ${wanted}`;
}

function typeOfValue(value: Json): Type {
  if (typeof value !== 'object' || value === null) return typeOfLiteral(value);
  return Array.isArray(value) ? listOf(anyType) : recordOf('a value', {});
}

function typeOf(expression: Expression, run: Run): Type {
  switch (expression.type) {
    case 'literal':
      return typeOfLiteral(expression.value);
    case 'list':
      return listOf(eitherOf(expression.items.map((item) => typeOf(item, run))));
    case 'name': {
      const type = run.names(expression.name);
      if (type === undefined) run.note({ kind: 'name', word: expression.name, at: expression.at });
      return type ?? anyType;
    }
    case 'member':
      return member(expression, run);
    case 'element': {
      const of = elementOf(typeOf(expression.of, run));
      fieldOf(of, expression.field, expression.at, run);
      return of;
    }
    case 'not':
      typeOf(expression.of, run);
      return booleanType;
    case 'minus':
      operand(expression.of, '-', ['number'], run);
      return numberType;
    case 'binary':
      return binary(expression, run);
    case 'call':
      return call(expression, run);
    default:
      return impossible('expression', expression);
  }
}

function typeOfLiteral(value: Json): Type {
  if (value === null) return { null: true };
  if (typeof value === 'number') return numberType;
  return typeof value === 'boolean' ? booleanType : textType;
}

function member({ of, key }: Extract<Expression, { type: 'member' }>, run: Run): Type {
  const whole = typeOf(of, run);
  if (key.type === 'literal' && typeof key.value === 'string') return fieldOf(whole, key.value, key.at, run);
  const keys = key.type === 'literal' ? null : typeOf(key, run);
  if (key.type === 'literal' && typeof key.value === 'number' && whole.object?.rows && !whole.list)
    return fieldOf(whole, String(key.value), key.at, run);
  if (keys) checkKeys(key, keys, whole, run);
  // A key that is known to be one of some fields leads to no other.
  const texts = keys?.text?.from === 'schema' && !keys.any ? keys.text.known : null;
  const fields = texts ? [...texts].flatMap((each) => whole.object?.fields.get(each) ?? []) : [];
  return fields.length > 0 ? eitherOf(fields) : elementOf(whole);
}

/** Notes a computed key whose known values are ids of another table, in another form than the ids of this one. */
function checkKeys(key: Expression, { any, text, list, object }: Type, whole: Type, run: Run): void {
  const rows = whole.any || whole.list || whole.text ? undefined : whole.object?.rows;
  if (any || list || object || !text || text.known.size === 0 || !whole.object || !rows) return;
  if (!isOfOtherForm(text.known, rows.keys)) return;
  const table = run.tableOf(text.known);
  if (table !== null) run.note({ kind: 'key', word: '', at: startOf(key), of: whole.object, table });
}

/** Whether ids have one form, such as W# for W1001, and none of the others has it: then they are ids of another table. */
export function isOfOtherForm(ids: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  const [form, ...more] = new Set([...ids].map(formOf));
  return more.length === 0 && ![...others].some((id) => formOf(id) === form);
}

const formOf = (id: string) => id.replace(/\d+/g, '#');

function fieldOf(whole: Type, name: string, at: number, run: Run): Type {
  const { any, object, list } = whole;
  if (any) return anyType;
  if (!object) {
    const kind = list ? 'a list' : kindOf(whole);
    if (kind !== null) run.note({ kind: 'member', word: name, at, of: kind });
    return anyType;
  }
  const own = object.fields.get(name);
  if (own) return own;
  const other = object.other?.(name) ?? (object.place ? run.written(object, name) : null);
  if (object.rows) {
    if (!object.rows.keys.has(name) && other === null) run.note({ kind: 'row', word: name, at, of: object });
    return other ? eitherOf([object.rows.row, other]) : object.rows.row;
  }
  if (other !== null) return other;
  run.note({ kind: 'field', word: name, at, of: object });
  return anyType;
}

/** Returns what a value is called that has one kind; null where it can have several, or none that is known. */
function kindOf({ any, text, number, boolean, list, object }: Type): string | null {
  if (any) return null;
  const kinds = [
    text && 'a text',
    number && 'a number',
    boolean && 'true or false',
    list && 'a list',
    object && 'an object',
  ].filter((kind) => kind !== undefined);
  return kinds.length === 1 ? (kinds[0] ?? null) : null;
}

function binary({ operator, left, right }: Extract<Expression, { type: 'binary' }>, run: Run): Type {
  if (operator === 'and') {
    const first = typeOf(left, run);
    return eitherOf([first, typeOf(right, { ...run, names: narrowed(left, run.names) })]);
  }
  const types = [typeOf(left, run), typeOf(right, run)] as const;
  switch (operator) {
    case 'or':
      return eitherOf(types);
    case '==':
    case '!=':
      compared(left, right, types, run);
      return booleanType;
    case 'in':
      contained(left, right, types, run);
      return booleanType;
    case '<':
    case '<=':
    case '>':
    case '>=':
      ordered(left, types, operator, run);
      return booleanType;
    case '+':
      added(left, types, run);
      return types.every(({ any, text }) => !any && text) ? textType : eitherOf([numberType, anyType]);
    case '-':
    case '*':
    case '/':
    case '%':
      for (const side of [left, right]) mustBe(side, types[side === left ? 0 : 1], operator, ['number'], run);
      return numberType;
    default:
      return impossible('operator', operator);
  }
}

function compared(left: Expression, right: Expression, [first, second]: readonly [Type, Type], run: Run): void {
  for (const [side, type] of [
    [left, second],
    [right, first],
  ] as const)
    for (const { value, at } of literals(side)) checkValue(type, value, at, run);
  const [one, other] = [kindOf(first), kindOf(second)];
  if (one === null || other === null || one === other || first.null || second.null) return;
  run.note({ kind: 'type', word: '', at: startOf(left), message: `${one} is never equal to ${other}` });
}

function contained(left: Expression, right: Expression, [part, whole]: readonly [Type, Type], run: Run): void {
  if (right.type === 'list') {
    for (const { value, at } of right.items.flatMap(literals)) checkValue(part, value, at, run);
    return;
  }
  if (whole.any) return;
  const { list, object, text } = whole;
  for (const { value, at } of literals(left)) {
    if (list && !text) checkValue(list, value, at, run);
    else if (object?.rows && !object.rows.keys.has(String(value)) && !list && !text)
      run.note({ kind: 'row', word: String(value), at, of: object });
  }
  if (left.type !== 'literal') checkKeys(left, part, whole, run);
  const kind = kindOf(whole);
  if (kind === 'a number' || kind === 'true or false')
    run.note({ kind: 'type', word: '', at: startOf(right), message: `in does not look into ${kind}` });
}

function ordered(left: Expression, [first, second]: readonly [Type, Type], operator: Operator, run: Run): void {
  const [one, other] = [kindOf(first), kindOf(second)];
  const isFit = (kind: string | null) => kind === null || kind === 'a number' || kind === 'a text';
  if (isFit(one) && isFit(other) && (one === null || other === null || one === other)) return;
  const message = `${operator} compares two numbers or two texts, not ${one ?? 'a value'} with ${other ?? 'a value'}`;
  run.note({ kind: 'type', word: '', at: startOf(left), message });
}

/** Notes a sum of a text and a number. Whole numbers that JSON would round are texts that can be added. */
function added(left: Expression, types: readonly [Type, Type], run: Run): void {
  const kinds = types.map(kindOf);
  const text = types[kinds.indexOf('a text')]?.text;
  if (!text || !kinds.includes('a number') || [...text.known].some((each) => /^-?\d+$/.test(each))) return;
  const message = '+ adds two numbers or joins two texts, not a text and a number';
  run.note({ kind: 'type', word: '', at: startOf(left), message });
}

type Literal = Extract<Expression, { type: 'literal' }>;

const literals = (expression: Expression): readonly Literal[] => (expression.type === 'literal' ? [expression] : []);

function checkValue(type: Type, value: Json, at: number, run: Run): void {
  const texts = valueProblem(type, value);
  if (texts) run.note({ kind: 'value', word: String(value), at, texts });
}

/** Notes a date that does not exist or can be read in two ways. */
function checkDate({ value, at }: Literal, run: Run): void {
  if (typeof value !== 'string') return;
  const found = calendarDay(value, 'UTC');
  if ('problem' in found)
    run.note({ kind: 'type', word: '', at, message: `days needs two dates, and "${value}" ${found.problem}` });
}

/** The number of values of a column that are read as dates. */
const readDates = 200;

/** Notes an operand none of whose known values is a date, such as a column. */
function checkDates(input: Expression, { any, text }: Type, run: Run): void {
  if (any || !text || input.type === 'literal') return;
  const values = [...text.known].filter((value) => value !== '').slice(0, readDates);
  const problems = values.flatMap((value) => {
    const found = calendarDay(value, 'UTC');
    return 'problem' in found ? [`"${value}" ${found.problem}`] : [];
  });
  if (problems.length === 0 || problems.length < values.length) return;
  run.note({ kind: 'type', word: '', at: startOf(input), message: `days needs two dates, and ${problems[0]}` });
}

/** Narrows the types of names by an earlier condition on the calls that they refer to: `c.tool == "get_order"`. */
function narrowed(condition: Expression, names: Names): Names {
  if (condition.type !== 'binary') return names;
  const { operator, left, right } = condition;
  if (operator === 'and') return narrowed(right, narrowed(left, names));
  if (operator !== '==' && operator !== 'in') return names;
  const isOfTool = left.type === 'member' && left.key.type === 'literal' && left.key.value === 'tool';
  if (!isOfTool || left.of.type !== 'name') return names;
  const { name } = left.of;
  const tools = (right.type === 'list' ? right.items : [right]).flatMap(literals).map(({ value }) => String(value));
  const narrow = names(name)?.object?.narrowed;
  if (narrow === undefined || tools.length === 0) return names;
  const type = narrow(tools);
  return (each) => (each === name ? type : names(each));
}

function call({ name, inputs }: Extract<Expression, { type: 'call' }>, run: Run): Type {
  if (arityOf(name)?.binds) return overElements(name as FunctionName, inputs, run);
  const types = inputs.map((input) => typeOf(input, run));
  const must = (index: number, ...kinds: readonly Kind[]) => {
    const [input, type] = [inputs[index], types[index]];
    if (input && type) mustBe(input, type, name, kinds, run);
  };
  switch (name as Exclude<FunctionName, Binding>) {
    case 'keys': {
      const [of] = types;
      const keys = of?.object?.rows?.keys;
      return listOf(keys && !of?.any ? textsFrom('rows', keys) : textType);
    }
    case 'round':
      must(0, 'number');
      must(1, 'number');
      return numberType;
    case 'days':
      must(0, 'text');
      must(1, 'text');
      for (const literal of inputs.flatMap(literals)) checkDate(literal, run);
      for (const [index, input] of inputs.entries()) checkDates(input, types[index] ?? anyType, run);
      return numberType;
    case 'lower':
      must(0, 'text');
      return textType;
    case 'words':
    case 'sentences':
    case 'clauses':
      must(0, 'text');
      return listOf(textType);
    case 'names':
    case 'says':
    case 'asksForYes':
      must(0, 'text');
      return booleanType;
    case 'mentions':
      must(0, 'text');
      return listOf(textType);
    case 'amounts':
    case 'numbers':
    case 'durations':
      must(0, 'text');
      return listOf(numberType);
    case 'last':
      return lastResult(inputs, run);
    default:
      return anyType;
  }
}

type Binding = 'any' | 'all' | 'find' | 'filter' | 'count' | 'sum';

function overElements(name: FunctionName, [list, ...rest]: readonly Expression[], run: Run): Type {
  const whole = list ? typeOf(list, run) : anyType;
  if (list) mustBe(list, whole, name, ['list', 'object'], run);
  const element = elementOf(whole);
  const variable = rest.length === 2 && rest[0]?.type === 'name' ? rest[0].name : 'it';
  const body = rest.at(-1);
  const inner = { ...run, names: (each: string) => (each === variable ? element : run.names(each)) };
  const of = body && typeOf(body, inner);
  switch (name) {
    case 'find':
      return { ...element, null: true };
    case 'filter':
      return listOf(body ? (narrowed(body, inner.names)(variable) ?? element) : element);
    case 'count':
    case 'sum':
      if (name === 'sum') mustBe(body ?? list ?? { type: 'list', items: [] }, of ?? element, name, ['number'], run);
      return numberType;
    default:
      return booleanType;
  }
}

function lastResult(inputs: readonly Expression[], run: Run): Type {
  const made = elementOf(run.names('calls') ?? anyType);
  const tools = made.object?.fields.get('tool') ?? anyType;
  const named = inputs.flatMap(literals);
  for (const { value, at } of named) checkValue(tools, value, at, run);
  const call = named.length === inputs.length ? made.object?.narrowed?.(named.map(({ value }) => String(value))) : made;
  return eitherOf([call?.object?.fields.get('result') ?? anyType, { null: true }]);
}

type Kind = 'number' | 'text' | 'list' | 'object';

function operand(expression: Expression, name: string, kinds: readonly Kind[], run: Run): void {
  mustBe(expression, typeOf(expression, run), name, kinds, run);
}

/** Notes an operand that can have none of the kinds that are needed. Nothing is often a value that is missing. */
function mustBe(expression: Expression, type: Type, name: string, kinds: readonly Kind[], run: Run): void {
  const kind = kindOf(type);
  if (kind === null || kinds.some((each) => type[each] !== undefined)) return;
  const wanted = kinds.includes('list') ? 'a list' : `a ${kinds[0]}`;
  run.note({ kind: 'type', word: '', at: startOf(expression), message: `${name} needs ${wanted}, not ${kind}` });
}

/** Returns where an expression begins in its text. */
function startOf(expression: Expression): number {
  switch (expression.type) {
    case 'member':
    case 'element':
    case 'not':
    case 'minus':
      return startOf(expression.of);
    case 'binary':
      return startOf(expression.left);
    case 'list':
      return expression.items[0] ? startOf(expression.items[0]) : 0;
    default:
      return expression.at;
  }
}
