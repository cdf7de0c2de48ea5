/** Ids that package.json contributes; a test holds the two together. */
export const commandIds = [
  'rehearsal.task.debug',
  'rehearsal.task.run',
  'rehearsal.domain.check',
  'rehearsal.recording.debug',
  'rehearsal.request.show',
  'rehearsal.training.sft',
  'rehearsal.training.grpo',
  'rehearsal.training.dashboard',
  'rehearsal.training.stop',
  'rehearsal.sample.open',
  'rehearsal.benchmark.import',
  'rehearsal.model.key',
  'rehearsal.log.show',
] as const;
export type CommandId = (typeof commandIds)[number];

/** A handler for every contributed command: leaving one out does not compile. */
export type CommandTable = { readonly [Id in CommandId]: (...args: readonly unknown[]) => unknown };

export const debugType = 'rehearsal';

/** Type of the training dashboard's panel; package.json activates the extension for it. */
export const dashboardType = 'rehearsal.trainingDashboard';
