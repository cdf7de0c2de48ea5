import * as vscode from 'vscode';
import { messageOf } from '../../engine/shell/files/fault.ts';
import { debuggedSession } from './stoppedSession.ts';

/** The scheme of values that are in an editor tab. */
export const valueScheme = 'rehearsal-value';

/** The argument that VS Code passes to a command in the menu of a row of VARIABLES. */
type ChosenRow = {
  readonly container?: { readonly variablesReference?: number };
  readonly variable?: { readonly name: string };
};

/** The adapter's data about a value; the reference and the name are used to edit it. */
export type WholeText = {
  readonly name: string;
  readonly text: string;
  readonly language: 'markdown' | 'json' | 'plaintext';
  readonly isReadOnly: boolean;
  readonly variablesReference: number;
};

type OpenedFile = { readonly session: vscode.DebugSession; readonly whole: WholeText; text: string; mtime: number };

const endings = { markdown: 'md', json: 'json', plaintext: 'txt' } as const;

let files: ValueFiles | undefined;

/** Opens the whole value of a row of VARIABLES in an editor tab; saving it makes a fork. Returns its address. */
export async function editValue(extension: vscode.ExtensionContext, target: unknown): Promise<string | undefined> {
  const { container, variable } = (target ?? {}) as ChosenRow;
  const session = debuggedSession();
  if (!session || !variable || container?.variablesReference === undefined) return undefined;
  const { variablesReference } = container;
  const asked = session.customRequest('rehearsal/value', { variablesReference, name: variable.name });
  // What the session refuses, VS Code says by itself.
  const whole = await asked.then(
    (found: WholeText) => found,
    () => undefined,
  );
  return whole && openWhole(extension, session, whole);
}

/** Opens a value in an editor tab; saving it makes a fork. Returns its address. */
export async function openWhole(
  extension: vscode.ExtensionContext,
  session: vscode.DebugSession,
  whole: WholeText,
): Promise<string> {
  if (!files) {
    files = new ValueFiles();
    extension.subscriptions.push(vscode.workspace.registerFileSystemProvider(valueScheme, files));
  }
  const document = await vscode.workspace.openTextDocument(files.open(session, whole));
  await vscode.window.showTextDocument(document, { preview: false });
  return document.uri.toString();
}

/**
 * Provides values of a debug session as files: reading returns the shown value, and writing makes the edit that forks.
 */
class ValueFiles implements vscode.FileSystemProvider {
  readonly #files = new Map<string, OpenedFile>();
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;
  #next = 1;

  open(session: vscode.DebugSession, whole: WholeText): vscode.Uri {
    const name = whole.name.replaceAll(/[^\w.-]+/g, ' ').trim() || 'value';
    const uri = vscode.Uri.from({
      scheme: valueScheme,
      path: `/${this.#next++}/${name}.${endings[whole.language]}`,
    });
    this.#files.set(uri.path, { session, whole, text: whole.text, mtime: Date.now() });
    return uri;
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const { text, mtime, whole } = this.#fileAt(uri);
    return {
      type: vscode.FileType.File,
      ctime: 0,
      mtime,
      size: Buffer.byteLength(text),
      ...(whole.isReadOnly ? { permissions: vscode.FilePermission.Readonly } : {}),
    };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return Buffer.from(this.#fileAt(uri).text);
  }

  /** A refusal is shown, and the text stays in its tab, unsaved. */
  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const file = this.#fileAt(uri);
    const value = Buffer.from(content).toString('utf8');
    const { variablesReference, name } = file.whole;
    try {
      await file.session.customRequest('setVariable', { variablesReference, name, value });
    } catch (error) {
      throw vscode.FileSystemError.Unavailable(messageOf(error));
    }
    file.text = value;
    file.mtime = Date.now();
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  #fileAt(uri: vscode.Uri): OpenedFile {
    const file = this.#files.get(uri.path);
    if (!file) throw vscode.FileSystemError.FileNotFound(uri);
    return file;
  }
}
