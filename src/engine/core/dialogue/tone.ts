import { patterns } from './patterns.ts';

const { agreeing, holding, litotes } = patterns.tone;

/**
 * Reports whether an answer of at most 16 words agrees by its words alone, in a wording that no pattern has: it has a
 * word of agreement and none that can hold something back.
 */
export function soundsAgreed(plainText: string): boolean {
  const rest = plainText.replace(litotes, ' fine ');
  return rest.split(/\s+/).length <= 16 && agreeing.test(rest) && !holding.test(rest);
}
