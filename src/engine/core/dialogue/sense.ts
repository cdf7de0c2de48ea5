import { plain } from '../text/text.ts';
import { patterns, words } from './patterns.ts';

const { toolDebris, predicates, misplaced } = patterns.sense;

/**
 * Reports whether a person could not make sense of a text: it is empty, has the remains of a tool call, or is
 * gibberish.
 */
export function isSenseless(text: string): boolean {
  const all = plain(text);
  return all === '' || toolDebris.test(text) || isGibberish(all);
}

/** Reports whether a text repeats the same few words, has hardly any letters, or has words without order. */
function isGibberish(all: string): boolean {
  const words = all.match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length === 0) return true;
  if (/(?:^| )(\p{L}+) \1 \1(?= |$)/u.test(words.join(' '))) return true;
  const signs = all.match(/[^\p{L}\p{N}\s.,!?'"|-]/gu)?.length ?? 0;
  if (signs >= 3 && !words.some((word) => /^\p{L}{3,}$/u.test(word))) return true;
  const senseless = all.match(misplaced)?.length ?? 0;
  const articles = words.filter((word) => word === 'the').length;
  if (words.length >= 8 && senseless - (all.match(/\bof the\b|\bof an?\b/g)?.length ?? 0) >= 2) return true;
  if (words.length >= 12 && articles / words.length > 0.3) return true;
  return words.length >= 8 && new Set(words).size / words.length < 0.4 && !/\?/.test(all);
}

const commonWords = new Set(words.sense.commonWords);
/**
 * Reports whether a text reads like English: it has several different common words, they are a large part of it, and
 * one is a verb.
 */
export function isEnglish(plainText: string): boolean {
  const words = plainText.match(/[\p{L}\p{N}]+/gu) ?? [];
  const common = words.filter((word) => commonWords.has(word));
  return new Set(common).size >= 3 && common.length / words.length >= 0.35 && predicates.test(plainText);
}
