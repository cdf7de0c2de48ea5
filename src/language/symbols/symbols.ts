import { blocksQuoting } from '../../engine/core/domain/policy.ts';
import { type Side, serverOf } from '../../engine/core/domain/tool.ts';
import type { Location } from '../../engine/shell/files/diagnostic.ts';
import type { DomainText } from '../../engine/shell/load/loadedDomain.ts';
import { remembered } from '../../engine/shell/source/source.ts';
import { databaseReferenceAt, databaseReferences } from './databaseText.ts';
import { type LanguageDomain, shapesOf, textOf, toolsOf } from './languageDomain.ts';
import { pageSize } from './pages.ts';
import type { SymbolKind } from './roles.ts';
import {
  type ReferenceContext,
  referencesByName,
  type SymbolReference,
  symbolReferencesIn,
} from './symbolReferences.ts';
import { offsetOf, placeOfSpan, touches } from './text.ts';

/** A reference and the file that it is in. */
export type Placed = SymbolReference & { readonly text: DomainText };

/** A place in a file, with line and column from 1. */
export type Position = { readonly file: string; readonly line: number; readonly column: number };

const contexts = new WeakMap<LanguageDomain, ReferenceContext>();

/** Returns what the other files of a domain decide of what one mentions. */
export function referenceContext(domain: LanguageDomain): ReferenceContext {
  return remembered(contexts, domain, () => {
    const tools = new Set(toolsOf(domain).keys());
    return { tools, shapes: shapesOf(domain), key: [...tools].join('\n') };
  });
}

/** Returns what a file mentions, in the order of the text; nothing for a file that is not the domain's. */
export function referencesOfFile(domain: LanguageDomain, file: string): readonly SymbolReference[] {
  const text = textOf(domain, file);
  return text ? symbolReferencesIn(text, referenceContext(domain)) : [];
}

/** Returns what is mentioned at a place: the innermost of what is there. */
export function referenceAt(domain: LanguageDomain, { file, line, column }: Position): Placed | undefined {
  const text = textOf(domain, file);
  if (!text) return undefined;
  const offset = offsetOf(text.source, line, column);
  if (text.kind === 'database' || text.kind === 'userDatabase') {
    const side = sideOf(text);
    const found = databaseReferenceAt(text.source, side, shapesOf(domain)[side], offset);
    return found && { ...found, text };
  }
  const found = referencesOfFile(domain, file).findLast((reference) => touches(reference, offset));
  return found && { ...found, text };
}

const sideOf = ({ kind }: DomainText): Side => (kind === 'userDatabase' ? 'user' : 'agent');

/** Every reference to something, in the files' order. */
export function referencesByKind(domain: LanguageDomain, kind: SymbolKind, name: string): readonly Placed[] {
  const { texts } = domain.loaded.parts;
  const byName = referencesByName(texts, referenceContext(domain), domain);
  const found = (byName.get(`${kind} ${name}`) ?? []).map(([text, reference]) => ({ ...reference, text }));
  if (kind !== 'field' && kind !== 'row') return found;
  return [...found, ...[...texts.values()].flatMap((text) => inDatabase(domain, text, name))];
}

function inDatabase(domain: LanguageDomain, text: DomainText, name: string): readonly Placed[] {
  const side = sideOf(text);
  const isDatabase = text.kind === 'database' || text.kind === 'userDatabase';
  if (!isDatabase || !name.startsWith(`${side}:`)) return [];
  return databaseReferences(text.source, side, shapesOf(domain)[side], name).map((each) => ({ ...each, text }));
}

/** Returns where a reference is. */
export function placeOfReference({ text, from, to }: Placed): Location {
  return placeOfSpan(text.source, { from, to });
}

/** Returns where the thing that is mentioned at a place is made. */
export function definitionsOf(domain: LanguageDomain, position: Position): readonly Location[] {
  const reference = referenceAt(domain, position);
  if (!reference) return [];
  const declared = declarationsOf(domain, reference);
  if (declared.length > 0) return declared;
  return reference.kind === 'fact' ? firstUses(domain, reference) : [];
}

function declarationsOf(
  domain: LanguageDomain,
  { kind, name }: Pick<SymbolReference, 'kind' | 'name'>,
): readonly Location[] {
  const { loaded } = domain;
  if (kind === 'tool') {
    const { at = null, tool = null } = toolsOf(domain).get(name) ?? {};
    if (at) return [at];
    const server = tool && loaded.locations.mcpServers.get(serverOf(tool) ?? '');
    return server ? [server] : [];
  }
  if (kind === 'argument') {
    const [tool = ''] = name.split('.');
    return tool === '*' ? [] : declarationsOf(domain, { kind: 'tool', name: tool });
  }
  const declared = referencesByKind(domain, kind, name).filter(({ declares }) => declares);
  if (declared.length > 0 || kind === 'field')
    return (kind === 'field' ? referencesByKind(domain, kind, name).filter(isInDatabase).slice(0, 1) : declared).map(
      placeOfReference,
    );
  if (kind !== 'rule') return [];
  const [block] = blocksQuoting(loaded.parts.policy.blocks, name);
  if (!block) return [];
  const { line, column, endLine, endColumn } = block;
  return [{ file: loaded.parts.policyFile, line, column, endLine, endColumn }];
}

const isInDatabase = ({ text: { kind } }: Placed) => kind === 'database' || kind === 'userDatabase';

/** A fact without words in the lexicon is made by the first task whose user knows it. */
function firstUses(domain: LanguageDomain, { kind, name }: SymbolReference): readonly Location[] {
  return referencesByKind(domain, kind, name).slice(0, 1).map(placeOfReference);
}

/** Returns every place that refers to the same thing as a place. */
export function referencesOf(
  domain: LanguageDomain,
  position: Position,
  withDeclaration: boolean,
): readonly Location[] {
  const reference = referenceAt(domain, position);
  if (!reference) return [];
  return referencesByKind(domain, reference.kind, reference.name)
    .filter(({ declares }) => withDeclaration || !declares)
    .map(placeOfReference);
}

/** Returns the places of one file that refer to the same thing as a place in it. */
export function highlightsOf(domain: LanguageDomain, position: Position): readonly Location[] {
  const reference = referenceAt(domain, position);
  if (!reference) return [];
  return referencesByKind(domain, reference.kind, reference.name)
    .filter(({ text }) => text.source.file === position.file)
    .map(placeOfReference);
}

/** A thing of a domain that a person looks for by its name. */
export type NamedSymbol = {
  readonly kind: SymbolKind;
  readonly name: string;
  readonly at: Location;
  readonly container: string;
};

const sought: readonly SymbolKind[] = ['tool', 'rule', 'persona', 'task', 'verifier', 'fact', 'phrases'];

/** Returns what the domain declares whose name has the letters of a query in their order; of thousands, the first. */
export function workspaceSymbols(domain: LanguageDomain, query: string): readonly NamedSymbol[] {
  const wanted = [...query.toLowerCase()];
  const matches = (name: string) => {
    let rest = name.toLowerCase();
    return wanted.every((letter) => {
      const at = rest.indexOf(letter);
      rest = rest.slice(at + 1);
      return at >= 0;
    });
  };
  const container = domain.loaded.domain.name;
  const found: NamedSymbol[] = [];
  const texts = Map.groupBy(domain.loaded.parts.texts.values(), ({ kind }) => kind === 'task');
  for (const text of [...(texts.get(false) ?? []), ...(texts.get(true) ?? [])]) {
    for (const reference of symbolReferencesIn(text, referenceContext(domain))) {
      const { kind, name, declares } = reference;
      if (!declares || !sought.includes(kind) || !matches(name)) continue;
      found.push({ kind, name, container, at: placeOfReference({ ...reference, text }) });
      if (found.length === pageSize) return found;
    }
  }
  return found;
}
