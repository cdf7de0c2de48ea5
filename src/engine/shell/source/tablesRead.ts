import type { Location } from '../files/diagnostic.ts';
import { codeOf } from './codeWords.ts';
import type { Scan } from './scan.ts';
import { locate, remembered } from './source.ts';

const reading = /(?<![\w$])(?:db|userDb|user_db)(?:\.([A-Za-z_$][\w$]*)|\[\s*(["'])([\w-]+)\2\s*\])(?![\w$])/g;
const destructured = /\{([^{}]*)\}\s*=\s*(?:[\w$]+\.)?(?:db|userDb)\b(?!\s*[.[?(])/g;
/** The code after a table that may be missing, that is created here, or that is a method. */
const tolerant = /^\s*(?:\(|\?|&&|\|\||or\b|=(?!=))/;
const asked = { before: /(?:\bif\s*\(|!|&&|\|\||\b(?:if|not|and|or))$/, after: /^\s*(?:\)|:|and\b|else\b)/ };
/** Texts, except keys in brackets. A template can read tables. */
const texts = /"""[\s\S]*?"""|'''[\s\S]*?'''|(?<!\[\s*)(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')/g;

/**
 * Returns where the code of the tools first reads each table, by its name. Tables that the code creates, or that it
 * expects to be missing, are left out.
 */
export function tablesRead(scan: Scan): ReadonlyMap<string, Location> {
  return remembered(known, scan, () => tablesIn(scan)).read;
}

/** Whether the code of the tools reads or creates a table, or declares it as optional. */
export function usesTable(scan: Scan, name: string): boolean {
  const { read, optional } = remembered(known, scan, () => tablesIn(scan));
  return read.has(name) || optional.has(name) || isOptional(scan, name);
}

type Tables = { readonly read: ReadonlyMap<string, Location>; readonly optional: ReadonlySet<string> };
const known = new WeakMap<Scan, Tables>();

function tablesIn(scan: Scan): Tables {
  const found = new Map<string, Location>();
  const optional = new Set<string>();
  for (const source of scan.sources) {
    const bare = source.file.endsWith('.py') ? source.text.replace(/#.*$/gm, blank) : codeOf(source);
    const code = bare.replace(texts, blank);
    for (const [, names = ''] of code.matchAll(destructured))
      for (const [name] of names.matchAll(/(?<=^\s*|,\s*)[A-Za-z_$][\w$]*/g)) optional.add(name);
    for (const { 0: whole, 1: member, 3: key, index } of code.matchAll(reading)) {
      const name = member ?? key ?? '';
      const end = index + whole.length;
      const [before, after] = [code.slice(Math.max(0, index - 10), index).trimEnd(), code.slice(end, end + 10)];
      if (tolerant.test(after) || (asked.before.test(before) && asked.after.test(after))) optional.add(name);
      else if (!found.has(name)) found.set(name, locate(source, index + whole.lastIndexOf(name), name.length));
    }
  }
  const read = new Map([...found].filter(([name]) => !optional.has(name) && !isOptional(scan, name)));
  return { read, optional };
}

const blank = (text: string) => text.replace(/[^\n]/g, ' ');

/** Whether the code of the tools declares a member as optional, or asks whether an object has it. */
export function isOptional({ sources }: Scan, name: string): boolean {
  const word = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const key = `["']${word}["']`;
  const asks = `${key}\\s+(?:not\\s+)?in\\b|\\.(?:get|setdefault|pop)\\(\\s*${key}|\\bhasOwn\\([^()\\n]*,\\s*${key}`;
  const pattern = new RegExp(`(?<![\\w$])${word}["']?\\s*\\?\\s*:|${asks}`);
  return sources.some(({ text }) => pattern.test(text));
}
