import * as z from 'zod';
import { callArguments, type ToolCall } from '../../core/events/message.ts';
import { withoutAnswerTags, withoutThoughts } from '../../core/events/thoughts.ts';
import { type BrokenEnd, brokenEndOf, endsWithCalls } from '../../core/values/answerEnd.ts';
import { type Json, jsonOf, wellFormedText } from '../../core/values/json.ts';
import { objectTextsIn } from '../../core/values/jsonInText.ts';
import { isExactNumber, withDigits } from '../../core/values/largeIntegers.ts';
import { withoutPage } from '../files/htmlPage.ts';
import { redactedPart } from '../keys/secrets.ts';
import { bodyJson } from './bodyJson.ts';
import { callsInForm, contentInForm, functionInForm, functionInText, withTextArguments } from './callForm.ts';
import {
  errorIn,
  errorOf,
  type Fields,
  fieldsOf,
  isBlank,
  type ProviderError,
  unknownStatus,
} from './providerError.ts';
import { type CameWith, unreadCallFields, unreadFields } from './sentBack.ts';

/** The provider's data about an answer, for the sidecar. */
export type AnswerNote = {
  readonly finishReason?: string;
  readonly refusal?: string;
  /** The provider behind a router, by its name. */
  readonly provider?: string;
};

/** A model's answer, in the form that the engine uses for every chat endpoint. */
export type ChatAnswer = {
  /** The text of the answer, without thoughts; null if it only calls tools. */
  readonly content: string | null;
  readonly thoughts: string | null;
  /** Calls without an id have an empty one. */
  readonly toolCalls: readonly ToolCall[];
  /** Identity that a gateway gives a message. */
  readonly messageId: string | null;
  /** The data that its endpoint needs back with it. A gateway that gives messages an identity keeps its own. */
  readonly cameWith: CameWith;
  /** Tokens of the request and of the answer; null where the endpoint does not count them. */
  readonly usage: { readonly input: number; readonly output: number } | null;
  readonly note: AnswerNote;
  /** The way in which the answer broke off; null if it is complete. */
  readonly brokenEnd: BrokenEnd | null;
  /** The answer as the endpoint sent it, with every field. */
  readonly raw: Completion;
};

/** A field that several servers write as null where it is absent. */
const optional = <Value extends z.ZodType>(value: Value) => value.nullish().transform((given) => given ?? undefined);

const partSchema = z.looseObject({
  type: optional(z.string()),
  text: optional(z.string()),
  refusal: optional(z.string()),
  thinking: z.unknown().optional(),
  summary: z.unknown().optional(),
});
type Part = z.infer<typeof partSchema>;
const partsSchema = z.preprocess(
  (parts) =>
    Array.isArray(parts)
      ? parts
          .filter((part) => part !== null)
          .map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part))
      : parts,
  z.array(partSchema),
);
const contentSchema = z.union([z.string(), partsSchema]);

/** A field that is only reported, so one of another type counts as absent. */
const lenient = <Value extends z.ZodType>(value: Value) => optional(value).catch(undefined);

/** Some gateways omit the type or send a numeric id. */
const functionSchema = z.looseObject({ name: z.string(), arguments: optional(z.string()) });
/** An id, whose large number is a text of its digits. */
export const idSchema = z.preprocess(
  (id) => (isExactNumber(id) ? withDigits(id as Json) : id),
  z.union([z.string(), z.number()]).nullish(),
);
const callSchema = z.looseObject({
  id: idSchema,
  type: optional(z.string()),
  function: functionSchema,
});

const messageSchema = z.looseObject({
  content: optional(contentSchema),
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
  completion_tokens_details: lenient(z.looseObject({ reasoning_tokens: optional(countSchema) })),
  /** The names of OpenAI's responses, Anthropic and Bedrock. */
  input_tokens: optional(countSchema),
  output_tokens: optional(countSchema),
});

const choiceSchema = z.looseObject({
  message: optional(messageSchema),
  finish_reason: lenient(z.string()),
  /** The finish reason of the provider behind a router. */
  native_finish_reason: lenient(z.string()),
  error: z.unknown().optional(),
  usage: z.unknown().optional(),
});

const completionSchema = z.looseObject({
  choices: z.array(choiceSchema).min(1),
  provider: lenient(z.string()),
  usage: z.unknown().optional(),
  x_groq: lenient(z.looseObject({ usage: z.unknown().optional() })),
  error: z.unknown().optional(),
});

/** Fields of thoughts: the usual ones first, then those of servers for Claude and of GitHub Copilot. */
const thoughtFields = ['reasoning_content', 'reasoning', 'thinking', 'reasoning_text'] as const;

type Message = z.infer<typeof messageSchema>;
type Choice = z.infer<typeof choiceSchema>;

/** A chat completion that can be read, with every field that its endpoint sent. */
export type Completion = z.input<typeof completionSchema>;

/** An endpoint's answer: a completion, an error in the provider's words, or something else, which is quoted. */
export type ReadAnswer =
  | { readonly type: 'answer'; readonly answer: ChatAnswer }
  | { readonly type: 'error'; readonly error: ProviderError }
  | { readonly type: 'unreadable'; readonly problem: string };

/** The finish reasons of answers that the provider could not finish. */
const failedEnds: readonly string[] = ['error', 'abort', 'network_error', 'insufficient_system_resource'];

/** Reads the body of an answer, whichever server sent it. */
export function readAnswer(body: string): ReadAnswer {
  if (body.trim() === '') return { type: 'unreadable', problem: 'the answer is empty' };
  const unreadable = (problem: string): ReadAnswer => ({ type: 'unreadable', problem: `${problem}: ${quote(body)}` });
  const value = bodyJson(wellFormedText(body));
  if (value === undefined) return errorInLines(body) ?? unreadable(misfitOfText(body));
  if (isOfOllama(value)) return unreadable(ofOllama);
  const completion = inForm(value);
  const { data, error: misfit } = completionSchema.safeParse(completion);
  const choice = data && wholeChoice(data.choices);
  const error = choice ? (errorOf(data.error) ?? errorOf(choice.error)) : errorIn(value);
  if (error) return { type: 'error', error };
  if (!choice) return unreadable(misfit ? problemOf(misfit) : 'the answer has no choices');
  if (failedEnds.includes(choice.finish_reason ?? '')) {
    const message = `the answer ended with finish_reason "${choice.finish_reason}"`;
    return { type: 'error', error: { message, status: unknownStatus, fields: {} } };
  }
  const end = brokenEndOf(choice.finish_reason ?? null);
  // Gemini leaves the message out where its filter withheld it.
  const message = choice.message ?? (end && messageSchema.parse({}));
  if (!message) return unreadable('the answer has no message');
  return { type: 'answer', answer: answerOf(data, choice, message, completion as Completion) };
}

/** Returns the values of a text that has one on each line, such as a stream without events; none for any other text. */
function jsonLinesIn(body: string): readonly unknown[] {
  const lines = body.split('\n').filter((line) => line.trim() !== '');
  if (!lines.every((line) => line.startsWith('{'))) return [];
  const values = lines.map(jsonOf);
  return values.includes(undefined) ? [] : values;
}

function errorInLines(body: string): ReadAnswer | null {
  const error = jsonLinesIn(body)
    .map((line) => errorOf(fieldsOf(line)?.['error']))
    .find(Boolean);
  return error ? { type: 'error', error } : null;
}

/** Describes a text that is not JSON. */
function misfitOfText(body: string): string {
  const [first] = jsonLinesIn(body);
  if (first === undefined) return 'the answer is not JSON';
  return isOfOllama(first) ? ofOllama : 'the answer is lines of JSON, not one JSON object';
}

const ofOllama =
  "the answer has the form of Ollama's own API, not of OpenAI's. Let the base URL end with /v1, such as http://127.0.0.1:11434/v1";

/** Whether a value is an answer of Ollama's own API, or a part of one. */
function isOfOllama(value: unknown): boolean {
  const { done, message, response, choices } = fieldsOf(value) ?? {};
  if (typeof done !== 'boolean' || choices !== undefined) return false;
  return fieldsOf(message) !== undefined || typeof response === 'string';
}

/** Returns a completion in OpenAI's form, whose calls are in a list. Some gateways wrap it in `data`. */
function inForm(value: unknown): unknown {
  const outer = fieldsOf(value);
  const inner = outer?.['choices'] ? undefined : fieldsOf(outer?.['data']);
  const completion = inner?.['choices'] ? inner : outer;
  const choices = completion?.['choices'];
  return Array.isArray(choices) ? { ...completion, choices: choices.map(choiceInForm) } : value;
}

/** Some gateways send the message of a whole answer under the name that it has in streams. */
function choiceInForm(choice: unknown): unknown {
  const data = fieldsOf(choice);
  // Without a `finish_reason`, it is a part.
  const message = fieldsOf(data?.['message'] ?? (data?.['finish_reason'] ? data['delta'] : null));
  if (!message) return choice;
  const { tool_calls: given, function_call: legacy } = message;
  const { content, calls: inContent } = contentInForm(message['content']);
  const listed = callsInForm(given);
  // An answer that has its calls in both places repeats them.
  const calls = listed && listed.length > 0 ? listed : inContent.length > 0 ? callsInForm(inContent) : listed;
  // llama-cpp-python sends a call in both forms.
  const isRepeated = calls !== null && calls.length > 0;
  const own: Fields = {
    ...message,
    ...(content === undefined ? {} : { content }),
    ...(given === undefined && calls === null ? {} : { tool_calls: calls?.map(withTextArguments) ?? null }),
    ...(legacy === undefined
      ? {}
      : { function_call: isRepeated || isBlank(legacy) ? null : functionInText(functionInForm(legacy)) }),
  };
  return { ...data, message: own };
}

function answerOf(
  completion: z.infer<typeof completionSchema>,
  choice: Choice,
  message: Message,
  raw: Completion,
): ChatAnswer {
  const { text, thoughts: inParts, refusal: refusedPart } = contentOf(message.content);
  const spoken = withoutThoughts(text ?? '');
  const calls = (message.tool_calls ?? []).map((call) => callOf(call.function, String(call.id ?? '')));
  const toolCalls = message.function_call ? [...calls, callOf(message.function_call, '')] : calls;
  const inFields = thoughtFields.map((name) => message[name]).find((each) => typeof each === 'string' && each !== '');
  const all = [inFields, inParts, spoken.thoughts].filter(Boolean);
  const refusal = message.refusal || refusedPart || undefined;
  const isRefused = refusal !== undefined && !text && toolCalls.length === 0;
  const thoughts = all.length > 0 ? all.join('\n\n') : null;
  const content = inFields || inParts ? withoutAnswerTags(spoken.content) : spoken.content;
  // Some parsers of servers lose a call that they announce.
  const isLost = endsWithCalls(choice.finish_reason) && toolCalls.length === 0 && content === '';
  const said = brokenEndOf(choice.finish_reason ?? null) ?? brokenEndOf(choice.native_finish_reason ?? null);
  const end = isRefused ? 'refusal' : isLost ? 'call' : said;
  return {
    content: isRefused ? refusal : text === null && toolCalls.length > 0 ? null : content,
    thoughts,
    toolCalls,
    messageId: message.rehearsal_id ?? null,
    cameWith: message.rehearsal_id === undefined ? cameWith(message, spoken.thoughts ?? inParts, thoughts) : {},
    // In streams, Kimi counts in the choice, and Groq in its own field.
    usage: tokensIn(completion.usage) ?? tokensIn(choice.usage) ?? tokensIn(completion.x_groq?.usage),
    note: noteOf({ finishReason: choice.finish_reason, refusal, provider: completion.provider }),
    brokenEnd: end ?? null,
    raw,
  };
}

/** The first choice; with the calls of another one where it ended with calls and has none, as GitHub Copilot sends them. */
function wholeChoice(choices: readonly Choice[]): Choice | undefined {
  const [first] = choices;
  const hasCalls = ({ message }: Choice) => (message?.tool_calls ?? []).length > 0;
  const other = endsWithCalls(first?.finish_reason) && first && !hasCalls(first) ? choices.find(hasCalls) : undefined;
  if (!first || !other || first.message?.function_call) return first;
  const own = first.message ?? messageSchema.parse({});
  return { ...first, message: { ...own, tool_calls: other.message?.tool_calls } };
}

function noteOf(fields: { readonly [Name in keyof AnswerNote]: AnswerNote[Name] | undefined }): AnswerNote {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

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

type Content = {
  readonly text: string | null;
  readonly thoughts: string | null;
  readonly refusal: string | null;
};

/** The text of a message, also where an endpoint gives it in parts, and the thoughts and the refusal among its parts. */
function contentOf(content: Message['content']): Content {
  if (content === undefined || typeof content === 'string')
    return { text: content ?? null, thoughts: null, refusal: null };
  const isThought = ({ type }: Part) => /think|thought|reason/i.test(type ?? '');
  const thoughts = content
    .filter(isThought)
    .map(({ text, thinking, summary }) => text ?? textIn(thinking ?? summary))
    .filter(Boolean);
  const spoken = content.filter((part) => !isThought(part));
  return {
    text: spoken.map(({ text }) => text ?? '').join(''),
    thoughts: thoughts.join('\n\n') || null,
    refusal: spoken.map(({ refusal }) => refusal ?? '').join('') || null,
  };
}

/** Mistral's thoughts and OpenAI's summaries are lists of their own parts. */
function textIn(given: unknown): string {
  const parts = z.array(partSchema).safeParse(given);
  if (parts.success) return parts.data.map(({ text }) => text ?? '').join('');
  return typeof given === 'string' ? given : '';
}

function callOf({ name, arguments: given = '' }: z.infer<typeof functionSchema>, id: string): ToolCall {
  const text = writtenOnce(decodedOnce(wellFormedText(given)));
  // Servers in Go and PHP write no arguments so.
  const isEmpty = /^\s*(?:null|\[\])\s*$/.test(text);
  return { id, name: withoutTokens(name), ...callArguments(isEmpty ? '' : text) };
}

/** Returns a name without the special tokens that vLLM leaves at its end for gpt-oss. */
const withoutTokens = (name: string) => name.replace(/<\|.*$/s, '').trim() || name;

/** Returns the text in a JSON text that is a string: some models encode their arguments twice. */
function decodedOnce(text: string): string {
  const inner = text.startsWith('"') ? jsonOf(text) : undefined;
  return typeof inner === 'string' ? inner : text;
}

/**
 * Returns arguments that a proxy wrote several times once: for Bedrock an empty object comes before them, and others repeat
 * them.
 */
function writtenOnce(text: string): string {
  if (!/\}\s*\{/.test(text) || jsonOf(text) !== undefined) return text;
  const objects = objectTextsIn(text);
  let rest = text.trim();
  for (const each of objects) {
    if (!rest.startsWith(each)) return text;
    rest = rest.slice(each.length).trimStart();
  }
  const [own, ...others] = new Set(objects.filter((each) => each !== '{}'));
  return own !== undefined && others.length === 0 && rest === '' ? own : text;
}

/**
 * Returns the counts of an endpoint. Those that it gives in part are completed from their total. A request has tokens, so
 * one that counts none is not counted.
 */
function tokensIn(usage: unknown): ChatAnswer['usage'] {
  const { data } = usageSchema.safeParse(usage);
  const output = data?.completion_tokens ?? data?.output_tokens;
  const [input, total] = [data?.prompt_tokens || data?.input_tokens || undefined, data?.total_tokens || undefined];
  if (input !== undefined && output !== undefined) {
    // Some endpoints count the tokens of thoughts beside the completion, and in the total.
    const thoughts = data?.completion_tokens_details?.reasoning_tokens ?? 0;
    return { input, output: (total ?? 0) >= input + output + thoughts ? output + thoughts : output };
  }
  if (total === undefined) return null;
  if (input !== undefined) return { input, output: Math.max(0, total - input) };
  return { input: Math.max(0, total - (output ?? 0)), output: output ?? 0 };
}

function problemOf(error: z.ZodError): string {
  const issue = error.issues[0];
  const [place, ...message] = [issue?.path.join('.') ?? '', issue?.message ?? ''];
  if (place === '' || place === 'choices') return 'the answer has no choices';
  if (/\.content$/.test(place)) return 'the content of the message is neither a text nor a list of parts';
  return `${place}: ${message.join()}`;
}

/** Characters of an answer that are quoted, and those that are looked at for it. */
const longestQuote = 300;
const longestLook = 20_000;

/** Returns the beginning of a text of a provider, for a message. */
export function quote(text: string): string {
  return withoutPage(redactedPart(text, 0, longestLook))
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, longestQuote);
}
