import { plain } from './text.ts';

const toolDebris =
  /<\/?tool|^\s*[[{]["'[{]|"(?:name|arguments)"\s*:|^\s*[a-z]+(?:_[a-z]+)+\s*\(|^\s*\w+\(\s*\w+\s*=|<\|/i;

/** Whether a text is nothing a person could read: empty, the debris of a tool call, or words without order. */
export function isSenseless(text: string): boolean {
  const all = plain(text);
  return all === '' || toolDebris.test(text) || isGibberish(all);
}

/** The same few words over and over, or hardly any letters. */
function isGibberish(all: string): boolean {
  const words = all.match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length === 0) return true;
  const senseless =
    all.match(/\b(?:the|a|an|of) (?:of|the|a|an|is|be|in|to|for|and|was|which|by|with|at|on)\b(?! (?:in|out))/g)
      ?.length ?? 0;
  const articles = words.filter((word) => word === 'the').length;
  if (words.length >= 8 && senseless - (all.match(/\bof the\b|\bof an?\b/g)?.length ?? 0) >= 2) return true;
  if (words.length >= 12 && articles / words.length > 0.3) return true;
  return words.length >= 8 && new Set(words).size / words.length < 0.4 && !/\?/.test(all);
}
