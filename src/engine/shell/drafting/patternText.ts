/** Signs that a pattern is tried with, the plainest first. */
const signs = [...'A1a', ...Array.from({ length: 95 }, (_, at) => String.fromCodePoint(32 + at))];
const longest = 200;

/** One sign of a pattern, and how often it stands there: a pattern with groups or choices has others as well. */
const part = /(\[(?:\\.|[^\]\\])+\]|\\.|[^\\[\](){}|*+?^$])(?:\{(\d+)(,\d*)?\}|([*+?]))?/y;

/**
 * A text that fits a pattern of signs in a row, such as `^[A-Z]{3}-\d+$`; null where none is found.
 * @param fits what else it must be
 */
export function patternText(pattern: string, minLength: number, fits: (text: string) => boolean): string | null {
  const lengths = [1, minLength].filter((length) => length <= longest);
  return lengths.map((length) => inARow(pattern, length)).find((text) => text !== null && fits(text)) ?? null;
}

/** @param open how often a sign stands there that the pattern takes any number of */
function inARow(pattern: string, open: number): string | null {
  const body = pattern.replace(/^\^/, '').replace(/(?<!\\)\$$/, '');
  let text = '';
  part.lastIndex = 0;
  while (part.lastIndex < body.length) {
    const found = part.exec(body);
    if (!found) return null;
    const [, atom = '', exactly, more, mark] = found;
    const least = Number(exactly ?? (mark === '?' ? 0 : 1));
    const count = mark === '*' || mark === '+' || more === ',' ? Math.max(least, open) : least;
    const sign = signFor(atom);
    if (sign === undefined || text.length + count > longest) return null;
    text += sign.repeat(count);
  }
  return text;
}

function signFor(atom: string): string | undefined {
  try {
    const one = new RegExp(`^${atom}$`, 'u');
    return signs.find((sign) => one.test(sign));
  } catch {
    return undefined;
  }
}
