import { occasionalBehaviours, type Persona } from '../../engine/core/domain/persona.ts';
import type { Rule } from '../../engine/core/domain/rule.ts';
import { sourceOf } from '../../engine/core/domain/sources/sources.ts';
import { requiredIn } from '../../engine/core/domain/tool.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { lineExcerpt } from '../../engine/core/text/excerpt.ts';
import type { Json, JsonObject } from '../../engine/core/values/json.ts';
import { type KnownTool, type LanguageDomain, parametersOf, shapesOf, toolsOf } from './languageDomain.ts';
import { placeOfName, type Shape, walk } from './shape.ts';
import type { SymbolReference } from './symbolReferences.ts';
import { referencesByKind } from './symbols.ts';

/** Returns the description of something that a file names, in markdown; null where nothing is known of it. */
export function documentationOf(
  domain: LanguageDomain,
  { kind, name }: Pick<SymbolReference, 'kind' | 'name'>,
): string | null {
  switch (kind) {
    case 'tool': {
      const known = toolsOf(domain).get(name);
      return known ? ofTool(known) : null;
    }
    case 'argument':
      return ofArgument(domain, name);
    case 'rule':
      return ofRule(domain, name);
    case 'persona': {
      const persona = domain.loaded.domain.personas.find(({ id }) => id === name);
      return persona ? ofPersona(persona, domain) : null;
    }
    case 'task':
      return ofTask(domain, name);
    case 'fact':
      return ofFact(domain, name);
    case 'phrases':
      return ofPhrases(domain, name);
    case 'verifier':
      return `**${name}** of verifiers.ts`;
    case 'field':
      return ofField(domain, name);
    case 'row':
      return ofRow(domain, name);
    default:
      return kind satisfies never;
  }
}

function ofTool(known: KnownTool): string {
  const { name, tool, declared } = known;
  const effect = tool?.effect ?? declared?.effect;
  const owner = tool?.owner ?? declared?.owner;
  const from = tool ? sourceOf(tool).label : '';
  const facts = [
    effect,
    owner === 'user' ? 'called by the user' : null,
    declared?.generic ? 'generic' : null,
    from,
  ].filter(Boolean);
  const head = `**${name}**${facts.length > 0 ? ` (${facts.join(', ')})` : ''}`;
  if (!tool)
    return `${head}\n\nIts arguments are known once its code has run: **Rehearsal: Check Domain**, or save the file in a trusted workspace.`;
  const required = requiredIn(tool.parameters);
  const lines = Object.entries(parametersOf(known) ?? {}).map(
    ([argument, schema]) => `- ${argumentLine(argument, schema, required.includes(argument))}`,
  );
  return [head, tool.description, lines.length === 0 ? 'No arguments.' : lines.join('\n')].join('\n\n');
}

/** One argument with its type, and what its schema says about it. */
export function argumentLine(name: string, schema: unknown, isRequired: boolean): string {
  const { description } = (schema ?? {}) as { readonly description?: unknown };
  const said = typeof description === 'string' ? ` ${description}` : '';
  return `\`${name}\`: ${typeWords(schema)}${isRequired ? '' : ', may be left out'}.${said}`;
}

/** The type of a JSON Schema in words: `one of "a", "b"`, `list of string`. */
export function typeWords(schema: unknown): string {
  const { type, enum: options, const: only, items, anyOf } = (schema ?? {}) as Readonly<Record<string, unknown>>;
  if (Array.isArray(options)) return `one of ${options.map((each) => JSON.stringify(each)).join(', ')}`;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map(typeWords))].join(' or ');
  if (type === 'array') return `list of ${typeWords(items)}`;
  return typeof type === 'string' ? type : Array.isArray(type) ? type.join(' or ') : 'any value';
}

function ofArgument(domain: LanguageDomain, name: string): string | null {
  const [tool = '', argument = ''] = name.split('.');
  const lines = [...toolsOf(domain).values()].flatMap((known) => {
    if (tool !== '*' && known.name !== tool) return [];
    const schema = parametersOf(known)?.[argument];
    const required = requiredIn(known.tool?.parameters ?? {});
    return schema === undefined
      ? []
      : [`${argumentLine(argument, schema, required.includes(argument))} (${known.name})`];
  });
  if (lines.length === 0) return null;
  return [...new Set(lines)]
    .slice(0, 8)
    .map((line) => `- ${line}`)
    .join('\n');
}

function ofRule({ loaded }: LanguageDomain, name: string): string | null {
  const { policy, rules } = loaded.domain;
  const rule = policy.rules.find(({ id }) => id === name);
  if (!rule) return null;
  const checks = rules.filter((each) => each.rule === name);
  const told =
    checks.length === 0
      ? ['Nothing checks it: rules.yaml has no check for it.']
      : checks.map((each) => `- ${checkWords(each)}`);
  return [`**${name}**`, rule.text, told.join('\n')].join('\n\n');
}

function checkWords(rule: Rule): string {
  const demand = (() => {
    switch (rule.check) {
      case 'before':
        return `after one of ${rule.require.join(', ')}`;
      case 'onlyIf':
        return `\`${shortened(rule.condition)}\``;
      case 'never':
        return rule.when === undefined ? '' : `\`${shortened(rule.when)}\``;
      case 'judge':
        return rule.question;
      case 'mustSay':
        return [rule.says].flat().join(' | ');
      default:
        return '';
    }
  })();
  return `\`${rule.check}\`${rule.gate ? ' (a violation makes the reward 0)' : ''}${demand === '' ? '' : `: ${demand}`}`;
}

function ofPersona(
  { id, description, style, patience, behaviours, attacks }: Persona,
  { loaded }: LanguageDomain,
): string {
  const always = (['omits', 'changes', 'insists'] as const).filter((each) => behaviours[each]);
  const sometimes = occasionalBehaviours.filter((each) => behaviours[each] !== false);
  const tasks = loaded.tasks.filter(({ persona, under }) => persona === id || under === id).length;
  const traits = [`style ${style}`, `patience ${patience}`, ...always, ...sometimes.map((each) => `${each} once`)];
  const tries = attacks.map(({ aim }) => `- tries: ${aim}`);
  return [
    `**${id}** (${counted(tasks, 'task')})`,
    description,
    traits.join(', '),
    ...(tries.length > 0 ? [tries.join('\n')] : []),
  ].join('\n\n');
}

function ofTask({ loaded }: LanguageDomain, name: string): string | null {
  const task = loaded.tasks.find(({ id }) => id === name);
  if (!task) return null;
  const { split, persona, description, user, actions } = task;
  return [
    `**${name}** (${split}, ${persona})`,
    description ?? user.goal,
    `${counted(actions.length, 'gold action')}`,
  ].join('\n\n');
}

function ofFact(domain: LanguageDomain, name: string): string {
  const { facts } = domain.loaded.domain.lexicon;
  const words = Object.hasOwn(facts, name) ? facts[name] : undefined;
  const tasks = new Set(
    referencesByKind(domain, 'fact', name).flatMap(({ text }) => (text.kind === 'task' ? [text.source.file] : [])),
  );
  const told = words
    ? [
        `Called ${[words.label, ...words.synonyms].filter(Boolean).join(', ') || name}.`,
        ...words.ask.map((each) => `- asked: ${each}`),
      ]
    : ['Not in the lexicon of domain.yaml: people and the gold seat call it by its name.'];
  return [`**${name}** (fact, in ${counted(tasks.size, 'file')} of tasks)`, told.join('\n')].join('\n\n');
}

function ofPhrases({ loaded }: LanguageDomain, name: string): string | null {
  const { phrases } = loaded.domain;
  const own = Object.hasOwn(phrases, name) ? phrases[name] : undefined;
  return own ? `**${name}** (${counted(own.length, 'phrase')})\n\n${own.join(' | ')}` : null;
}

function ofField(domain: LanguageDomain, name: string): string {
  const { side, segments } = placeOfName(name);
  const { end } = walk(side, shapesOf(domain)[side], segments);
  return `**${segments.join('.')}** (${side === 'agent' ? "the agent's" : "the user's"} database)\n\n${shapeWords(end)}`;
}

/** Returns what is in a place of a database, in a sentence. */
export function shapeWords(shape: Shape): string {
  switch (shape.type) {
    case 'table':
      return shape.row.type === 'object' ? `Rows with ${[...shape.row.fields.keys()].join(', ')}.` : 'A table.';
    case 'list':
      return shape.item.type === 'object'
        ? `A list of objects with ${[...shape.item.fields.keys()].join(', ')}.`
        : 'A list.';
    case 'object':
      return `An object with ${[...shape.fields.keys()].join(', ')}.`;
    case 'value':
      return `For example ${shape.values
        .slice(0, 5)
        .map((each) => JSON.stringify(each))
        .join(', ')}.`;
    case 'unknown':
      return 'The database holds nothing there at the start.';
    default:
      return shape satisfies never;
  }
}

function ofRow({ loaded }: LanguageDomain, name: string): string | null {
  const { side, segments } = placeOfName(name);
  const row = getAtPath(loaded.world[side], segments);
  return row === undefined ? null : `**${segments.join('.')}**\n\n${dataBlock(row)}`;
}

/** Returns what is at a path of plain data; undefined where nothing does. A `*` is the first that there is. */
function getAtPath(root: Json, path: readonly (string | number)[]): Json | undefined {
  return path.reduce<Json | undefined>((value, part) => {
    if (typeof value !== 'object' || value === null) return undefined;
    if (part === '*') return Object.values(value)[0] as Json | undefined;
    return Object.hasOwn(value, part) ? (value as JsonObject)[part as string] : undefined;
  }, root);
}

/** Data as a block of code, cut where it is long. */
export function dataBlock(value: Json): string {
  const lines = JSON.stringify(value, null, 2).split('\n');
  const shown = lines.length > 24 ? [...lines.slice(0, 23), '…'] : lines;
  return `\`\`\`json\n${shown.join('\n')}\n\`\`\``;
}

const shortened = (text: string) => lineExcerpt(text.trim(), 120);
