import { nameOnServer, serverOf } from '../../engine/core/domain/tool.ts';
import { type Json, objectOf } from '../../engine/core/values/json.ts';
import { formsAt } from '../../engine/shell/source/schemas.ts';
import type { Cursor } from '../symbols/cursor.ts';
import { typeWords } from '../symbols/documentation.ts';
import { type LanguageDomain, toolsOf } from '../symbols/languageDomain.ts';
import { pathInItem, roleAt, type YamlKind } from '../symbols/roles.ts';
import { valueAt } from '../symbols/yamlText.ts';
import { argumentNames, namesOf, toolOffer } from './nameOffers.ts';
import { type Offer, snippetOffer } from './offer.ts';
import { snippetsAt } from './snippets.ts';

/** Keys that a map does not have yet: names of the domain, keys of its format, and whole items where one can begin. */
export function keyOffers(domain: LanguageDomain, kind: YamlKind, cursor: Cursor): readonly Offer[] {
  const { path, source } = cursor;
  const parent = path.slice(0, -1);
  const own = String(path.at(-1));
  const beside = valueAt(source, parent);
  const taken = new Set(
    Object.keys(typeof beside === 'object' && beside !== null ? beside : {}).filter((key) => key !== own),
  );
  const isNew = !hasColon(cursor);
  const tail = isNew ? ': ' : '';
  const role = roleAt(kind, path, true);
  const named =
    role?.type === 'name'
      ? namesOf(domain, role.kind)
      : role?.type === 'argument'
        ? argumentNames(domain, source, parent)
        : role?.type === 'serverTool'
          ? serverTools(domain, String(pathInItem(kind, path)[1]))
          : [];
  const names = named
    .filter(({ label }) => !taken.has(label))
    .map((offer) => ({ ...offer, insert: `${offer.insert ?? offer.label}${tail}`, rank: 1 }));
  const snippets = snippetsAt(
    kind,
    pathInItem(kind, parent).length === 0 ? 'item' : String(pathInItem(kind, parent)[0]),
  );
  const isStart = isNew && !cursor.isFlow && (taken.size === 0 || pathInItem(kind, parent).join() === 'mcpServers');
  return [
    ...names,
    ...schemaKeys(kind, cursor, taken, isNew),
    ...(isStart ? snippets.map((snippet) => snippetOffer(snippet, '')) : []),
  ];
}

/** Returns the tools of a server by their names there. */
function serverTools(domain: LanguageDomain, server: string): readonly Offer[] {
  return [...toolsOf(domain).values()].flatMap(({ tool }) => {
    if (!tool || serverOf(tool) !== server) return [];
    return [{ ...toolOffer(domain, tool.name), label: nameOnServer(tool) }];
  });
}

const hasColon = ({ source, scalar }: Cursor) => /^["']?[ \t]*:/.test(source.text.slice(scalar.to));

function schemaKeys(kind: YamlKind, cursor: Cursor, taken: ReadonlySet<string>, isNew: boolean): readonly Offer[] {
  const parent = cursor.path.slice(0, -1);
  const forms = formsAt(kind, parent, valueAt(cursor.source, [])).filter(({ properties }) => properties !== undefined);
  const keys = forms.flatMap((form) => Object.entries(form['properties'] as Readonly<Record<string, Json>>));
  // Forms of a map, such as the checks of a rule, share keys. Each is offered once.
  return [...Map.groupBy(keys, ([label]) => label)].flatMap(([label, same], index): Offer[] => {
    const schemas = same.map(([, schema]) => schema);
    const [schema = null] = schemas;
    if (taken.has(label)) return [];
    const isRequired = forms.every(({ required }) => Array.isArray(required) && required.includes(label));
    return [
      {
        label,
        kind: 'key',
        detail: `${[...new Set(schemas.map(typeWords))].join(' or ')}${isRequired ? ', required' : ''}`,
        documentation: meaningOf(schemas),
        insert: isNew ? keyText(label, schema, cursor.isFlow) : label,
        isSnippet: isNew,
        rank: (isRequired ? 2 : 4) + index / 1000,
      },
    ];
  });
}

/** The description of a key, and where its forms have several, that of each. */
function meaningOf(schemas: readonly Json[]): string {
  const described = schemas.flatMap((schema) => {
    const { description } = objectOf(schema);
    return typeof description === 'string' ? [{ schema, description }] : [];
  });
  const all = new Set(described.map(({ description }) => description));
  if (all.size < 2) return [...all].join('');
  return described.map(({ schema, description }) => `- ${typeWords(schema)}: ${description}`).join('\n');
}

function keyText(key: string, schema: Json, isFlow: boolean): string {
  const { type } = schema as { readonly type?: unknown };
  if (type === 'array') return isFlow ? `${key}: [$0]` : `${key}: [$0]`;
  if (type === 'object') return isFlow ? `${key}: { $0 }` : `${key}:\n  $0`;
  return `${key}: $0`;
}
