import * as z from 'zod/mini';

/**
 * The schemas of the output of `rehearsal compare --json`, as far as the comparison page shows it. The engine computed
 * all numbers.
 */

const estimateSchema = z.object({ value: z.number(), low: z.number(), high: z.number() });
export type Estimate = z.infer<typeof estimateSchema>;

const distributionSchema = z.object({ mean: z.number(), median: z.number(), p95: z.number(), max: z.number() });
const share = z.nullable(z.number());
const tokensSchema = z.object({ input: z.number(), output: z.number() });
const callSchema = z.object({ tool: z.string(), calls: z.int(), errors: z.int() });

const metricsSchema = z.object({
  rollouts: z.int(),
  scored: z.int(),
  tasks: z.int(),
  scoredTasks: z.object({ all: z.int(), some: z.int(), none: z.int() }),
  meanReward: z.nullable(z.number()),
  reward: z.nullable(estimateSchema),
  completionRate: share,
  passHat: z.array(z.extend(estimateSchema, { k: z.int(), tasks: z.int() })),
  flipRate: share,
  allCorrect: share,
  allWrong: share,
  turns: distributionSchema,
  calls: z.array(z.extend(callSchema, { share: z.number() })),
  callsPerRollout: z.number(),
  toolErrorRate: share,
  unnecessaryRate: share,
  handOffRate: share,
  confirmationRate: share,
  violationRate: share,
  latency: z.object({ rollout: distributionSchema, agent: distributionSchema }),
  tokens: z.object({ total: z.number() }),
  money: z.nullable(z.number()),
  failedBy: z.record(z.string(), z.int()),
});
export type ComparedMetrics = z.infer<typeof metricsSchema>;

const comparedRunSchema = z.object({
  folder: z.string(),
  run: z.object({
    domain: z.string(),
    seed: z.string(),
    basis: z.string(),
    agent: z.string(),
    user: z.string(),
    policyHash: z.string(),
  }),
  metrics: metricsSchema,
  unfinished: z.int(),
  problems: z.array(z.string()),
});
export type ComparedRun = z.infer<typeof comparedRunSchema>;

const trialSchema = z.object({
  trial: z.int(),
  reward: z.nullable(z.number()),
  failedBy: z.nullable(z.string()),
  recording: z.string(),
});
export type ComparedTrial = z.infer<typeof trialSchema>;

const flipSchema = z.enum(['broke', 'fixed', 'worse', 'better', 'same']);
export type Flip = z.infer<typeof flipSchema>;

const stepsSchema = z.tuple([z.nullable(z.int()), z.nullable(z.int())]);
const saidWhat = z.enum(['user', 'agent', 'result', 'end']);
const divergenceSchema = z.object({
  steps: stepsSchema,
  what: saidWhat,
  texts: z.tuple([z.string(), z.string()]),
});

const pairSchema = z.object({
  tasks: z.array(
    z.object({
      task: z.string(),
      rewards: z.tuple([z.number(), z.number()]),
      trials: z.tuple([z.int(), z.int()]),
      difference: z.number(),
      flip: flipSchema,
    }),
  ),
  difference: estimateSchema,
  better: z.int(),
  worse: z.int(),
  p: z.number(),
  verdict: z.string(),
  /** Sentences on what the test can and cannot show. */
  advice: z.array(z.string()),
  settings: z.array(z.string()),
  changedTasks: z.array(z.string()),
  onlyInOne: z.array(z.string()),
  partings: z.array(z.extend(divergenceSchema, { task: z.string(), trial: z.int() })),
  alike: z.int(),
});

export const runsComparedSchema = z.object({
  runs: z.array(comparedRunSchema),
  tasks: z.array(z.object({ task: z.string(), trials: z.array(z.array(trialSchema)) })),
  /** The first run with each of the others. */
  pairs: z.array(pairSchema),
});
export type RunsCompared = z.infer<typeof runsComparedSchema>;

const comparedRecordingSchema = z.object({
  path: z.string(),
  started: z.object({
    task: z.string(),
    domain: z.string(),
    agent: z.string(),
    user: z.string(),
    seed: z.string(),
    trial: z.int(),
    basis: z.string(),
  }),
  events: z.int(),
  isRunning: z.boolean(),
  measure: z.object({
    reward: z.nullable(z.number()),
    reason: z.string(),
    endReason: z.string(),
    failedBy: z.nullable(z.string()),
    failure: z.nullable(z.object({ who: z.string(), message: z.string() })),
    turns: z.int(),
    calls: z.array(callSchema),
    latency: z.object({ agent: z.array(z.number()), user: z.array(z.number()), tools: z.array(z.number()) }),
    tokens: z.record(z.string(), tokensSchema),
  }),
  stoppedCalls: z.array(z.string()),
  verdicts: z.array(
    z.object({
      name: z.string(),
      verdict: z.enum(['held', 'violated', 'unknown']),
      detail: z.string(),
      step: z.int(),
    }),
  ),
  problems: z.array(z.string()),
});
export type ComparedRecording = z.infer<typeof comparedRecordingSchema>;

const saidSchema = z.object({ n: z.int(), what: saidWhat, text: z.string(), isError: z.boolean() });
export type Said = z.infer<typeof saidSchema>;

const alignedRowSchema = z.object({
  first: z.nullable(saidSchema),
  second: z.nullable(saidSchema),
  isAlike: z.boolean(),
});
export type AlignedRow = z.infer<typeof alignedRowSchema>;

export const recordingsComparedSchema = z.object({
  recordings: z.tuple([comparedRecordingSchema, comparedRecordingSchema]),
  settings: z.array(z.string()),
  fork: z.nullable(
    z.object({
      event: z.int(),
      edits: z.tuple([z.nullable(z.string()), z.nullable(z.string())]),
      origin: z.string(),
      between: z.tuple([z.array(z.string()), z.array(z.string())]),
    }),
  ),
  divergence: z.nullable(divergenceSchema),
  rows: z.array(alignedRowSchema),
  database: z.object({
    differences: z.array(
      z.object({ place: z.string(), first: z.nullable(z.string()), second: z.nullable(z.string()) }),
    ),
    more: z.int(),
    problem: z.nullable(z.string()),
  }),
});
export type RecordingsCompared = z.infer<typeof recordingsComparedSchema>;
