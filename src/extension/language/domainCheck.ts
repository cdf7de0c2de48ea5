import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import type { Diagnostic } from '../../engine/shell/diagnostic.ts';
import type { Context } from '../context.ts';
import { domainFolderOf, readDomain } from '../workspaceDomains.ts';
import { shownDiagnostic } from './diagnostics.ts';

/** What a check of a domain came to. */
export type DomainCheck = {
  readonly name: string;
  readonly tasks: number;
  readonly diagnostics: readonly Diagnostic[];
  /** Whether its tools were loaded; else only its files were read. */
  readonly isComplete: boolean;
};

/**
 * Checks a domain as `rehearsal check` does, its tools included, and shows in Problems what reading its files alone does
 * not find. In a workspace that nobody trusts its files are read, and nothing of it runs. Unsaved files are saved first.
 * @returns undefined when the person cancelled it
 * @throws Error with the words of the command line when there is no result
 */
export async function checkDomain(context: Context, folder: string): Promise<DomainCheck | undefined> {
  await saveFilesOf(folder);
  const read = await readDomain(folder);
  if (!vscode.workspace.isTrusted) {
    const { domain, diagnostics } = read;
    return { name: domain.name, tasks: domain.tasks.length, diagnostics, isComplete: false };
  }
  const title = `Rehearsal: checking ${read.domain.name}`;
  const location = vscode.ProgressLocation.Notification;
  return vscode.window.withProgress({ location, title, cancellable: true }, async (_progress, token) => {
    const abort = new AbortController();
    token.onCancellationRequested(() => abort.abort());
    const checked = await commandLineCheck(context, folder, abort.signal);
    if (!checked) return undefined;
    const known = new Set(read.diagnostics.map(placeOf));
    const found = checked.diagnostics.filter((each) => !known.has(placeOf(each)));
    show(context, folder, found);
    return { ...checked, isComplete: true };
  });
}

const placeOf = ({ file, line, column, code }: Diagnostic) => [file, line, column, code].join('\n');

async function saveFilesOf(folder: string): Promise<void> {
  const unsaved = vscode.workspace.textDocuments.filter(
    ({ isDirty, uri }) => isDirty && uri.scheme === 'file' && domainFolderOf(uri.fsPath) === folder,
  );
  await Promise.all(unsaved.map((document) => document.save()));
}

type Printed = Omit<DomainCheck, 'isComplete'> & { readonly error?: { readonly message: string } };

async function commandLineCheck(context: Context, folder: string, signal: AbortSignal): Promise<Printed | null> {
  const env = { ...process.env, ...(await context.environment()) };
  const options = { env, signal, maxBuffer: 64 * 1024 * 1024 };
  try {
    const args = [context.cli, 'check', folder, '--json'];
    return JSON.parse((await promisify(execFile)(process.execPath, args, options)).stdout) as Printed;
  } catch (error) {
    if (signal.aborted) return null;
    const { code, stdout = '', stderr = '' } = error as { code?: number; stdout?: string; stderr?: string };
    if (code === 1) return JSON.parse(stdout) as Printed;
    const said = stdout === '' ? undefined : (JSON.parse(stdout) as Printed).error?.message;
    throw new Error(said ?? (stderr.trim() || String(error)));
  }
}

let collection: vscode.DiagnosticCollection | undefined;

/** What stood in Problems goes away with the next edit of the domain: what its tools do may have changed with it. */
function show(context: Context, folder: string, found: readonly Diagnostic[]): void {
  collection ??= openCollection(context);
  clear(collection, folder);
  for (const [file, diagnostics] of Map.groupBy(found, (each) => each.file))
    collection.set(vscode.Uri.file(file), diagnostics.map(shownDiagnostic));
}

function openCollection({ extension }: Context): vscode.DiagnosticCollection {
  const opened = vscode.languages.createDiagnosticCollection('rehearsal.check');
  const watch = vscode.workspace.onDidChangeTextDocument(({ document: { uri } }) => {
    const folder = uri.scheme === 'file' ? domainFolderOf(uri.fsPath) : undefined;
    if (folder) clear(opened, folder);
  });
  extension.subscriptions.push(opened, watch);
  return opened;
}

function clear(from: vscode.DiagnosticCollection, folder: string): void {
  from.forEach((uri) => {
    if (domainFolderOf(uri.fsPath) === folder) from.delete(uri);
  });
}
