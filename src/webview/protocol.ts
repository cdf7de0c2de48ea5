import * as z from 'zod/mini';
import type { RolloutEvent } from '../engine/core/event.ts';

/** The views of the one webview bundle; a page names its own in `data-view`. */
export const viewIds = ['trainingDashboard', 'trajectory'] as const;
export type ViewId = (typeof viewIds)[number];

/** Where a training run stands. `failed` carries the error's own message. */
export const runStatusSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('waiting') }),
  z.object({ type: z.literal('running') }),
  z.object({ type: z.literal('stopping') }),
  z.object({ type: z.literal('stopped') }),
  z.object({ type: z.literal('finished') }),
  z.object({ type: z.literal('failed'), message: z.string() }),
]);
export type RunStatus = z.infer<typeof runStatusSchema>;

/** One optimizer step as measured: a metric that was not measured is absent. `time` is in epoch milliseconds. */
export const pointSchema = z.object({
  step: z.int(),
  time: z.nullable(z.number()),
  metrics: z.record(z.string(), z.number()),
});
export type Point = z.infer<typeof pointSchema>;

/** A training run of the workspace; `id` is the name of its folder. */
export const runSchema = z.object({
  id: z.string(),
  kind: z.nullable(z.enum(['sft', 'grpo', 'evaluate'])),
  model: z.nullable(z.string()),
  domain: z.nullable(z.string()),
  /** Optimizer steps that the configuration asks for, where it says so. */
  plannedSteps: z.nullable(z.int()),
});
export type Run = z.infer<typeof runSchema>;

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

/** Everything that the extension says to a webview. */
export const toWebviewSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('snapshot'),
    runs: z.array(runSchema),
    /** The run that is shown; null while the workspace has none. */
    run: z.nullable(z.string()),
    points: z.array(pointSchema),
    status: runStatusSchema,
    problems: z.array(z.string()),
  }),
  z.object({ type: z.literal('appended'), run: z.string(), points: z.array(pointSchema) }),
  /** The run's files were begun anew: these points replace all earlier ones. */
  z.object({ type: z.literal('restarted'), run: z.string(), points: z.array(pointSchema) }),
  z.object({ type: z.literal('status'), run: z.string(), status: runStatusSchema, problems: z.array(z.string()) }),
  z.object({ type: z.literal('runs'), runs: z.array(runSchema) }),
  z.object({
    type: z.literal('rollouts'),
    run: z.string(),
    step: z.int(),
    rollouts: z.array(rolloutSchema),
    problem: z.nullable(z.string()),
  }),
  z.object({ type: z.literal('recordingOpened'), name: z.string(), total: z.int(), problem: z.nullable(z.string()) }),
  z.object({ type: z.literal('recordingRead'), events: z.array(numberedSchema) }),
]);
export type ToWebview = z.infer<typeof toWebviewSchema>;

/** Everything that a webview says to the extension. */
export const toExtensionSchema = z.discriminatedUnion('type', [
  /** The page has loaded, for the first time or again. `run` is the one it showed before. */
  z.object({ type: z.literal('ready'), run: z.optional(z.string()) }),
  z.object({ type: z.literal('selectRun'), run: z.string() }),
  z.object({ type: z.literal('openStep'), run: z.string(), step: z.int() }),
  z.object({ type: z.literal('openRollout'), run: z.string(), file: z.string() }),
  z.object({ type: z.literal('stop'), run: z.string() }),
  z.object({ type: z.literal('train'), kind: z.enum(['sft', 'grpo']) }),
  z.object({ type: z.literal('showLog') }),
  z.object({ type: z.literal('debugRecording') }),
  z.object({ type: z.literal('openAsText') }),
]);
export type ToExtension = z.infer<typeof toExtensionSchema>;

/** What a parser found: the message, or a sentence that says what is wrong with it. */
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
