import * as z from 'zod';
import { ruleVerdictSchema } from '../domain/rule.ts';
import { seededFaultSchema } from '../domain/seededFault.ts';
import { brokenEnds } from '../values/answerEnd.ts';
import type { Json } from '../values/json.ts';
import { mediaSchema, textPartSchema } from '../values/media.ts';
import { providerFieldsSchema } from '../values/providerFields.ts';
import { toolCallSchema } from './message.ts';
import { reportCardSchema } from './reportCard.ts';

/** Version of the recording format; a change of the events' meaning raises it. */
export const recordingFormat = 1;

/** Events are read from JSON, so that no value in them has to be looked at. */
const anyJsonSchema = z.custom<Json>((value) => value !== undefined, 'expected a value');

const pathSchema = z
  .array(z.union([z.string(), z.number()]))
  .describe('Keys from the root of the database down to the place, such as ["orders", "W1001", "status"].');
const sideSchema = z.enum(['agent', 'user']).describe('Whose database it is in.');

const patchSchema = z.object({
  op: z
    .enum(['add', 'replace', 'remove'])
    .describe('As in JSON Patch (RFC 6902): `add` also inserts at an index of a list, and moves the rest on.'),
  path: pathSchema,
  value: anyJsonSchema.optional().describe('The new value; absent where it was removed.'),
  old: anyJsonSchema.optional().describe('The previous value; absent where it was added.'),
});

const writtenSchema = z.object({
  side: sideSchema,
  patches: z.array(patchSchema).describe('Changes in the order in which they apply.'),
});
export const writesSchema = z.array(writtenSchema).describe('What changed in the databases, by side.');
const callIdSchema = z.string().describe('The `id` of the call in `toolCalls` of the reply that makes it.');

export const endReasons = [
  'userStopped',
  'handedOff',
  'turnCap',
  'messageCap',
  'toolErrorCap',
  'agentFailed',
  'userFailed',
  'userInvalid',
  'environmentFailed',
  'infrastructureFailed',
  'cancelled',
] as const;
export type EndReason = (typeof endReasons)[number];

/** A place where the world is not the expected one. What is absent on a side is not there. */
const deviationSchema = z.object({
  side: sideSchema,
  path: pathSchema,
  expected: anyJsonSchema.optional().describe('The expected value; absent where there should be none.'),
  actual: anyJsonSchema.optional().describe('The actual value; absent if the place has no value.'),
});
export type Deviation = z.infer<typeof deviationSchema>;

export const verdictSchema = z.object({
  verifier: z.string().describe('Its name in the bases of the task; `custom:NAME` for one of verifiers.ts.'),
  held: z.boolean().describe('False where it is violated or unknown.'),
  detail: z.string().describe('A sentence for people: what was found.'),
  evidence: z.array(z.int()).describe('Numbers `n` of the events that show it.'),
  unknown: z.literal(true).optional().describe('The verdict is unknown, and so is the reward.'),
  diagnostic: z
    .literal(true)
    .optional()
    .describe('Outside of the basis: it is in the report and does not decide the reward.'),
  met: z.int().optional().describe('How many of the declared checks behind it were met.'),
  of: z.int().optional().describe('How many declared checks there are.'),
  deviations: z
    .array(deviationSchema)
    .optional()
    .describe(
      'Of the verifier `database`: where the final database is not the expected one, at most `deviationsKept` places.',
    ),
});
export type Verdict = z.infer<typeof verdictSchema>;

/** The word for a verifier's verdict; the verdicts of rules have it already. */
export function verdictWord({ held, unknown }: Pick<Verdict, 'held' | 'unknown'>): 'held' | 'violated' | 'unknown' {
  return held ? 'held' : unknown ? 'unknown' : 'violated';
}

/** Returns a verdict in a few words, such as "database held"; of a verifier without demands, that it requires nothing. */
export function verdictText(verdict: Pick<Verdict, 'verifier' | 'held' | 'unknown' | 'of'>): string {
  return isDemanding(verdict) ? `${verdict.verifier} ${verdictWord(verdict)}` : `${verdict.verifier} requires nothing`;
}

/** Whether a verifier requires anything of the rollout. */
export function isDemanding({ of }: Pick<Verdict, 'of'>): boolean {
  return of !== 0;
}

/** Describes why a rollout did not end properly, and which side is responsible. */
export const failureSchema = z.object({
  who: z
    .enum(['agent', 'simulator', 'environment', 'infrastructure'])
    .describe(
      'Whose failure it is: that of who takes the seat of the agent or of the user, of the domain with its tools, or of what carries all of it.',
    ),
  code: z.string().describe('Which kind of failure it is, for programs: it stays from version to version.'),
  message: z.string().describe('A sentence for people: what happened.'),
  file: z.string().optional().describe('The file at fault, where there is one.'),
  line: z.int().optional().describe('Line in that file, from 1.'),
});
export type Failure = z.infer<typeof failureSchema>;

const judgeSubjectSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('rule').describe('A rule of the policy.'),
    rule: z.string().describe('Id of the rule in policy.md.'),
  }),
  z.object({
    type: z.literal('task').describe('A statement of the task.'),
    index: z.int().describe('The place of the statement in the task, or of the attack in the persona, from 0.'),
  }),
  z.object({
    type: z.literal('attack').describe("An attack of the user's persona: whether the agent gave in."),
    index: z.int().describe('The place of the attack in the persona, from 0.'),
  }),
]);
export type JudgeSubject = z.infer<typeof judgeSubjectSchema>;

const originSchema = z
  .enum(['edited', 'typed'])
  .optional()
  .describe('How the event came into the recording when it did not come from its seat.');

const bySchema = z.literal('user').optional().describe("The seat that made the call, where it was not the agent's.");

const reasoningSchema = z.string().optional().describe('What the model thought before, where it tells.');

const brokenEndSchema = z
  .enum(brokenEnds)
  .optional()
  .describe(
    'How the answer of the model ended, where it is not whole: cut off at the limit of tokens (`length`), withheld by a filter of the provider (`filter`), refused (`refusal`; `content` is then the refusal), ended by a call that the provider could not read (`call`), sent with a call in its text that the server did not parse (`unparsed`), or without a text and without calls (`empty`).',
  );

const sentBackSchema = providerFieldsSchema
  .optional()
  .describe('What the endpoint needs back with this message, beside what every endpoint reads.');

const offeredSchema = z.array(
  z.object({
    name: z.string().describe('By this name it is called.'),
    description: z.string().describe('The description of the tool that the seat receives.'),
    parameters: z.record(z.string(), anyJsonSchema).describe('JSON Schema of its arguments, as the seat is sent it.'),
  }),
);

export const rolloutStartedSchema = z
  .object({
    type: z.literal('rolloutStarted'),
    format: z
      .literal(recordingFormat)
      .describe('Raised when what an event means changes; readers refuse others than they know.'),
    engine: z.string().describe('Version of Rehearsal that played it.'),
    domain: z
      .object({
        name: z.string().describe('`name` of domain.yaml.'),
        hash: z.string().describe('SHA-256 over its files except tasks and drafts, in 64 hex digits.'),
      })
      .describe('The domain that was played, as its files were then.'),
    policyHash: z.string().describe('SHA-256 of the text of the policy alone, as a JSON string, in 64 hex digits.'),
    task: z
      .object({
        id: z.string().describe('`id` of the task in its file.'),
        hash: z
          .string()
          .describe('SHA-256 of its content as canonical JSON, in 64 hex digits: the identity of the task.'),
        split: z.enum(['train', 'test']).describe('Whether it is trained on or held out.'),
      })
      .describe('The task that was played, as it was then.'),
    seed: z
      .string()
      .describe('Any text: every random number is drawn from it, the task, the trial and what it is for.'),
    trial: z.int().describe('Which repetition of the task in its run, from 0.'),
    now: z.string().describe('The date and time at which the task happens, ISO 8601; not when it was played.'),
    timeZone: z.string().optional().describe('The time zone in which days are counted; UTC where it is absent.'),
    basis: z.enum(['evaluate', 'train']).describe('Which of the two bases of the task decides the reward.'),
    turnCap: z.int().describe('Responses of the agent after which it ends.'),
    toolErrorCap: z.int().describe('Failed calls of the agent, in all, after which it ends.'),
    seats: z
      .object({
        agent: z.string().describe('Such as `gold`, `openai:MODEL`, `agent:NAME` or `human`.'),
        user: z.string().describe('Such as `agenda`, `openai:MODEL` or `human`.'),
        judge: z.string().optional().describe('Such as `openai:MODEL`; absent without a judge.'),
      })
      .describe('Who takes each seat.'),
    system: z.string().describe("The agent's system prompt, as sent."),
    greeting: z
      .string()
      .optional()
      .describe("What the agent said before the user's first words; absent where the user begins."),
    tools: offeredSchema.describe('The tools that the agent is offered, as they are described to it.'),
    callCap: z
      .int()
      .optional()
      .describe(
        'Responses with calls that the agent may give to one message of the user; absent where nothing limits them.',
      ),
    callsPerResponse: z.int().optional().describe('Calls of one response that are made; absent where all are.'),
    unreadableCalls: z
      .enum(['fail', 'failAll', 'endTurn', 'endRollout'])
      .optional()
      .describe('What happens to a response with arguments that are not a JSON object; absent where the call fails.'),
    callSyntax: z
      .enum(['python'])
      .optional()
      .describe('How calls are written, where arguments that cannot be written so are unreadable too.'),
    userEnds: z.boolean().optional().describe('The user still answers the response that reaches the cap on turns.'),
    messageCap: z
      .int()
      .optional()
      .describe('Number of messages at which it ends and is scored; absent without a limit.'),
    closing: z.string().optional().describe('Words that end the conversation; absent where there are none.'),
    userTools: offeredSchema.optional().describe("The tools that the user's seat is shown; absent where it has none."),
    database: z
      .string()
      .describe(
        "Hash of the base database, of both sides where there are two, before the task's own state is laid over it.",
      ),
    imported: z
      .object({
        from: z.enum(['chats', 'spans']).describe('What it was read from.'),
        file: z.string().describe('Name of the file of the log, without its folder.'),
        line: z.int().describe('The line on which it begins there, from 1.'),
        masked: z.boolean().describe('Whether personal data was searched for and replaced with stand-ins.'),
        recogniser: z
          .string()
          .optional()
          .describe('What found names in free text, with its version; without one they are masked in part.'),
      })
      .optional()
      .describe(
        'Where a conversation comes from that was not rehearsed. No database of it is known: its world stays as it is.',
      ),
    parent: z
      .object({
        recording: z.string().describe('Name of its file, in the same folder.'),
        event: z.int().describe('Number `n` of the last event that both have.'),
        chain: z.string().describe('`chain` of that event in the parent.'),
        edit: z.string().describe('What was done at the fork, in words.'),
        sample: z
          .int()
          .optional()
          .describe('The seats draw other random numbers than in the parent: those of the sample of this number.'),
      })
      .optional()
      .describe('The recording that this one forks from, the last event they share, and its chain head.'),
  })
  .describe('Event 0: everything that is needed to interpret the rest.');

export const eventSchema = z.discriminatedUnion('type', [
  rolloutStartedSchema,
  z
    .object({ type: z.literal('worldPrepared'), writes: writesSchema })
    .describe('The state of the task was laid over the databases of the domain.'),
  z
    .object({ type: z.literal('worldSynced'), writes: writesSchema })
    .describe("The domain's `sync` brought both sides into step: after set-up, and after each successful call."),
  z
    .object({
      type: z.literal('userReplied'),
      content: z.string().describe('What the user says.'),
      stop: z
        .enum(['done', 'transferred', 'gaveUp', 'outOfScope'])
        .nullable()
        .describe('Why the user ends the conversation with this message, or null when it continues.'),
      toolCalls: z
        .array(toolCallSchema)
        .min(1)
        .optional()
        .describe(
          "Calls of the user's own tools; the agent then hears nothing of this message, nor of what they return.",
        ),
      tools: offeredSchema.optional().describe('Tools that the agent is offered from here on, beside those before.'),
      reasoning: reasoningSchema,
      brokenEnd: brokenEndSchema,
      providerFields: sentBackSchema,
      origin: originSchema,
    })
    .describe("The user's seat answered."),
  z
    .object({
      type: z.literal('agentReplied'),
      content: z
        .string()
        .nullable()
        .describe('What the agent says; next to calls it is recorded but not shown to the user.'),
      reasoning: reasoningSchema,
      toolCalls: z.array(toolCallSchema).describe('The calls that it makes; none where it speaks.'),
      messageId: z.string().optional().describe('What the endpoint calls this message.'),
      brokenEnd: brokenEndSchema,
      providerFields: sentBackSchema,
      origin: originSchema,
    })
    .describe("The agent's seat answered."),
  z
    .object({
      type: z.literal('rulesChecked'),
      callId: z
        .string()
        .nullable()
        .describe('The call that comes next; null after an utterance of the agent, and at the end.'),
      verdicts: z.array(ruleVerdictSchema).describe('The result of each check.'),
    })
    .describe('The checks of the policy were made.'),
  z
    .object({
      type: z.literal('toolCalled'),
      call: toolCallSchema.describe('The call, as the reply made it.'),
      by: bySchema,
    })
    .describe('A call begins.'),
  z
    .object({
      type: z.literal('faultInjected'),
      callId: callIdSchema,
      index: z.int().describe('The place of the fault in the list of the task, from 0.'),
      fault: seededFaultSchema.describe('The fault as the task writes it.'),
    })
    .describe('A fault of the task is injected into the call.'),
  z
    .object({
      type: z.literal('sourceSaved'),
      callId: callIdSchema,
      source: z.string().describe('Name of the source whose tool was called.'),
      snapshot: anyJsonSchema.describe("Its state after the write, in the source's own form."),
    })
    .describe(
      'The state of a tool source outside the worker after a write, as its snapshot: a fork gives it back to the source.',
    ),
  z
    .object({ type: z.literal('databaseWritten'), callId: callIdSchema, writes: writesSchema })
    .describe('The call changed the databases.'),
  z
    .object({
      type: z.literal('toolReturned'),
      callId: callIdSchema,
      content: z.string().describe('What the call returns, as it is shown to the seat.'),
      isError: z.boolean().describe('Whether the call failed; those of the agent count for `toolErrorCap`.'),
      media: z
        .array(mediaSchema)
        .optional()
        .describe('Pictures, sounds and files of the result, in order. `content` has a line in place of each.'),
      resourceLines: z
        .array(z.int())
        .optional()
        .describe(
          'Lines of `content`, from 0, that are the JSON of a file with a text or of a link to a file, as MCP has it.',
        ),
      textParts: z
        .array(textPartSchema)
        .optional()
        .describe('Where the texts of an MCP server begin in `content`, if it returned several or annotates one.'),
      structured: z
        .string()
        .optional()
        .describe('The `structuredContent` of an MCP server, as JSON with all digits of its numbers.'),
      by: bySchema,
    })
    .describe('A call has its result.'),
  z
    .object({ type: z.literal('worldEdited'), writes: writesSchema })
    .describe('A person changed the world in the debugger; only in forks.'),
  z
    .object({
      type: z.literal('rolloutEnded'),
      reason: z.enum(endReasons).describe('Why it is over.'),
      failure: failureSchema.optional().describe('Who failed, where it did not end properly.'),
    })
    .describe('The conversation is over; what follows judges it.'),
  z
    .object({
      type: z.literal('sourceRead'),
      source: z.string().describe('Name of the source, and the call by which it was read, where it was one.'),
      state: anyJsonSchema.describe("The state that was read, in the source's own form."),
    })
    .describe('State of a tool source outside the worker, read at the end for the assertions.'),
  z
    .object({
      type: z.literal('judged'),
      subject: judgeSubjectSchema.describe('What was asked about.'),
      question: z.string().describe('What the judge was asked, to be answered by yes or no.'),
      holds: z.boolean().nullable().describe('null when the judge gave no clear answer.'),
      reason: z.string().describe('Why, in words of the judge.'),
    })
    .describe("A judge's answer to a question of a rule or of the task."),
  z
    .object({
      type: z.literal('verdictReached'),
      verdict: verdictSchema.describe('The verdict of the verifier on the world at the end.'),
    })
    .describe('A verifier gave its verdict.'),
  z
    .object({
      type: z.literal('rewarded'),
      basis: z.enum(['evaluate', 'train']).describe('Which of the two bases of the task decided.'),
      reward: z
        .number()
        .nullable()
        .describe('null when infrastructure failed: such a rollout says nothing about the agent.'),
      reason: z.string().describe('A sentence for people: why the reward is what it is.'),
      completion: z
        .object({
          met: z.int().describe('How many of them were met.'),
          of: z.int().describe('How many the task declares.'),
        })
        .optional()
        .describe("Of the task's declared checks."),
      failedBy: failureSchema.shape.who.nullable().optional().describe('Who failed, where the reward is not 1.'),
      card: reportCardSchema.optional().describe('The evaluation beside the reward, a layer each.'),
    })
    .describe('The reward, with which a recording ends.'),
]);

/** The closed union of everything that is ever recorded. */
export type RolloutEvent = z.infer<typeof eventSchema>;
export type EventType = RolloutEvent['type'];
export type EventOf<Type extends EventType> = Extract<RolloutEvent, { type: Type }>;
export type RolloutStarted = EventOf<'rolloutStarted'>;
export type Writes = EventOf<'databaseWritten'>['writes'];

/** One line of a recording: its number, the event, the state's hash after it, and the chain up to it. */
export const recordedSchema = z.object({
  n: z.int().describe('Number of the event, from 0.'),
  event: eventSchema,
  state: z.string().describe("Hash of the rollout's state after the event."),
  chain: z.string().describe('SHA-256 over the chain of the line before and this line without its chain.'),
});
export type Recorded = z.infer<typeof recordedSchema>;
