import type { Task } from '../engine/core/domain/task.ts';
import type { RolloutEvent } from '../engine/core/events/event.ts';
import type { JudgeQuestion } from '../engine/core/rollout/judgement.ts';
import type { AgentReply, UserReply } from '../engine/core/seats/seat.ts';
import { jsonOrText } from '../engine/core/values/json.ts';

/** Both seats of a finished simulation: each says and calls again what it did, and the tools answer again. */
export type RecordedSeats = {
  agent(): AgentReply;
  user(): UserReply;
  /** Returns the answer of the simulation's own judge about a statement; `holds` is null if it was not asked. */
  judge(question: JudgeQuestion): { readonly holds: boolean | null; readonly reason: string };
  /** Returns the calls whose result differs from the recorded one. */
  changedResults(events: readonly RolloutEvent[]): readonly string[];
};

/** A finished simulation of another tool, with the reward that its own evaluator gave. */
export type OfficialSimulation = {
  /** The tool that made it. */
  readonly by: string;
  readonly name: string;
  /** The id of the task in the benchmark. */
  readonly task: string;
  /** Whether it is of a task, where the file's id alone does not tell. */
  readonly isOf?: (task: Task) => boolean;
  readonly trial: number | null;
  /** The reward in the file; null if its evaluator raised an error, or did not run. */
  readonly official: number | null;
  readonly raised: string | null;
  /** Why it can't be played again, or null. */
  readonly obstacle: string | null;
  readonly seats: (task: Task) => RecordedSeats;
};

/** A result that is another one now than the recorded, in words; nothing where they are equal. */
export function changedResult(at: number, before: string, now: string): readonly string[] {
  if (sameContent(before, now)) return [];
  const from = Math.max(0, firstDifference(before, now) - 40);
  return [`call ${at + 1} returned ${shown(now, from)}, recorded was ${shown(before, from)}`];
}

/** As the tools compare them: as JSON where both are. */
function sameContent(one: string, other: string): boolean {
  return one === other || JSON.stringify(jsonOrText(one)) === JSON.stringify(jsonOrText(other));
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

/** Returns an excerpt of a text that contains the difference. */
function shown(text: string, from: number): string {
  const piece = text.slice(from, from + 120);
  return `${from > 0 ? '…' : ''}${piece}${from + piece.length < text.length ? '…' : ''}`;
}
