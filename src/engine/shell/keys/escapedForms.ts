/** Names of HTML for characters that keys have. */
const named: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
  '+': 'plus',
  '=': 'equals',
  '/': 'sol',
  _: 'lowbar',
};
const letters = new Map(Object.entries(named).map(([letter, name]) => [name, letter] as const));

/**
 * Matches one escape of JSON, of a program's text, of HTML, of a URL or of quoted-printable text. Runs of backslashes
 * are one backslash here: a pattern of many would count through a run again from each of its backslashes.
 */
const anyEscape = new RegExp(
  String.raw`\\(?:u([\da-f]{4})|x([\da-f]{2}))|&#x0*([\da-f]{1,6});|&#0*(\d{1,7});|&(${[...letters.keys()].join('|')});|[%=]([\da-f]{2})`,
  'gi',
);

/** Matches where a text was broken into lines, as JSON has it: quoted-printable text has `=` before it. */
const breaksInJson = /=?(?:\\[rn])+(?: |\\t)*/g;

/** Escapes of escapes: JSON of HTML of a URL. */
const mostLevels = 4;

/** Returns JSON with a letter in place of each escape of one, whatever it is in; null where there are none. */
export function unescaped(json: string): string | null {
  const single = withSingleBackslashes(json);
  if (single.search(anyEscape) < 0 && json.search(/=\\[rn]/) < 0) return null;
  let text = single.replace(breaksInJson, '');
  for (let level = 0; level < mostLevels; level += 1) {
    const before = withSingleBackslashes(text);
    text = before.replace(anyEscape, (_, unit, code, hex, decimal, name, byte) => {
      if (name !== undefined) return letters.get(name.toLowerCase()) ?? '';
      const point = decimal === undefined ? Number.parseInt(unit ?? code ?? hex ?? byte, 16) : Number(decimal);
      return point <= 0x10ffff ? String.fromCodePoint(point) : '';
    });
    if (text === before) break;
  }
  return text.replaceAll('\\', '');
}

/** Escapes of escapes have several backslashes before their letter. */
const withSingleBackslashes = (text: string) => (text.includes('\\\\') ? text.replace(/\\{2,}/g, '\\') : text);

/** Returns a value as it is in unescaped JSON. Escapes of single bytes make a letter of each byte. */
export function bareForms(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const bare = unescaped(json) ?? json.replaceAll('\\', '');
  return [bare, Buffer.from(bare).toString('latin1')];
}

/** Matches a value in which each letter may be escaped in its own way. It takes a time in proportion to the text. */
export function escapedPattern(value: string): RegExp {
  return new RegExp([...value].map(letterPattern).join(String.raw`(?:=?[\r\n]+[ \t]*)?`), 'g');
}

const ampersand = String.raw`(?:&|\\{1,16}u0026)(?:amp;)*`;

function letterPattern(letter: string): string {
  const point = letter.codePointAt(0) ?? 0;
  const digits = (code: number, length: number) =>
    code
      .toString(16)
      .padStart(length, '0')
      .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const units = Array.from({ length: letter.length }, (_, at) => letter.charCodeAt(at));
  const bytes = [...Buffer.from(letter)].map((byte) => digits(byte, 2));
  const plain = units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  const entities = [`#[xX]0*${digits(point, 1)}`, `#0*${point}`, ...(named[letter] ? [named[letter]] : [])];
  return `(?:${[
    /[\w&]/.test(letter) ? plain : String.raw`\\{0,16}${plain}`,
    units.map((unit) => String.raw`\\{1,16}u${digits(unit, 4)}`).join(''),
    bytes.map((byte) => String.raw`\\{1,16}x${byte}`).join(''),
    `${ampersand}(?:${entities.join('|')});`,
    bytes.map((byte) => `%(?:25)*${byte}`).join(''),
    bytes.map((byte) => `=${byte}`).join(''),
  ].join('|')})`;
}
