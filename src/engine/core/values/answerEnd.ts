/**
 * The ways in which an answer of a model can end without being whole: cut off at the limit of tokens, withheld by a
 * filter of the provider, refused, with a call that the provider could not read, with a call that it left in the text, or
 * without any content.
 */
export const brokenEnds = ['length', 'filter', 'refusal', 'call', 'unparsed', 'empty'] as const;
export type BrokenEnd = (typeof brokenEnds)[number];

/** Code of the failure of a seat whose answer was cut off, where its settings do not accept such an answer. */
export const truncated = 'model/truncated';

const names: readonly (readonly [RegExp, BrokenEnd])[] = [
  [/^(?:length|max_tokens|max_output_tokens|model_length|model_context_window_exceeded)$/i, 'length'],
  [
    /^(?:content_filter(?:ed)?|guardrail_intervened|safety|recitation|blocklist|prohibited_content|spii|refusal|sensitive)$/i,
    'filter',
  ],
  [/^(?:malformed_function_call|unexpected_tool_call|malformed_tool_call|too_many_tool_calls)$/i, 'call'],
];

/**
 * Returns how an answer ended, by the `finish_reason` of any provider, such as `content_filter: SAFETY` or
 * `content-filter`; undefined for one that is whole.
 */
export function brokenEndOf(finishReason: string | null): BrokenEnd | undefined {
  const words = (finishReason ?? '').replaceAll('-', '_').split(/\W+/);
  return names.find(([pattern]) => words.some((word) => pattern.test(word)))?.[1];
}

/** Matches the `finish_reason` of a whole answer, for all providers. */
const wholeEnd = /^(?:null|stop|stop_sequence|end_turn|eos|eos_token|complete|completed)?$/i;
const callsEnd = /^(?:tool[-_]calls?|tool_use|function[-_]calls?)$/i;

/** Returns whether an answer ended with calls, by the `finish_reason` of any provider. */
export const endsWithCalls = (finishReason: string | undefined): boolean => callsEnd.test(finishReason ?? '');

/** The most characters of a `finish_reason` in a count, because the provider chooses the text. */
const longestEnd = 60;

/** Returns the `finish_reason` of an answer if its meaning is not known. */
export function unknownEndOf(finishReason: string): string | undefined {
  const isKnown = wholeEnd.test(finishReason) || endsWithCalls(finishReason) || brokenEndOf(finishReason) !== undefined;
  return isKnown ? undefined : finishReason.slice(0, longestEnd);
}

/** Whether a text ends with a whole JSON object, alone or in a block of code. An answer that was cut off may not. */
export const endsWithObject = (text: string): boolean => /\}\s*(?:```\s*)?$/.test(text);
