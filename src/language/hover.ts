import { counted } from '../engine/core/text/counted.ts';
import type { Location } from '../engine/shell/files/diagnostic.ts';
import { tableOf } from '../engine/shell/load/tables.ts';
import { formsAt, type SchemaName } from '../engine/shell/source/schemas.ts';
import type { Source } from '../engine/shell/source/source.ts';
import { dataBlock, documentationOf, typeWords } from './symbols/documentation.ts';
import { type LanguageDomain, textOf } from './symbols/languageDomain.ts';
import { isYaml, pathInItem, type SymbolKind } from './symbols/roles.ts';
import { type Position, placeOfReference, referenceAt, referencesByKind } from './symbols/symbols.ts';
import { offsetOf, placeOfSpan, touches } from './symbols/text.ts';
import { scalarsOf, valueAt, type YamlScalar } from './symbols/yamlText.ts';

/** The description of a place in markdown, and the symbol there, if any. */
export type Hover = {
  readonly at: Location;
  readonly markdown: string;
  readonly about: { readonly kind: SymbolKind; readonly name: string } | null;
};

/** Returns what is known of what is at a place: something with a name, a key, or a row that an argument names. */
export function hoverAt(domain: LanguageDomain, position: Position): Hover | null {
  const text = textOf(domain, position.file);
  if (!text) return null;
  const reference = referenceAt(domain, position);
  if (reference) {
    const { kind, name } = reference;
    const told = documentationOf(domain, reference);
    if (told !== null)
      return { at: placeOfReference(reference), markdown: withUses(domain, told, kind, name), about: { kind, name } };
  }
  if (!isYaml(text.kind)) return null;
  const { source } = text;
  const offset = offsetOf(source, position.line, position.column);
  const scalar = scalarsOf(source).find((each) => touches(each, offset));
  if (!scalar) return null;
  const markdown = rowNamed(domain, scalar) ?? keyWords(text.kind, source, scalar);
  return markdown === null ? null : { at: placeOfSpan(source, scalar), markdown, about: null };
}

function withUses(domain: LanguageDomain, told: string, kind: SymbolKind, name: string): string {
  if (kind !== 'tool') return told;
  const uses = referencesByKind(domain, kind, name).filter(({ text }) => text.kind === 'task').length;
  return `${told}\n\nNamed ${counted(uses, 'time')} in tasks.`;
}

/** The row that the value of an argument names, where the argument is named after a table. */
function rowNamed({ loaded }: LanguageDomain, { path, isKey, value }: YamlScalar): string | null {
  const isArgument = path.at(-2) === 'arguments' || path.at(-2) === 'known';
  if (isKey || !isArgument || typeof value !== 'string') return null;
  const table = tableOf(String(path.at(-1)), loaded.world);
  const row = table && Object.hasOwn(table.rows, value) ? (table.rows as Record<string, unknown>)[value] : undefined;
  return table && row !== undefined ? `**${table.name}.${value}**\n\n${dataBlock(row as never)}` : null;
}

/** Returns the meaning of a key, its values, and its default. */
function keyWords(kind: SchemaName, source: Source, { path, isKey, value }: YamlScalar): string | null {
  if (!isKey && typeof value === 'string' && value.length > 40) return null;
  const root = valueAt(source, []);
  const forms = formsAt(kind, path, root);
  if (forms.length === 0 || pathInItem(kind as never, path).length === 0) return null;
  const description = forms.map((each) => each['description']).find((each) => typeof each === 'string');
  const fallback = forms.map((each) => each['default']).find((each) => each !== undefined);
  const type = typeWords(forms[0]);
  const facts = [
    type === 'any value' ? null : type,
    fallback === undefined || typeof fallback === 'object' ? null : `${JSON.stringify(fallback)} by default`,
  ];
  const named = facts.filter((each) => each !== null).join(', ');
  // An item of a list has a number, which tells nothing.
  const isItem = typeof path.at(-1) === 'number';
  if (description === undefined && (named === '' || isItem)) return null;
  return [
    `**${String(path.findLast((part) => typeof part === 'string'))}**${named === '' ? '' : ` (${named})`}`,
    ...(description === undefined ? [] : [description]),
  ].join('\n\n');
}
