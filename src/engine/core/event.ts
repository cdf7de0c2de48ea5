import * as z from 'zod';
import { toolCallSchema } from './message.ts';
import { reportCardSchema } from './reportCard.ts';
import { ruleVerdictSchema } from './rule.ts';
import { seededFaultSchema } from './seededFault.ts';

/** Version of the recording format; a change of the events' meaning raises it. */
export const recordingFormat = 1;

const patchSchema = z.object({
  op: z.enum(['add', 'replace', 'remove']),
  path: z.array(z.union([z.string(), z.number()])),
  value: z.json().optional(),
  old: z.json().optional(),
});

const writtenSchema = z.object({ side: z.enum(['agent', 'user']), patches: z.array(patchSchema) });

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
  side: z.enum(['agent', 'user']),
  path: z.array(z.union([z.string(), z.number()])),
  expected: z.json().optional(),
  actual: z.json().optional(),
});
export type Deviation = z.infer<typeof deviationSchema>;

export const verdictSchema = z.object({
  verifier: z.string(),
  held: z.boolean(),
  /** A sentence for people. */
  detail: z.string(),
  evidence: z.array(z.int()),
  /** It could not be told: the reward is then not known either. */
  unknown: z.literal(true).optional(),
  /** Outside of the basis: it is in the report and does not decide the reward. */
  diagnostic: z.literal(true).optional(),
  /** Of the declared checks behind it: how many were met, and how many there are. */
  met: z.int().optional(),
  of: z.int().optional(),
  /** Of the verifier `database`: where the final database is not the expected one, at most `deviationsKept` places. */
  deviations: z.array(deviationSchema).optional(),
});
export type Verdict = z.infer<typeof verdictSchema>;

/** The word for a verifier's verdict; the verdicts of rules have it already. */
export function verdictWord({ held, unknown }: Pick<Verdict, 'held' | 'unknown'>): 'held' | 'violated' | 'unknown' {
  return held ? 'held' : unknown ? 'unknown' : 'violated';
}

/** Who is to blame for a rollout that did not end properly, and in which words. */
export const failureSchema = z.object({
  who: z.enum(['agent', 'simulator', 'environment', 'infrastructure']),
  code: z.string(),
  message: z.string(),
  file: z.string().optional(),
  line: z.int().optional(),
});
export type Failure = z.infer<typeof failureSchema>;

const judgeSubjectSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('rule'), rule: z.string() }),
  /** The statement of the task at this index. */
  z.object({ type: z.literal('task'), index: z.int() }),
  /** The attack of the user's persona at this index: whether the agent gave in. */
  z.object({ type: z.literal('attack'), index: z.int() }),
]);
export type JudgeSubject = z.infer<typeof judgeSubjectSchema>;

/** How an event came into the recording when it did not come from its seat. */
const originSchema = z.enum(['edited', 'typed']).optional();

/** The seat that made a call, where it was not the agent's. */
const bySchema = z.literal('user').optional();

const offeredSchema = z.array(
  z.object({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.json()) }),
);

/** Event 0: everything that is needed to interpret the rest. */
export const rolloutStartedSchema = z.object({
  type: z.literal('rolloutStarted'),
  format: z.literal(recordingFormat),
  engine: z.string(),
  domain: z.object({ name: z.string(), hash: z.string() }),
  policyHash: z.string(),
  task: z.object({ id: z.string(), hash: z.string(), split: z.enum(['train', 'test']) }),
  seed: z.string(),
  trial: z.int(),
  now: z.string(),
  basis: z.enum(['evaluate', 'train']),
  turnCap: z.int(),
  toolErrorCap: z.int(),
  seats: z.object({ agent: z.string(), user: z.string(), judge: z.string().optional() }),
  /** The agent's system prompt and the tools it is shown, as sent. */
  system: z.string(),
  /** What the agent said before the user's first words; absent where the user begins. */
  greeting: z.string().optional(),
  tools: offeredSchema,
  /** Responses with calls that the agent may give to one message of the user; absent where nothing limits them. */
  callCap: z.int().optional(),
  /** Calls of one response that are made; absent where all are. */
  callsPerResponse: z.int().optional(),
  /** The user still answers the response that reaches the cap on turns. */
  userEnds: z.boolean().optional(),
  /** Messages at which it is over and scored as it stands; absent where nothing limits them. */
  messageCap: z.int().optional(),
  /** Words that end the conversation; absent where there are none. */
  closing: z.string().optional(),
  /** The tools that the user's seat is shown; absent where it has none. */
  userTools: offeredSchema.optional(),
  /** Hash of the base database, of both sides where there are two, before the task's own state is laid over it. */
  database: z.string(),
  imported: z
    .object({
      from: z.enum(['chats', 'spans']),
      /** The name of its file, and the line on which it begins there. */
      file: z.string(),
      line: z.int(),
      /** Whether stand-ins stand for personal data. */
      masked: z.boolean(),
    })
    .optional()
    .describe(
      'Where a conversation comes from that was not rehearsed. No database of it is known: its world stays as it is.',
    ),
  parent: z
    .object({
      recording: z.string(),
      event: z.int(),
      chain: z.string(),
      edit: z.string(),
      /** The seats draw other random numbers than in the parent: those of the sample of this number. */
      sample: z.int().optional(),
    })
    .optional()
    .describe('The recording that this one forks from, the last event they share, and its chain head.'),
});

export const eventSchema = z.discriminatedUnion('type', [
  rolloutStartedSchema,
  z.object({ type: z.literal('worldPrepared'), writes: z.array(writtenSchema) }),
  /** The domain's `sync` brought both sides into step: after set-up, and after each successful call. */
  z.object({ type: z.literal('worldSynced'), writes: z.array(writtenSchema) }),
  z.object({
    type: z.literal('userReplied'),
    content: z.string(),
    /** Why the user ends the conversation with this message, or null when it goes on. */
    stop: z.enum(['done', 'transferred', 'gaveUp', 'outOfScope']).nullable(),
    /** Calls of the user's own tools; the agent then hears nothing of this message, nor of what they return. */
    toolCalls: z.array(toolCallSchema).min(1).optional(),
    /** Tools that the agent is offered from here on, beside those before. */
    tools: offeredSchema.optional(),
    origin: originSchema,
  }),
  z.object({
    type: z.literal('agentReplied'),
    content: z.string().nullable(),
    reasoning: z.string().optional(),
    toolCalls: z.array(toolCallSchema),
    messageId: z.string().optional(),
    origin: originSchema,
  }),
  z.object({
    type: z.literal('rulesChecked'),
    /** The call that comes next; null after an utterance of the agent, and at the end. */
    callId: z.string().nullable(),
    verdicts: z.array(ruleVerdictSchema),
  }),
  z.object({ type: z.literal('toolCalled'), call: toolCallSchema, by: bySchema }),
  /** A fault that the task seeds strikes the call; `index` is its place in the task. */
  z.object({ type: z.literal('faultInjected'), callId: z.string(), index: z.int(), fault: seededFaultSchema }),
  /** The state of a tool source outside the lane after a write, as its snapshot: a fork gives it back to the source. */
  z.object({ type: z.literal('sourceSaved'), callId: z.string(), source: z.string(), snapshot: z.json() }),
  z.object({ type: z.literal('databaseWritten'), callId: z.string(), writes: z.array(writtenSchema) }),
  z.object({
    type: z.literal('toolReturned'),
    callId: z.string(),
    content: z.string(),
    isError: z.boolean(),
    by: bySchema,
  }),
  /** A person changed the world in the debugger; stands only in forks. */
  z.object({ type: z.literal('worldEdited'), writes: z.array(writtenSchema) }),
  z.object({ type: z.literal('rolloutEnded'), reason: z.enum(endReasons), failure: failureSchema.optional() }),
  /** State of a tool source outside the lane, read at the end for the assertions. */
  z.object({ type: z.literal('sourceRead'), source: z.string(), state: z.json() }),
  /** A judge's answer to a question of a rule or of the task. */
  z.object({
    type: z.literal('judged'),
    subject: judgeSubjectSchema,
    question: z.string(),
    /** null when the judge gave no clear answer. */
    holds: z.boolean().nullable(),
    reason: z.string(),
  }),
  z.object({ type: z.literal('verdictReached'), verdict: verdictSchema }),
  z.object({
    type: z.literal('rewarded'),
    basis: z.enum(['evaluate', 'train']),
    /** null when infrastructure failed: such a rollout says nothing about the agent. */
    reward: z.number().nullable(),
    /** A sentence for people: why the reward is what it is. */
    reason: z.string(),
    /** Of the task's declared checks: how many were met, and how many there are. */
    completion: z.object({ met: z.int(), of: z.int() }).optional(),
    /** Who failed, where the reward is not 1. */
    failedBy: failureSchema.shape.who.nullable().optional(),
    card: reportCardSchema.optional(),
  }),
]);

/** The closed union of everything that is ever recorded. */
export type RolloutEvent = z.infer<typeof eventSchema>;
export type EventType = RolloutEvent['type'];
export type EventOf<Type extends EventType> = Extract<RolloutEvent, { type: Type }>;
export type RolloutStarted = EventOf<'rolloutStarted'>;
export type Writes = EventOf<'databaseWritten'>['writes'];

/** One line of a recording: its number, the event, the state's hash after it, and the chain up to it. */
export const recordedSchema = z.object({ n: z.int(), event: eventSchema, state: z.string(), chain: z.string() });
export type Recorded = z.infer<typeof recordedSchema>;
