const none: readonly RegExpExecArray[] = [];

/**
 * Returns the matches of a pattern with the flag `g` that matches no empty text. `matchAll` copies the pattern each time,
 * which takes longer than to search a short text.
 */
export function matchesOf(pattern: RegExp, text: string): readonly RegExpExecArray[] {
  pattern.lastIndex = 0;
  const first = pattern.exec(text);
  if (!first) return none;
  const found = [first];
  for (let next = pattern.exec(text); next; next = pattern.exec(text)) found.push(next);
  return found;
}
