import type { Verdict } from '../events/event.ts';
import type { RolloutState } from '../events/state.ts';

/**
 * Returns what the judge said about the task's statements. A statement without a clear answer leaves the whole unknown.
 */
export function judgeVerdict(statements: readonly string[], { judgements, started }: RolloutState): Verdict {
  const answers = statements.map((statement, index) => ({
    statement,
    answer: judgements.find(({ subject }) => subject.type === 'task' && subject.index === index),
  }));
  const open = answers.filter(({ answer }) => (answer?.holds ?? null) === null);
  const failed = answers.filter(({ answer }) => answer?.holds === false);
  const common = {
    verifier: 'judge',
    evidence: answers.flatMap(({ answer }) => (answer ? [answer.step] : [])),
    met: statements.length - open.length - failed.length,
    of: statements.length,
  };
  if (failed.length > 0) {
    const said = failed.map(({ statement, answer }) => `"${statement}" is not true: ${answer?.reason}`);
    return { ...common, held: false, detail: said.join('; ') };
  }
  if (open.length > 0) {
    const why = open[0]?.answer?.reason ?? 'the judge gave no clear answer';
    const detail = started.seats.judge === undefined ? 'this rollout has no judge' : why;
    return { ...common, held: false, detail, unknown: true };
  }
  return { ...common, held: true, detail: `the judge found ${statements.length} statements true` };
}
