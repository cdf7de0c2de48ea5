import { basename } from 'node:path';
import { personaIds } from '../engine/core/domain/persona.ts';
import { ruleIds } from '../engine/core/domain/policy.ts';
import { taskIds } from '../engine/core/domain/task.ts';
import { nameOnServer, serverOf } from '../engine/core/domain/tool.ts';
import { type Edit, type Location, placeAt } from '../engine/shell/files/diagnostic.ts';
import type { TextKind } from '../engine/shell/load/loadedDomain.ts';
import { yamlScalar } from '../engine/shell/source/edit.ts';
import { argumentsOf } from '../engine/shell/source/note.ts';
import { memberOf } from '../engine/shell/source/typeMember.ts';
import { type LanguageDomain, shapesOf, toolsOf } from './symbols/languageDomain.ts';
import { isReservedIn, isReservedInExpressions } from './symbols/reservedWords.ts';
import { isYaml, type SymbolKind } from './symbols/roles.ts';
import { lastPart, placeOfName, type Shape, walk } from './symbols/shape.ts';
import { saysIdentifier } from './symbols/symbolReferences.ts';
import { type Placed, type Position, placeOfReference, referenceAt, referencesByKind } from './symbols/symbols.ts';
import { placeOfSpan } from './symbols/text.ts';

/** Why something can't be renamed, in one sentence and what to do instead. */
export type Refusal = { readonly refusal: string };

/** A symbol that can be renamed. */
export type Renamable = { readonly at: Location; readonly name: string };

/** A rename in all files of the domain. */
export type Renaming = {
  readonly edits: readonly Edit[];
  /** Occurrences that are not renamed although they may mean the same; a person must check them. */
  readonly notes: readonly string[];
  /**
   * The place where the types of the tools' code declare a field. A language server of that code can rename it from
   * there.
   */
  readonly member: Location | null;
  /** The report if no language server renamed the field; null if there is nothing to report. */
  readonly unfollowed: string | null;
};

/** The word that a rename at a place would change, or why there is none. */
export function renamableAt(domain: LanguageDomain, position: Position): Renamable | Refusal {
  const reference = referenceAt(domain, position);
  if (!reference) return { refusal: 'There is nothing to rename here.' };
  const refusal = refusalOf(domain, reference);
  return refusal === null ? { at: placeOfReference(reference), name: writtenName(reference) } : { refusal };
}

/** The last part of a field's pattern; of anything else its name. */
function writtenName({ kind, name }: Pick<Placed, 'kind' | 'name'>): string {
  return kind === 'field' ? lastPart(name) : name;
}

function refusalOf(domain: LanguageDomain, { kind, name }: Placed): string | null {
  switch (kind) {
    case 'tool': {
      const known = toolsOf(domain).get(name);
      if (!known) return `There is no tool ${name} in this domain, so there is nothing to rename.`;
      const { tool } = known;
      const server = tool && serverOf(tool);
      if (tool && server !== null && missing(domain, kind, name) !== null)
        return `${name} is a tool of the server ${server}. Write rename: { ${JSON.stringify(nameOnServer(tool))}: NAME } under the server in domain.yaml.`;
      if (known.at === null && server === null)
        return `${name} is a tool of an environment, which names it: it can't be renamed here.`;
      return null;
    }
    case 'rule':
      return /\s/.test(name)
        ? 'This quotes the policy. Change the words there and here, or give the rule an id: {#an-id}.'
        : missing(domain, kind, name);
    case 'persona':
    case 'task':
    case 'verifier':
    case 'phrases':
      return missing(domain, kind, name);
    case 'argument':
      return 'An argument is declared by the schema of its tool: rename it there, then here.';
    case 'row':
      return `${lastPart(name)} is the key of a row. Arguments and texts say it as data, so it can't be renamed as a name.`;
    case 'fact':
    case 'field':
      return null;
    default:
      return kind satisfies never;
  }
}

function missing(domain: LanguageDomain, kind: SymbolKind, name: string): string | null {
  const isThere = referencesByKind(domain, kind, name).some(({ declares }) => declares);
  return isThere ? null : `There is no ${words(kind)} ${name} in this domain, so there is nothing to rename.`;
}

/** A kind in a sentence. */
const words = (kind: SymbolKind) => (kind === 'phrases' ? 'list of phrases' : kind);

/** Returns the edits that rename the symbol at a place, or why it can't have the new name. */
export function renameAt(domain: LanguageDomain, position: Position, wanted: string): Renaming | Refusal {
  const reference = referenceAt(domain, position);
  const renamable = renamableAt(domain, position);
  if (!reference || 'refusal' in renamable) return renamable as Refusal;
  const name = wanted.trim();
  if (name === renamable.name) return { edits: [], notes: [], member: null, unfollowed: null };
  const refusal = badName(reference, name) ?? taken(domain, reference, name) ?? reserved(domain, reference, name);
  if (refusal !== null) return { refusal };
  const edits = referencesByKind(domain, reference.kind, reference.name).map((each) => editOf(each, name));
  return {
    edits,
    notes: notesOf(domain, reference),
    member: memberOfField(domain, reference),
    unfollowed: unfollowedOf(domain, reference),
  };
}

function editOf(reference: Placed, name: string): Edit {
  const { text, from, to } = reference;
  const before = text.source.text[from - 1];
  const isQuoted = before === '"' || before === "'";
  const inner = text.source.text.slice(from, to);
  const isWhole = isYaml(text.kind) && inner !== '' && !isQuoted;
  return { ...placeAt(placeOfReference(reference)), text: isWhole ? yamlScalar(name) : name };
}

const forms: Readonly<Record<Exclude<SymbolKind, 'argument' | 'row'>, readonly [pattern: RegExp, words: string]>> = {
  tool: [/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'at most 64 letters, digits and underscores, the first of them no digit'],
  rule: [ruleIds.pattern, ruleIds.words],
  persona: [personaIds.pattern, personaIds.words],
  task: [taskIds.pattern, taskIds.words],
  verifier: [/^[A-Za-z_$][\w$]*$/, 'letters, digits and underscores, the first of them no digit'],
  fact: [/^[A-Za-z_]\w*$/, 'letters, digits and underscores, the first of them no digit'],
  phrases: [/^[A-Za-z_]\w*$/, 'letters, digits and underscores, the first of them no digit'],
  field: [/^[A-Za-z_]\w*$/, 'letters, digits and underscores, the first of them no digit'],
};

function badName({ kind }: Placed, name: string): string | null {
  if (kind === 'argument' || kind === 'row') return null;
  const [pattern, letters] = forms[kind];
  return pattern.test(name) ? null : `${JSON.stringify(name)} can't name a ${words(kind)}: write ${letters}.`;
}

function reserved(domain: LanguageDomain, { kind, name: old }: Placed, name: string): string | null {
  if (name === '__proto__') return '__proto__ means something else in databases and in code: choose another name.';
  if ((kind === 'field' || kind === 'fact' || kind === 'phrases') && isReservedInExpressions(name))
    return `${name} means something else in expressions: choose another name.`;
  if (kind !== 'tool' && kind !== 'verifier') return null;
  for (const { declares, text } of referencesByKind(domain, kind, old)) {
    if (!declares || !code.includes(text.kind)) continue;
    const where = basename(text.source.file);
    if (isReservedIn(text.kind === 'python' ? 'python' : 'typescript', name))
      return `${name} means something else in ${where}: choose another name.`;
    if (saysIdentifier(text, name)) return `${where} uses the name ${name} already: choose another name.`;
  }
  return null;
}

function taken(domain: LanguageDomain, { kind, name: old }: Placed, name: string): string | null {
  const isTaken = () => {
    if (kind === 'tool') return toolsOf(domain).has(name);
    if (kind === 'field') return fieldsBeside(domain, old).has(name);
    return referencesByKind(domain, kind, name).some(({ declares }) => declares || kind === 'fact');
  };
  return isTaken() ? `There is a ${words(kind)} ${name} already: choose another name.` : null;
}

/** The fields of the object that a field belongs to. */
function fieldsBeside(domain: LanguageDomain, name: string): ReadonlyMap<string, Shape> {
  const { side, segments } = placeOfName(name);
  const { end } = walk(side, shapesOf(domain)[side], segments.slice(0, -1));
  return end.type === 'object' ? end.fields : new Map();
}

/** Returns where the types of a module of tools declare a field. */
function memberOfField({ loaded }: LanguageDomain, { kind, name }: Placed): Location | null {
  if (kind !== 'field') return null;
  const { side, segments } = placeOfName(name);
  for (const { kind: of, source } of loaded.parts.texts.values()) {
    const found = of === 'code' ? memberOf(source.text, side, segments) : null;
    if (found) return placeOfSpan(source, found);
  }
  return null;
}

function unfollowedOf(domain: LanguageDomain, reference: Placed): string | null {
  if (!['tool', 'field', 'verifier'].includes(reference.kind)) return null;
  const name = writtenName(reference);
  const files = otherFiles(domain, reference, name);
  const says = `${files.length === 1 ? 'says' : 'say'} ${name} as a word too, and code is not followed there.`;
  return files.length === 0 ? null : `${files.join(', ')} ${says}`;
}

function notesOf(domain: LanguageDomain, reference: Placed): readonly string[] {
  const name = writtenName(reference);
  switch (reference.kind) {
    case 'field':
      return [`What tools return is not followed: results that have ${name}, and expressions on them, keep it.`];
    case 'fact': {
      const named = [...toolsOf(domain).values()].flatMap(({ name: tool, tool: known }) =>
        known && argumentsOf(known).includes(name) ? [tool] : [],
      );
      if (named.length === 0) return [];
      return [`A fact is given to the argument of its name: ${named.join(', ')} keep the argument ${name}.`];
    }
    case 'task':
    case 'rule':
      return [`Recordings and runs that exist keep the ${reference.kind} ${name}.`];
    case 'tool':
    case 'verifier':
    case 'persona':
    case 'phrases':
    case 'argument':
    case 'row':
      return [];
    default:
      return reference.kind satisfies never;
  }
}

const code: readonly TextKind[] = ['code', 'python', 'verifiers'];

/** Files of code that have the word outside of what the rename changes. */
function otherFiles(domain: LanguageDomain, reference: Placed, name: string): readonly string[] {
  const { folder, parts } = domain.loaded;
  const changed = Map.groupBy(referencesByKind(domain, reference.kind, reference.name), ({ text }) => text.source.file);
  const word = new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`, 'g');
  return [...parts.texts].flatMap(([file, { kind, source }]) => {
    if (!code.includes(kind)) return [];
    const all = [...source.text.matchAll(word)].length;
    return all > (changed.get(file)?.length ?? 0) ? [file.slice(folder.length + 1)] : [];
  });
}
