import type { Side } from '../../engine/core/domain/tool.ts';
import type { Json } from '../../engine/core/values/json.ts';
import type { Location } from '../../engine/shell/files/diagnostic.ts';
import type { Source } from '../../engine/shell/source/source.ts';
import { type LanguageDomain, shapesOf } from '../symbols/languageDomain.ts';
import type { SymbolKind } from '../symbols/roles.ts';
import { type Shape, walk } from '../symbols/shape.ts';
import { referencesByName } from '../symbols/symbolReferences.ts';
import { referenceContext } from '../symbols/symbols.ts';
import { placeOfSpan, type Span } from '../symbols/text.ts';
import type { Snippet } from './snippets.ts';

/** Something that can be written at a place. */
export type Completion = {
  readonly label: string;
  readonly kind: SymbolKind | 'key' | 'value' | 'function' | 'name' | 'snippet';
  /** A short text next to the label. */
  readonly detail: string;
  /** Markdown; empty where there is nothing to say. */
  readonly documentation: string;
  /** The inserted text; a snippet contains placeholders. */
  readonly insert: string;
  readonly isSnippet: boolean;
  /** The range that it replaces. */
  readonly at: Location;
  /** Those with a smaller number are first. */
  readonly rank: number;
};

/** A completion before it has a place. */
export type Offer = Partial<Completion> & Pick<Completion, 'label' | 'kind'>;

/** Gives an offer its place, and the defaults of what it leaves out. */
export function offered(source: Source, span: Span, offer: Offer): Completion {
  const { label } = offer;
  const base = { detail: '', documentation: '', insert: label, isSnippet: false, rank: 5 };
  return { ...base, ...offer, at: placeOfSpan(source, span) };
}

/** Rows of a table that are offered; who looks for another one types its first letters. */
export const limit = 500;

/** The facts of the lexicon and of the tasks. */
export function factNames(domain: LanguageDomain): readonly string[] {
  const all = referencesByName(domain.loaded.parts.texts, referenceContext(domain), domain);
  return [...all.keys()].flatMap((key) => (key.startsWith('fact ') ? [key.slice(5)] : []));
}

/** Returns the children of a place in a database: fields or rows. */
export function placesBelow(
  domain: LanguageDomain,
  side: Side,
  steps: readonly (string | number | null)[],
): readonly Offer[] {
  const { end } = walk(side, shapesOf(domain)[side], steps);
  if (end.type === 'object')
    return [...end.fields].map(([label, shape]) => ({ label, kind: 'field', detail: words(shape), rank: 1 }));
  if (end.type !== 'table' || steps.includes(null)) return [];
  const table = steps.reduce<Json | undefined>(
    (value, step) =>
      typeof value === 'object' && value !== null ? (value as Record<string, Json>)[String(step)] : undefined,
    domain.loaded.world[side],
  );
  return Object.keys((table ?? {}) as object)
    .slice(0, limit)
    .map((label) => ({ label, kind: 'row', rank: 1 }));
}

function words(shape: Shape): string {
  if (shape.type === 'value') return JSON.stringify(shape.values[0] ?? null);
  return shape.type === 'unknown' ? '' : shape.type;
}

/** A snippet as an offer, behind a dash where it is an item of a list. */
export function snippetOffer({ label, detail, body }: Snippet, lead: string): Offer {
  const lines = body.split('\n');
  const insert = lead === '- ' ? `- ${lines.join('\n  ')}` : `${lead}${body}`;
  return { label, detail, kind: 'snippet', insert, isSnippet: true, rank: 8 };
}
