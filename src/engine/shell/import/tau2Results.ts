import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { messageOf } from '../fault.ts';
import { unimportable } from './importReport.ts';

const callSchema = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.record(z.string(), z.json()),
  requestor: z.enum(['assistant', 'user']).default('assistant'),
});

const spoken = { content: z.string().nullish(), tool_calls: z.array(callSchema).nullish() };

const resultSchema = z.object({
  role: z.literal('tool'),
  id: z.string(),
  content: z.string().nullish(),
  error: z.boolean().nullish(),
});

const messageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system') }),
  z.object({ role: z.literal('assistant'), ...spoken }),
  z.object({ role: z.literal('user'), ...spoken }),
  resultSchema,
]);
export type Tau2Message = z.infer<typeof messageSchema>;

const simulationSchema = z.object({
  id: z.string().nullish(),
  task_id: z.string(),
  trial: z.int().nullish(),
  termination_reason: z.string(),
  messages: z.array(messageSchema),
  reward_info: z
    .object({
      reward: z.number(),
      nl_assertions: z
        .array(z.object({ nl_assertion: z.string(), met: z.boolean(), justification: z.string().nullish() }))
        .nullish(),
    })
    .nullish(),
  /** What the evaluator raised, where whoever wrote the file kept that. */
  raised: z.string().optional(),
});
export type Simulation = z.infer<typeof simulationSchema>;

const resultsSchema = z.object({
  info: z.object({ environment_info: z.object({ domain_name: z.string() }) }),
  simulations: z.array(simulationSchema).default([]),
});

/** Finished simulations of tau2, of one of its domains. */
export type Tau2Results = { readonly domain: string; readonly simulations: readonly Simulation[] };

/**
 * Reads a results file of tau2, or a folder with `results.json` and a file for each simulation. Throws a `Fault` that says
 * what is wrong with it.
 */
export function readTau2Results(path: string): Tau2Results {
  const isFolder = existsSync(join(path, 'results.json'));
  const file = isFolder ? join(path, 'results.json') : path;
  if (!existsSync(file)) throw unimportable('missing', `there is no ${file}`);
  const { info, simulations } = parsed(file, resultsSchema);
  const beside = join(path, 'simulations');
  const more =
    isFolder && existsSync(beside)
      ? readdirSync(beside)
          .filter((name) => name.endsWith('.json'))
          .map((name) => parsed(join(beside, name), simulationSchema))
      : [];
  return { domain: info.environment_info.domain_name, simulations: [...simulations, ...more] };
}

function parsed<T>(file: string, schema: z.ZodType<T>): T {
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw unimportable('syntax', `${file} does not parse: ${messageOf(error)}`, file);
  }
  const found = schema.safeParse(read);
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  throw unimportable(
    'layout',
    `${file} is no results file of tau2: expected info.environment_info.domain_name and simulations with task_id, termination_reason and messages; ${issue?.path.join('.') || 'the whole'}: ${issue?.message}`,
    file,
  );
}
