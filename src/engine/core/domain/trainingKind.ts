/** The kinds of trainer runs: learning from recordings, learning from rollouts and their rewards, measuring. */
export const trainingKinds = ['sft', 'grpo', 'evaluate'] as const;
export type TrainingKind = (typeof trainingKinds)[number];

/** The parts of a run that measures: its rollouts at a temperature, and its greedy ones; each has a folder of its name. */
export const evaluationParts = ['sampled', 'greedy'] as const;
export type EvaluationPart = (typeof evaluationParts)[number];
