import type { Location } from '../engine/shell/files/diagnostic.ts';
import { completionsAt } from './completion/completion.ts';
import type { Completion } from './completion/offer.ts';
import { type Contents, contentsOfDomain, type ListedItem, tasksOfPage } from './contents.ts';
import { type Fold, foldsOf } from './folding.ts';
import { formatted } from './format.ts';
import { type Hover, hoverAt } from './hover.ts';
import { type FileLink, linksOf } from './links.ts';
import { type OutlineItem, outlineOf } from './outline.ts';
import { type Refusal, type Renamable, type Renaming, renamableAt, renameAt } from './rename.ts';
import { type LanguageDomain, textOf } from './symbols/languageDomain.ts';
import { isYaml } from './symbols/roles.ts';
import {
  definitionsOf,
  highlightsOf,
  type NamedSymbol,
  type Position,
  referencesOf,
  workspaceSymbols,
} from './symbols/symbols.ts';
import { type NameToken, tokensOfFile } from './tokens.ts';
import { unreadItems } from './unread.ts';

/** A task or a rule and where it begins, for what is shown above it. */
export type Anchor = { readonly name: string; readonly line: number };

type At = { readonly at: Position };
type In = { readonly file: string };
type Between = { readonly from: number; readonly to: number };

/** The questions about a domain's texts, each with the types of its arguments and answer. */
type Catalogue = {
  readonly completion: readonly [At, readonly Completion[]];
  readonly hover: readonly [At, Hover | null];
  readonly definition: readonly [At, readonly Location[]];
  readonly references: readonly [At & { readonly withDeclaration: boolean }, readonly Location[]];
  readonly highlights: readonly [At, readonly Location[]];
  readonly renamable: readonly [At, Renamable | Refusal];
  readonly rename: readonly [At & { readonly name: string }, Renaming | Refusal];
  readonly links: readonly [In, readonly FileLink[]];
  readonly tokens: readonly [In, readonly NameToken[]];
  readonly outline: readonly [In, readonly OutlineItem[]];
  readonly folds: readonly [In, readonly Fold[]];
  /** The formatted text; null if it does not change. */
  readonly format: readonly [In, string | null];
  readonly symbols: readonly [{ readonly query: string }, readonly NamedSymbol[]];
  readonly tasks: readonly [In, readonly Anchor[]];
  readonly rules: readonly [In, readonly Anchor[]];
  readonly contents: readonly [object, Contents];
  readonly taskPage: readonly [Between, readonly ListedItem[]];
};

export type QuestionType = keyof Catalogue;
export type QuestionOf<Type extends QuestionType> = { readonly type: Type } & Catalogue[Type][0];
export type AnswerTo<Type extends QuestionType> = Catalogue[Type][1];
export type Question = { readonly [Type in QuestionType]: QuestionOf<Type> }[QuestionType];
type Answer = { readonly [Type in QuestionType]: AnswerTo<Type> }[QuestionType];

/** Answers one question about the texts of a domain, using only what is loaded. */
export function answer(domain: LanguageDomain, question: Question): Answer {
  switch (question.type) {
    case 'completion':
      return completionsAt(domain, question.at);
    case 'hover':
      return hoverAt(domain, question.at);
    case 'definition':
      return definitionsOf(domain, question.at);
    case 'references':
      return referencesOf(domain, question.at, question.withDeclaration);
    case 'highlights':
      return highlightsOf(domain, question.at);
    case 'renamable':
      return renamableAt(domain, question.at);
    case 'rename':
      return renameAt(domain, question.at, question.name);
    case 'links':
      return linksOf(domain, question.file);
    case 'tokens':
      return tokensOfFile(domain, question.file);
    case 'outline':
      return outlineOf(domain, question.file);
    case 'folds': {
      const text = textOf(domain, question.file);
      return text && isYaml(text.kind) ? foldsOf(text.source) : [];
    }
    case 'format': {
      const text = textOf(domain, question.file);
      const made = text && isYaml(text.kind) ? formatted(text.source.text) : null;
      return made === text?.source.text ? null : made;
    }
    case 'symbols':
      return workspaceSymbols(domain, question.query);
    case 'tasks':
      return [
        ...anchorsIn(domain.loaded.locations.tasks, question.file),
        // To run one shows its error.
        ...unreadItems(domain.loaded, 'task').flatMap(({ id, file, line }) =>
          file === question.file ? [{ name: id, line }] : [],
        ),
      ].toSorted((a, b) => a.line - b.line);
    case 'rules':
      return anchorsIn(domain.loaded.locations.policyRules, question.file);
    case 'contents':
      return contentsOfDomain(domain.loaded);
    case 'taskPage':
      return tasksOfPage(domain.loaded, question);
    default:
      return question satisfies never;
  }
}

function anchorsIn(places: ReadonlyMap<string, Location>, file: string): readonly Anchor[] {
  return [...places].flatMap(([name, at]) => (at.file === file ? [{ name, line: at.line }] : []));
}
