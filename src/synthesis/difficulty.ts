import { occasionalBehaviours, type Persona } from '../engine/core/domain/persona.ts';
import type { Task } from '../engine/core/domain/task.ts';

export const difficulties = ['easy', 'medium', 'hard'] as const;
export type Difficulty = (typeof difficulties)[number];

/** Demands from which on a task is no longer easy, and from which on it is hard. */
const medium = 3;
const hard = 6;

/**
 * Returns how much a task asks of its agent, told before anybody plays it: each call that a right rollout makes counts
 * one, and so do each fault, fact that the user does not know, hard behaviour of its persona, and attack.
 */
export function difficultyOf(task: Task, persona: Persona | undefined): Difficulty {
  const { behaviours, attacks = [] } = persona ?? {};
  const { omits, changes, insists } = behaviours ?? {};
  const hardBehaviours = [
    omits,
    changes && task.user.change !== undefined,
    insists && task.user.insist !== undefined,
    ...occasionalBehaviours.map((name) => behaviours?.[name]),
  ].filter(Boolean);
  const demands =
    task.actions.length +
    (task.faults?.length ?? 0) +
    task.user.unknown.length +
    hardBehaviours.length +
    attacks.length;
  return demands >= hard ? 'hard' : demands >= medium ? 'medium' : 'easy';
}
