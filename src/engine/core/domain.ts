import * as z from 'zod';
import type { Database } from './database.ts';
import { type Lexicon, lexiconSchema } from './lexicon.ts';
import type { Persona } from './persona.ts';
import type { Rule } from './rule.ts';
import type { Task } from './task.ts';
import type { Tool } from './tool.ts';

const mcpServerSchema = z.strictObject({
  type: z.literal('stdio').default('stdio'),
  command: z
    .string()
    .describe(
      '`${domainFolder}` and `${instanceFolder}`, a fresh folder for each rollout, are filled in here, in args, env and cwd.',
    ),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  cwd: z.string().optional(),
  state: z
    .enum(['replay', 'none'])
    .default('none')
    .describe(
      'How a fork gets back to an earlier state of this server: its recorded calls are made again, or not at all.',
    ),
  reader: z
    .strictObject({ tool: z.string(), arguments: z.record(z.string(), z.json()).default({}) })
    .optional()
    .describe('A read tool whose result is the state of this server; assertions look into it.'),
  writes: z.array(z.string()).default([]).describe('Tools of this server that change something.'),
  idempotent: z.array(z.string()).default([]).describe('Tools that may be called again after a call was cut short.'),
  timeoutMs: z.int().positive().default(30_000),
});
export type McpServer = z.infer<typeof mcpServerSchema>;

/** `domain.yaml`. */
export const domainFileSchema = z.strictObject({
  name: z.string(),
  description: z.string().default(''),
  now: z.string().default('2026-01-05T09:00:00Z').describe('Date and time at which tasks happen, ISO 8601.'),
  turnCap: z.int().min(1).max(1000).default(30),
  toolErrorCap: z.int().min(1).default(10).describe('Tool errors that end a rollout.'),
  policy: z.string().default('policy.md'),
  rules: z.string().default('rules.yaml'),
  tools: z.string().default('tools.ts').describe('Code tools, when the file is there.'),
  personas: z.string().default('personas'),
  tasks: z.string().default('tasks'),
  database: z.string().default('database.json'),
  userDatabase: z.string().optional(),
  mcpServers: z.record(z.string(), mcpServerSchema).default({}),
  agent: z.string().default('gold').describe("The agent's seat by default: gold, scripted, human, or a model."),
  user: z.string().default('agenda').describe("The user's seat by default: agenda, human, or a model."),
  dialect: z.enum(['hermes', 'compact']).default('hermes').describe('How a trained model is shown the tools.'),
  toolTimeoutMs: z.int().positive().default(10_000),
  lexicon: lexiconSchema.prefault({}),
});
export type DomainFile = z.infer<typeof domainFileSchema>;

/** A rule of the policy: a list item or heading that carries an id mark, with its lines in the file (from 1). */
export type PolicyRule = {
  readonly id: string;
  readonly text: string;
  readonly line: number;
  readonly endLine: number;
};

export type Policy = {
  /** The text the agent's seat gets: the file with its id marks taken out. */
  readonly text: string;
  readonly rules: readonly PolicyRule[];
  readonly hash: string;
};

/** Everything of a domain but the behaviour of its tools. Frozen data; crosses process borders. */
export type Domain = {
  readonly name: string;
  readonly file: DomainFile;
  readonly policy: Policy;
  readonly rules: readonly Rule[];
  readonly tools: readonly Tool[];
  readonly personas: readonly Persona[];
  readonly tasks: readonly Task[];
  readonly lexicon: Lexicon;
  readonly hash: string;
};

/** Both sides of the world, as immutable values. */
export type World = { readonly agent: Database; readonly user: Database };
