import { plain } from '../text/text.ts';

/** Matches the remains of a tool call in a text: a tag, JSON, or a name with underscores and a bracket. */
const toolDebris =
  /<\/?tool|^\s*[[{]["'[{]|"(?:name|arguments)"\s*:|^\s*[a-z]+(?:_[a-z]+)+\s*\(|^\s*\w+\(\s*\w+\s*=|<\||[{}[\]]{3,}/i;

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
  const senseless =
    all.match(/\b(?:the|a|an|of) (?:of|the|a|an|is|be|in|to|for|and|was|which|by|with|at|on)\b(?! (?:in|out))/g)
      ?.length ?? 0;
  const articles = words.filter((word) => word === 'the').length;
  if (words.length >= 8 && senseless - (all.match(/\bof the\b|\bof an?\b/g)?.length ?? 0) >= 2) return true;
  if (words.length >= 12 && articles / words.length > 0.3) return true;
  return words.length >= 8 && new Set(words).size / words.length < 0.4 && !/\?/.test(all);
}

/** The most common English words. */
const commonWords = new Set(
  'i you he she it we they me him her us them my your his its our their this that these those there here the a an and or but so if because when where what which who how why not no yes is are was were be been am do does did done have has had will would can could should shall may might must to of in on at for with from by about into out up down over after before until than then as very too just only also still already again now today tomorrow yesterday please thanks thank hello sorry good great fine right okay ok sure all any some more other another same first last next new need want like know think see look find take give get go come make let help tell send'.split(
    ' ',
  ),
);
/** Matches common verbs. */
const predicates =
  /\b(?:is|are|was|were|be|been|am|do|does|did|have|has|had|will|would|can|could|should|shall|may|might|must|let|please|see|look|find|take|give|get|go|come|make|need|want|like|know|think)\b/;

/**
 * Reports whether a text reads like English: it has several different common words, they are a large part of it, and
 * one is a verb.
 */
export function isEnglish(plainText: string): boolean {
  const words = plainText.match(/[\p{L}\p{N}]+/gu) ?? [];
  const common = words.filter((word) => commonWords.has(word));
  return new Set(common).size >= 3 && common.length / words.length >= 0.35 && predicates.test(plainText);
}
