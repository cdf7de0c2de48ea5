import * as z from 'zod';
import { seatSettingsSchema } from '../../../engine/core/domain/modelSettings.ts';
import { pricesSchema } from '../../../engine/shell/records/runFile.ts';
import { UsageError } from '../../terminal/io.ts';

/** A time that a person gives in seconds, as milliseconds. */
const seconds = z
  .number()
  .positive()
  .transform((given) => given * 1000);

/** The schema of a launch or attach configuration. Editors add their own fields, which are ignored. */
const configurationSchema = z.object({
  /** Folder of the domain. */
  domain: z.string().optional(),
  task: z.string().optional(),
  recording: z.string().optional(),
  /** Step of the recording to open first. */
  step: z.int().min(0).default(0),
  agent: z.string().optional(),
  user: z.string().optional(),
  forkAgent: z.string().optional(),
  /** The model that judges; without one, what only a judge can decide is unknown. */
  judge: z.string().optional(),
  seed: z.union([z.string(), z.number()]).transform(String).default('1'),
  trial: z.int().min(0).default(0),
  basis: z.enum(['evaluate', 'train']).default('evaluate'),
  turnCap: z.int().min(1).optional(),
  /** The prices of each seat per million tokens, for the usage scope and for reports. */
  prices: pricesSchema.optional(),
  /** The model settings of the seats, which override those of the domain. */
  models: seatSettingsSchema.optional(),
  /** The time that a model may take for one response. */
  timeout: seconds.optional(),
  /** The time that one request may wait for an endpoint that limits the rate. */
  rateLimitWait: seconds.optional(),
  stopOnEntry: z.boolean().default(false),
  noStopAtEnd: z.boolean().default(false),
  noDebug: z.boolean().default(false),
  /**
   * Whether stepping continues inside tools in TypeScript. By default it does if the worker keeps its permissions under
   * an inspector; `true` allows it to lose them.
   */
  debugTools: z.boolean().optional(),
  /** An existing Python that serves a checkpoint in the agent's seat: a path, or an argument list. */
  python: z.union([z.string(), z.array(z.string())]).optional(),
  /** Folder for runs (`.rehearsal/runs` of the domain). */
  runs: z.string().optional(),
  /** Folder of the run itself, in place of a new one in `runs`. */
  run: z.string().optional(),
  /** The token printed by a listening adapter; not required over standard input. */
  token: z.string().optional(),
});
export type Configuration = z.infer<typeof configurationSchema>;

/** @throws UsageError that names the field and what was expected */
export function readConfiguration(given: unknown): Configuration {
  const parsed = configurationSchema.safeParse(given ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UsageError(
    `the launch configuration: "${issue?.path.join('.')}" is not what was expected (${issue?.message})`,
  );
}
