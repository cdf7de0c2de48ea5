import { functionNames } from '../engine/core/expression/signature.ts';
import type { Source } from '../engine/shell/source/source.ts';
import { keywords, tokensOf } from './symbols/expressionText.ts';
import { type LanguageDomain, textOf } from './symbols/languageDomain.ts';
import { isYaml, roleOf, type SymbolKind, type YamlKind } from './symbols/roles.ts';
import { referencesOfFile } from './symbols/symbols.ts';
import { placeOfSpan, type Span } from './symbols/text.ts';
import { scalarContent, scalarsOf } from './symbols/yamlText.ts';

/** A word of a file that names something, for its colour. Line and column count from 1. */
export type NameToken = {
  readonly line: number;
  readonly column: number;
  readonly length: number;
  readonly kind: SymbolKind | 'function' | 'keyword' | 'text' | 'number';
  readonly declares: boolean;
};

/** The names in a text that people write for the domain, in order; code has its own colours. */
export function tokensOfFile(domain: LanguageDomain, file: string): readonly NameToken[] {
  const text = textOf(domain, file);
  if (!text || ['code', 'python', 'verifiers', 'database', 'userDatabase'].includes(text.kind)) return [];
  const names = referencesOfFile(domain, file);
  const taken = new Set(names.map(({ from }) => from));
  const words = isYaml(text.kind) ? expressionWords(text.kind, text.source).filter(({ from }) => !taken.has(from)) : [];
  let end = 0;
  return [...names, ...words]
    .toSorted((a, b) => a.from - b.from)
    .flatMap(({ from, to, kind, declares }) => {
      const { line, column, endLine } = placeOfSpan(text.source, { from, to });
      if (from < end || line !== endLine) return [];
      end = to;
      return [{ line, column, length: to - from, kind, declares }];
    });
}

const functions: ReadonlySet<string> = new Set(functionNames);

type Word = Span & { readonly kind: NameToken['kind']; readonly declares: false };

/** The functions, operators and values of expressions. */
function expressionWords(kind: YamlKind, source: Source): readonly Word[] {
  return scalarsOf(source).flatMap((scalar) => {
    if (roleOf(kind, scalar)?.type !== 'expression') return [];
    return tokensOf(scalarContent(source, scalar)).flatMap((token): Word[] => {
      const of = wordKind(token.kind, token.text);
      if (of === null) return [];
      return [{ kind: of, declares: false, from: scalar.from + token.from, to: scalar.from + token.to }];
    });
  });
}

function wordKind(kind: string, text: string): Word['kind'] | null {
  if (kind === 'text' || kind === 'number') return kind;
  if (kind !== 'name') return null;
  return keywords.has(text) ? 'keyword' : functions.has(text) ? 'function' : null;
}
