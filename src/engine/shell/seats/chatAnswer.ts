import * as z from 'zod';
import { type BrokenEnd, brokenEndOf } from '../../core/answerEnd.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { callArguments, type ToolCall } from '../../core/message.ts';
import { isTooDeep } from '../../core/nesting.ts';
import { withoutThoughts } from '../../core/thoughts.ts';
import { type CameWith, unreadCallFields, unreadFields } from './sentBack.ts';

/** What a provider says of an answer, for the sidecar. */
export type AnswerNote = {
  readonly finishReason?: string;
  readonly refusal?: string;
  /** The provider behind a router, by its name. */
  readonly provider?: string;
};

/** What a model answered, as the engine takes it from every chat endpoint. */
export type ChatAnswer = {
  /** What it says, without thoughts; null where it only calls tools. */
  readonly content: string | null;
  readonly thoughts: string | null;
  /** Calls without an id have an empty one. */
  readonly toolCalls: readonly ToolCall[];
  /** Identity that a gateway gives a message. */
  readonly messageId: string | null;
  /** What its endpoint needs back with it. A gateway that gives messages an identity keeps its own. */
  readonly cameWith: CameWith;
  /** Tokens of the request and of the answer; null where the endpoint does not count them. */
  readonly usage: { readonly input: number; readonly output: number } | null;
  readonly note: AnswerNote;
  /** How it ended; null where it is whole. */
  readonly brokenEnd: BrokenEnd | null;
  /** The answer as the endpoint sent it, with every field. */
  readonly raw: Completion;
};

/** A field that several servers write as null where it is absent. */
const optional = <Value extends z.ZodType>(value: Value) => value.nullish().transform((given) => given ?? undefined);

const partSchema = z.looseObject({
  type: optional(z.string()),
  text: optional(z.string()),
  thinking: z.unknown().optional(),
  summary: z.unknown().optional(),
});
type Part = z.infer<typeof partSchema>;
const contentSchema = z.union([z.string(), z.array(partSchema)]);

/** A field that is only told, so one of another type counts as absent. */
const lenient = <Value extends z.ZodType>(value: Value) => optional(value).catch(undefined);

/** llama.cpp and Ollama send arguments as an object, and some gateways omit the type or send a numeric id. */
const functionSchema = z.looseObject({ name: z.string(), arguments: z.unknown().optional() });
const callSchema = z.looseObject({
  id: optional(z.union([z.string(), z.number()])),
  type: optional(z.string()),
  function: functionSchema,
});

const messageSchema = z.looseObject({
  content: optional(contentSchema),
  reasoning: lenient(z.string()),
  reasoning_content: lenient(z.string()),
  tool_calls: optional(z.array(callSchema)),
  /** OpenAI's form before `tool_calls`. */
  function_call: optional(functionSchema),
  refusal: lenient(z.string()),
  rehearsal_id: optional(z.string()),
});

const countSchema = z.union([
  z.int().nonnegative(),
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
]);
const usageSchema = z.looseObject({
  prompt_tokens: optional(countSchema),
  completion_tokens: optional(countSchema),
  total_tokens: optional(countSchema),
});

const completionSchema = z.looseObject({
  choices: z.array(z.looseObject({ message: optional(messageSchema), finish_reason: lenient(z.string()) })).min(1),
  provider: lenient(z.string()),
  usage: z.unknown().optional(),
});

/** A chat completion that can be read, as an endpoint sends it. */
export type Completion = z.input<typeof completionSchema>;

/** What does not fit: a path with what is expected there. */
export type Misfit = { readonly problem: string };

/** Reads a chat completion, whichever server sent it. */
export function readCompletion(completion: unknown): ChatAnswer | Misfit {
  const { data, error } = completionSchema.safeParse(completion);
  if (!data) return { problem: problemOf(error) };
  const choice = wholeChoice(data.choices);
  const brokenEnd = brokenEndOf(choice?.finish_reason ?? null);
  // Gemini leaves the message out where its filter withheld it.
  const message: Message | undefined = choice?.message ?? (brokenEnd && messageSchema.parse({}));
  if (!choice || !message) return { problem: 'the answer has no message' };
  const { text, thoughts: inParts } = contentOf(message.content);
  const spoken = withoutThoughts(text ?? '');
  const toolCalls = [
    ...(message.tool_calls ?? []).map((call) => callOf(call.function, String(call.id ?? ''))),
    ...(message.function_call ? [callOf(message.function_call, '')] : []),
  ];
  const all = [message.reasoning_content || message.reasoning, inParts, spoken.thoughts].filter(Boolean);
  const refusal = message.refusal || undefined;
  const isRefused = refusal !== undefined && !text && toolCalls.length === 0;
  const thoughts = all.length > 0 ? all.join('\n\n') : null;
  return {
    content: isRefused ? refusal : text === null && toolCalls.length > 0 ? null : spoken.content,
    thoughts,
    toolCalls,
    messageId: message.rehearsal_id ?? null,
    cameWith: message.rehearsal_id === undefined ? cameWith(message, spoken.thoughts ?? inParts, thoughts) : {},
    usage: tokensIn(data.usage),
    note: noteOf({ finishReason: choice.finish_reason, refusal, provider: data.provider }),
    brokenEnd: isRefused ? 'refusal' : (brokenEnd ?? null),
    // The schema has read it, so it has the schema's input type.
    raw: completion as Completion,
  };
}

type Choice = z.infer<typeof completionSchema>['choices'][number];

/** The first choice; with the calls of another one where it ended with calls and has none, as GitHub Copilot sends them. */
function wholeChoice(choices: readonly Choice[]): Choice | undefined {
  const [first] = choices;
  const hasCalls = ({ message }: Choice) => (message?.tool_calls ?? []).length > 0;
  const other = first?.finish_reason === 'tool_calls' && !hasCalls(first) ? choices.find(hasCalls) : undefined;
  if (!first || !other || first.message?.function_call) return first;
  const own = first.message ?? messageSchema.parse({});
  return { ...first, message: { ...own, tool_calls: other.message?.tool_calls } };
}

function noteOf(fields: { readonly [Name in keyof AnswerNote]: AnswerNote[Name] | undefined }): AnswerNote {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

type Message = z.infer<typeof messageSchema>;

/**
 * The fields that go back. Thoughts that are recorded as they came need only the name of their field; those in the
 * content go back with calls, and then as the content was.
 */
function cameWith(message: Message, inContent: string | null, thoughts: string | null): CameWith {
  const calls = message.tool_calls ?? [];
  const { reasoning_content: content, reasoning, ...rest } = unreadFields(message);
  const reasoningIn = content !== undefined ? 'reasoning_content' : 'reasoning';
  const given = content ?? reasoning;
  const isRecorded = given !== undefined && given === thoughts;
  const fields = {
    ...rest,
    ...(given !== undefined && !isRecorded ? { [reasoningIn]: given } : {}),
    ...(inContent !== null && calls.length > 0 ? { content: message.content as Json } : {}),
  };
  return {
    ...(isRecorded ? { reasoningIn } : {}),
    message: fields,
    calls: calls.map(unreadCallFields),
  };
}

/** Returns the text of the content of any message, without thoughts in parts; empty for what is not content. */
export function textOf(content: unknown): string {
  return contentOf(contentSchema.safeParse(content).data).text ?? '';
}

/** The text of a message, also where an endpoint gives it in parts, and the thoughts among its parts. */
function contentOf(content: Message['content']): { readonly text: string | null; readonly thoughts: string | null } {
  if (content === undefined || typeof content === 'string') return { text: content ?? null, thoughts: null };
  const isThought = ({ type }: Part) => /think|thought|reason/i.test(type ?? '');
  const thoughts = content
    .filter(isThought)
    .map(({ text, thinking, summary }) => text ?? textIn(thinking ?? summary))
    .filter(Boolean);
  const spoken = content.filter((part) => !isThought(part));
  return { text: spoken.map(({ text }) => text ?? '').join(''), thoughts: thoughts.join('\n\n') || null };
}

/** Mistral's thoughts and OpenAI's summaries are lists of parts of their own. */
function textIn(given: unknown): string {
  const parts = z.array(partSchema).safeParse(given);
  if (parts.success) return parts.data.map(({ text }) => text ?? '').join('');
  return typeof given === 'string' ? given : '';
}

function callOf({ name, arguments: given }: z.infer<typeof functionSchema>, id: string): ToolCall {
  if (given === undefined || given === null) return { id, name, arguments: {} };
  if (typeof given === 'string') return { id, name, ...callArguments(given) };
  if (isTooDeep(given)) return { id, name, arguments: 'nested too deeply to be read' };
  const isPlain = typeof given === 'object' && !Array.isArray(given);
  return { id, name, arguments: isPlain ? (given as JsonObject) : JSON.stringify(given as Json) };
}

/**
 * Returns the counts of an endpoint. Those that it gives in part are completed from their total. A request has tokens, so
 * one that counts none is not counted.
 */
function tokensIn(usage: unknown): ChatAnswer['usage'] {
  const { data } = usageSchema.safeParse(usage);
  const { completion_tokens: output } = data ?? {};
  const [input, total] = [data?.prompt_tokens || undefined, data?.total_tokens || undefined];
  if (input !== undefined && output !== undefined) return { input, output };
  if (total === undefined) return null;
  if (input !== undefined) return { input, output: Math.max(0, total - input) };
  return { input: Math.max(0, total - (output ?? 0)), output: output ?? 0 };
}

function problemOf(error: z.ZodError): string {
  const issue = error.issues[0];
  const [place, ...message] = [issue?.path.join('.') ?? '', issue?.message ?? ''];
  if (place === '' || place === 'choices') return 'the answer is not a chat completion';
  if (/\.content$/.test(place)) return 'the content of the message is neither a text nor a list of parts';
  return `${place}: ${message.join()}`;
}
