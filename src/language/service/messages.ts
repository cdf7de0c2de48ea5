import type { Tool } from '../../engine/core/domain/tool.ts';
import type { Diagnostic } from '../../engine/shell/files/diagnostic.ts';
import type { AnswerTo, Question, QuestionType } from '../answer.ts';
import type { TextEdit } from '../symbols/textEdit.ts';
import type { DomainOutline, Grouping, TaskRow } from './domainRow.ts';

/** Messages from an editor to the language service; `folder` is that of a domain. */
export type ToService =
  | { readonly type: 'text'; readonly folder: string; readonly file: string; readonly text: string | null }
  | { readonly type: 'change'; readonly folder: string; readonly file: string; readonly changes: readonly TextEdit[] }
  /** Something of it on the disk has changed, or it is new. */
  | { readonly type: 'touch'; readonly folder: string }
  | { readonly type: 'forget'; readonly folder: string }
  /** The descriptions of its tools by the code of a stamp; `isWhole` if servers described theirs too. */
  | {
      readonly type: 'described';
      readonly folder: string;
      readonly stamp: string;
      readonly isWhole: boolean;
      readonly tools: readonly Tool[];
    }
  | { readonly type: 'ask'; readonly id: number; readonly folder: string; readonly question: Question }
  | { readonly type: 'row'; readonly id: number; readonly folder: string; readonly grouping: Grouping }
  /** Tasks of the row that was last requested for the domain, from one number up to, but not including, another. */
  | {
      readonly type: 'taskRows';
      readonly id: number;
      readonly folder: string;
      readonly from: number;
      readonly to: number;
    }
  | { readonly type: 'fixAll'; readonly id: number; readonly folder: string; readonly file: string | null }
  | { readonly type: 'cancel'; readonly id: number };

/** Messages from the language service to an editor. */
export type FromService =
  | { readonly type: 'found'; readonly folder: string; readonly diagnostics: readonly Diagnostic[] }
  | {
      readonly type: 'answer';
      readonly id: number;
      readonly value: AnswerTo<QuestionType> | Fixed | DomainOutline | readonly TaskRow[] | null;
    }
  /** A question could not be answered; the id is null where something else could not be done. */
  | { readonly type: 'failed'; readonly id: number | null; readonly message: string }
  /** Changes came of a text that is not here: it has to be sent as a whole. */
  | { readonly type: 'unknown'; readonly folder: string; readonly file: string }
  /** The tools of the domain's code in this state are not described yet. */
  | { readonly type: 'undescribed'; readonly folder: string; readonly stamp: string };

/** Texts of files after fixes, by their paths. */
export type Fixed = readonly (readonly [file: string, text: string])[];
