import type { ModelRole } from '../../core/evaluation/measure.ts';
import type { Outcome } from '../../core/evaluation/outcome.ts';

/** A line that `eval` and `report` print with `--json --stream` before their result. */
export type RunLine =
  | {
      readonly type: 'rolloutBegan';
      readonly task: string;
      readonly trial: number;
      /** The path of its recording, also below. */
      readonly recording: string;
    }
  /** Something was said or done; `text` is whole lines of the transcript, in the colours of a terminal. */
  | { readonly type: 'rolloutSpoke'; readonly task: string; readonly trial: number; readonly text: string }
  /** A model has answered: the tokens that took, and what they cost; null where its price is not known. */
  | {
      readonly type: 'modelAnswered';
      readonly role: ModelRole;
      readonly input: number;
      readonly output: number;
      readonly money: number | null;
    }
  /** An endpoint limits the rate: all requests to it wait for some seconds. */
  | { readonly type: 'modelWaits'; readonly role: ModelRole; readonly seconds: number; readonly reason: string }
  | { readonly type: 'rolloutFinished'; readonly outcome: Outcome; readonly recording: string };
