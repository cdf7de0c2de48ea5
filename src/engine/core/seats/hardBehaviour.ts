import type { AgentActs } from '../dialogue/dialogue.ts';
import { recogniserOf } from '../events/facts.ts';
import { wordsOf } from '../text/text.ts';
import { writesOf } from './disagreement.ts';
import type { SeatView } from './seat.ts';

/** Raised what the policy forbids, and insisted after it was refused. */
export type Insistence = 'none' | 'raised' | 'repeated';

type Setting = Pick<SeatView, 'domain' | 'task' | 'persona'>;

/** A request beside others ("as well") is raised once the first is done; any other when it comes up. */
export function isTimeToInsist({ domain, task, persona }: Setting, insistence: Insistence, acts: AgentActs): boolean {
  const say = task.user.insist?.say;
  if (say === undefined || !persona.behaviours.insists || insistence !== 'none') return false;
  if (acts.refuses || acts.reportsDone || acts.offersMore) return true;
  const comesLater = /\b(?:as well|also|too|another|besides|in addition)\b/i.test(say);
  const said = wordsOf(say);
  const { labelOf } = recogniserOf(domain, task);
  const isAsked = acts.asks.some((fact) =>
    wordsOf(labelOf(fact)).some((word) => word.length > 3 && said.includes(word)),
  );
  return !comesLater && (acts.proposes || isAsked);
}

/** Whether the user changes its mind at what the agent just said, as its task says. */
export function isTimeToChange({ domain, task, persona }: Setting, isChanged: boolean, acts: AgentActs): boolean {
  const { change } = task.user;
  if (!change || !persona.behaviours.changes || isChanged) return false;
  if (acts.reportsDone) return true;
  // For who wants nothing changed, nothing is proposed or done.
  if (acts.informs && writesOf(domain, task).length === 0) return true;
  return change.when === 'proposed' && (acts.proposes || (acts.refuses && acts.asks.length === 0));
}
