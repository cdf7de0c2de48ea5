import * as z from 'zod/mini';
import type { RolloutEvent } from '../../engine/core/events/event.ts';
import { recordingsComparedSchema, runsComparedSchema } from './compared.ts';
import { fromEditorSchema, toEditorSchema } from './editorMessages.ts';

export type {
  FileProblem,
  FromEditor,
  PolicyContent,
  Ran,
  RuleCard,
  Shown,
  TaskContent,
  ToEditor,
  ToolContent,
} from './editorMessages.ts';

/** The views of the one webview bundle; a page names its own in `data-view`. */
export const viewIds = [
  'trainingDashboard',
  'trajectory',
  'comparison',
  'personaEditor',
  'policyEditor',
  'toolEditor',
  'taskEditor',
  'trainingText',
] as const;
export type ViewId = (typeof viewIds)[number];

/** The status of a training run. `failed` carries the error's own message. */
export const runStatusSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('waiting') }),
  z.object({ type: z.literal('running') }),
  z.object({ type: z.literal('stopping') }),
  z.object({ type: z.literal('stopped') }),
  /** An alarm paused it; `message` is the alarm's. It continues when it is resumed. */
  z.object({ type: z.literal('paused'), message: z.string() }),
  z.object({ type: z.literal('finished') }),
  z.object({ type: z.literal('failed'), message: z.string() }),
]);
export type RunStatus = z.infer<typeof runStatusSchema>;

/** One optimizer step as measured: a metric that was not measured is absent. `time` is in epoch milliseconds. */
export const pointSchema = z.object({
  step: z.int(),
  time: z.nullable(z.number()),
  metrics: z.record(z.string(), z.number()),
  /**
   * The run continued from an earlier optimizer step and has not measured this one again, so that it does not count.
   */
  superseded: z.optional(z.boolean()),
});
export type Point = z.infer<typeof pointSchema>;

/** Something that goes wrong in a run: since which optimizer step, by which numbers, and what to do. */
export const alarmSchema = z.object({
  name: z.string(),
  step: z.int(),
  message: z.string(),
  /** Numbers by name; those of metrics have the metric's. */
  evidence: z.record(z.string(), z.number()),
  /** Recordings that show it, relative to the run's folder. */
  recordings: z.array(z.string()),
  advice: z.string(),
  pauses: z.boolean(),
});
export type Alarm = z.infer<typeof alarmSchema>;

/** The measurements of a run. */
export const measuredRunSchema = z.object({ run: z.string(), points: z.array(pointSchema) });
export type MeasuredRun = z.infer<typeof measuredRunSchema>;

/** A training run of the workspace; `id` is the name of its folder. */
export const runSchema = z.object({
  id: z.string(),
  kind: z.nullable(z.enum(['sft', 'grpo', 'evaluate'])),
  model: z.nullable(z.string()),
  domain: z.nullable(z.string()),
  /** The number of optimizer steps in the configuration, if it specifies one. */
  plannedSteps: z.nullable(z.int()),
});
export type Run = z.infer<typeof runSchema>;

/** Rollouts of a run: those that an optimizer step learned from, or those of the evaluation after it. */
export const playedStepSchema = z.object({
  run: z.string(),
  step: z.int(),
  purpose: z.enum(['training', 'evaluation']),
});
export type PlayedStep = z.infer<typeof playedStepSchema>;

/** One rollout of an optimizer step; `file` is its recording, relative to the run's folder. */
export const rolloutSchema = z.object({
  file: z.nullable(z.string()),
  task: z.string(),
  member: z.nullable(z.int()),
  reward: z.nullable(z.number()),
  turns: z.nullable(z.number()),
  endReason: z.nullable(z.string()),
  failure: z.nullable(z.string()),
});
export type Rollout = z.infer<typeof rolloutSchema>;

const eventSchema = z.custom<RolloutEvent>(
  (value) => typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string',
);

/** One recorded event. The extension has checked it against the recording's own schema. */
export const numberedSchema = z.object({ n: z.int(), event: eventSchema });
export type Numbered = z.infer<typeof numberedSchema>;

const comparedWhat = z.enum(['runs', 'recordings']);
export type ComparedWhat = z.infer<typeof comparedWhat>;
/** The sidecar's note about one step of a recording. */
export const noteSchema = z.object({
  n: z.int(),
  ms: z.optional(z.number()),
  /** Tokens of the models that were called for it. */
  input: z.optional(z.number()),
  output: z.optional(z.number()),
  retries: z.optional(z.int()),
  /** The difference between a tool's result and the output schema of its server. */
  mismatch: z.optional(z.string()),
  /** Answers of the model in the user's seat that the guard refused, each with the reason. */
  refused: z.array(z.object({ content: z.string(), reason: z.string() })),
});
export type Note = z.infer<typeof noteSchema>;

/** Tokens in a row that all train, or none of them, and their text. */
export const pieceSchema = z.object({ text: z.string(), tokens: z.int(), trained: z.boolean() });
export type Piece = z.infer<typeof pieceSchema>;

/** Kinds of places in a domain that a view links to. */
export const placeKinds = ['rule', 'tool', 'task'] as const;
export type PlaceKind = (typeof placeKinds)[number];

/** Everything that the extension says to a webview. */
export const toWebviewSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('snapshot'),
    runs: z.array(runSchema),
    /** The run that is shown; null while the workspace has none. */
    run: z.nullable(z.string()),
    points: z.array(pointSchema),
    status: runStatusSchema,
    /** A description of the run's training and evaluation data, if it has reported it. */
    data: z.nullable(z.string()),
    problems: z.array(z.string()),
    alarms: z.array(alarmSchema),
  }),
  z.object({ type: z.literal('appended'), run: z.string(), points: z.array(pointSchema) }),
  /** The run's files were started again: these points replace all earlier ones. */
  z.object({ type: z.literal('restarted'), run: z.string(), points: z.array(pointSchema) }),
  z.object({
    type: z.literal('status'),
    run: z.string(),
    status: runStatusSchema,
    data: z.nullable(z.string()),
    problems: z.array(z.string()),
  }),
  z.object({ type: z.literal('alarms'), run: z.string(), alarms: z.array(alarmSchema) }),
  /** The runs that are drawn over the one that is shown, with all that was measured of them. */
  z.object({ type: z.literal('overlaid'), runs: z.array(measuredRunSchema) }),
  z.object({ type: z.literal('runs'), runs: z.array(runSchema) }),
  z.object({
    type: z.literal('rollouts'),
    ...playedStepSchema.shape,
    rollouts: z.array(rolloutSchema),
    problem: z.nullable(z.string()),
  }),
  z.object({
    type: z.literal('recordingOpened'),
    name: z.string(),
    total: z.int(),
    problem: z.nullable(z.string()),
    /** The step to start at; the first if it is absent. */
    step: z.optional(z.int()),
    /** Whether the user last left the section of latency and tokens open; absent if the user never opened or closed it. */
    isTimelineOpen: z.optional(z.boolean()),
    /** Whether a process may still add to it: without an end, its rollout is running. */
    isWritten: z.optional(z.boolean()),
  }),
  /** The recording that is open has more steps now; they follow in `recordingRead`. */
  z.object({
    type: z.literal('recordingGrew'),
    total: z.int(),
    problem: z.nullable(z.string()),
    isWritten: z.optional(z.boolean()),
  }),
  z.object({ type: z.literal('recordingRead'), events: z.array(numberedSchema) }),
  /** A comparison of these paths is running. `note` describes its progress. */
  z.object({
    type: z.literal('comparing'),
    what: comparedWhat,
    sources: z.array(z.string()),
    note: z.string(),
  }),
  z.object({ type: z.literal('runsCompared'), comparison: runsComparedSchema }),
  z.object({ type: z.literal('recordingsCompared'), comparison: recordingsComparedSchema }),
  /** It could not be made, or was given up: `problem` says why. */
  z.object({ type: z.literal('comparisonFailed'), what: comparedWhat, problem: z.string() }),
  /** All that the sidecar says so far. */
  z.object({ type: z.literal('recordingNoted'), notes: z.array(noteSchema) }),
  /** The exact text that a model is trained on, as the trainer renders a recording. */
  z.object({
    type: z.literal('trainingText'),
    name: z.string(),
    model: z.string(),
    dialect: z.string(),
    pieces: z.array(pieceSchema),
  }),
  z.object({ type: z.literal('editor'), message: toEditorSchema }),
]);
export type ToWebview = z.infer<typeof toWebviewSchema>;

/** Runs that are drawn over the one that is shown, at most: more curves in one chart can't be distinguished. */
export const mostRuns = 5;

/** Everything that a webview says to the extension. */
export const toExtensionSchema = z.discriminatedUnion('type', [
  /** The page has loaded, for the first time or again. `run` is the one it showed before. */
  z.object({
    type: z.literal('ready'),
    run: z.optional(z.string()),
    /** The runs that it drew over that one. */
    overlays: z.optional(z.array(z.string())),
  }),
  z.object({ type: z.literal('selectRun'), run: z.string() }),
  z.object({ type: z.literal('openStep'), ...playedStepSchema.shape }),
  z.object({ type: z.literal('openRollout'), run: z.string(), file: z.string() }),
  z.object({ type: z.literal('overlay'), runs: z.array(z.string()) }),
  /** Compares a recording of the run with one of the same task at another optimizer step, which the user picks. */
  z.object({ type: z.literal('compareStep'), run: z.string(), file: z.string() }),
  /** Saves what the page made where a person says: text, or a picture as base64. */
  z.object({ type: z.literal('export'), name: z.string(), format: z.enum(['csv', 'png']), content: z.string() }),
  z.object({ type: z.literal('stop'), run: z.string() }),
  z.object({ type: z.literal('resume'), run: z.string() }),
  z.object({ type: z.literal('train'), kind: z.enum(['sft', 'grpo']) }),
  z.object({ type: z.literal('showLog') }),
  /** Starts a debug session on the recording, at a step where one is named. */
  z.object({ type: z.literal('debugRecording'), step: z.optional(z.int()) }),
  /** Shows where a part of the recording's domain is. */
  z.object({ type: z.literal('openPlace'), kind: z.enum(placeKinds), name: z.string() }),
  z.object({ type: z.literal('openAsText') }),
  /** The user opened or closed the section of latency and tokens. */
  z.object({ type: z.literal('timelineToggled'), isOpen: z.boolean() }),
  /** Sets two recordings of the compared runs side by side. */
  z.object({ type: z.literal('compareRecordings'), recordings: z.tuple([z.string(), z.string()]) }),
  /** Makes the comparison again. */
  z.object({ type: z.literal('compareAgain') }),
  z.object({ type: z.literal('stopComparing') }),
  /** Opens a recording that is compared, or steps through it, from a step on where one is named. */
  z.object({
    type: z.literal('openCompared'),
    recording: z.string(),
    debug: z.boolean(),
    step: z.optional(z.int()),
  }),
  z.object({ type: z.literal('editor'), message: fromEditorSchema }),
]);
export type ToExtension = z.infer<typeof toExtensionSchema>;

/** The result of parsing: the message, or a sentence about what is wrong with it. */
export type Parsed<Message> =
  | { readonly ok: true; readonly message: Message }
  | { readonly ok: false; readonly problem: string };

/** Parses what came from the extension. */
export function parseToWebview(value: unknown): Parsed<ToWebview> {
  return parsed(toWebviewSchema.safeParse(value), value);
}

/** Parses what came from a webview. */
export function parseToExtension(value: unknown): Parsed<ToExtension> {
  return parsed(toExtensionSchema.safeParse(value), value);
}

function parsed<Message>(result: z.core.util.SafeParseResult<Message>, value: unknown): Parsed<Message> {
  if (result.success) return { ok: true, message: result.data };
  const type = (value as { type?: unknown } | null | undefined)?.type;
  const issue = result.error.issues[0];
  return {
    ok: false,
    problem: `message "${String(type)}": ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is not valid'}`,
  };
}
