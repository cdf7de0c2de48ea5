import { join } from 'node:path';
import { askForData, type Drafter } from '../authoring/drafts/askedModel.ts';
import type { Domain, Policy } from '../engine/core/domain/domain.ts';
import { seatName } from '../engine/core/domain/seatSpec.ts';
import type { RolloutEvent } from '../engine/core/events/event.ts';
import { cancelled, Fault } from '../engine/shell/files/fault.ts';
import { forEach } from '../engine/shell/files/forEach.ts';
import { eventsOf } from '../engine/shell/records/runRecord.ts';
import { gradedText, gradeProblem, gradeSchema, rubric } from './rubric.ts';
import type { Selected } from './settle.ts';
import { settleAnew } from './synthesis.ts';
import { addGrade, type GradeLine, readGrades, readSelection } from './synthesisFolder.ts';

/** A model that grades, at temperature 0 unless its seat says otherwise. */
export type Grader = Drafter;

export type Graded = { readonly graded: number; readonly kept: number; readonly errors: number };

const wanted = {
  code: 'synth/grade',
  what: 'grade',
  advice: 'Try another model',
};

/**
 * Grades every chosen rollout that this grader has not graded yet, and settles the selection again. A grader that gives
 * no grade leaves an error in its place, which is not a verdict, and is asked again the next time.
 * @param domainOf the domain of that name, as its rollouts were played in it
 */
export async function gradeSelection(
  folder: string,
  grader: Grader,
  domainOf: (name: string) => Domain,
  { concurrency, onGraded }: { readonly concurrency: number; readonly onGraded: (done: number, of: number) => void },
): Promise<Graded> {
  const name = seatName(grader.seat);
  const known = readGrades(folder);
  const isGraded = ({ recording }: Selected) => {
    const line = known.get(recording);
    return line !== undefined && 'grade' in line && line.grader === name;
  };
  const waiting = readSelection(folder).filter((row) => row.chosen && row.forkOf === undefined && !isGraded(row));
  let done = 0;
  // What ends it for one rollout ends it for those that are being graded, too.
  const ending = new AbortController();
  const signal = AbortSignal.any([grader.signal, ending.signal]);
  const grade = async (row: Selected) => {
    const line = await graded(folder, { ...grader, signal }, domainOf(row.domain), row);
    addGrade(folder, line);
    done += 1;
    onGraded(done, waiting.length);
  };
  try {
    await forEach(waiting, concurrency, grade, signal);
  } catch (error) {
    ending.abort();
    if (!grader.signal.aborted) throw error;
  }
  settleAnew(folder);
  const lines = [...readGrades(folder).values()].filter((line) => line.grader === name);
  return {
    graded: lines.filter((line) => 'grade' in line).length,
    kept: lines.filter((line) => 'grade' in line && line.grade.keep).length,
    errors: lines.filter((line) => 'error' in line).length,
  };
}

async function graded(folder: string, grader: Grader, { policy }: Domain, row: Selected): Promise<GradeLine> {
  const { recording } = row;
  const events = eventsOf(join(folder, recording));
  expectSamePolicy(events, policy, recording);
  const seat = { temperature: 0, ...grader.seat };
  const judge = async (grade: Parameters<typeof gradeProblem>[0]) => gradeProblem(grade, policy, events.length);
  const line = { recording, grader: seatName(seat) };
  try {
    const text = gradedText(events, row);
    return { ...line, grade: await askForData({ ...grader, seat }, rubric(policy), text, gradeSchema, judge, wanted) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (grader.signal.aborted) throw cancelled();
    // A key that is refused, or no one there, would be the same for every rollout.
    if (['model/key', 'model/unreachable', 'synth/policy-changed'].includes(error.failure.code)) throw error;
    return { ...line, error: { code: error.failure.code, message: error.failure.message } };
  }
}

/** A grade by other rules than those that the agent received would say nothing. */
function expectSamePolicy([started]: readonly RolloutEvent[], policy: Policy, recording: string): void {
  if (started?.type === 'rolloutStarted' && started.policyHash === policy.hash) return;
  throw new Fault({
    who: 'environment',
    code: 'synth/policy-changed',
    message: `${recording}: the policy of its domain changed since it was played. Restore policy.md, or synthesize again`,
  });
}
