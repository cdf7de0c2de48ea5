import { literal } from '../text/literal.ts';
import { plain } from '../text/text.ts';
import { linearPattern, type Pattern } from '../values/linearPattern.ts';

/**
 * Returns a pattern that finds a sentence of a lexicon in a plain text: its words in order, with one to eight words for
 * `{anything}`.
 */
export function phrasePattern(phrase: string): Pattern {
  const slot = '[^\\s]+(?: [^\\s]+){0,7}?';
  const words = plain(phrase.replace(/\{[^}]*\}/g, ' slotted '))
    .replace(/[^\p{L}\p{N}\s']+/gu, ' ')
    .trim()
    .split(/\s+/)
    .map((word) => (word === 'slotted' ? slot : literal(word)));
  return linearPattern(`(?:^|[^\\p{L}\\p{N}])${words.join('[^\\p{L}\\p{N}]+')}(?:$|[^\\p{L}\\p{N}])`);
}
