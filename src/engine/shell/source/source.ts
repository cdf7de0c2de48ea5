import { statSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { fileLimits, RefusedFile, readBounded } from '../files/boundedFile.ts';
import { type Diagnostic, type Location, pathFrom, startOf } from '../files/diagnostic.ts';
import { messageOf } from '../files/fault.ts';

/** Text of a file as every reader gets it: without byte order mark, with `\n` at line ends. */
export type Source = { readonly file: string; readonly text: string };

/** The kinds of files of a domain; the first half of every code. */
export type FileKind =
  | 'domain'
  | 'policy'
  | 'rule'
  | 'phrase'
  | 'persona'
  | 'task'
  | 'database'
  | 'tool'
  | 'agent'
  | 'training'
  | 'experiment';

/** Texts that replace files, by absolute path: the unsaved documents of an editor. */
export type Overlay = ReadonlyMap<string, string>;

export type Read = { readonly source: Source } | { readonly problem: Diagnostic; readonly missing: boolean };

type Entry<T> = { readonly stamp: string; readonly value: T };

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
const texts = new Map<string, Entry<Source>>();
/** The unsaved texts that were asked for last; their stamp is the text itself. */
const overlaid = new Map<string, Entry<Source>>();

/**
 * Reads one text file. Whatever is wrong with it is one finding, placed at `askedBy` (where the file is named) or at
 * the file itself. A file is read again only when its time or size changed.
 * @param within the folder that the file must be in when all links are followed
 */
export function readSource(file: string, kind: FileKind, overlay?: Overlay, askedBy?: Location, within?: string): Read {
  const unsaved = overlay?.get(file);
  if (unsaved !== undefined) return { source: unsavedSource(file, unsaved) };
  const at = askedBy ?? startOf(file);
  let stamp: string;
  try {
    stamp = stampOf(file);
  } catch (error) {
    return { missing: false, problem: unreadable(at, kind, file, error) };
  }
  if (stamp === 'missing') {
    const message = `The file ${pathFrom(at, file)} does not exist.`;
    return {
      missing: true,
      problem: { ...at, code: `${kind}/file-missing`, severity: 'error', message, hint: hints[kind] },
    };
  }
  if (stamp === 'folder') {
    const message = `${pathFrom(at, file)} is a folder, but a file is expected here.`;
    return {
      missing: false,
      problem: { ...at, code: `${kind}/not-a-file`, severity: 'error', message, hint: 'Name a file.' },
    };
  }
  const known = texts.get(file);
  if (known?.stamp === stamp) return { source: known.value };
  try {
    const source = {
      file,
      text: cleaned(
        decoder.decode(readBounded(file, { limit: limitOf(kind), ...(within === undefined ? {} : { within }) })),
      ),
    };
    texts.set(file, { stamp, value: source });
    return { source };
  } catch (error) {
    return { missing: false, problem: unreadable(at, kind, file, error) };
  }
}

/** The same text is the same source, so that what was computed from it is not computed again. */
function unsavedSource(file: string, text: string): Source {
  const known = overlaid.get(file);
  if (known?.stamp === text) return known.value;
  const value = { file, text: cleaned(text) };
  overlaid.set(file, { stamp: text, value });
  return value;
}

/** The place of a part of a text that is on one line. */
export function locate({ file, text }: Source, offset: number, length: number): Location {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  const column = offset - before.lastIndexOf('\n');
  return { file, line, column, endLine: line, endColumn: column + length };
}

/** Returns what was computed from this very value last time, or computes it now. */
export function remembered<K extends object, T>(store: WeakMap<K, T>, of: K, compute: () => T): T {
  const known = store.get(of);
  if (known !== undefined) return known;
  const value = compute();
  store.set(of, value);
  return value;
}

/** The absolute path of a file that the domain names, or null when it lies outside its folder. */
export function inside(folder: string, path: string): string | null {
  const file = resolve(folder, path);
  const way = relative(folder, file);
  return way === '..' || way.startsWith(`..${sep}`) || resolve(way) === way ? null : file;
}

const hints: Readonly<Record<FileKind, string>> = {
  domain: 'A domain is a folder with a domain.yaml: create one, or choose the folder that has it.',
  policy: 'Create it, or name another file with `policy:` in domain.yaml.',
  rule: 'Create it, or remove `rules:` from domain.yaml.',
  phrase: 'Create it, or remove `phrases:` from domain.yaml.',
  persona: 'Create it.',
  task: 'Create it.',
  database: 'Create it (`{}` is an empty database), or name another file in domain.yaml.',
  tool: 'Create it, or remove `tools:` from domain.yaml.',
  agent: 'Create it.',
  training: 'Create it, or name another file.',
  experiment: 'Create it, or name another file.',
};

/** Returns what is there and can't be read: no permission, a link to itself, no text. */
export function unreadable(at: Location, kind: FileKind, file: string, error: unknown): Diagnostic {
  if (error instanceof RefusedFile) {
    const message = `${pathFrom(at, file)} ${error.message}.`;
    return { ...at, code: `${kind}/refused-file`, severity: 'error', message, hint: error.hint };
  }
  const isText = !(error instanceof TypeError);
  const reason = messageOf(error);
  const message = isText
    ? `${pathFrom(at, file)} cannot be read: ${reason}.`
    : `${pathFrom(at, file)} is not a text in UTF-8.`;
  const isLoop = (error as NodeJS.ErrnoException).code === 'ELOOP';
  const advice = isLoop ? 'It is a link that points to itself: replace it with the file that it should name.' : null;
  const hint = advice ?? (isText ? 'Check its permissions.' : 'Save it with the encoding UTF-8.');
  return { ...at, code: `${kind}/unreadable`, severity: 'error', message, hint };
}

const limitOf = (kind: FileKind) =>
  kind === 'database' || kind === 'task' || kind === 'persona' ? fileLimits.data : fileLimits.text;

function stampOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat) return 'missing';
  return stat.isDirectory() ? 'folder' : `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
}

function cleaned(text: string): string {
  const body = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  return body.includes('\r') ? body.replace(/\r\n?/g, '\n') : body;
}
