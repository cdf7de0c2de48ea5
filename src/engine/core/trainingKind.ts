/** What a run of the trainer does: learns from recordings, learns from rollouts and their rewards, measures. */
export const trainingKinds = ['sft', 'grpo', 'evaluate'] as const;
export type TrainingKind = (typeof trainingKinds)[number];
