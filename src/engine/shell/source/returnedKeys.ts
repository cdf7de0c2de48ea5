import { blanked, type Scan } from './scan.ts';
import { remembered } from './source.ts';

/**
 * Returns the names of the fields that a tool in TypeScript returns, where its code shows them all: every `return` is an
 * object literal without a spread, or a text. Null where it does not.
 */
export function returnedKeys(scan: Scan, name: string): ReadonlySet<string> | null {
  const known = remembered(found, scan, () => new Map<string, ReadonlySet<string> | null>());
  const keys = known.has(name) ? (known.get(name) ?? null) : keysIn(scan, name);
  known.set(name, keys);
  return keys;
}

const found = new WeakMap<Scan, Map<string, ReadonlySet<string> | null>>();

function keysIn({ tools, sources }: Scan, name: string): ReadonlySet<string> | null {
  const at = tools.get(name);
  const source = sources.find(({ file }) => file === at?.file);
  if (at === undefined || source === undefined || !source.file.endsWith('.ts')) return null;
  const text = withoutTexts(
    blanked(source.text)
      .split('\n')
      .slice(at.line - 1)
      .join('\n'),
  );
  // The brackets of a regular expression need not be in pairs.
  if (/\/[^/\n]*[()[\]{}][^/\n]*\//.test(text.slice(0, nextTool(text)))) return null;
  const end = closing(text, text.indexOf('('));
  const body = end === null ? null : bodyOf(text.slice(0, end));
  if (body === null) return null;
  const values = body.startsWith('{')
    ? [...body.matchAll(/\breturn\b[ \t]*/g)].map(({ 0: word, index }) => body.slice(index + word.length))
    : [inner(body)];
  const returned = values.map(keysOf);
  if (values.length === 0 || !returned.every((keys) => keys !== null)) return null;
  return new Set(returned.flat());
}

const nextTool = (text: string) => /\nexport /.exec(text)?.index ?? text.length;

/** Texts in quotes become `""`, so that no bracket in them counts. */
const withoutTexts = (code: string) => code.replace(/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g, '""');

/** Returns the offset of the bracket that closes the one at an offset. */
function closing(code: string, from: number): number | null {
  if (from < 0) return null;
  let depth = 0;
  for (let at = from; at < code.length; at++) {
    if ('([{'.includes(code[at] ?? ' ')) depth += 1;
    else if (')]}'.includes(code[at] ?? ' ')) depth -= 1;
    if (depth === 0) return at;
  }
  return null;
}

/** Returns the body of the function `run` of a tool, from its brace or its value on. */
function bodyOf(code: string): string | null {
  const run = /\brun\s*(?::\s*(?:async\s*)?)?(?=\()/.exec(code);
  const inputs = run ? closing(code, run.index + run[0].length) : null;
  if (run === null || inputs === null) return null;
  const rest = code.slice(inputs + 1);
  const start = run[0].includes(':') ? /^\s*(?::[^=]*)?=>\s*/.exec(rest) : /^\s*(?=\{)/.exec(rest);
  if (!start) return null;
  const body = rest.slice(start[0].length);
  return body.startsWith('{') ? body.slice(0, (closing(body, 0) ?? body.length - 1) + 1) : body;
}

/** Returns the value of an arrow function without the brackets around it, unless more follows them. */
function inner(body: string): string {
  const end = body.startsWith('(') ? closing(body, 0) : null;
  return end === null || !/^\s*(?:[,}]|$)/.test(body.slice(end + 1)) ? body : body.slice(1, end).trim();
}

/** Returns the keys of an object literal at the start of some code, or none of a text; null for any other value. */
function keysOf(code: string): readonly string[] | null {
  if (/^""\s*(?:[;,)}\n]|$)/.test(code)) return [];
  const end = code.startsWith('{') ? closing(code, 0) : null;
  if (end === null || !/^\s*(?:[;,)}]|\n|$)/.test(code.slice(end + 1))) return null;
  const keys = partsOf(code.slice(1, end)).map((part) => /^([A-Za-z_$][\w$]*)\s*(?::|$)/.exec(part)?.[1]);
  return keys.every((key) => key !== undefined) ? keys : null;
}

/** Returns the entries of an object literal. */
function partsOf(code: string): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  let depth = 0;
  for (let at = 0; at <= code.length; at++) {
    const each = code[at] ?? ',';
    if ('([{'.includes(each)) depth += 1;
    else if (')]}'.includes(each)) depth -= 1;
    if (depth > 0 || each !== ',') continue;
    parts.push(code.slice(start, at).trim());
    start = at + 1;
  }
  return parts.filter((part) => part !== '');
}
