import { decodeNamedCharacterReference } from 'decode-named-character-reference';

/** Returns the words of a message in HTML, as help desks store it. */
export function plainText(html: string): string {
  if (!/<[a-z/!]|&[#\w]+;/i.test(html)) return html;
  return html
    .replace(/<(script|style)\b[\s\S]*?<\/\1>|<!--[\s\S]*?-->/gi, '')
    .replace(/\s*<br\s*\/?>\s*/gi, '\n')
    .replace(/<\/(?:p|div|li|tr|h\d|blockquote)>\s*/gi, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&(#x[\da-f]+|#\d+|\w+);/gi, (whole, name: string) => character(name) ?? whole)
    .replace(/\u00A0/g, ' ')
    .trim();
}

function character(name: string): string | undefined {
  if (!name.startsWith('#')) return decodeNamedCharacterReference(name) || undefined;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}
