import type { Side } from '../../engine/core/domain/tool.ts';
import { functionNames, signatures } from '../../engine/core/expression/signature.ts';
import { ruleNames } from '../../engine/core/rules/seen.ts';
import { assertionNames } from '../../engine/core/verifiers/assertions.ts';
import type { Source } from '../../engine/shell/source/source.ts';
import { type Cursor, standIn } from '../symbols/cursor.ts';
import { type ExpressionPath, readExpression, type Token, tokensOf, wordOperators } from '../symbols/expressionText.ts';
import { type LanguageDomain, parametersOf, shapesOf, toolsOf } from '../symbols/languageDomain.ts';
import type { YamlKind } from '../symbols/roles.ts';
import { walk } from '../symbols/shape.ts';
import { scalarContent, valueAt } from '../symbols/yamlText.ts';
import { namesOf } from './nameOffers.ts';
import { type Completion, factNames, type Offer, offered, placesBelow } from './offer.ts';

/** The members of the elements of these lists. */
const members: Readonly<Record<string, readonly string[]>> = {
  calls: ['tool', 'args', 'result', 'failed', 'by', 'step'],
  expected: ['tool', 'args', 'by'],
  messages: ['role', 'content', 'toolCalls', 'step'],
};

/**
 * Returns what can be written at a place of an expression: names, functions, members of paths, and texts that they are
 * compared with.
 */
export function expressionCompletions(
  domain: LanguageDomain,
  kind: YamlKind,
  source: Source,
  { scalar, source: read, span, lead }: Cursor,
  offset: number,
): readonly Completion[] {
  const isStandIn = span.from === span.to;
  const before = isStandIn ? '' : scalarContent(read, scalar).slice(0, offset - scalar.from);
  const word = /[\w$]*$/.exec(before)?.[0] ?? '';
  const own = { from: offset - word.length, to: offset };
  const open = openText(before);
  if (open) {
    const texts = textOffers(domain, before, open);
    return texts.map((offer) => offered(source, { from: offset - (before.length - open.from - 1), to: offset }, offer));
  }
  const ahead = before.slice(0, before.length - word.length);
  const offers = /\.\s*$/.test(ahead)
    ? memberOffers(domain, ahead.replace(/\.\s*$/, ''), toolsBeside(read, scalar.path))
    : nameOffers(kind, source, scalar.path);
  return offers.map((offer) =>
    offered(source, own, { ...offer, insert: `${lead}${(offer.insert ?? offer.label).replace(standIn, '')}` }),
  );
}

/** The text that is open at the end. */
function openText(before: string): Token | undefined {
  const last = tokensOf(before).at(-1);
  const isClosed = last && last.text.length > 1 && last.text.at(-1) === last.text[0];
  return last?.kind === 'text' && !isClosed && last.to === before.length ? last : undefined;
}

const sides: Readonly<Record<string, Side>> = { db: 'agent', user: 'user', state: 'agent' };

/** Names of tools where one is meant, rows in brackets, else the values of the field that it is compared with. */
function textOffers(domain: LanguageDomain, before: string, open: Token): readonly Offer[] {
  const { toolTexts } = readExpression(before);
  if (toolTexts.some(({ from }) => from === open.from + 1)) {
    return [...toolsOf(domain).keys()].map((label) => ({ label, kind: 'tool', rank: 1 }));
  }
  const ahead = before.slice(0, open.from).trimEnd();
  if (ahead.endsWith('[')) {
    const path = pathEndingAt(ahead.slice(0, -1));
    const side = path && sides[path.root.text];
    return path && side
      ? placesBelow(
          domain,
          side,
          path.parts.map(({ segment }) => segment),
        )
      : [];
  }
  const compared = /(?:==|!=)$/.exec(ahead);
  const path = compared ? pathEndingAt(ahead.slice(0, compared.index)) : undefined;
  const side = path && sides[path.root.text];
  if (!path || !side) return [];
  const { end } = walk(
    side,
    shapesOf(domain)[side],
    path.parts.map(({ segment }) => segment),
  );
  if (end.type !== 'value') return [];
  return end.values.flatMap((value) =>
    typeof value === 'string' ? [{ label: value, kind: 'value' as const, detail: 'in the database' }] : [],
  );
}

function pathEndingAt(before: string): ExpressionPath | undefined {
  const end = before.trimEnd().length;
  return readExpression(before).paths.findLast((path) => path.end === end);
}

/**
 * The tools that are next to an expression: those of its check, or the one of its receipt; null where any may be meant.
 */
function toolsBeside(source: Source, path: Cursor['path']): readonly string[] | null {
  // An expression can be an entry of a list.
  const check = path.slice(0, typeof path.at(-1) === 'number' ? -2 : -1);
  const { tool, tools } = (valueAt(source, check) ?? {}) as { readonly tool?: unknown; tools?: unknown };
  if (typeof tool === 'string') return [tool];
  return Array.isArray(tools) && tools.length > 0 ? tools.map(String) : null;
}

function memberOffers(domain: LanguageDomain, before: string, tools: readonly string[] | null): readonly Offer[] {
  const path = pathEndingAt(before);
  if (!path) return [];
  const name = path.root.text;
  const side = Object.hasOwn(sides, name) ? sides[name] : undefined;
  if (side)
    return placesBelow(
      domain,
      side,
      path.parts.map(({ segment }) => segment),
    ).filter(({ label }) => /^[A-Za-z_$][\w$]*$/.test(label));
  if (name === 'facts' && path.parts.length === 0) return factNames(domain).map((label) => ({ label, kind: 'fact' }));
  if (name === 'phrases' && path.parts.length === 0) return namesOf(domain, 'phrases');
  const last = path.parts.at(-1)?.segment;
  if (name === 'args' && path.parts.length === 0) return argumentOffers(domain, tools);
  if (last === 'args') return argumentOffers(domain, null);
  if (last !== null) return [];
  return (Object.hasOwn(members, name) ? (members[name] ?? []) : []).map((label) => ({ label, kind: 'name' }));
}

function argumentOffers(domain: LanguageDomain, of: readonly string[] | null): readonly Offer[] {
  const meant = [...toolsOf(domain).values()].filter(({ name }) => of === null || of.includes(name));
  const names = new Set(meant.flatMap((known) => Object.keys(parametersOf(known) ?? {})));
  return [...names].map((label) => ({ label, kind: 'argument' }));
}

function nameOffers(kind: YamlKind, { text }: Source, path: Cursor['path']): readonly Offer[] {
  const isReceipt = kind === 'task' && path.at(-1) === 'when';
  const names = kind === 'rules' ? ruleNames : isReceipt ? ['args', 'result', 'timeZone'] : assertionNames;
  const bound = [...text.matchAll(/\b(?:any|all|find|filter|count|sum)\([^()]*,\s*([A-Za-z_$][\w$]*)\s*,/g)].map(
    ([, each = '']) => each,
  );
  return [
    ...[...new Set([...names, 'it', ...bound])].map((label): Offer => ({ label, kind: 'name', rank: 1 })),
    ...functionNames.map(
      (label): Offer => ({
        label,
        kind: 'function',
        detail: signatures[label].usage,
        insert: `${label}($0)`,
        isSnippet: true,
        rank: 3,
      }),
    ),
    ...wordOperators.map((label): Offer => ({ label, kind: 'value', rank: 6 })),
  ];
}
