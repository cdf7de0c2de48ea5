import { blanked, type Scan } from './scan.ts';
import { remembered, type Source } from './source.ts';
import { memberOf } from './typeMember.ts';

/** The words that a domain's tool code can put into a database or a result, as far as its text shows. */
export type CodeWords = {
  /** Names that are used as keys, and the texts in quotes. */
  readonly keys: ReadonlySet<string>;
  readonly texts: ReadonlySet<string>;
};

const keyPatterns = [
  /(?:\.|\?\.)\s*([A-Za-z_$][\w$]*)/g,
  /([A-Za-z_$][\w$]*)\s*\??\s*:/g,
  /[{,]\s*([A-Za-z_$][\w$]*)\s*(?=[,}=])/g,
];
const textPattern = /(["'`])((?:\\.|(?!\1)[^\\\n])*)\1/g;

const read = new WeakMap<Source, CodeWords>();

function wordsIn(source: Source): CodeWords {
  return remembered(read, source, () => wordsOfText(codeOf(source)));
}

/** The code of a file without comments. */
export const codeOf = ({ file, text }: Source) => (file.endsWith('.py') ? text : blanked(text));

export function wordsOfText(text: string): CodeWords {
  const texts = new Set([...text.matchAll(textPattern)].map(([, , words = '']) => words));
  const named = keyPatterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name));
  return { keys: new Set([...named, ...texts]), texts };
}

/** Returns the names that the declaration of a tool uses as keys, from its name to the next tool. */
export function keysOfTool({ tools, sources }: Scan, name: string): ReadonlySet<string> {
  const at = tools.get(name);
  const source = sources.find(({ file }) => file === at?.file);
  if (at === undefined || source === undefined) return new Set();
  const following = [...tools.values()].filter(({ file, line }) => file === at.file && line > at.line);
  const end = following.length > 0 ? Math.min(...following.map(({ line }) => line)) - 1 : undefined;
  return wordsOfText(
    codeOf(source)
      .split('\n')
      .slice(at.line - 1, end)
      .join('\n'),
  ).keys;
}

/** The words of every file of code that the tools are in. */
export function codeWords({ sources }: Scan): CodeWords {
  const all = sources.map(wordsIn);
  return {
    keys: new Set(all.flatMap(({ keys }) => [...keys])),
    texts: new Set(all.flatMap(({ texts }) => [...texts])),
  };
}

/**
 * Whether code can write a field of a database: the types of the tools declare it, or, where they do not describe this
 * place, the code uses a key of this name somewhere.
 * @param keys names that the code uses as keys
 * @param place where the object is, with the side first and `*` for any row or element
 * @param siblings fields that the object is known to have
 */
export function canWrite(
  scan: Scan,
  keys: CodeWords['keys'],
  [side, ...steps]: readonly string[],
  name: string,
  siblings: Iterable<string>,
): boolean {
  const code = scan.sources.filter(({ file }) => file.endsWith('.ts')).map(({ text }) => text);
  const whole = code.join('\n');
  const declares = (field: string) => memberOf(whole, side === 'user' ? 'user' : 'agent', [...steps, field]) !== null;
  const isTyped = /\bdefineTools\s*</.test(whole) && [...siblings].some(declares);
  return isTyped ? declares(name) : keys.has(name);
}
