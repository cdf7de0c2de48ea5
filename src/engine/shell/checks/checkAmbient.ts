import type { Parts } from '../load/loadedDomain.ts';
import type { Note } from '../source/note.ts';
import { blanked } from '../source/scan.ts';
import { locate, type Source } from '../source/source.ts';

type Ambient = { readonly pattern: RegExp; readonly instead: string };

const inTypeScript: readonly Ambient[] = [
  { pattern: /\bDate\.now\s*\(\s*\)|\bnew\s+Date\s*\(\s*\)|\bperformance\.now\s*\(/g, instead: 'now' },
  {
    pattern: /\bMath\.random\s*\(|\bcrypto\.getRandomValues\s*\(/g,
    instead: "random.integer(10), or id('A') for an id,",
  },
  { pattern: /\b(?:crypto\.)?randomUUID\s*\(/g, instead: "id('A')" },
];
const inPython: readonly Ambient[] = [
  { pattern: /\b(?:datetime|date)\.(?:now|utcnow|today)\s*\(|\btime\.time(?:_ns)?\s*\(/g, instead: 'now' },
  {
    pattern: /(?<![\w.])(?:random\.(?:random|randint|choice|shuffle|sample|uniform|randrange)|secrets\.\w+)\s*\(/g,
    instead: "random, or id('A') for an id,",
  },
  { pattern: /\buuid\.uuid[14]\s*\(/g, instead: "id('A')" },
];

/** Tools that read the machine's clock or random numbers answer differently in every rollout, and none can be replayed. */
export function checkAmbient({ scan }: Parts, note: Note): void {
  for (const source of scan.sources) {
    const isPython = /\.py$/.test(source.file);
    if (!isPython && !/\.ts$/.test(source.file)) continue;
    const text = isPython ? withoutComments(source.text) : blanked(source.text);
    search(source, text, isPython ? inPython : inTypeScript, note);
    checkIds(source, text, note);
  }
}

/** The digits of an id begin where those of its prefix end. */
const endsInDigit = /(?<![\w$])id\s*\(\s*(['"`])(?:(?!\1)[^\\\n])*\d\1\s*\)/g;

function checkIds(source: Source, text: string, note: Note): void {
  for (const match of text.matchAll(endsInDigit))
    note(
      locate(source, match.index, match[0].length),
      'error',
      'tool/id-prefix',
      `The prefix of ${match[0]} ends with a digit, so ids that it makes are not recognized when databases are compared.`,
      'End the prefix with another character, such as a hyphen.',
    );
}

function search(source: Source, text: string, ambient: readonly Ambient[], note: Note): void {
  for (const { pattern, instead } of ambient) {
    for (const match of text.matchAll(pattern)) {
      const used = match[0].replace(/\s*\(.*$/s, '');
      note(
        locate(source, match.index, used.length),
        'warning',
        'tool/ambient',
        `${used} is different in every rollout, so nothing that depends on it can be replayed or compared.`,
        `Use ${instead} of the context that the tool is called with.`,
      );
    }
  }
}

const withoutComments = (text: string) => text.replace(/#[^\n]*/g, (comment) => ' '.repeat(comment.length));
