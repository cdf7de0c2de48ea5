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

const codeOf = ({ file, text }: Source) => (file.endsWith('.py') ? text : blanked(text));

function wordsOfText(text: string): CodeWords {
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
