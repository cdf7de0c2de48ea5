import { resultFields } from '../../engine/core/domain/simulatedTool.ts';
import type { Source } from '../../engine/shell/source/source.ts';
import type { Cursor } from '../symbols/cursor.ts';
import { typeWords } from '../symbols/documentation.ts';
import { type LanguageDomain, toolsOf } from '../symbols/languageDomain.ts';
import { scalarContent } from '../symbols/yamlText.ts';
import { argumentsOfTool } from './nameOffers.ts';
import { type Completion, type Offer, offered } from './offer.ts';

/**
 * Returns what can be in the braces of a sentence of the lexicon: the arguments of its tool, and what a user says about
 * its result.
 */
export function sentenceCompletions(
  domain: LanguageDomain,
  source: Source,
  { scalar, source: read, path }: Cursor,
  offset: number,
): readonly Completion[] {
  const words = scalarContent(read, scalar);
  const before = words.slice(0, offset - scalar.from);
  const open = /\{(\w*)$/.exec(before)?.[1];
  if (open === undefined) return [];
  const [behind = '', brace] = /^\w*(\})?/.exec(words.slice(before.length)) ?? [];
  const rest = behind.replace('}', '').length;
  const own = brace === undefined && rest === 0 ? '}' : '';
  const [tool, key] = [String(path.at(-3)), path.at(-2)];
  const offers = [...argumentsOfTool(domain, tool), ...(key === 'tell' ? resultOffers(domain, tool) : [])];
  return offers
    .filter(({ label }, index) => offers.findIndex((each) => each.label === label) === index)
    .map((offer) =>
      offered(
        source,
        { from: offset - open.length, to: offset + rest },
        { rank: 1, ...offer, insert: `${offer.label}${own}` },
      ),
    );
}

/** The fields of a result, where its schema says them, and the whole of it. */
function resultOffers(domain: LanguageDomain, tool: string): readonly Offer[] {
  const known = toolsOf(domain).get(tool)?.tool;
  const fields = known ? (resultFields(known) ?? {}) : {};
  return [
    ...Object.entries(fields).map(
      ([label, schema]): Offer => ({ label, kind: 'field', detail: `of the result, ${typeWords(schema)}`, rank: 2 }),
    ),
    { label: 'result', kind: 'name', detail: 'all of the result', rank: 3 },
  ];
}
