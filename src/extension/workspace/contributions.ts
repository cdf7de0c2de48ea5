/** Ids that package.json contributes; a test holds the two together. */
export const commandIds = [
  'rehearsal.task.debug',
  'rehearsal.task.run',
  'rehearsal.task.play',
  'rehearsal.task.preview',
  'rehearsal.task.checkpoint',
  'rehearsal.domain.check',
  'rehearsal.domain.audit',
  'rehearsal.domain.approve',
  'rehearsal.recording.debug',
  'rehearsal.recording.open',
  'rehearsal.recording.select',
  'rehearsal.recordings.compare',
  'rehearsal.runs.compare',
  'rehearsal.runs.refresh',
  'rehearsal.run.report',
  'rehearsal.run.reveal',
  'rehearsal.run.delete',
  'rehearsal.running.show',
  'rehearsal.request.show',
  'rehearsal.rollout.stepBack',
  'rehearsal.rollout.fork',
  'rehearsal.rollout.swap',
  'rehearsal.rollout.resample',
  'rehearsal.rollout.replay',
  'rehearsal.rollout.takeUser',
  'rehearsal.rollout.takeAgent',
  'rehearsal.reply.edit',
  'rehearsal.value.edit',
  'rehearsal.forks.compare',
  'rehearsal.tests.group',
  'rehearsal.training.sft',
  'rehearsal.training.grpo',
  'rehearsal.training.configured',
  'rehearsal.training.dashboard',
  'rehearsal.training.stop',
  'rehearsal.training.resume',
  'rehearsal.training.fetch',
  'rehearsal.training.evaluate',
  'rehearsal.training.compare',
  'rehearsal.training.serve',
  'rehearsal.training.export',
  'rehearsal.training.experiment',
  'rehearsal.synth.start',
  'rehearsal.synth.spotCheck',
  'rehearsal.synth.accept',
  'rehearsal.synth.reject',
  'rehearsal.synth.edit',
  'rehearsal.synth.grade',
  'rehearsal.synth.export',
  'rehearsal.synth.preview',
  'rehearsal.domain.new',
  'rehearsal.task.fromRecording',
  'rehearsal.task.variants',
  'rehearsal.persona.generate',
  'rehearsal.draft.accept',
  'rehearsal.sample.open',
  'rehearsal.benchmark.import',
  'rehearsal.chats.import',
  'rehearsal.chats.draft',
  'rehearsal.intents.show',
  'rehearsal.model.key',
  'rehearsal.model.test',
  'rehearsal.log.show',
  'rehearsal.editor.visual',
  'rehearsal.editor.text',
  'rehearsal.tool.try',
] as const;
export type CommandId = (typeof commandIds)[number];

/** A handler for every contributed command: leaving one out does not compile. */
export type CommandTable = { readonly [Id in CommandId]: (...args: readonly unknown[]) => unknown };

export const debugType = 'rehearsal';

/** Type of the training dashboard's panel; package.json activates the extension for it. */
export const dashboardType = 'rehearsal.trainingDashboard';

/** Type of the comparison's panel; package.json activates the extension for it. */
export const comparisonType = 'rehearsal.comparison';

/** Type of the panel with the text that a model is trained on. */
export const trainingTextType = 'rehearsal.trainingText';

/** The visual editors' types in package.json, by the end of the names of their files. */
export const visualEditorTypes = {
  '.persona.yaml': 'rehearsal.persona',
  'policy.md': 'rehearsal.policy',
  '.tool.yaml': 'rehearsal.tool',
  '.task.yaml': 'rehearsal.task',
} as const;

/** Scheme of a recording as the text of its conversation, by the path of its file. */
export const conversationScheme = 'rehearsal-conversation';
