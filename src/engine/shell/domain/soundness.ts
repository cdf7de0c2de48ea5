/**
 * The sixteen ways in which an environment deceives anyone who measures with it, and the codes of the findings that
 * name them. docs/diagnostics.md explains each with an example.
 */
export const soundness = {
  E1: ['task/empty-basis', 'rule/empty-check', 'task/assertion-empty'],
  E2: ['task/unused-demand'],
  E3: ['task/nothing-to-do'],
  E4: ['task/gold-fails', 'task/gold-differs'],
  E5: ['task/gold-violates'],
  E6: ['task/missing-row', 'task/unknown-path', 'task/wrong-date', 'domain/wrong-date'],
  E7: ['task/untold-argument', 'task/other-fact', 'task/other-owner', 'task/sourceless-text'],
  E8: ['task/endless-goal'],
  E9: ['task/stops-early', 'persona/stops-early'],
  E10: ['task/unknown-tool', 'rule/unknown-tool', 'domain/unknown-tool', 'policy/unknown-tool'],
  E11: ['tool/unused'],
  E12: ['policy/uncovered-rule'],
  E13: ['tool/bad-schema', 'tool/strict-schema', 'tool/unchecked-schema', 'tool/unsupported-pattern'],
  E14: ['tool/undeclared-write'],
  E15: ['tool/not-repeatable', 'tool/ambient', 'tool/id-prefix'],
  E16: ['task/duplicate-content', 'task/split-leak'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Soundness = keyof typeof soundness;

const byCode = new Map(
  Object.entries(soundness).flatMap(([name, codes]) =>
    codes.map((code) => [code as string, name as Soundness] as const),
  ),
);

/** Returns which of the sixteen a code belongs to; undefined for a fault of another kind. */
export const soundnessOf = (code: string): Soundness | undefined => byCode.get(code);
