import { statSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Failure } from '../../core/events/event.ts';
import { fileLimits, readBoundedText } from '../files/boundedFile.ts';
import { messageOf } from '../files/fault.ts';

/** Code of a domain that can't be loaded, with its place. */
export class DomainCodeError extends Error {
  readonly failure: Failure;

  constructor(message: string, file: string, line?: number) {
    super(message);
    this.name = 'DomainCodeError';
    this.failure = { who: 'environment', code: 'tool/code', message, file, ...(line === undefined ? {} : { line }) };
  }
}

export type DomainModules = {
  readonly folder: string;
  /** URLs of the copies that the product ships: `zod` and `rehearsal`. */
  readonly shipped: Readonly<Record<string, string>>;
  /** The stripper to use; by default the runtime's own, else the bundled one. */
  readonly strip?: Strip;
};

/** Takes the types out of TypeScript, keeping every line (and with the runtime's stripper every column). */
export type Strip = (source: string, file: string) => string;

/**
 * Lets the runtime import a domain's files: TypeScript with its types stripped, `zod` and `rehearsal` from the shipped
 * copies, no node_modules and no build. Throws a `DomainCodeError` for what can't be imported.
 */
export async function installDomainModules({ folder, shipped, strip }: DomainModules): Promise<void> {
  if (typeof nodeModule.registerHooks !== 'function') {
    throw new DomainCodeError(`a domain's TypeScript needs Node 22.15 or newer, this is ${process.version}`, folder);
  }
  const stripped = strip ?? (await availableStrip());
  hideInspector();
  const inDomain = (url: string) => url.startsWith('file:') && fileURLToPath(url).startsWith(folder + sep);
  nodeModule.registerHooks({
    resolve(specifier, context, next) {
      const { parentURL } = context;
      const url = shipped[specifier];
      if (url !== undefined) return { url, format: 'module', shortCircuit: true };
      if (specifier.startsWith('file:') && inDomain(specifier)) return { url: specifier, shortCircuit: true };
      if (parentURL === undefined || !inDomain(parentURL)) return next(specifier, context);
      if (specifier.startsWith('.'))
        return { url: neighbour(folder, specifier, fileURLToPath(parentURL)), shortCircuit: true };
      const isInspector = /^(?:node:)?inspector\b/.test(specifier);
      if (nodeModule.isBuiltin(specifier) && !isInspector) return next(specifier, context);
      const advice = isInspector
        ? 'The inspector would bypass the permissions of the code.'
        : 'A domain has no node_modules; it can import zod, rehearsal and files of its own folder.';
      throw new DomainCodeError(
        `${at(folder, fileURLToPath(parentURL), lineOfImport(parentURL, specifier))}: can't import "${specifier}". ${advice}`,
        fileURLToPath(parentURL),
        lineOfImport(parentURL, specifier),
      );
    },
    load(url, context, next) {
      if (!inDomain(url) || !/\.[mc]?[jt]s$/.test(url)) return next(url, context);
      const file = fileURLToPath(url);
      const source = readBoundedText(file, fileLimits.text);
      return {
        format: 'module',
        source: isTypeScript(url) ? stripOrExplain(stripped, folder, source, file) : source,
        shortCircuit: true,
      };
    },
  });
}

/** A debugged worker may open its inspector; the domain's code may not, by this way either. */
function hideInspector(): void {
  const known = process.getBuiltinModule?.bind(process);
  if (known)
    process.getBuiltinModule = ((id: string) => (/inspector/.test(id) ? undefined : known(id))) as typeof known;
}

/** The file that a relative import means; `./a` and `./a.js` may mean `./a.ts`. */
function neighbour(folder: string, specifier: string, parent: string): string {
  const exact = fileURLToPath(new URL(specifier, pathToFileURL(parent)));
  const candidates = [exact, exact.replace(/\.js$/, '.ts'), `${exact}.ts`, `${exact}.js`];
  const found = candidates.find(isFile);
  if (found?.startsWith(folder + sep)) return pathToFileURL(found).href;
  const line = lineOfImport(pathToFileURL(parent).href, specifier);
  const problem = exact.startsWith(folder + sep) ? 'there is no such file' : "it is outside of the domain's folder";
  throw new DomainCodeError(`${at(folder, parent, line)}: can't import "${specifier}": ${problem}`, parent, line);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function lineOfImport(url: string, specifier: string): number | undefined {
  const lines = readBoundedText(fileURLToPath(url), fileLimits.text).split('\n');
  const index = lines.findIndex((line) => line.includes(`'${specifier}'`) || line.includes(`"${specifier}"`));
  return index < 0 ? undefined : index + 1;
}

function at(folder: string, file: string, line?: number, column?: number): string {
  return [relative(folder, file), line, column].filter((part) => part !== undefined).join(':');
}

/** Returns the failures of the TypeScript files that are not valid, found without running them. */
export async function syntaxFailures(
  folder: string,
  sources: readonly { readonly file: string; readonly text: string }[],
): Promise<readonly Failure[]> {
  const strip = await withoutWarning(availableStrip);
  return sources.flatMap(({ file, text }) => {
    if (!isTypeScript(file)) return [];
    try {
      stripOrExplain(strip, folder, text, file);
      return [];
    } catch (error) {
      if (error instanceof DomainCodeError) return [error.failure];
      throw error;
    }
  });
}

/** The runtime warns once that its stripper is experimental. A worker is started without such warnings. */
async function withoutWarning(available: () => Promise<Strip>): Promise<Strip> {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    const strip = await available();
    strip('', 'empty.ts');
    return strip;
  } finally {
    process.emitWarning = emitWarning;
  }
}

const isTypeScript = (path: string): boolean => /\.[mc]?ts$/.test(path);

/** The runtime's stripper where it has one, else the bundled one. */
async function availableStrip(): Promise<Strip> {
  const native = nodeModule.stripTypeScriptTypes;
  if (typeof native === 'function') return (source) => native(source, { mode: 'strip' });
  return bundledStrip();
}

/** The runtime's stripper takes longer to get ready than to strip, so a worker that waits makes it ready. */
export function warmStripper(): void {
  nodeModule.stripTypeScriptTypes?.('');
}

/** Strips with sucrase: lines stay, columns may move. */
export async function bundledStrip(): Promise<Strip> {
  const { transform } = await import('sucrase');
  return (source, file) => {
    const refused = refusedSyntax(source);
    if (refused) throw refused;
    return transform(source, {
      transforms: ['typescript'],
      disableESTransforms: true,
      filePath: file,
      keepUnusedImports: false,
    }).code;
  };
}

/** Sucrase would compile what is not erasable; this finds it at the start of a line, in the words of the runtime. */
function refusedSyntax(source: string): Error | null {
  const kinds = {
    enum: /^[ \t]*(?:export\s+)?(?:const\s+)?enum\s+[\w$]+\s*\{/m,
    'namespace declaration': /^[ \t]*(?:export\s+)?namespace\s+[\w$.]+\s*\{/m,
  };
  for (const [kind, pattern] of Object.entries(kinds)) {
    const match = pattern.exec(source);
    if (!match) continue;
    const start = match.index + match[0].search(/\S/);
    const line = source.slice(0, start).split('\n').length;
    const column = start - source.lastIndexOf('\n', start - 1);
    return Object.assign(
      new SyntaxError(`TypeScript ${kind} is not supported in strip-only mode (${line}:${column})`),
      { line, column },
    );
  }
  return null;
}

function stripOrExplain(strip: Strip, folder: string, source: string, file: string): string {
  try {
    return strip(source, file);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { line, column } = (isAtEnd(error) ? null : positionIn(error)) ?? endOf(source);
    const arrow = missingArrow(source, line);
    if (arrow && /^\W*Unexpected token/m.test(error.message))
      throw new DomainCodeError(
        `${at(folder, file, line - 1, arrow)}: Unexpected \`=\`. Write \`=> {\` before the body of a function`,
        file,
        line - 1,
      );
    const rest = isAtEnd(error) ? '' : (source.split('\n')[line - 1]?.slice(column - 1) ?? '');
    throw new DomainCodeError(`${at(folder, file, line, column)}: ${explained(error, rest)}`, file, line);
  }
}

/** Whether the file ended too early, which has no position. Elsewhere, the end can be one of the things expected. */
const isAtEnd = ({ message }: Error): boolean => /(?:got '|token `)<eof>/.test(message);

/** Returns the column of `=` in `) = {` at the end of the line above, which a parser reads as a default value. */
function missingArrow(source: string, line: number): number | null {
  const found = /\)\s*=\s*\{\s*$/.exec(source.split('\n')[line - 2] ?? '');
  return found ? found.index + found[0].indexOf('=') + 1 : null;
}

/** The last line that has something in it. */
function endOf(source: string): { readonly line: number; readonly column: number } {
  const lines = source.trimEnd().split('\n');
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}

const replacements: Readonly<Record<string, string>> = {
  enum: 'Use a union of string literals, or an object with `as const`',
  'parameter property': 'Declare the field and assign it in the constructor',
  'namespace declaration': 'Use a separate file',
  'import equals declaration': 'Use an import of the form `import * as name from`',
  'export assignment': 'Use `export`',
};

/** @param rest the line from the place of the error on */
function explained(error: Error, rest: string): string {
  const text =
    error.message
      .split('\n')
      .map((line) => line.trim().replace(/^x /, ''))
      .find((line) => line !== '') ?? 'is not valid TypeScript';
  const kind = /^TypeScript (.+?) is not supported in strip-only mode/.exec(text)?.[1];
  // The parser lists every token that could follow.
  const [word] = /^(?:[A-Za-z_$][\w$]*|\S)/.exec(rest) ?? [];
  if (word !== undefined && /^Unexpected token\b.*\. Expected /.test(text)) return `Unexpected \`${word}\``;
  if (kind === undefined)
    return text.replaceAll(/(['`]?)<eof>\1/g, 'the end of the file').replaceAll("'ident'", 'a name');
  const article = /^[aeiou]/.test(kind) ? 'an' : 'a';
  const advice = replacements[kind] ?? 'Use syntax that is still valid without its types';
  return `${article} ${kind} is not erasable: a domain's TypeScript runs with its types stripped and nothing else changed. ${advice}.`;
}

/**
 * Returns where the stripper stopped. Newer runtimes put `file:LINE`, the source line and a line of carets into the
 * stack; older ones draw a frame with numbered lines and a line of carets into the message; sucrase says
 * `(LINE:COLUMN)`. Null if none of them did.
 */
function positionIn(error: Error): { readonly line: number; readonly column: number } | null {
  const known = error as {
    readonly line?: number;
    readonly column?: number;
    readonly loc?: { readonly line: number; readonly column: number };
  };
  if (known.line !== undefined && known.column !== undefined) return { line: known.line, column: known.column };
  if (known.loc) return known.loc;
  const framed = /^ *(\d+) \| .*\n *: ( *)\^/m.exec(error.message);
  if (framed) return { line: Number(framed[1]), column: (framed[2] ?? '').length + 1 };
  const drawn = /^\S*:(\d+)\n[\s\S]*?\n( *)\^+\n/.exec(error.stack ?? '');
  return drawn ? { line: Number(drawn[1]), column: (drawn[2] ?? '').length + 1 } : null;
}

/** The innermost place in the domain's own files that an error came from. */
export function errorLocation(
  error: unknown,
  folder: string,
): { readonly file: string; readonly line: number; readonly column: number } | null {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return null;
  for (const [, url, line, column] of error.stack.matchAll(/(file:\/\/[^\s)]+?):(\d+)(?::(\d+))?(?=[\s)]|$)/g)) {
    const file = fileURLToPath(url as string);
    if (file.startsWith(folder + sep)) return { file, line: Number(line), column: Number(column ?? 1) };
  }
  return null;
}

/** Imports the domain's tools. Any problem is a `DomainCodeError` in words for the domain's author. */
export async function importDomain(folder: string, file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof DomainCodeError) throw error;
    const isDenied = (error as { readonly code?: unknown }).code === 'ERR_ACCESS_DENIED';
    const message = isDenied ? deniedText : messageOf(error);
    const place = errorLocation(error, folder) ?? redeclaredAt(message, file);
    const where = place ? at(folder, place.file, place.line, place.column) : relative(folder, file);
    throw new DomainCodeError(`${where}: ${message}`, place?.file ?? file, place?.line);
  }
}

/** Returns where a name is declared again; the runtime says only that one is. */
function redeclaredAt(message: string, file: string): ReturnType<typeof errorLocation> {
  const [, name] = /^Identifier '([\w$]+)' has already been declared$/.exec(message) ?? [];
  if (name === undefined || !isFile(file)) return null;
  const declaration = new RegExp(
    `^[ \\t]*(?:export\\s+)?(?:const|let|var|class|(?:async\\s+)?function\\*?)\\s+(${name.replaceAll('$', '\\$')})(?![\\w$])`,
    'gm',
  );
  const text = readBoundedText(file, fileLimits.text);
  const [, again] = text.matchAll(declaration);
  if (again === undefined) return null;
  const start = again.index + again[0].length - name.length;
  const before = text.slice(0, start).split('\n');
  return { file, line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

/** Describes what a domain's code may not do, for messages. */
export const deniedText =
  "access denied: a domain's code can only read its own folder: it cannot read other files, write files or start processes";
