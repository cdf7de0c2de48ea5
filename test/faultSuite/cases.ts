import type { Plan } from './plan.ts';

/** A case is a rollout of its own task. Its name is in everything that is sent for it. */
export const caseName = (at: number): string => `case-${String(at).padStart(6, '0')}`;

/** Returns the case that a text names, or null. */
export function caseIn(text: string): number | null {
  const [, digits] = /case-(\d{6})/.exec(text) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** The servers' data about the cases: whose agent is wrong, and which fault is planned for each and was injected. */
export type Cases = {
  /** The plan of a case; undefined for one that is left alone. */
  readonly planOf: (at: number) => Plan | undefined;
  /** Whether the agent of a case leaves its work undone, so that its reward is 0. */
  readonly isWrong: (at: number) => boolean;
  /** Called once for each case, when its fault is first injected. */
  readonly onInjected: (at: number) => void;
};
