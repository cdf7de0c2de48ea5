import { codeOf, wordsOfText } from './codeWords.ts';
import type { Scan } from './scan.ts';
import { remembered, type Source } from './source.ts';

/*
 * Reads the fields of a tool's result from its code, while somebody types. A parser would need the code to be complete.
 * Limits: a declaration begins at the start of a line and ends before the next one. Brackets in a regular expression, and
 * declarations at the start of a line within a template, make the fields unknown. Types are not followed.
 */

const declaration =
  /^(?:export\s+)?(?:async\s+)?(?:function\*?|const|let|var|class|type|interface|enum|def)\s+(?:([A-Za-z_$][\w$]*)|\{([^}]*)\})|^([A-Za-z_]\w*)\s*(?::[^=\n]*)?=/gm;
/** Code that makes keys which are not in its text. */
const madeKeys =
  /\bJSON\.parse|\bjson\.loads|\bfetch\(|\bfromEntries|\bdict\(\w+=|\]\s*:|\bfor\b[^{}\n]*\}|\bdb\s*\[\s*[^"'`\s]/;

const declarations = new WeakMap<Source, ReadonlyMap<string, string>>();

/** Returns the declarations of a file that begin a line, by their names, each up to the next one. */
function declarationsIn(source: Source): ReadonlyMap<string, string> {
  return remembered(declarations, source, () => {
    const text = codeOf(source);
    const found = [...text.matchAll(declaration)];
    return new Map(
      found.flatMap(({ 1: name, 2: names, 3: assigned, index }, at) => {
        const own = text.slice(index, found[at + 1]?.index);
        const all = name ?? assigned ?? (own.includes('defineTools') ? '' : names) ?? '';
        return [...all.matchAll(/[A-Za-z_$][\w$]*/g)].map(([each]) => [each, own] as const);
      }),
    );
  });
}

/**
 * Returns the names that a tool can use as keys of its result: those of its declaration, and of the declarations that
 * it uses. Returns null where the text does not show them all.
 */
export function keysInReach({ sources }: Scan, name: string): ReadonlySet<string> | null {
  if (sources.some(({ text }) => /^export default\b|\bimport\b[^;'"]*\bas\s+(?!z\b)/m.test(text))) return null;
  const known = sources.map(declarationsIn);
  const reached = new Map<string, string>();
  const queue = [name];
  for (let each = queue.pop(); each !== undefined; each = queue.pop()) {
    const text = known.flatMap((declared) => declared.get(each as string) ?? []).join('\n');
    if (reached.has(each) || text === '') continue;
    reached.set(each, text);
    queue.push(...(text.match(/[A-Za-z_$][\w$]*/g) ?? []));
  }
  const code = [...reached.values()].join('\n');
  return reached.has(name) && !madeKeys.test(code) ? wordsOfText(code).keys : null;
}

/**
 * Returns the names of the fields that a tool in TypeScript returns, where its declaration shows them all: every `return`
 * is an object literal without a spread, or a text. Null where it does not.
 */
export function returnedKeys({ tools, sources }: Scan, name: string): ReadonlySet<string> | null {
  const file = tools.get(name)?.file;
  const source = sources.find((each) => each.file === file);
  if (source === undefined || !source.file.endsWith('.ts')) return null;
  const known = remembered(returned, source, () => new Map<string, ReadonlySet<string> | null>());
  const keys = known.has(name) ? (known.get(name) ?? null) : keysIn(declarationsIn(source).get(name) ?? '');
  known.set(name, keys);
  return keys;
}

const returned = new WeakMap<Source, Map<string, ReadonlySet<string> | null>>();

function keysIn(declared: string): ReadonlySet<string> | null {
  const text = withoutTexts(declared);
  // The brackets of a regular expression need not be in pairs.
  if (/\/[^/\n]*[()[\]{}][^/\n]*\//.test(text)) return null;
  const end = closing(text, text.indexOf('('));
  const body = end === null ? null : bodyOf(text.slice(0, end));
  if (body === null) return null;
  const values = body.startsWith('{')
    ? [...body.matchAll(/\breturn\b[ \t]*/g)].map(({ 0: word, index }) => body.slice(index + word.length))
    : [inner(body)];
  const keys = values.map(keysOf);
  if (values.length === 0 || !keys.every((each) => each !== null)) return null;
  return new Set(keys.flat());
}

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
