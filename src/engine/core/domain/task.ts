import * as z from 'zod';
import { contentHash } from '../values/hash.ts';
import type { JsonObject } from '../values/json.ts';
import { draftMark } from './persona.ts';
import { seededFaultSchema } from './seededFault.ts';

const factSchema = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.strictObject({
    value: z.union([z.string(), z.number(), z.boolean()]).describe('The value as a tool expects it.'),
    say: z.string().optional().describe('How this user says it, if that differs from the value.'),
  }),
]);

const callSchema = z.strictObject({
  tool: z.string().describe('Name of the tool.'),
  by: z.enum(['agent', 'user']).default('agent').describe('The seat that calls it.'),
  arguments: z.record(z.string(), z.json()).default({}).describe('Arguments of the call.'),
  floats: z
    .array(z.string())
    .optional()
    .describe('JSON Pointers of whole numbers in the arguments that are floats: a tool in Python tells 5.0 from 5.'),
  integers: z
    .array(z.string())
    .optional()
    .describe('JSON Pointers of texts of digits in the arguments that are whole numbers beyond 2^53.'),
});

const ownCallSchema = callSchema.omit({ by: true });
const scriptSchema = z.array(z.union([z.string(), z.array(ownCallSchema).min(1)]));

const agentCallSchema = ownCallSchema.extend({
  arguments: z
    .union([z.record(z.string(), z.json()), z.string()])
    .default({})
    .describe('What it is called with; a text is passed on unchanged, as when a model does not write a JSON object.'),
});
const agentScriptSchema = z.array(z.union([z.string(), z.array(agentCallSchema).min(1)]));

const goldActionSchema = callSchema.extend({
  arguments: callSchema.shape.arguments.describe(
    'What it is called with. `{result.loan_id}` is what an earlier gold action returned as `loan_id`; of several, the last.',
  ),
  turn: z.int().min(0).optional().describe("For the verifier `turns`: the user's message that it answers, from 0."),
  compare: z
    .array(z.string())
    .optional()
    .describe('Arguments that the verifier `actions` compares; those of the call that was made by default.'),
});

export const assertionSchema = z.strictObject({
  in: z
    .string()
    .default('agent')
    .describe('`agent` or `user` for that side of the database, or the name of a tool source with a state reader.'),
  call: callSchema
    .optional()
    .describe('A function of the environment that `in` names. The assertion checks its result instead of the state.'),
  path: z
    .string()
    .optional()
    .describe('Path into the state, with dots and [index] or [field=value], for example orders.W1.status.'),
  that: z
    .string()
    .max(2000)
    .optional()
    .describe('Instead of a path: an expression that must hold, for example count(state.orders, it.paid) == 2.'),
  equals: z.json().optional().describe('The value there.'),
  contains: z.json().optional().describe('A substring of a text, an element of a list, or a part of an object.'),
  exists: z.boolean().optional().describe('Whether there is a value.'),
  sameAs: z
    .literal('gold')
    .optional()
    .describe(
      '`gold`: the state of a tool source, or what is at the path, is the same as after the gold actions on a fresh instance, up to ids that tools created and fields that are declared as volatile.',
    ),
});
export type Assertion = z.infer<typeof assertionSchema>;

const receiptSchema = z.strictObject({
  tool: z.string().describe('Name of the tool.'),
  arguments: z
    .record(z.string(), z.json())
    .optional()
    .describe('Arguments that the call must have had; arguments that are not named here are free.'),
  when: z.string().max(2000).optional().describe('An expression on `args` and `result` that must hold for the call.'),
  times: z.int().min(0).optional().describe('The exact number of calls; 0 for never. Default: at least one.'),
});
export type Receipt = z.infer<typeof receiptSchema>;

const endStateSchema = z.strictObject({
  gold: z.array(z.record(z.string(), z.record(z.string(), z.json()))).describe('Attributes by the name of an object.'),
  compared: z
    .record(z.string(), z.array(z.string()))
    .describe('The objects of the rollout, and which of their attributes are compared.'),
  since: z
    .enum(['call', 'success'])
    .describe('The objects count once the agent called something, or once all calls of one response succeeded.'),
});
export type EndState = z.infer<typeof endStateSchema>;

export const verifierNames = [
  'database',
  'assertions',
  'communicate',
  'receipts',
  'actions',
  'turns',
  'endState',
  'milestones',
  'custom',
  'judge',
] as const;
export type VerifierName = (typeof verifierNames)[number];

/** The valid ids of a task; its recordings are files of that name. */
export const taskIds = {
  pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,159}$/,
  words: 'at most 160 letters, digits, dots, dashes and underscores, beginning with a letter or digit',
} as const;

/** Frozen data of one problem. What the simulated user wants and knows, and what counts as done. */
export const taskSchema = z.strictObject({
  id: z
    .string()
    .regex(taskIds.pattern, `a task id is ${taskIds.words}`)
    .describe('Name of the task, unique in the domain.'),
  description: z.string().optional().describe('For people: what this task is about and what it tests.'),
  draft: draftMark,
  split: z.enum(['train', 'test']).default('train').describe('Whether it is trained on or held out.'),
  persona: z.string().describe('Id of a persona of this domain.'),
  under: z
    .string()
    .optional()
    .describe('Id of another persona, whose behaviors and attacks are applied on top of those of the first.'),
  now: z
    .string()
    .optional()
    .describe('The date and time at which this task happens, ISO 8601. Defaults to that of the domain.'),
  user: z
    .strictObject({
      goal: z.string().describe('What the user wants, written in the second person: "You want to return your lamp."'),
      opening: z
        .string()
        .optional()
        .describe(
          'First message of the user. Default: written from the goal. A persona that `omits` shortens it only if it has all facts.',
        ),
      known: z
        .record(z.string(), factSchema)
        .default({})
        .describe('Facts the user knows and tells when asked, by name.'),
      unknown: z.array(z.string()).default([]).describe('Facts that the user does not know.'),
      change: z
        .strictObject({
          when: z
            .enum(['proposed', 'done'])
            .describe('After the first proposal, or after the first completed request.'),
          say: z.string().describe('How the user says the change.'),
          known: z
            .record(z.string(), factSchema)
            .default({})
            .describe('Facts that replace the former ones. Leave it out if the user only asks for something more.'),
        })
        .optional()
        .describe('The request changes midway (persona behavior `changes`).'),
      script: scriptSchema
        .optional()
        .describe("An exact list of the user's turns for the scripted seat: a text, or calls of the user's tools."),
      otherwise: z
        .string()
        .optional()
        .describe('What the scripted seat answers after the end of its script. Without it, the user leaves.'),
      insist: z
        .strictObject({ say: z.string().describe('What the user insists on although the policy forbids it.') })
        .optional()
        .describe(
          'Something that the policy refuses, and that the user asks for once more (persona behavior `insists`).',
        ),
    })
    .describe('Who the user is in this task: what they want, know and say.'),
  state: z
    .array(
      z.strictObject({
        side: z.enum(['agent', 'user']).default('agent').describe('The side of the database.'),
        path: z
          .array(z.union([z.string(), z.number()]))
          .min(1)
          .describe('Keys of the path to the value: [orders, W1, status].'),
        value: z.json().describe('The value; null removes the entry.'),
      }),
    )
    .default([])
    .describe('Differences from the database at the start of this task.'),
  setUp: z
    .record(z.string(), z.json())
    .optional()
    .describe(
      'Differences at the start in an environment of domain.yaml, by its name: rows by table and key. In an MCP server: files, args and calls.',
    ),
  faults: z.array(seededFaultSchema).optional().describe('Faults that are injected into tool calls, drawn by seed.'),
  actions: z.array(goldActionSchema).default([]).describe('Gold actions: the calls that a correct rollout makes.'),
  assertions: z.array(assertionSchema).default([]).describe('Conditions on the final state.'),
  communicate: z
    .array(z.string().regex(/\S/, 'a required text has words'))
    .default([])
    .describe('Texts the agent must have said to the user.'),
  communicateBy: z
    .enum(['tau2', 'tau1'])
    .optional()
    .describe(
      '`tau2`: as the evaluator of tau2-bench reads it: text that is sent with a call also counts, and a text with a comma is never found. `tau1`: as that of tau-bench reads it: only what the user heard counts, except the greeting.',
    ),
  origin: z
    .strictObject({
      benchmark: z.string().describe('The benchmark.'),
      id: z.string().describe('The id of the task in it.'),
    })
    .optional()
    .describe('The benchmark that this task was imported from, and its id there.'),
  receipts: z
    .array(receiptSchema)
    .optional()
    .describe('Calls that must have succeeded, or must not have been made: for tools whose state cannot be read.'),
  endState: endStateSchema
    .optional()
    .describe("For the verifier `endState`: the contents of the environment's objects at the end."),
  milestones: z
    .array(scriptSchema)
    .optional()
    .describe('For the verifier `milestones`: lists of agent responses, each in order. The best match counts.'),
  prompt: z.string().optional().describe("Which of the environment's texts the seats get."),
  verifiers: z.array(z.string()).optional().describe('Names of verifiers that verifiers.ts exports (`custom`).'),
  judge: z
    .array(z.string().min(1))
    .optional()
    .describe('Statements about the conversation that a judge, a model, must find true.'),
  credit: z
    .enum(['product', 'partial'])
    .optional()
    .describe(
      '`product`: 1 if every verifier of the basis holds, else 0. `partial`: the mean share of their checks that were met. A violated gated rule or an improper end still makes it 0.',
    ),
  script: agentScriptSchema
    .optional()
    .describe('An exact list of agent turns for the scripted seat: a text, or calls.'),
  tools: z
    .array(z.string())
    .optional()
    .describe('Names of the tools that the agent sees at the start; all of its tools by default.'),
  laterTools: z
    .array(
      z.strictObject({
        turn: z.int().min(1).describe('The message of the user, counted from 0.'),
        tools: z.array(z.string()).min(1).describe('Names of the tools.'),
      }),
    )
    .optional()
    .describe('Tools that the agent sees only from a certain message of the user, counted from 0.'),
  agent: z.enum(['gold', 'scripted']).optional().describe('The default seat of the agent for this task.'),
  evaluate: z
    .array(z.enum(verifierNames))
    .min(1)
    .default(['database', 'communicate'])
    .describe('The verifiers that decide the reward of an evaluation.'),
  train: z
    .array(z.enum(verifierNames))
    .min(1)
    .default(['database'])
    .describe('The verifiers that decide the reward in training.'),
});
export type Task = z.infer<typeof taskSchema>;
export type Fact = z.infer<typeof factSchema>;
export type GoldAction = z.infer<typeof goldActionSchema>;

/** A fact's value as a tool takes it, and its wording by this user. */
export function factOf(fact: Fact): { readonly value: string | number | boolean; readonly say: string } {
  return typeof fact === 'object'
    ? { value: fact.value, say: fact.say ?? String(fact.value) }
    : { value: fact, say: String(fact) };
}

/** A fact of a user with its path in the task. */
export type PlacedFact = { readonly name: string; readonly fact: Fact; readonly path: readonly string[] };

/** Returns the facts that a user knows, and those that a change of mind puts in their place. */
export function knownFactsOf({ user: { known, change } }: Pick<Task, 'user'>): {
  readonly before: readonly PlacedFact[];
  readonly after: readonly PlacedFact[];
} {
  const placed = (facts: Readonly<Record<string, Fact>>, ...path: readonly string[]) =>
    Object.entries(facts).map(([name, fact]) => ({ name, fact, path: [...path, name] }));
  return { before: placed(known, 'user', 'known'), after: placed(change?.known ?? {}, 'user', 'change', 'known') };
}

const hashes = new WeakMap<Task, string>();

/** Identity of a task: the hash of its content. */
export function taskHash(task: Task): string {
  const known = hashes.get(task);
  if (known !== undefined) return known;
  const hash = contentHash(task as unknown as JsonObject);
  hashes.set(task, hash);
  return hash;
}
