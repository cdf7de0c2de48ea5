/** Text as it may be between tags and in quoted attributes of HTML, SVG and XML. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/(?![\t\n\r])\p{Cc}/gu, '\ufffd');
}
