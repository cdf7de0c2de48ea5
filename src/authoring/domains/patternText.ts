/** Signs that a pattern is tried with, the plainest first. */
const signs = [...'A1a', ...Array.from({ length: 95 }, (_, at) => String.fromCodePoint(32 + at))];
const longest = 200;

/** The most combinations of a pattern's alternatives to try. */
const mostWays = 50;

/** A group without another one in it, and how often it is there. */
const group = /(?<!\\)\((?:\?(?::|P?<\w+>))?((?:[^()\\]|\\.)*)\)(?:([*+?])|\{(\d+)(?:,\d*)?\})?/;

/** One sign of a pattern without groups and choices, and how often it is there. */
const part = /(\[(?:\\.|[^\]\\])+\]|\\.|[^\\[\](){}|*+?^$])(?:\{(\d+)(,\d*)?\}|([*+?]))?/y;

/**
 * A text that fits a pattern of signs in a row and of choices, such as `^(asc|desc)-\d+$`; null where none is found.
 * @param fits what else it must be
 */
export function patternText(pattern: string, minLength: number, fits: (text: string) => boolean): string | null {
  const lengths = [1, minLength].filter((length) => length <= longest);
  for (const way of waysThrough(pattern.replace(flags, '$1')).take(mostWays))
    for (const length of lengths) {
      const text = inARow(way, length);
      if (text !== null && fits(text)) return text;
    }
  return null;
}

/** Flags at the start of a pattern of Python, such as (?i). */
const flags = /^(\^?)\(\?[a-zA-Z]+\)/;

/** Gives the patterns without groups and choices that a pattern is made of. */
function* waysThrough(pattern: string): Generator<string, void> {
  const found = group.exec(pattern);
  if (!found) {
    yield pattern;
    if (pattern.includes('|')) yield* pattern.split('|');
    return;
  }
  const [whole, inner = '', mark, count = '1'] = found;
  const [before, after] = [pattern.slice(0, found.index), pattern.slice(found.index + whole.length)];
  const times = mark === '*' || mark === '?' ? 0 : Math.min(Number(count), longest);
  for (const way of times === 0 ? [''] : inner.split('|')) yield* waysThrough(`${before}${way.repeat(times)}${after}`);
}

/** @param open how often a sign is there that the pattern takes any number of */
function inARow(pattern: string, open: number): string | null {
  const body = pattern.replace(/^\^/, '').replace(/(?<!\\)\$$/, '');
  let text = '';
  part.lastIndex = 0;
  while (part.lastIndex < body.length) {
    const found = part.exec(body);
    if (!found) return null;
    const [, atom = '', exactly, more, mark] = found;
    const min = Number(exactly ?? (mark === '?' ? 0 : 1));
    const count = mark === '*' || mark === '+' || more === ',' ? Math.max(min, open) : min;
    const sign = signFor(atom);
    if (sign === undefined || text.length + count > longest) return null;
    text += sign.repeat(count);
  }
  return text;
}

function signFor(atom: string): string | undefined {
  // Other languages escape signs such as a colon, which JavaScript refuses.
  if (/^\\[^A-Za-z0-9]$/.test(atom)) return atom.slice(1);
  try {
    const one = new RegExp(`^${atom}$`, 'u');
    return signs.find((sign) => one.test(sign));
  } catch {
    return undefined;
  }
}
