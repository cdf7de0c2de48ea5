/**
 * How a model's answer ended where it is not whole: cut off at the limit of tokens, withheld by a filter of the
 * provider, or refused in place of an answer.
 */
export const brokenEnds = ['length', 'filter', 'refusal'] as const;
export type BrokenEnd = (typeof brokenEnds)[number];

const names: readonly (readonly [RegExp, BrokenEnd])[] = [
  [/^(?:length|max_tokens|max_output_tokens|model_length|model_context_window_exceeded)$/i, 'length'],
  [/^(?:content_filter|safety|recitation|blocklist|prohibited_content|spii|refusal|sensitive)$/i, 'filter'],
];

/**
 * Returns how an answer ended, by the `finish_reason` of any provider, such as `content_filter: SAFETY`; undefined for
 * one that is whole.
 */
export function brokenEndOf(finishReason: string | null): BrokenEnd | undefined {
  const words = (finishReason ?? '').split(/\W+/);
  return names.find(([pattern]) => words.some((word) => pattern.test(word)))?.[1];
}

/** Whether a text ends with a whole JSON object, alone or in a block of code. An answer that was cut off may not. */
export const endsWithObject = (text: string): boolean => /\}\s*(?:```\s*)?$/.test(text);
