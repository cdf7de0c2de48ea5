/** The last thing that a program said, without the word that makes it an error. */
export function lastLineOf(words: string): string {
  const last = words.trim().split('\n').at(-1) ?? '';
  return last.replace(/^error: /, '');
}
