const page = /<!doctype html|<html[\s>]/i;

/** Returns whether a text is an HTML page. */
export const isPage = (text: string): boolean => text.trimStart().search(page) === 0;

/** Returns a text for people in place of an HTML page, as a proxy or a login sends one; any other text as it is. */
export function withoutPage(text: string): string {
  const at = text.search(page);
  if (at < 0) return text;
  const title = /<title[^>]*>([^<]*)/i.exec(text)?.[1]?.replaceAll(/\s+/g, ' ').trim();
  return `${text.slice(0, at)}an HTML page${title ? ` ("${title.slice(0, 80)}")` : ''}`;
}
