import { statSync } from 'node:fs';
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { domainFolderOf } from '../../engine/shell/domain/domainFolder.ts';
import type { Diagnostic } from '../../engine/shell/files/diagnostic.ts';

const listeners = new Set<(folder: string) => void>();

/** Calls back with the folder of a domain whose findings are new. */
export function onDidChangeFindings(hear: (folder: string) => void): vscode.Disposable {
  listeners.add(hear);
  return { dispose: () => listeners.delete(hear) };
}

const collection = { of: undefined as vscode.DiagnosticCollection | undefined };
const shown = new WeakMap<vscode.Diagnostic, Diagnostic>();
/** The findings of each domain while the user types, and in `checked` those of a check or an audit. */
const read = new Map<string, readonly Diagnostic[]>();
const checked = new Map<string, { readonly found: readonly Diagnostic[]; readonly since: number }>();

/** The findings of all domains in the Problems view, each once, no matter who found it. */
export function openFindings(): vscode.Disposable {
  const opened = vscode.languages.createDiagnosticCollection('rehearsal');
  collection.of = opened;
  return vscode.Disposable.from(opened, { dispose: () => (collection.of = undefined) });
}

/** Shows what reading the files of a domain found. */
export function showRead(folder: string, found: readonly Diagnostic[]): void {
  read.set(folder, found);
  publish(folder);
}

/**
 * Shows what a check or an audit found: until the next change of the domain, which may change it.
 * @param since when it read the files, in milliseconds
 */
export function showChecked(folder: string, found: readonly Diagnostic[], since = Date.now()): void {
  checked.set(folder, { found, since });
  publish(folder);
}

/** The time that the status bar says that findings were cleared, in milliseconds. */
const noticeMs = 15_000;

/** Forgets what a check or an audit found, and says that it can be run again. */
export function forgetChecked(folder: string): void {
  const known = checked.get(folder);
  if (!known) return;
  checked.delete(folder);
  publish(folder);
  if (known.found.length > 0)
    vscode.window.setStatusBarMessage(`Findings of the last check cleared: ${basename(folder)} has changed.`, noticeMs);
}

/** Forgets what was found in the domain of a file that has changed on the disk since it was read for that. */
export function forgetOutdated(file: string): void {
  const folder = domainFolderOf(file);
  const known = folder === undefined ? undefined : checked.get(folder);
  if (folder === undefined || !known) return;
  const { mtimeMs = Number.POSITIVE_INFINITY } = statSync(file, { throwIfNoEntry: false }) ?? {};
  if (mtimeMs > known.since) forgetChecked(folder);
}

/** Forgets a domain that was removed, and its findings. */
export function forgetFindings(folder: string): void {
  read.delete(folder);
  checked.delete(folder);
  publish(folder);
}

/** The finding that Problems shows as this. */
export function findingOf(diagnostic: vscode.Diagnostic, uri: vscode.Uri): Diagnostic | undefined {
  const known = shown.get(diagnostic);
  if (known) return known;
  const folder = domainFolderOf(uri.fsPath);
  if (folder === undefined) return undefined;
  const { range, code } = diagnostic;
  return findingsOf(folder).find(
    (each) =>
      each.file === uri.fsPath &&
      each.code === code &&
      each.line === range.start.line + 1 &&
      each.column === range.start.character + 1,
  );
}

/** Everything that is found in a domain at the moment. */
export function findingsOf(folder: string): readonly Diagnostic[] {
  const all = [...(read.get(folder) ?? []), ...(checked.get(folder)?.found ?? [])];
  return [
    ...new Map(
      all.map((each) => [[each.file, each.line, each.column, each.code, each.message].join('\n'), each]),
    ).values(),
  ];
}

function publish(folder: string): void {
  for (const hear of listeners) hear(folder);
  const { of: opened } = collection;
  if (!opened) return;
  const byFile = Map.groupBy(findingsOf(folder), ({ file }) => file);
  const entries: [vscode.Uri, vscode.Diagnostic[] | undefined][] = [];
  opened.forEach((uri) => {
    if (!byFile.has(uri.fsPath) && domainFolderOf(uri.fsPath) === folder) entries.push([uri, undefined]);
  });
  for (const [file, found] of byFile) entries.push([vscode.Uri.file(file), found.map(shownDiagnostic)]);
  opened.set(entries);
}

const severities = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  info: vscode.DiagnosticSeverity.Information,
} as const;

function shownDiagnostic(found: Diagnostic): vscode.Diagnostic {
  const { line, column, endLine, endColumn, message, hint, severity, code } = found;
  const range = new vscode.Range(line - 1, column - 1, (endLine ?? line) - 1, (endColumn ?? column + 1) - 1);
  const diagnostic = new vscode.Diagnostic(range, hint ? `${message} ${hint}` : message, severities[severity]);
  diagnostic.source = 'Rehearsal';
  diagnostic.code = code;
  shown.set(diagnostic, found);
  return diagnostic;
}
