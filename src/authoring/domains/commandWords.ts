/**
 * Splits a typed command into words: quotes group words, and a backslash escapes a quote, space or backslash. Returns
 * an error message if the command is not valid.
 */
export function commandWords(text: string): readonly string[] | string {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] ?? '';
    if (letter === '\\' && quote !== "'" && at + 1 < text.length && /["'\\ ]/.test(text[at + 1] ?? '')) {
      at += 1;
      word = (word ?? '') + text[at];
    } else if (quote !== '') {
      if (letter === quote) quote = '';
      else word = (word ?? '') + letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      word ??= '';
    } else if (/\s/.test(letter)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + letter;
  }
  if (quote !== '') return `a quote (${quote}) in it has no end`;
  return word === null ? words : [...words, word];
}
