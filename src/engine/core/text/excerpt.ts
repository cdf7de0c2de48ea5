/**
 * Returns a text, cut where it is longer than this many characters.
 * @param mark the end of a text that was cut, which counts as characters of it
 */
export const excerpt = (text: string, most = 60, mark = '...'): string =>
  text.length > most ? `${text.slice(0, most - mark.length)}${mark}` : text;

/** Returns an excerpt of a text as one line. */
export const lineExcerpt = (text: string, most: number, mark = '…'): string =>
  excerpt(text.replace(/\s+/g, ' '), most, mark);
