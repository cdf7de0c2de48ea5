import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';

/** The copy of the sample domain that the host has open as its workspace. */
export function orderDesk(): string {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (!folder) throw new Error('no folder is open');
  return folder;
}

export type DomainCopy = { readonly folder: string; readonly remove: () => void };

const extensionPath = () => vscode.extensions.getExtension('rehearsal.rehearsal')?.extensionPath ?? '';

/** Runs a command of the command line as a terminal does; rejects when it fails. */
export async function rehearse(...args: readonly string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [join(extensionPath(), 'dist', 'rehearsal.mjs'), ...args], {
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
  });
}

/** A copy of a sample domain outside the workspace, so that a test may break it. */
export function copyOf(name: string): DomainCopy {
  const parent = mkdtempSync(join(tmpdir(), 'rehearsal-host-'));
  const folder = join(parent, name);
  const isKept = (path: string) => !path.includes('.rehearsal');
  cpSync(join(extensionPath(), 'domains', name), folder, { recursive: true, filter: isKept });
  return { folder, remove: () => rmSync(parent, { recursive: true, force: true, maxRetries: 5 }) };
}

/** A copy of the sample domain that the host has open. */
export const copyOfDesk = () => copyOf('order-desk');

/** Shows a file and puts the cursor on a line (from 1). */
export async function show(path: string, line = 1): Promise<vscode.TextEditor> {
  const document = await vscode.workspace.openTextDocument(path);
  const at = new vscode.Range(line - 1, 0, line - 1, 0);
  return vscode.window.showTextDocument(document, { selection: at, preview: false });
}

/** Returns the line (from 1) of a file that contains some words, or 0. */
export function lineOf(path: string, words: string): number {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.findIndex((line) => line.includes(words)) + 1;
}

/** Returns the position in a file, `into` characters after the start of some words. */
export async function positionOf(path: string, words: string, into = 1): Promise<[vscode.Uri, vscode.Position]> {
  const document = await vscode.workspace.openTextDocument(path);
  const offset = document.getText().indexOf(words);
  assert.ok(offset >= 0, `${path} does not say ${words}`);
  return [document.uri, document.positionAt(offset + into)];
}

/** Returns the text of the hovers at a position. */
export async function toldAt(uri: vscode.Uri, at: vscode.Position): Promise<string> {
  const hovers = await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', uri, at);
  const texts = hovers.flatMap(({ contents }) => contents);
  return texts.map((each) => (typeof each === 'string' ? each : each.value)).join('\n');
}

/** Checks or audits a domain, and returns the number of findings. */
export const check = (folder: string) =>
  vscode.commands.executeCommand<number>('rehearsal.domain.check', { type: 'domain', folder });
export const audit = (folder: string) =>
  vscode.commands.executeCommand<number>('rehearsal.domain.audit', { type: 'domain', folder });

/** The findings of Rehearsal in a file. */
export const found = (uri: vscode.Uri) =>
  vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'Rehearsal');

/** Everything that Problems shows of a folder. */
export const foundIn = (folder: string) =>
  vscode.languages
    .getDiagnostics()
    .filter(([uri]) => uri.fsPath.startsWith(folder))
    .flatMap(([uri, all]) => all.map(({ message }) => `${relative(folder, uri.fsPath)}: ${message}`));

/** Applies an edit and saves its files, also those that no editor shows. */
export async function applyAndSave(edit: vscode.WorkspaceEdit): Promise<void> {
  if (!(await vscode.workspace.applyEdit(edit))) throw new Error('the edit was not made');
  for (const [uri] of edit.entries()) {
    const document = await vscode.workspace.openTextDocument(uri);
    // By default the editor itself saves the files that a refactoring changed, and nothing else is saved meanwhile.
    await eventually(async () => {
      if (document.isDirty && !(await document.save()) && document.isDirty)
        throw new Error(`${uri.fsPath} was not saved`);
    });
  }
}

/**
 * Repeats an attempt until it holds; after the limit its own error is the failure. The limit only ends a test whose
 * state never comes, so it is long enough for a busy machine.
 */
export async function eventually(attempt: () => void | Promise<void>, timeoutMs = 60_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((later) => setTimeout(later, 50));
    }
  }
}

/** Resolves with the next event that meets a condition. Listens from the call on. */
export function next<T>(event: vscode.Event<T>, isMet: (given: T) => boolean = () => true): Promise<T> {
  return new Promise((resolve) => {
    const listener = event((given) => {
      if (!isMet(given)) return;
      listener.dispose();
      resolve(given);
    });
  });
}
