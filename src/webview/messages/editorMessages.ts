import * as z from 'zod/mini';
import type { Persona } from '../../engine/core/domain/persona.ts';
import type { Task } from '../../engine/core/domain/task.ts';
import type { Writes } from '../../engine/core/events/event.ts';
import type { ReportCard } from '../../engine/core/events/reportCard.ts';
import type { Json } from '../../engine/core/values/json.ts';

/** The engine's JSON can't be changed, and that of zod can. */
const jsonSchema = z.json() as unknown as z.ZodMiniType<Json, Json>;
export const pathSchema = z.array(z.union([z.string(), z.number()]));
export type ValuePath = z.infer<typeof pathSchema>;

const checked = <T>() => z.custom<T>((value) => typeof value === 'object' && value !== null);

/** Something that is wrong with the file, and the line to look at. */
export const fileProblemSchema = z.object({ message: z.string(), line: z.int() });
export type FileProblem = z.infer<typeof fileProblemSchema>;

export const personaContentSchema = z.object({
  editor: z.literal('persona'),
  /** The path of the persona in its file. */
  base: pathSchema,
  /** As the engine reads it, with defaults. */
  persona: checked<Persona>(),
  /** The initial prompt of a model that plays this persona; null if there are no tasks to play. */
  prompt: z.nullable(z.string()),
  /** Tasks of the domain, those with this persona first. */
  tasks: z.array(z.string()),
  /** The number of tasks with this persona. */
  own: z.int(),
  /** The task that the prompt is made for. */
  task: z.nullable(z.string()),
  /** The model that would play the user, where one is configured. */
  model: z.nullable(z.string()),
});
export type PersonaContent = z.infer<typeof personaContentSchema>;

const countsSchema = z.object({ held: z.int(), violated: z.int(), unknown: z.int() });

export const ruleCardSchema = z.object({
  /** The line on which it begins in the file, counted from 1. */
  line: z.int(),
  /** The id of its mark; null where no check can name it. */
  id: z.nullable(z.string()),
  /** Its markdown without bullet and mark; null where only the text can change it. */
  text: z.nullable(z.string()),
  /** Its words, without markup. */
  plain: z.string(),
  /** It is a heading, which keeps its place; list items can be moved and taken out. */
  isHeading: z.boolean(),
  checks: z.array(
    z.object({
      /** Number of the check in the domain's rules. */
      index: z.int(),
      check: z.string(),
      gate: z.boolean(),
      layer: z.nullable(z.string()),
      file: z.string(),
      line: z.int(),
      /** A description of the check in words. */
      says: z.string(),
    }),
  ),
  /** The tasks that exercise it: the first of them, and how many there are. */
  tasks: z.array(z.string()),
  taskCount: z.int(),
  /** A check of it is about every conversation. */
  isAlwaysTried: z.boolean(),
  /** The results of its checks in the last run. */
  result: z.nullable(z.extend(countsSchema, { recording: z.string() })),
});
export type RuleCard = z.infer<typeof ruleCardSchema>;

export const policyContentSchema = z.object({
  editor: z.literal('policy'),
  sections: z.array(
    z.object({
      title: z.nullable(z.string()),
      line: z.int(),
      /** Paragraphs that are not rules. */
      notes: z.array(z.object({ text: z.string(), line: z.int() })),
      rules: z.array(ruleCardSchema),
    }),
  ),
  /** Problems with the rule marks of the file. */
  problems: z.array(fileProblemSchema),
  /** Whether the file is the policy of a domain: without one there are no checks and no tasks. */
  hasDomain: z.boolean(),
});
export type PolicyContent = z.infer<typeof policyContentSchema>;

export const misfitSchema = z.object({ path: pathSchema, message: z.string() });

const schemaSchema = z.record(z.string(), jsonSchema);

/** A tool as an agent is shown it. */
const toolSchema = z.object({
  name: z.string(),
  owner: z.enum(['agent', 'user']),
  effect: z.enum(['read', 'write']),
  description: z.string(),
  /** JSON Schema of its arguments; null if it is not known yet. */
  parameters: z.nullable(schemaSchema),
});
export type ShownTool = z.infer<typeof toolSchema>;

export const toolContentSchema = z.object({
  editor: z.literal('tool'),
  /** The path of the tool in its file; null if the file is code, which is edited as code. */
  base: z.nullable(pathSchema),
  tool: toolSchema,
  /** The origin of the tool: code, python, mcp, environment or simulated. */
  source: z.string(),
  /** The settings of its calls, in words. */
  limits: z.array(z.object({ name: z.string(), value: z.string() })),
  /** The settings of a simulated tool in its file, other than name, description and parameters. */
  simulated: z.nullable(
    z.object({
      behaviour: z.string(),
      result: schemaSchema,
      reads: z.array(z.string()),
      writes: z.array(z.string()),
      limits: z.object({
        timeoutMs: z.optional(z.int()),
        idempotent: z.optional(z.boolean()),
        cache: z.optional(z.boolean()),
        retries: z.optional(z.int()),
        rateLimit: z.optional(z.object({ calls: z.int(), perMs: z.int() })),
      }),
    }),
  ),
  /** Calls of it that tasks have among their gold actions. */
  examples: z.array(z.object({ task: z.string(), arguments: schemaSchema })),
  tasks: z.array(z.string()),
  /** Why it can't be tried here; null if it can. */
  untriable: z.nullable(z.string()),
  /** Why its arguments are not known; null if they are. */
  undescribed: z.nullable(z.string()),
});
export type ToolContent = z.infer<typeof toolContentSchema>;

export const taskContentSchema = z.object({
  editor: z.literal('task'),
  base: pathSchema,
  task: checked<Task>(),
  personas: z.array(z.string()),
  tools: z.array(toolSchema),
  /** Why the arguments of some tools are not known; null where they are. */
  undescribed: z.nullable(z.string()),
  /** Errors in arguments of gold actions; paths begin at the list of actions. */
  misfits: z.array(misfitSchema),
  /** Parts of the task that only the text shows. */
  others: z.array(z.string()),
});
export type TaskContent = z.infer<typeof taskContentSchema>;

export const editorContentSchema = z.discriminatedUnion('editor', [
  personaContentSchema,
  policyContentSchema,
  toolContentSchema,
  taskContentSchema,
]);
export type EditorContent = z.infer<typeof editorContentSchema>;

/** The content that an editor shows for its document; the extension sends it again after every change. */
export const shownSchema = z.object({
  type: z.literal('shown'),
  name: z.string(),
  /** Whether something may run here. */
  isTrusted: z.boolean(),
  /** Whether there is its own text to go to. */
  hasText: z.boolean(),
  /** The problem that makes the whole file unreadable. */
  broken: z.nullable(fileProblemSchema),
  /** The entries of the file; one if it is not a list. */
  items: z.array(z.object({ label: z.string(), problem: z.nullable(fileProblemSchema) })),
  /** The entry that is shown. */
  index: z.int(),
  /** The errors in the shown entry, with paths from the entry; `line` for those that a check found in the file. */
  errors: z.array(z.extend(misfitSchema, { line: z.optional(z.int()) })),
  /** Whether the text has changed since the last run for it. */
  isRunEarlier: z.boolean(),
  /** Why the last change could not be made; `number` distinguishes refusals. */
  refusal: z.nullable(z.object({ number: z.int(), reason: z.string() })),
  /** Null where the file, or the entry, can't be shown. */
  content: z.nullable(editorContentSchema),
});
export type Shown = z.infer<typeof shownSchema>;

/** One message of a conversation that was tried out. */
export const spokenSchema = z.object({
  who: z.enum(['user', 'agent', 'note']),
  text: z.string(),
});

/** The last run for an editor, and its result. Each editor runs at most one thing at a time. */
export const ranSchema = z.object({
  type: z.literal('ran'),
  /** It is still running; `note` says how far it is. */
  isRunning: z.boolean(),
  note: z.string(),
  problem: z.nullable(z.string()),
  outcome: z.nullable(
    z.discriminatedUnion('type', [
      z.object({
        type: z.literal('previewed'),
        task: z.string(),
        /** The seat whose messages the agent's are. */
        agent: z.string(),
        user: z.string(),
        messages: z.array(spokenSchema),
      }),
      z.object({
        type: z.literal('called'),
        tool: z.string(),
        task: z.nullable(z.string()),
        arguments: schemaSchema,
        isError: z.boolean(),
        content: z.string(),
        writes: checked<Writes>(),
      }),
      z.object({
        type: z.literal('goldPlayed'),
        task: z.string(),
        reward: z.nullable(z.number()),
        reason: z.string(),
        failedBy: z.nullable(z.string()),
        card: checked<ReportCard>(),
        /** The differences between the databases at the end and at the start. */
        writes: checked<Writes>(),
        turns: z.int(),
      }),
    ]),
  ),
});
export type Ran = z.infer<typeof ranSchema>;

/** Everything that the extension says to a visual editor. */
export const toEditorSchema = z.discriminatedUnion('type', [
  shownSchema,
  ranSchema,
  /** The errors in the arguments of a question, by the number of the question. */
  z.object({ type: z.literal('callChecked'), question: z.int(), misfits: z.array(misfitSchema) }),
]);

export type ToEditor = z.infer<typeof toEditorSchema>;

/** Everything that a visual editor asks for, besides what every view does. */
export const fromEditorSchema = z.discriminatedUnion('type', [
  /** Changes the document. Paths are those of the file. */
  z.object({ type: z.literal('set'), path: pathSchema, value: jsonSchema }),
  z.object({ type: z.literal('insert'), path: pathSchema, value: jsonSchema }),
  z.object({ type: z.literal('remove'), path: pathSchema }),
  /** Shows another entry of the file. */
  z.object({ type: z.literal('select'), index: z.int() }),
  /** Plays another task with the persona. */
  z.object({ type: z.literal('chooseTask'), task: z.string() }),
  /** Shows a line in the text editor. */
  z.object({ type: z.literal('openLine'), line: z.int() }),
  /** Gives a rule of the policy other words, or its id. */
  z.object({ type: z.literal('setRule'), line: z.int(), text: z.string() }),
  z.object({ type: z.literal('markRule'), line: z.int(), id: z.string() }),
  /** Writes a rule below the heading on a line; an empty id leaves the mark out. */
  z.object({ type: z.literal('addRule'), section: z.int(), text: z.string(), id: z.string() }),
  z.object({ type: z.literal('moveRule'), line: z.int(), direction: z.enum(['up', 'down']) }),
  z.object({ type: z.literal('removeRule'), line: z.int() }),
  /** Shows the file of the rules' checks. */
  z.object({ type: z.literal('openRules') }),
  /** Shows the source of a check, by its number. */
  z.object({ type: z.literal('openCheck'), index: z.int() }),
  /** Shows the recording to look at for a rule. */
  z.object({ type: z.literal('openRuleRecording'), rule: z.string() }),
  z.object({ type: z.literal('preview'), withModel: z.boolean() }),
  /** Requests the errors in arguments of the shown tool. */
  z.object({ type: z.literal('checkCall'), question: z.int(), arguments: schemaSchema }),
  /** Calls the shown tool on a temporary database, with the state of a task where one is named. */
  z.object({ type: z.literal('call'), arguments: schemaSchema, task: z.nullable(z.string()) }),
  z.object({ type: z.literal('playGold') }),
  /** Shows the recording of the last rollout. */
  z.object({ type: z.literal('openPlayed') }),
  z.object({ type: z.literal('stopRunning') }),
]);
export type FromEditor = z.infer<typeof fromEditorSchema>;
