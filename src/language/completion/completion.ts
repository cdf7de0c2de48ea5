import { isExpression } from '../../engine/core/rules/confirmed.ts';
import type { Source } from '../../engine/shell/source/source.ts';
import { type Cursor, cursorsAt } from '../symbols/cursor.ts';
import { type LanguageDomain, textOf, toolsOf } from '../symbols/languageDomain.ts';
import { isYaml, roleAt, type YamlKind } from '../symbols/roles.ts';
import type { Position } from '../symbols/symbols.ts';
import { offsetOf } from '../symbols/text.ts';
import { expressionCompletions } from './expressionCompletion.ts';
import { keyOffers } from './keyCompletion.ts';
import { toolOffer } from './nameOffers.ts';
import { type Completion, offered, snippetOffer } from './offer.ts';
import { sentenceCompletions } from './sentenceCompletion.ts';
import { snippetsAt } from './snippets.ts';
import { valueOffers } from './valueCompletion.ts';

/** Returns what can be written at a place of a file of the domain, as far as that can be determined. */
export function completionsAt(domain: LanguageDomain, { file, line, column }: Position): readonly Completion[] {
  const text = textOf(domain, file);
  if (!text) return [];
  const offset = offsetOf(text.source, line, column);
  if (text.kind === 'policy') return inPolicy(domain, text.source, offset);
  if (!isYaml(text.kind)) return [];
  const { kind, source } = text;
  const cursors = cursorsAt(source, offset);
  if (cursors.length === 0 && isAtRoot(source, offset)) return itemsAtRoot(kind, source, offset);
  const found = cursors.flatMap((cursor) => ofCursor(domain, kind, source, cursor, offset));
  // The same thing may be offered for two reasons: the better one is. In an empty file, a key may also begin a list.
  const ranked = found.toSorted((a, b) => a.rank - b.rank);
  const sameness = ({ label, kind, insert }: Completion) => (kind === 'key' ? `${label}:` : `${label} ${insert}`);
  return [...Map.groupBy(ranked, sameness).values()].flatMap((same) => same.slice(0, 1));
}

function isAtRoot({ text }: Source, offset: number): boolean {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^(?:- ?)?\w*$/.test(text.slice(start, offset));
}

/** Items of a file where YAML can't tell yet what is there: below a list, or in an empty file. */
function itemsAtRoot(kind: YamlKind, source: Source, offset: number): readonly Completion[] {
  const start = source.text.lastIndexOf('\n', offset - 1) + 1;
  const isList = /^- /m.test(source.text) || kind === 'rules';
  return snippetsAt(kind, 'item').map((snippet) =>
    offered(source, { from: start, to: offset }, snippetOffer(snippet, isList ? '- ' : '')),
  );
}

function inPolicy(domain: LanguageDomain, source: Source, offset: number): readonly Completion[] {
  const before = source.text.slice(source.text.lastIndexOf('\n', offset - 1) + 1, offset);
  const after = source.text.slice(offset);
  const id = /\{#([\w-]*)$/.exec(before)?.[1];
  if (id !== undefined) {
    const span = { from: offset - id.length, to: offset + (/^[\w-]*/.exec(after)?.[0].length ?? 0) };
    return unmarkedRules(domain).map((label) =>
      offered(source, span, { label, kind: 'rule', detail: 'a check is bound to it' }),
    );
  }
  const word = /[\w-]*$/.exec(before)?.[0] ?? '';
  const span = { from: offset - word.length, to: offset + (/^[\w-]*/.exec(after)?.[0].length ?? 0) };
  const isSpan = before.at(-word.length - 1) === '`';
  if (!isSpan && word.length < 2) return [];
  return [...toolsOf(domain).keys()].map((label) =>
    offered(source, span, {
      ...toolOffer(domain, label),
      insert: isSpan && !after.includes('`') ? `${label}\`` : label,
    }),
  );
}

/** Rules that checks name and the policy does not have. */
function unmarkedRules({ loaded }: LanguageDomain): readonly string[] {
  const ids = new Set(loaded.domain.policy.rules.map(({ id }) => id));
  return [...new Set(loaded.domain.rules.map(({ rule }) => rule))].filter((rule) => !ids.has(rule) && !/\s/.test(rule));
}

function ofCursor(
  domain: LanguageDomain,
  kind: YamlKind,
  source: Source,
  cursor: Cursor,
  offset: number,
): readonly Completion[] {
  const role = roleAt(kind, cursor.path, cursor.isKey);
  const isNamed = role?.type === 'named';
  const ofExpression =
    isNamed || role?.type === 'expression' ? expressionCompletions(domain, kind, source, cursor, offset) : [];
  if (role?.type === 'expression' || (isNamed && isExpression(String(cursor.scalar.value)))) return ofExpression;
  if (role?.type === 'sentence') return sentenceCompletions(domain, source, cursor, offset);
  const offers = cursor.isKey ? keyOffers(domain, kind, cursor) : valueOffers(domain, kind, cursor);
  const made = offers.map((offer) => {
    const insert = offer.isSnippet ? (offer.insert ?? offer.label) : written(offer.insert ?? offer.label, cursor);
    return offered(source, cursor.span, { ...offer, insert: `${cursor.lead}${nested(insert, source, cursor)}` });
  });
  return [...made, ...ofExpression];
}

/** A text as it has to be there: within the quotes that are written, or in its own where it needs them. */
function written(text: string, { scalar, isKey }: Cursor): string {
  if (isKey || scalar.style === 'block') return text;
  if (scalar.style === 'double') return JSON.stringify(text).slice(1, -1);
  if (scalar.style === 'single') return text.replaceAll("'", "''");
  return text;
}

/** Lines below a first one that begins behind a dash: an editor indents them as its line, which the dash is part of. */
function nested(insert: string, { text }: Source, { span, lead }: Cursor): string {
  const before = `${text.slice(text.lastIndexOf('\n', span.from - 1) + 1, span.from)}${lead}`.trimStart();
  return /^(?:- *)+$/.test(before) ? insert.replaceAll('\n', `\n${' '.repeat(before.length)}`) : insert;
}
