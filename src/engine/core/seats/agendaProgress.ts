import { type AgentActs, namesValue } from '../dialogue/dialogue.ts';
import { factsBehind, factsOf, isAnyTold, isChangeSaid, ownFactsOf, toldBy } from '../events/facts.ts';
import { onceMore } from './agendaSpeech.ts';
import { writesOf } from './disagreement.ts';
import type { Insistence } from './hardBehaviour.ts';
import type { Instruction } from './instruction.ts';
import type { SeatView } from './seat.ts';

/** The user's memory of the conversation. */
export type Progress = {
  readonly told: ReadonlySet<string>;
  /** Facts it was asked for before. */
  readonly asked: ReadonlySet<string>;
  readonly isChanged: boolean;
  readonly insistence: Insistence;
  /** Proposals it said yes to, and reports that something was done. */
  readonly confirmed: readonly string[];
  readonly reports: readonly string[];
  readonly refusals: number;
  readonly wasInformed: boolean;
  /** Has done something that the agent asked it to do. */
  readonly hasActed: boolean;
  /** Replies in a row without progress. */
  readonly fruitless: number;
  readonly wasLost: boolean;
  /** Moves that were made before: the same again gets the conversation nowhere. */
  readonly tried: ReadonlySet<string>;
  /** Its messages so far, so also the number of the reply that comes next. */
  readonly replies: number;
  /** Cues of its persona's schedule that it has acted on. */
  readonly fired: readonly number[];
  /** The last utterance of the agent, if the user did something else instead of answering it. */
  readonly unanswered: string | null;
};

/** An utterance of the agent as the user understood it. */
export type Heard = {
  readonly text: string;
  readonly acts: AgentActs;
  /** The actions that it asks the user to take with the user's own tools. */
  readonly asked: readonly Instruction[];
};

export const start: Progress = {
  told: new Set(),
  asked: new Set(),
  isChanged: false,
  insistence: 'none',
  confirmed: [],
  reports: [],
  refusals: 0,
  wasInformed: false,
  hasActed: false,
  fruitless: 0,
  wasLost: false,
  tried: new Set(),
  replies: 0,
  fired: [],
  unanswered: null,
};

/** Returns what the user really said counts, also where a person took its seat. */
export function afterSpeaking({ task }: SeatView, progress: Progress, text: string): Progress {
  const isChanged = progress.isChanged || isChangeSaid(task, [{ role: 'user', step: 0, content: text }]);
  const facts = factsOf(task, isChanged);
  const kept = isChanged === progress.isChanged ? progress.told : new Set<string>();
  const told = toldBy(facts, text).filter((name) => !kept.has(name));
  return {
    ...progress,
    isChanged,
    wasInformed: progress.wasInformed && isChanged === progress.isChanged,
    replies: progress.replies + 1,
    told: told.length === 0 ? kept : new Set([...kept, ...told]),
    insistence: insistenceAfter(task.user.insist?.say, progress, text),
  };
}

function insistenceAfter(say: string | undefined, { insistence, refusals }: Progress, text: string): Insistence {
  if (insistence === 'repeated' || say === undefined) return insistence;
  if (onceMore.some((line) => namesValue(text, line))) return 'repeated';
  if (!namesValue(text, say)) return insistence;
  return refusals > 0 ? 'repeated' : 'raised';
}

/** A report of success, or word of what it said yes to before. */
export function isReport(progress: Progress, { text, acts }: Heard): boolean {
  if (acts.reportsDone) return true;
  return acts.informs && progress.confirmed.length > 0 && !progress.confirmed.includes(text) && !acts.refuses;
}

/** Whether, by the agent's word, nothing is left that this user wants. */
export function isServed(view: SeatView, progress: Progress): boolean {
  if (writesOf(view.domain, view.task).length === 0)
    return progress.wasInformed || progress.hasActed || progress.reports.length > 0 || progress.refusals > 0;
  return progress.reports.length + progress.confirmed.length > 0 && unserved(view, progress).length === 0;
}

/**
 * One telling fact for each request that the agent has neither had confirmed nor reported. With a single request any report
 * will do; of several, each has to be recognised by its own value.
 */
export function unserved(view: SeatView, progress: Progress): readonly string[] {
  const facts = factsOf(view.task, progress.isChanged);
  const requests = writesOf(view.domain, view.task).map((write) => factsBehind(facts, write));
  const evidence = [...progress.confirmed, ...progress.reports];
  if (requests.length < 2) return evidence.length > 0 ? [] : requests.flatMap(([fact]) => fact ?? []);
  return ownFactsOf(requests).flatMap((own) =>
    own[0] === undefined || isAnyTold(evidence, own, facts) ? [] : [own[0]],
  );
}
