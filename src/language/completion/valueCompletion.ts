import type { Side } from '../../engine/core/domain/tool.ts';
import { type Json, type Path, textOrJson } from '../../engine/core/values/json.ts';
import { tableOf } from '../../engine/shell/load/tables.ts';
import { yamlScalar } from '../../engine/shell/source/edit.ts';
import { formsAt } from '../../engine/shell/source/schemas.ts';
import type { Source } from '../../engine/shell/source/source.ts';
import { type Cursor, standIn } from '../symbols/cursor.ts';
import { type LanguageDomain, parametersOf, shapesOf, toolsOf } from '../symbols/languageDomain.ts';
import { pathInItem, roleAt, type YamlKind } from '../symbols/roles.ts';
import { walk } from '../symbols/shape.ts';
import { referencesByName } from '../symbols/symbolReferences.ts';
import { referenceContext } from '../symbols/symbols.ts';
import { valueAt } from '../symbols/yamlText.ts';
import { namesOf } from './nameOffers.ts';
import { limit, type Offer, placesBelow, snippetOffer } from './offer.ts';
import { snippetsAt } from './snippets.ts';

/** Values that can be at a place: names of the domain, words of the schema, places and values of the database. */
export function valueOffers(domain: LanguageDomain, kind: YamlKind, cursor: Cursor): readonly Offer[] {
  const { path, source } = cursor;
  const role = roleAt(kind, path, false);
  const ofSchema = schemaValues(kind, cursor);
  const own = pathInItem(kind, path);
  const listOf = typeof path.at(-1) === 'number' ? String(own.at(-2)) : '';
  const snippets =
    cursor.isFlow || listOf === '' ? [] : snippetsAt(kind, listOf).map((snippet) => snippetOffer(snippet, ''));
  if (role?.type === 'name' && !role.declares) return [...namesOf(domain, role.kind), ...ofSchema];
  if (role?.type === 'argumentName' || role?.type === 'named') return argumentsOfAll(domain);
  if (role?.type === 'step') return stepOffers(domain, source, path);
  if (role?.type === 'place') return placeOffers(domain, cursor, kind);
  if (path.at(-2) === 'arguments' || path.at(-2) === 'known') return argumentValues(domain, cursor);
  if (kind === 'task' && own[0] === 'state' && own.at(-1) === 'value') return fieldValues(domain, cursor);
  if (kind === 'task' && own[0] === 'assertions' && own.at(-1) === 'equals') return assertedValues(domain, cursor);
  const seat = kind === 'domain' ? seatAt(own) : undefined;
  if (seat) return seatOffers(seat);
  return [...ofSchema, ...snippets];
}

/** Returns who can speak at a place of domain.yaml. */
function seatAt([key, purpose, ...rest]: Path): 'agent' | 'user' | 'model' | undefined {
  if (rest.length > 0 || (purpose !== undefined && key !== 'user')) return undefined;
  if (key === 'agent' || key === 'user') return key;
  return key === 'simulator' ? 'model' : undefined;
}

const seats = {
  agent: ['gold', 'scripted', 'human'],
  user: ['agenda', 'scripted', 'human'],
  model: [],
} as const;

function seatOffers(seat: keyof typeof seats): readonly Offer[] {
  const written = (label: string, insert: string, detail: string): Offer => ({
    ...{ label, insert, detail, kind: 'value', isSnippet: true, rank: 2 },
  });
  return [
    ...seats[seat].map((label): Offer => ({ label, kind: 'value', detail: 'a seat without a model', rank: 1 })),
    written('openai:MODEL', `openai:\${1:MODEL}`, 'a model'),
    written('openai:MODEL@BASE_URL', `openai:\${1:MODEL}@\${2:http://127.0.0.1:8000/v1}`, 'a model at an endpoint'),
    ...(seat === 'agent' ? [written('agent:FILE', `agent:\${1:my.agent.yaml}`, 'a custom agent')] : []),
  ];
}

/** The values that the schema lists, and `true` and `false`. */
function schemaValues(kind: YamlKind, cursor: Cursor): readonly Offer[] {
  return formsAt(kind, cursor.path, valueAt(cursor.source, [])).flatMap(
    ({ type, enum: options, const: only, description }) => {
      const values = Array.isArray(options)
        ? options
        : only !== undefined
          ? [only]
          : type === 'boolean'
            ? [true, false]
            : [];
      return values.map((value) => ({
        ...scalarOffer(value as Json, cursor, '', 2),
        documentation: typeof description === 'string' ? description : '',
      }));
    },
  );
}

function argumentsOfAll(domain: LanguageDomain): readonly Offer[] {
  const names = new Set([...toolsOf(domain).values()].flatMap((known) => Object.keys(parametersOf(known) ?? {})));
  const all = referencesByName(domain.loaded.parts.texts, referenceContext(domain), domain);
  for (const key of all.keys()) if (key.startsWith('argument ')) names.add(key.slice(key.indexOf('.') + 1));
  return [...names].map((label) => ({ label, kind: 'argument', rank: 1 }));
}

/** Values of an argument: what its schema lists, what the task's user knows by this name, and rows that it names. */
function argumentValues(domain: LanguageDomain, cursor: Cursor): readonly Offer[] {
  const { path, source } = cursor;
  const name = String(path.at(-1));
  const isArgument = path.at(-2) === 'arguments';
  const known = isArgument ? toolsOf(domain).get(String(valueAt(source, [...path.slice(0, -2), 'tool']))) : undefined;
  const { enum: options = [], type } = ((known && parametersOf(known)?.[name]) ?? {}) as {
    readonly enum?: readonly Json[];
    readonly type?: unknown;
  };
  const facts =
    typeof path[0] === 'number' ? valueAt(source, [path[0], 'user', 'known']) : valueAt(source, ['user', 'known']);
  const fact = isArgument
    ? ((facts ?? {}) as Readonly<Record<string, Json | { readonly value: Json }>>)[name]
    : undefined;
  const told =
    typeof fact === 'object' && fact !== null && 'value' in fact ? (fact.value as Json) : (fact as Json | undefined);
  const table = tableOf(name, domain.loaded.world);
  const rows = table ? Object.keys(table.rows).slice(0, limit) : [];
  return [
    ...(told === undefined || String(told).includes(standIn)
      ? []
      : [scalarOffer(told, cursor, 'what the user knows', 0)]),
    ...options.map((value) => scalarOffer(value, cursor, 'by its schema', 1)),
    ...(type === 'boolean' ? [scalarOffer(true, cursor, '', 1), scalarOffer(false, cursor, '', 1)] : []),
    ...rows.map((row) => scalarOffer(row, cursor, `row of ${table?.name}`, 3)),
    ...(isLaterAction(path)
      ? [scalarOffer(`{result.${name}}`, cursor, 'what an earlier gold action returned', 4)]
      : []),
  ];
}

/** Whether a path is in a gold action that others come before. */
function isLaterAction(path: Path): boolean {
  const at = path.indexOf('actions');
  return at >= 0 && Number(path[at + 1]) > 0 && path[at + 2] === 'arguments';
}

function stepOffers(domain: LanguageDomain, source: Source, path: Path): readonly Offer[] {
  const list = path.slice(0, -1);
  const steps = ((valueAt(source, list) ?? []) as readonly (string | number)[]).slice(0, Number(path.at(-1)));
  const side: Side = valueAt(source, [...list.slice(0, -1), 'side']) === 'user' ? 'user' : 'agent';
  return placesBelow(domain, side, steps).map((offer) => ({ ...offer, insert: yamlScalar(offer.label) }));
}

/** `orders.W1.sta`: what is below the part before the last dot. */
function placeOffers(domain: LanguageDomain, cursor: Cursor, kind: YamlKind): readonly Offer[] {
  const { path, source, scalar } = cursor;
  const text = String(scalar.value ?? '').replace(standIn, '');
  const where = kind === 'task' ? (valueAt(source, [...path.slice(0, -1), 'in']) ?? 'agent') : 'agent';
  if (where !== 'agent' && where !== 'user') return [];
  const before = text.split('.').slice(0, -1);
  const steps = before.map((part) => (part.includes('{') || part === '*' ? null : part));
  const lead = before.length === 0 ? '' : `${before.join('.')}.`;
  return placesBelow(domain, where, steps).map((offer) => ({
    ...offer,
    label: `${lead}${offer.label}`,
    insert: `${lead}${offer.label}`,
  }));
}

function fieldValues(domain: LanguageDomain, cursor: Cursor): readonly Offer[] {
  const entry = cursor.path.slice(0, -1);
  const side: Side = valueAt(cursor.source, [...entry, 'side']) === 'user' ? 'user' : 'agent';
  return valuesOf(domain, side, (valueAt(cursor.source, [...entry, 'path']) ?? []) as readonly string[], cursor);
}

function assertedValues(domain: LanguageDomain, cursor: Cursor): readonly Offer[] {
  const entry = cursor.path.slice(0, -1);
  const side: Side = valueAt(cursor.source, [...entry, 'in']) === 'user' ? 'user' : 'agent';
  const path = String(valueAt(cursor.source, [...entry, 'path']) ?? '');
  return valuesOf(domain, side, path.split('.'), cursor);
}

function valuesOf(
  domain: LanguageDomain,
  side: Side,
  steps: readonly (string | number)[],
  cursor: Cursor,
): readonly Offer[] {
  const { end } = walk(side, shapesOf(domain)[side], steps);
  return end.type === 'value' ? end.values.map((value) => scalarOffer(value, cursor, 'in the database', 3)) : [];
}

/** The value as it is written in YAML; within quotes the words alone. */
function scalarOffer(value: Json, cursor: Cursor, detail: string, rank: number): Offer {
  const isQuoted = cursor.scalar.style !== 'plain';
  const text = textOrJson(value);
  return {
    label: text,
    kind: 'value',
    detail,
    rank,
    insert: isQuoted || typeof value !== 'string' ? text : yamlScalar(text),
  };
}
