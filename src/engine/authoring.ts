/**
 * The module `rehearsal`: what the TypeScript of a domain imports. It runs in a worker and knows nothing of the engine
 * but the types below.
 */
import * as z from 'zod';
import type { Side, Tool } from './core/domain/tool.ts';
import type { Json, JsonObject } from './core/values/json.ts';
import type { Random } from './core/values/random.ts';
import { longestMs, timeLimitSchema } from './core/values/timeLimit.ts';

export type { Json, JsonObject, Random };

/** The shapes of the two sides of a domain's database. */
export type Databases = { agent: object; user?: object };

/** The second parameter of a tool's `run`. A tool has no access to any other part of the world. */
export type ToolContext<Sides extends Databases = Databases> = {
  /**
   * The agent's database. A write tool of the agent may change it in place; a call that throws leaves no trace.
   * Everywhere else it is frozen.
   */
  db: Sides['agent'];
  /** The user's database; a write tool whose owner is `user` may change it in place. */
  userDb: Sides extends { user: infer User } ? User : JsonObject;
  /** The date and time of the task, ISO 8601. A tool never asks the machine's clock. */
  now: string;
  /** Random numbers of this call: the same in every replay. */
  random: Random;
  /**
   * A new id that is the same in every replay, for example `id('W')` gives `W48213907`. The prefix must not end with a
   * digit.
   */
  id: (prefix?: string) => string;
};

/**
 * The parameter of `sync`: both databases, which it may change in place. A domain with two sides exports `sync` from
 * tools.ts, `export function sync({ db, userDb }: SyncContext<HelpLine>): void`, to copy from one side to the other. It
 * runs after set-up and after each successful call, and must change nothing when nothing has happened since.
 */
export type SyncContext<Sides extends Databases = Databases> = Pick<ToolContext<Sides>, 'db' | 'userDb' | 'now'>;

export type Sync = (context: SyncContext) => unknown;

/** The declaration of a tool in a domain. The name of the tool is the name of the export. */
export type ToolDefinition<Input extends z.ZodObject = z.ZodObject, Sides extends Databases = Databases> = {
  /** A description of the tool for the model that calls it. */
  description: string;
  /** `write` if a call may change the database; it is changeable only then. */
  effect: 'read' | 'write';
  /** The arguments; a call that does not fit is answered with an error and never reaches `run`. */
  input: Input;
  /** Performs a call. What it returns is the result that the caller sees: a text, or data that is shown as JSON. */
  run: (args: z.output<Input>, context: ToolContext<Sides>) => ToolResult | Promise<ToolResult>;
  /** The seat that may call the tool; `agent` by default. */
  owner?: Side;
  /** Whether the tool does not use the world: think, calculate, transfer to a human. */
  generic?: boolean;
  /** A successful call hands the conversation to a person and ends the rollout. */
  handsOff?: boolean;
  /** Milliseconds after which a call times out. */
  timeoutMs?: number;
  /** Whether a call that started and has no result may be repeated; true by default for read tools. */
  idempotent?: boolean;
};

/** Data that can be shown as JSON; nothing at all is shown as `ok`. */
// biome-ignore lint/suspicious/noConfusingVoidType: a tool that returns nothing is a tool without a return statement.
export type ToolResult = object | string | number | boolean | null | undefined | void;

const brand: unique symbol = Symbol.for('rehearsal.tool') as never;

/** A tool of a domain, made by `tool`. */
export type CodeTool<Input extends z.ZodObject = z.ZodObject, Sides extends Databases = Databases> = Readonly<
  ToolDefinition<Input, Sides>
> & { readonly [brand]: true };

/** A refusal that the caller of the tool sees as the result of the call. The database stays as it was. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/**
 * The maker of tools for one shape of the database:
 * `const { tool } = defineTools<{ agent: OrderDesk }>();`
 */
export function defineTools<Sides extends Databases>(): {
  /** Declares a tool. Export what it returns: the name of the export is the name of the tool. */
  tool: <Input extends z.ZodObject>(definition: ToolDefinition<Input, Sides>) => CodeTool<Input, Sides>;
} {
  return {
    tool: (definition) => {
      refuseUnusable(definition);
      const open = definition.input.def.catchall !== undefined;
      const input = open ? definition.input : (definition.input.strict() as unknown as typeof definition.input);
      return Object.freeze({ ...definition, input, [brand]: true as const });
    },
  };
}

const definitionSchema = z.strictObject({
  description: z.string({
    error: ({ input }) =>
      input === undefined ? 'description is missing: write what the tool does' : 'description must be a text',
  }),
  effect: z.enum(['read', 'write'], {
    error: ({ input }) =>
      input === undefined ? "effect is missing: write 'read' or 'write'" : "effect must be 'read' or 'write'",
  }),
  input: z.instanceof(z.ZodObject, { error: 'input must be a z.object' }),
  run: z.custom((value) => typeof value === 'function', { error: 'run must be a function' }),
  owner: z.enum(['agent', 'user'], { error: "owner must be 'agent' or 'user'" }).optional(),
  generic: z.boolean({ error: 'generic must be true or false' }).optional(),
  handsOff: z.boolean({ error: 'handsOff must be true or false' }).optional(),
  timeoutMs: timeLimitSchema.optional(),
  idempotent: z.boolean({ error: 'idempotent must be true or false' }).optional(),
});

/** Types are stripped before the code runs, so nothing else holds a domain to them. */
function refuseUnusable(definition: object): void {
  const { error } = definitionSchema.safeParse(definition);
  const [issue] = error?.issues ?? [];
  if (!issue) return;
  if (issue.code === 'unrecognized_keys')
    throw new TypeError(
      `a tool has no ${issue.keys.join(', ')}. It has ${Object.keys(definitionSchema.shape).join(', ')}`,
    );
  const what =
    issue.path[0] === 'timeoutMs'
      ? `timeoutMs must be a whole number of milliseconds, from 1 to ${longestMs}`
      : issue.message;
  throw new TypeError(`a tool can't be used as it is declared: its ${what}`);
}

/** Whether an export of a domain's module is a tool. */
export function isCodeTool(exported: unknown): exported is CodeTool {
  return typeof exported === 'object' && exported !== null && brand in exported;
}

/**
 * The parameter of a verifier: the world at the end and at the start, and the calls that were made. All of it is
 * frozen.
 */
export type VerifierContext<Sides extends Databases = Databases> = {
  db: Sides['agent'];
  userDb: Sides extends { user: infer User } ? User : JsonObject;
  /** The world before the first message. */
  start: Sides['agent'];
  startUser: Sides extends { user: infer User } ? User : JsonObject;
  calls: readonly { tool: string; args: JsonObject; result: Json; failed: boolean; step: number }[];
  now: string;
};

/**
 * The result of a verifier: whether it holds, a sentence that explains it, and for partial credit the share that was
 * met.
 */
export type VerifierResult = { held: boolean; detail: string; share?: number };

/**
 * The declaration of a verifier in a domain. Its name is the name of the export; tasks list that name in `verifiers`.
 */
export type VerifierDefinition<Sides extends Databases = Databases> = {
  description: string;
  verify: (context: VerifierContext<Sides>) => boolean | VerifierResult | Promise<boolean> | Promise<VerifierResult>;
};

const verifierBrand: unique symbol = Symbol.for('rehearsal.verifier') as never;

type CodeVerifier<Sides extends Databases = Databases> = Readonly<VerifierDefinition<Sides>> & {
  readonly [verifierBrand]: true;
};

/**
 * The maker of verifiers for one shape of the database, for verifiers.ts:
 * `const { verifier } = defineVerifiers<{ agent: OrderDesk }>();`
 */
export function defineVerifiers<Sides extends Databases>(): {
  /** Declares a verifier. Export what it returns: the name of the export is the name of the verifier. */
  verifier: (definition: VerifierDefinition<Sides>) => CodeVerifier<Sides>;
} {
  return { verifier: (definition) => Object.freeze({ ...definition, [verifierBrand]: true as const }) };
}

/** Whether an export of a domain's module is a verifier. */
export function isCodeVerifier(exported: unknown): exported is CodeVerifier {
  return typeof exported === 'object' && exported !== null && verifierBrand in exported;
}

/** The `sync` that a module of a domain exports, or null. */
export function syncIn(exports: Readonly<Record<string, unknown>>): Sync | null {
  const exported = exports['sync'];
  if (exported === undefined || isCodeTool(exported)) return null;
  if (typeof exported === 'function') return exported as Sync;
  throw new Error('The export sync is not a function. Write `export function sync({ db, userDb }) { ... }`.');
}

/** The tools that a module of a domain exports, by name. */
export function codeTools(exports: Readonly<Record<string, unknown>>): ReadonlyMap<string, CodeTool> {
  return new Map(Object.entries(exports).filter((entry): entry is [string, CodeTool] => isCodeTool(entry[1])));
}

/**
 * Returns what the engine knows of the tools that a module exports, with the JSON Schema of their arguments.
 * @param timeoutMs of tools that name none
 * @throws Error in words for the domain's author, when an input has no JSON Schema
 */
export function describeTools(exports: Readonly<Record<string, unknown>>, timeoutMs = 10_000): Tool[] {
  return [...codeTools(exports)].map(([name, tool]) => ({
    name,
    description: tool.description,
    parameters: parametersOf(name, tool.input),
    effect: tool.effect,
    owner: tool.owner ?? 'agent',
    source: { type: 'code' },
    ...(tool.generic ? { generic: true } : {}),
    ...(tool.handsOff ? { handsOff: true } : {}),
    timeoutMs: tool.timeoutMs ?? timeoutMs,
    idempotent: tool.idempotent ?? tool.effect === 'read',
  }));
}

/** The JSON Schema of a tool's arguments as a model is shown it: without `$schema`, closed to unknown arguments. */
function parametersOf(name: string, input: z.ZodObject): JsonObject {
  try {
    const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' });
    // Strict providers want the list also where every argument may be left out.
    const isEmpty = Object.keys(schema.properties ?? {}).length === 0;
    return { ...schema, ...(isEmpty ? {} : { required: schema.required ?? [] }) } as unknown as JsonObject;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The input of the tool ${name} has no JSON Schema: ${reason}. Use types that JSON can carry.`);
  }
}
