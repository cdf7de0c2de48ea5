import { basename, dirname, relative } from 'node:path';

export type Severity = 'error' | 'warning' | 'info';

/** A place in a file. Lines and columns count from 1; the end column is exclusive. */
export type Location = {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
};

/** A line of a file, from 1. */
export type FileLine = Pick<Location, 'file' | 'line'>;

/** A text that takes the place of what is at a location; an insertion where the location is empty. */
export type Edit = Location & { readonly text: string };

/** An unambiguous fix for a finding: its title as an offer, and the edits. */
export type Fix = { readonly title: string; readonly edits: readonly Edit[] };

/** One finding about a file of a domain: what was found and expected, and in `hint` what to do. */
export type Diagnostic = Location & {
  /** Stable, for example `task/unknown-tool`. */
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly hint?: string;
  /** The task or persona that it is about, where something can be done with that. */
  readonly about?: string;
  /** Absent where a person has to decide. */
  readonly fix?: Fix;
};

/** Returns a text in one line: a line feed in a name would begin a line that says something else, also to a CI. */
export const inOneLine = (text: string): string => text.replace(/[\r\n]+/g, ' ');

/** The whole finding in one line, for a terminal: `file:line:column severity code message`. */
export function formatDiagnostic(diagnostic: Diagnostic, base = ''): string {
  const { file, line, column, severity, code, message, hint } = diagnostic;
  const shown = base === '' ? file : relative(base, file) || file;
  return inOneLine(
    `${shown}:${line}:${column} ${severity} ${code} ${hint === undefined ? message : `${message} ${hint}`}`,
  );
}

/** The errors among findings. Those of a domain whose soundness was not looked for keep it from running. */
export function errorsOf(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.filter(({ severity }) => severity === 'error');
}

/** Describes why something of a domain does not run: every error, a line each, so the first line names its place. */
export function unfitness(diagnostics: readonly Diagnostic[]): string {
  return [...new Set(errorsOf(diagnostics).map((each) => formatDiagnostic(each)))].join('\n');
}

/** The errors that a dialog lists. */
const mostInDialog = 5;

/**
 * Describes why something of a domain does not run, for a dialog: a sentence for each error, and its place behind it.
 * @param base the folder that files are named from
 */
export function unfitnessInWords(diagnostics: readonly Diagnostic[], base: string): string {
  const lines = errorsOf(diagnostics).map(({ file, line, message, hint }) =>
    inOneLine(`${hint === undefined ? message : `${message} ${hint}`} (${relative(base, file)}, line ${line})`),
  );
  const errors = [...new Set(lines)];
  const more = errors.length - mostInDialog;
  return [...errors.slice(0, mostInDialog), ...(more > 0 ? [`${more} more: see the Problems view.`] : [])].join('\n');
}

/**
 * Stable order: by file, then by place, then by code. The same finding at one place is kept once: aliases read a part of
 * a file several times.
 */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const once = new Map(diagnostics.map((each) => [keyOf(each), each]));
  return [...once.values()].toSorted(
    (a, b) => inOrder(a.file, b.file) || a.line - b.line || a.column - b.column || inOrder(a.code, b.code),
  );
}

const keyOf = ({ file, line, column, code, message, hint }: Diagnostic) =>
  JSON.stringify([file, line, column, code, message, hint]);

/** The first character of a file, for findings about the file as a whole. */
export const startOf = (file: string): Location => ({ file, line: 1, column: 1, endLine: 1, endColumn: 1 });

/** Returns the finding about a file with nothing in it. */
export const emptyFile = (file: string, kind: string, hint: string): Diagnostic => ({
  ...startOf(file),
  code: `${kind}/empty`,
  severity: 'error',
  message: 'The file is empty.',
  hint,
});

/** Returns a file's path as the text at a place would name it: from the folder of that file. */
export const pathFrom = (at: Pick<Location, 'file'>, file: string): string =>
  relative(dirname(at.file), file) || basename(file);

/** The place alone, of something that says more of itself. */
export function placeAt({ file, line, column, endLine, endColumn }: Location): Location {
  return { file, line, column, endLine, endColumn };
}

const inOrder = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
