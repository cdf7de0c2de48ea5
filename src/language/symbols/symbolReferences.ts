import { markPattern, ruleIds } from '../../engine/core/domain/policy.ts';
import type { Side } from '../../engine/core/domain/tool.ts';
import type { Path } from '../../engine/core/values/json.ts';
import type { DomainText } from '../../engine/shell/load/loadedDomain.ts';
import { blanked } from '../../engine/shell/source/scan.ts';
import { exportedVerifier } from '../../engine/shell/source/scanVerifiers.ts';
import { remembered, type Source } from '../../engine/shell/source/source.ts';
import { type ExpressionPath, readExpression } from './expressionText.ts';
import { isYaml, type Role, roleOf, type SymbolKind, type YamlKind } from './roles.ts';
import { type Segment, type Shapes, walk } from './shape.ts';
import type { Span } from './text.ts';
import { scalarContent, scalarsOf, valueAt, type YamlScalar } from './yamlText.ts';

/**
 * A place of a file that names something. Names of arguments are `tool.argument`; those of fields and rows begin with
 * the side of their database: `agent:orders.*.status`, `agent:orders.W1`.
 */
export type SymbolReference = Span & {
  readonly kind: SymbolKind;
  readonly name: string;
  /** Whether it declares the thing; else it refers to it. */
  readonly declares: boolean;
};

/** The facts from other files that determine what a file mentions. */
export type ReferenceContext = {
  readonly tools: ReadonlySet<string>;
  readonly shapes: Shapes;
  /** Different for contexts in which a file may mention something else. */
  readonly key: string;
};

const found = new WeakMap<
  Source,
  { readonly context: ReferenceContext; readonly references: readonly SymbolReference[] }
>();

/** Everything that a file mentions, in the order of the text. The rows of a database are not among it: `databaseReferences`. */
export function symbolReferencesIn(text: DomainText, context: ReferenceContext): readonly SymbolReference[] {
  const known = found.get(text.source);
  const isSame =
    known?.context.key === context.key &&
    known.context.shapes.agent === context.shapes.agent &&
    known.context.shapes.user === context.shapes.user;
  if (known && isSame) return known.references;
  const references = read(text, context).toSorted((a, b) => a.from - b.from || b.to - a.to);
  found.set(text.source, { context, references });
  return references;
}

function read({ kind, source }: DomainText, context: ReferenceContext): readonly SymbolReference[] {
  if (isYaml(kind)) return scalarsOf(source).flatMap((scalar) => ofScalar(kind, source, scalar, context));
  switch (kind) {
    case 'policy':
      return inPolicy(source, context.tools);
    case 'code':
      return inCode(source, context.tools);
    case 'python':
      return inPython(source, context.tools);
    case 'verifiers':
      return inVerifiers(source);
    case 'database':
    case 'userDatabase':
      return [];
    default:
      return kind satisfies never;
  }
}

function ofScalar(
  kind: YamlKind,
  source: Source,
  scalar: YamlScalar,
  context: ReferenceContext,
): readonly SymbolReference[] {
  const role = roleOf(kind, scalar);
  if (!role) return [];
  const text = String(scalar.isKey ? scalar.path.at(-1) : scalar.value);
  const { from, to } = scalar;
  switch (role.type) {
    case 'name':
      if (role.kind === 'tool' && isWordOfRules(kind, text)) return [];
      return text === '' ? [] : [{ kind: role.kind, name: text, declares: role.declares, from, to }];
    case 'argument': {
      const tool = valueAt(source, [...scalar.path.slice(0, -2), 'tool']);
      return [{ kind: 'argument', name: `${String(tool)}.${text}`, declares: false, from, to }];
    }
    case 'argumentName':
      return [{ kind: 'argument', name: `*.${text}`, declares: false, from, to }];
    case 'expression':
      return inExpression(source, scalar, sidesOf(kind, source, scalar.path), context);
    case 'sentence':
      return inSentence(source, scalar);
    case 'place':
      return inPlace(source, scalar, role, context);
    case 'step':
      return ofStep(source, scalar, context);
    case 'file':
    case 'serverTool':
      return [];
    default:
      return role satisfies never;
  }
}

/** `writes` and `all` mean tools, where one text is in place of a list. */
const isWordOfRules = (kind: YamlKind, text: string) => kind === 'rules' && (text === 'writes' || text === 'all');

/** The arguments that a sentence of the lexicon names, or in `tell` the fields of the result. */
function inSentence(source: Source, scalar: YamlScalar): readonly SymbolReference[] {
  const tool = String(scalar.path.at(-3));
  return [...scalarContent(source, scalar).matchAll(/\{([A-Za-z_]\w*)\}/g)].map(({ 1: slot = '', index }) => {
    const from = scalar.from + index + 1;
    return { kind: 'argument', name: `${tool}.${slot}`, declares: false, from, to: from + slot.length };
  });
}

type Sides = Readonly<Record<string, Side>>;

/** The names that a database has in the expressions of a file. */
function sidesOf(kind: YamlKind, source: Source, path: Path): Sides {
  const both = { db: 'agent', user: 'user' } as const;
  if (kind !== 'task') return both;
  const where = valueAt(source, [...path.slice(0, -1), 'in']) ?? 'agent';
  return where === 'agent' || where === 'user' ? { ...both, state: where } : both;
}

function inExpression(
  source: Source,
  scalar: YamlScalar,
  sides: Sides,
  context: ReferenceContext,
): readonly SymbolReference[] {
  const words = scalarContent(source, scalar);
  const { paths, toolTexts } = readExpression(words);
  const tools = toolTexts.flatMap(({ from, to }): SymbolReference[] => {
    const name = words.slice(from, to);
    const at = { from: scalar.from + from, to: scalar.from + to };
    return name === '' ? [] : [{ kind: 'tool', name, declares: false, ...at }];
  });
  return [...tools, ...paths.flatMap((path) => ofPath(path, scalar.from, sides, context))];
}

function ofPath(
  { root, parts }: ExpressionPath,
  base: number,
  sides: Sides,
  context: ReferenceContext,
): readonly SymbolReference[] {
  const [first] = parts;
  const at = ({ from, to }: Span) => ({ from: base + from, to: base + to });
  // A name that means a path, such as that of an element, has the path's parts, but not their places.
  if (typeof first?.segment === 'string' && first.to > first.from) {
    const named = { declares: false, ...at(first) };
    if (root.text === 'facts') return [{ kind: 'fact', name: first.segment, ...named }];
    if (root.text === 'phrases') return [{ kind: 'phrases', name: first.segment, ...named }];
    if (root.text === 'args') return [{ kind: 'argument', name: `*.${first.segment}`, ...named }];
  }
  const side = Object.hasOwn(sides, root.text) ? sides[root.text] : undefined;
  return side
    ? ofParts(
        side,
        parts.map((part) => ({ ...part, ...at(part) })),
        context,
      )
    : [];
}

type Part = Span & { readonly segment: Segment };

function ofParts(side: Side, parts: readonly Part[], { shapes }: ReferenceContext): readonly SymbolReference[] {
  const { known } = walk(
    side,
    shapes[side],
    parts.map(({ segment }) => segment),
  );
  return known.flatMap((each, index): SymbolReference[] => {
    const { from = 0, to = 0 } = parts[index] ?? {};
    return each === null || to <= from ? [] : [{ ...each, declares: false, from, to }];
  });
}

/** `orders.W1.status` and `orders.{order_id}.status`; a place with brackets is an expression. */
function inPlace(source: Source, scalar: YamlScalar, role: Role & { type: 'place' }, context: ReferenceContext) {
  const words = scalarContent(source, scalar);
  const where = role.side === 'agent' ? 'agent' : (valueAt(source, [...scalar.path.slice(0, -1), 'in']) ?? 'agent');
  if (where !== 'agent' && where !== 'user') return [];
  if (role.side === 'beside') {
    const [path] = readExpression(words).paths;
    if (!path || path.root.from > 0) return [];
    const parts = [{ ...path.root, segment: path.root.text }, ...path.parts];
    return ofParts(
      where,
      parts.map((part) => shifted(part, scalar.from)),
      context,
    );
  }
  let at = scalar.from;
  const parts = words.split('.').map((word): Part => {
    const from = at;
    at += word.length + 1;
    return { segment: word.includes('{') || word === '*' ? null : word, from, to: from + word.length };
  });
  return ofParts(where, parts, context);
}

const shifted = ({ segment, from, to }: Part, by: number): Part => ({ segment, from: from + by, to: to + by });

function ofStep(source: Source, scalar: YamlScalar, context: ReferenceContext): readonly SymbolReference[] {
  const list = scalar.path.slice(0, -1);
  const side = valueAt(source, [...list.slice(0, -1), 'side']) === 'user' ? 'user' : 'agent';
  const steps = (valueAt(source, list) ?? []) as readonly (string | number)[];
  const index = Number(scalar.path.at(-1));
  const known = walk(side, context.shapes[side], steps.slice(0, index + 1)).known.at(-1);
  return known ? [{ ...known, declares: false, from: scalar.from, to: scalar.to }] : [];
}

/**
 * Id marks, and tools that the policy names: in a code span, by a name that is not a word, or as what it says to use.
 */
function inPolicy({ text }: Source, tools: ReadonlySet<string>): readonly SymbolReference[] {
  const marks = [...text.matchAll(markPattern)].flatMap(({ 1: name = '', index }): SymbolReference[] => {
    if (!ruleIds.pattern.test(name)) return [];
    return [{ kind: 'rule', name, declares: true, from: index + 2, to: index + 2 + name.length }];
  });
  const named = [...text.matchAll(/(?<![\w#{-])[A-Za-z_][\w-]*/g)].flatMap(({ 0: name, index }): SymbolReference[] => {
    if (!tools.has(name)) return [];
    const before = text.slice(Math.max(0, index - 20), index);
    const isName =
      /[_\d]|[a-z][A-Z]/.test(name) ||
      before.endsWith('`') ||
      /\b(?:call|calls|calling|use|using|run|invoke|tool)\s+$/i.test(before);
    return isName ? [{ kind: 'tool', name, declares: false, from: index, to: index + name.length }] : [];
  });
  return [...marks, ...named];
}

/** The identifiers of a module that are its tools; where one is declared the loader's scan says. */
function inCode({ text }: Source, tools: ReadonlySet<string>): readonly SymbolReference[] {
  const plain = withoutTexts(blanked(text));
  const own = new Set(
    [...plain.matchAll(/^[ \t]*(?:export\s+)?const\s+([A-Za-z_$][\w$]*)/gm)].flatMap(({ 1: name = '' }) =>
      tools.has(name) ? [name] : [],
    ),
  );
  const imported = [...plain.matchAll(/^[ \t]*(?:import|export)\s*\{([^}]*)\}/gm)].flatMap(({ 1: list = '' }) =>
    list.split(',').flatMap((each) => each.trim().split(/\s+as\s+|\s+/)),
  );
  const names = new Set([...own, ...imported.filter((name) => tools.has(name))]);
  return identifiers(plain, names, /\bconst\s+$/);
}

function inPython({ text }: Source, tools: ReadonlySet<string>): readonly SymbolReference[] {
  const plain = pythonWithoutTexts(text);
  const own = [...plain.matchAll(/^(?:async\s+)?def\s+(\w+)/gm)].flatMap(({ 1: name = '' }) =>
    tools.has(name) ? [name] : [],
  );
  return identifiers(plain, new Set(own), /\bdef\s+$/);
}

/** Words that are one of the names, except for members and keys of objects. */
function identifiers(text: string, names: ReadonlySet<string>, declaration: RegExp): readonly SymbolReference[] {
  if (names.size === 0) return [];
  return [...text.matchAll(/(?<![\w$.])[A-Za-z_$][\w$]*(?!\s*:(?!:))/g)].flatMap(
    ({ 0: name, index }): SymbolReference[] => {
      if (!names.has(name)) return [];
      const declares = declaration.test(text.slice(Math.max(0, index - 40), index));
      return [{ kind: 'tool', name, declares, from: index, to: index + name.length }];
    },
  );
}

/** Whether code says a word as an identifier, its comments and texts aside. */
export function saysIdentifier({ kind, source: { text } }: DomainText, word: string): boolean {
  const plain = kind === 'python' ? pythonWithoutTexts(text) : withoutTexts(blanked(text));
  return identifiers(plain, new Set([word]), /$^/).length > 0;
}

function pythonWithoutTexts(text: string): string {
  return text.replace(/#[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, (each) => ' '.repeat(each.length));
}

/** The text with its strings blanked, at the same offsets; templates are left, since code may be in them. */
function withoutTexts(text: string): string {
  return text.replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, (each) => ' '.repeat(each.length));
}

function inVerifiers({ text }: Source): readonly SymbolReference[] {
  return [...text.matchAll(exportedVerifier)].map(({ 0: whole, 1: name = '', index }): SymbolReference => {
    const from = index + whole.indexOf(name, whole.indexOf('const') + 5);
    return { kind: 'verifier', name, declares: true, from, to: from + name.length };
  });
}

const allOf = new WeakMap<object, ReadonlyMap<string, readonly (readonly [DomainText, SymbolReference])[]>>();

/** The references of all files by kind and name. */
export function referencesByName(
  texts: ReadonlyMap<string, DomainText>,
  context: ReferenceContext,
  of: object,
): ReadonlyMap<string, readonly (readonly [DomainText, SymbolReference])[]> {
  return remembered(allOf, of, () => {
    const all = [...texts.values()].flatMap((text) =>
      symbolReferencesIn(text, context).map((each) => [text, each] as const),
    );
    return Map.groupBy(all, ([, { kind, name }]) => `${kind} ${name}`);
  });
}
