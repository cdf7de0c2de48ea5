import type { Candidate, Choice } from './balance.ts';
import type { Classified } from './outcome.ts';

/** A rollout of a synthesis, and whether it is learned from. */
export type Selected = Omit<Candidate, 'shape'> &
  Pick<Classified, 'miss' | 'withheld'> &
  Choice & {
    /** Whether it is learned from: chosen, and neither its grader nor a person is against it. */
    readonly accepted: boolean;
    /** The recording that this one replaces, if a person edited that recording by a fork. */
    readonly forkOf?: string | undefined;
  };

/** A person's decision about a rollout in the spot check. */
export type Decision = {
  readonly recording: string;
  readonly decision: 'accept' | 'reject' | 'edit';
  /** The fork that takes its place; of an edit alone. */
  readonly fork?: Fork | undefined;
};

export type Fork = Pick<Selected, 'recording' | 'outcome' | 'miss' | 'withheld'>;

/** The grader's verdict for the whole of a rollout. */
export type WholeVerdict = { readonly keep: boolean; readonly reason: string };

/**
 * Says again whether each rollout is learned from: of what was chosen, all that the grader keeps or has not graded; a
 * person's last word is above the grader's. A fork is behind its parent, in its place.
 */
export function settled(
  selection: readonly Selected[],
  grades: ReadonlyMap<string, WholeVerdict>,
  decisions: readonly Decision[],
): readonly Selected[] {
  const last = new Map(decisions.map((each) => [each.recording, each]));
  return selection
    .filter(({ forkOf }) => forkOf === undefined)
    .flatMap((row): readonly Selected[] => {
      if (!row.chosen) return [{ ...row, accepted: false }];
      const said = last.get(row.recording);
      if (said?.decision === 'edit' && said.fork) return edited(row, said.fork);
      if (said?.decision === 'accept') return [{ ...row, accepted: true, why: 'accepted in the spot check' }];
      if (said?.decision === 'reject') return [{ ...row, accepted: false, why: 'rejected in the spot check' }];
      const grade = grades.get(row.recording);
      if (grade && !grade.keep) return [{ ...row, accepted: false, why: `the grader: ${grade.reason}` }];
      return [{ ...row, accepted: true, why: grade ? 'chosen, and kept by the grader' : 'chosen' }];
    });
}

function edited(row: Selected, fork: Fork): readonly Selected[] {
  const why = 'a person put it in the place of its parent';
  return [
    { ...row, accepted: false, why: `its fork ${fork.recording} took its place` },
    { ...row, ...fork, accepted: true, why, forkOf: row.recording },
  ];
}
