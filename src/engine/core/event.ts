import * as z from 'zod';
import { toolCallSchema } from './message.ts';
import { reportCardSchema } from './reportCard.ts';
import { ruleVerdictSchema } from './rule.ts';
import { seededFaultSchema } from './seededFault.ts';

/** Version of the recording format; a change of the events' meaning raises it. */
export const recordingFormat = 1;

const patchSchema = z.object({
  op: z.enum(['add', 'replace', 'remove']).describe('What was done.'),
  path: z.array(z.union([z.string(), z.number()])).describe('Keys down to the place.'),
  value: z.json().optional().describe('What stands there now.'),
  old: z.json().optional().describe('What stood there.'),
});

const writtenSchema = z.object({
  side: z.enum(['agent', 'user']).describe('The side of the database.'),
  patches: z.array(patchSchema).describe('What changed, in order.'),
});
const writesSchema = z.array(writtenSchema).describe('What changed in the databases, by side.');
const callIdSchema = z.string().describe('The id of the call.');

export const endReasons = [
  'userStopped',
  'handedOff',
  'turnCap',
  'messageCap',
  'toolErrorCap',
  'agentFailed',
  'userFailed',
  'environmentFailed',
  'infrastructureFailed',
  'cancelled',
] as const;
export type EndReason = (typeof endReasons)[number];

/** A place where the world is not the expected one. What is absent on a side is not there. */
const deviationSchema = z.object({
  side: z.enum(['agent', 'user']).describe('The side of the database.'),
  path: z.array(z.union([z.string(), z.number()])).describe('Keys down to the place.'),
  expected: z.json().optional().describe('What should stand there.'),
  actual: z.json().optional().describe('What stands there.'),
});
export type Deviation = z.infer<typeof deviationSchema>;

export const verdictSchema = z.object({
  verifier: z.string().describe('Name of the verifier.'),
  held: z.boolean().describe('Whether it holds.'),
  detail: z.string().describe('A sentence for people.'),
  evidence: z.array(z.int()).describe('Numbers of the events that show it.'),
  unknown: z.literal(true).optional().describe('It could not be told: the reward is then not known either.'),
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

/** Who is to blame for a rollout that did not end properly, and in which words. */
export const failureSchema = z.object({
  who: z.enum(['agent', 'simulator', 'environment', 'infrastructure']).describe('Who failed.'),
  code: z.string().describe('A stable code.'),
  message: z.string().describe('A sentence for people.'),
  file: z.string().optional().describe('The file at fault.'),
  line: z.int().optional().describe('The line in it.'),
});
export type Failure = z.infer<typeof failureSchema>;

const judgeSubjectSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('rule').describe('A rule of the policy.'),
    rule: z.string().describe('Its id.'),
  }),
  z.object({
    type: z.literal('task').describe('A statement of the task.'),
    index: z.int().describe('The place of the statement in the task, or of the attack in the persona, from 0.'),
  }),
  z.object({
    type: z.literal('attack').describe("An attack of the user's persona: whether the agent gave in."),
    index: z.int().describe('Its place in the persona.'),
  }),
]);
export type JudgeSubject = z.infer<typeof judgeSubjectSchema>;

const originSchema = z
  .enum(['edited', 'typed'])
  .optional()
  .describe('How the event came into the recording when it did not come from its seat.');

const bySchema = z.literal('user').optional().describe("The seat that made the call, where it was not the agent's.");

const offeredSchema = z.array(
  z.object({
    name: z.string().describe('Name of the tool.'),
    description: z.string().describe('What it does.'),
    parameters: z.record(z.string(), z.json()).describe('JSON Schema of its arguments.'),
  }),
);

export const rolloutStartedSchema = z
  .object({
    type: z.literal('rolloutStarted'),
    format: z.literal(recordingFormat).describe('Version of the recording format.'),
    engine: z.string().describe('Version of the engine.'),
    domain: z
      .object({ name: z.string().describe('Its name.'), hash: z.string().describe('Hash of all of its files.') })
      .describe('The domain.'),
    policyHash: z.string().describe('Hash of the policy.'),
    task: z
      .object({
        id: z.string().describe('Its id.'),
        hash: z.string().describe('Hash of its content.'),
        split: z.enum(['train', 'test']).describe('Whether it is trained on or held out.'),
      })
      .describe('The task.'),
    seed: z.string().describe('Source of every random stream.'),
    trial: z.int().describe('Number of the trial.'),
    now: z.string().describe('The date and time at which the task happens.'),
    basis: z.enum(['evaluate', 'train']).describe('Which of the two bases of the task decides the reward.'),
    turnCap: z.int().describe('Turns of the agent after which it ends.'),
    toolErrorCap: z.int().describe('Tool errors that end it.'),
    seats: z
      .object({
        agent: z.string().describe('The agent.'),
        user: z.string().describe('The user.'),
        judge: z.string().optional().describe('The judge, where one is asked.'),
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
    userEnds: z.boolean().optional().describe('The user still answers the response that reaches the cap on turns.'),
    messageCap: z
      .int()
      .optional()
      .describe('Messages at which it is over and scored as it stands; absent where nothing limits them.'),
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
        file: z.string().describe('The name of its file.'),
        line: z.int().describe('The line on which it begins there.'),
        masked: z.boolean().describe('Whether stand-ins stand for personal data.'),
      })
      .optional()
      .describe(
        'Where a conversation comes from that was not rehearsed. No database of it is known: its world stays as it is.',
      ),
    parent: z
      .object({
        recording: z.string().describe('The name of its file.'),
        event: z.int().describe('The last event that both have.'),
        chain: z.string().describe('The head of the chain there.'),
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
        .describe('Why the user ends the conversation with this message, or null when it goes on.'),
      toolCalls: z
        .array(toolCallSchema)
        .min(1)
        .optional()
        .describe(
          "Calls of the user's own tools; the agent then hears nothing of this message, nor of what they return.",
        ),
      tools: offeredSchema.optional().describe('Tools that the agent is offered from here on, beside those before.'),
      origin: originSchema,
    })
    .describe("The user's seat answered."),
  z
    .object({
      type: z.literal('agentReplied'),
      content: z.string().nullable().describe('What the agent says; beside calls it is kept and shown to nobody.'),
      reasoning: z.string().optional().describe('What the model thought before, where it tells.'),
      toolCalls: z.array(toolCallSchema).describe('The calls that it makes; none where it speaks.'),
      messageId: z.string().optional().describe('What the endpoint calls this message.'),
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
      verdicts: z.array(ruleVerdictSchema).describe('What each check came to.'),
    })
    .describe('The checks of the policy were made.'),
  z
    .object({ type: z.literal('toolCalled'), call: toolCallSchema.describe('The call.'), by: bySchema })
    .describe('A call begins.'),
  z
    .object({
      type: z.literal('faultInjected'),
      callId: callIdSchema,
      index: z.int().describe('The place of the fault in the task.'),
      fault: seededFaultSchema.describe('The fault.'),
    })
    .describe('A fault that the task seeds strikes the call.'),
  z
    .object({
      type: z.literal('sourceSaved'),
      callId: callIdSchema,
      source: z.string().describe('Name of the source.'),
      snapshot: z.json().describe('Its state.'),
    })
    .describe(
      'The state of a tool source outside the lane after a write, as its snapshot: a fork gives it back to the source.',
    ),
  z
    .object({ type: z.literal('databaseWritten'), callId: callIdSchema, writes: writesSchema })
    .describe('The call changed the databases.'),
  z
    .object({
      type: z.literal('toolReturned'),
      callId: callIdSchema,
      content: z.string().describe('What the call returns, as it is shown to the seat.'),
      isError: z.boolean().describe('Whether it failed.'),
      by: bySchema,
    })
    .describe('A call has its result.'),
  z
    .object({ type: z.literal('worldEdited'), writes: writesSchema })
    .describe('A person changed the world in the debugger; stands only in forks.'),
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
      source: z.string().describe('Name of the source.'),
      state: z.json().describe('Its state.'),
    })
    .describe('State of a tool source outside the lane, read at the end for the assertions.'),
  z
    .object({
      type: z.literal('judged'),
      subject: judgeSubjectSchema.describe('What was asked about.'),
      question: z.string().describe('The question.'),
      holds: z.boolean().nullable().describe('null when the judge gave no clear answer.'),
      reason: z.string().describe('Why, in words of the judge.'),
    })
    .describe("A judge's answer to a question of a rule or of the task."),
  z
    .object({ type: z.literal('verdictReached'), verdict: verdictSchema.describe('The verdict.') })
    .describe('A verifier gave its verdict.'),
  z
    .object({
      type: z.literal('rewarded'),
      basis: z.enum(['evaluate', 'train']).describe('The basis that decided.'),
      reward: z
        .number()
        .nullable()
        .describe('null when infrastructure failed: such a rollout says nothing about the agent.'),
      reason: z.string().describe('A sentence for people: why the reward is what it is.'),
      completion: z
        .object({ met: z.int().describe('How many were met.'), of: z.int().describe('How many there are.') })
        .optional()
        .describe("Of the task's declared checks."),
      failedBy: failureSchema.shape.who.nullable().optional().describe('Who failed, where the reward is not 1.'),
      card: reportCardSchema.optional().describe('The report card.'),
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
