import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { modelRoles, type ToolKind } from '../../core/evaluation/measure.ts';
import type { PlannedTrials, Prices } from '../../core/evaluation/metrics.ts';
import { issueText } from '../../core/text/issueText.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { fileLimits, readBounded, readBoundedText } from '../files/boundedFile.ts';
import { onDisk, replaceFile } from '../files/disk.ts';
import { messageOf } from '../files/fault.ts';
import { rolloutName } from './recordingName.ts';
import { runFileName } from './runFiles.ts';

const priceSchema = z.object({ input: z.number(), output: z.number() });

/** The policy's differences from the last run of the same domain; without lines if only its hash is known. */
const policyChangeSchema = z.object({
  run: z.string(),
  policyHash: z.string(),
  lines: z.array(z.string()).readonly().optional(),
});
export type PolicyChange = z.infer<typeof policyChangeSchema>;

/** The price of a million tokens of each seat. */
export const pricesSchema = z.strictObject(
  Object.fromEntries(modelRoles.map((role) => [role, priceSchema.optional()])),
) as z.ZodType<Prices>;

/** `run.json` in the folder of a run. */
const runFileSchema = z.object({
  /** Identifies the run in its receipts and sidecars; absent in runs that older versions wrote. */
  id: z.string().optional(),
  /** The names of the rollouts that belong to the run. */
  planned: z.array(z.string()).readonly().optional(),
  domain: z.string(),
  folder: z.string(),
  seed: z.string(),
  trials: z.int(),
  basis: z.enum(['evaluate', 'train']),
  /** Responses of the agent after which a rollout ends; absent in runs that older versions wrote. */
  turnCap: z.int().optional(),
  agent: z.string(),
  /** By the id of a task: the agent's seat that the task names, if the run used that one. */
  agents: z.record(z.string(), z.string()).optional(),
  /** Of a custom agent's file and of the program files that it names; absent in runs that older versions wrote. */
  agentHash: z.string().optional(),
  user: z.string(),
  judge: z.string().optional(),
  /** The request settings of the models. Absent in runs that older versions wrote. */
  models: z.partialRecord(z.enum(modelRoles), z.record(z.string(), z.json()) as z.ZodType<JsonObject>).optional(),
  /** The simulated user in rollouts of each basis, set by the domain and by the choices for this run. */
  simulators: z.object({ train: z.string(), evaluate: z.string() }).optional(),
  tasks: z.array(z.string()),
  /** The properties of the domain's tools that the metrics need. */
  tools: z
    .array(
      z.object({ name: z.string(), effect: z.enum(['read', 'write']), generic: z.boolean(), handsOff: z.boolean() }),
    )
    .default([]),
  /** The price of a million tokens of each seat, if it was given. */
  prices: pricesSchema.optional(),
  /** The run whose rollouts were verified again, and which of its policies that was. */
  regraded: z.object({ run: z.string(), policyHash: z.string() }).optional(),
  /** For imported conversations: the extent to which personal data is masked in them. */
  imported: z.object({ masked: z.boolean(), recogniser: z.string().optional() }).optional(),
  policyHash: z.string(),
  /** Of the domain without its tasks; absent in runs that older versions wrote. */
  domainHash: z.string().optional(),
  policyChange: policyChangeSchema.optional(),
  publicKey: z.string(),
});
export type RunFile = z.infer<typeof runFileSchema>;

/** Returns the agent's seat in the rollouts of a task. */
export function agentOfTask({ agent, agents }: Pick<RunFile, 'agent' | 'agents'>, task: string): string {
  return agents?.[task] ?? agent;
}

/** Returns the agent's seats of a run, each once. */
export function agentNames(file: Pick<RunFile, 'agent' | 'agents' | 'tasks'>): string {
  return [...new Set(file.tasks.map((task) => agentOfTask(file, task)))].join(', ') || file.agent;
}

/** Returns how many trials of each task a run plans. */
export function plannedTrials({
  planned,
  tasks,
  trials,
}: Pick<RunFile, 'planned' | 'tasks' | 'trials'>): PlannedTrials {
  const names = planned && new Set(planned);
  const every = Array.from({ length: trials }, (_, trial) => trial);
  return new Map(
    tasks.map((id) => [id, every.filter((trial) => names?.has(rolloutName({ id }, trial)) ?? true).length]),
  );
}

/** Returns what a run's description says about the domain's tools. */
export function toolKinds(tools: readonly ToolKind[]): RunFile['tools'] {
  return tools.map(({ name, effect, generic = false, handsOff = false }) => ({ name, effect, generic, handsOff }));
}

/** Returns what `run.json` of a folder says, or, with its path, why it says nothing. */
export function readRunFile(folder: string): RunFile | string {
  const path = join(folder, runFileName);
  if (!existsSync(path)) return `${path} is missing`;
  try {
    const { data, error } = runFileSchema.safeParse(JSON.parse(readBoundedText(path)));
    if (data) return data;
    return `${path}:1: is not a description of a run (${issueText(error, 'the file')})`;
  } catch (error) {
    const message = messageOf(error);
    if (!(error instanceof SyntaxError)) return `${path} can't be read (${message})`;
    return `${path}:${/\(line (\d+)/.exec(message)?.[1] ?? 1}: is not JSON`;
  }
}

/** Returns the id of the run in a folder, or undefined if the folder has no run or its version gave none. */
export function runIdIn(folder: string): string | undefined {
  const file = readRunFile(folder);
  return typeof file === 'string' ? undefined : file.id;
}

/** SHA-256 over the bytes of `run.json`, as the ledger vouches for it; null without that file. */
export function runFileHash(folder: string): string | null {
  const path = join(folder, runFileName);
  return existsSync(path) ? hash('sha256', readBounded(path, { limit: fileLimits.record }), 'hex') : null;
}

/** Writes `run.json` whole or not at all, and gives its hash. */
export function writeRunFile(folder: string, file: RunFile): string {
  const path = join(folder, runFileName);
  const text = `${JSON.stringify(file, null, 2)}\n`;
  onDisk(path, () => replaceFile(path, text));
  return hash('sha256', text, 'hex');
}
