import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { measureOf } from '../engine/core/evaluation/measure.ts';
import { fromDisk } from '../engine/shell/files/disk.ts';
import { forkNumber, isForkName, isRecording, originName } from '../engine/shell/records/recordingName.ts';
import { eventsOf } from '../engine/shell/records/runRecord.ts';
import { type Agreement, agreementOf } from './agreement.ts';
import { classify } from './outcome.ts';
import { sampleOf } from './sample.ts';
import type { Fork, Selected, WholeVerdict } from './settle.ts';
import { settleAnew } from './synthesis.ts';
import { addDecision, type DecisionLine, readDecisions, readGrades, readSelection } from './synthesisFolder.ts';

/** A rollout for a person to review, and their decision about it. */
export type Checked = {
  readonly row: Selected;
  readonly decision: DecisionLine | null;
  readonly grade: WholeVerdict | null;
};

export type SpotCheck = { readonly queue: readonly Checked[]; readonly agreement: Agreement };

/** The queue of a synthesis, and how far its grader and the person agree on what both have judged. */
export function spotCheckOf(folder: string, size: number, seed: string): SpotCheck {
  const decisions = readDecisions(folder);
  const last = new Map(decisions.map((each) => [each.recording, each]));
  const grades = readGrades(folder);
  const queue = sampleOf(readSelection(folder), decisions, size, seed).map((row): Checked => {
    const line = grades.get(row.recording);
    return { row, decision: last.get(row.recording) ?? null, grade: line && 'grade' in line ? line.grade : null };
  });
  // Who edits a rollout would not have it as it was.
  const pairs = queue.flatMap(({ decision, grade }) =>
    decision && grade ? [[grade.keep, decision.decision === 'accept'] as const] : [],
  );
  return { queue, agreement: agreementOf(pairs) };
}

/** Writes down what a person decided, and settles the selection by it. */
export function decide(
  folder: string,
  recording: string,
  decision: DecisionLine['decision'],
  fork?: Fork,
): readonly Selected[] {
  addDecision(folder, { recording, decision, ...(fork ? { fork } : {}), at: new Date().toISOString() });
  return settleAnew(folder);
}

/** The forks of a rollout that came to their end, the newest first. */
export function forksOf(folder: string, recording: string): readonly Fork[] {
  const place = dirname(recording);
  const path = join(folder, place);
  const names = fromDisk(path, () => readdirSync(path)).filter(
    (name) => isRecording(name) && isForkName(name) && originName(name) === originName(basename(recording)),
  );
  return names
    .toSorted((one, other) => forkNumber(other) - forkNumber(one))
    .flatMap((name): readonly Fork[] => {
      const events = eventsOf(join(path, name));
      if (events.at(-1)?.type !== 'rewarded') return [];
      return [{ recording: `${place}/${name}`, ...classify(measureOf(events, []), events) }];
    });
}
