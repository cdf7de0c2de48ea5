import { readdir } from 'node:fs/promises';
import * as vscode from 'vscode';
import { workFolder } from '../../engine/shell/files/workFolders.ts';
import { onDidChangeDomains } from '../workspace/domainWatch.ts';
import { ledgersIn } from './ledgers.ts';
import { onDidChooseRunFolder, runPlaces } from './runPlaces.ts';
import { trainingRuns } from './runsOfWorkspace.ts';

/** A batch writes many files at once: they are reported together, this long after the first of them. */
const gatherMs = 500;
/**
 * The interval at which ledgers and training runs are checked, in milliseconds. The editor's watcher can miss files
 * written into a folder while the folder is created.
 */
const lookEveryMs = 2000;

/**
 * Reports when files of runs and training runs may have changed, whichever process wrote them. It is the only watcher,
 * and it watches only while it has listeners.
 */
export class RunWatch implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  #listeners = 0;
  #looking: vscode.Disposable | undefined;
  #places: Promise<readonly string[]> | undefined;
  #stamp: string | undefined;
  #gathering: NodeJS.Timeout | undefined;

  readonly onDidChange: vscode.Event<void> = (listener, thisArgs, disposables) => {
    this.#listeners += 1;
    if (!this.#looking) {
      this.#looking = this.#begin();
      void this.#look();
    }
    const heard = this.#changed.event(listener, thisArgs);
    let isHeard = true;
    const end = new vscode.Disposable(() => {
      heard.dispose();
      if (isHeard) this.#listeners -= 1;
      isHeard = false;
      if (this.#listeners === 0) this.#end();
    });
    disposables?.push(end);
    return end;
  };

  #begin(): vscode.Disposable {
    const files = vscode.workspace.createFileSystemWatcher(`**/${workFolder}/{runs,training}/**`);
    const soon = () => this.#soon();
    const elsewhere = () => {
      this.#places = undefined;
    };
    const elsewhereIfOutside = ({ uri }: vscode.TextDocument) => {
      if (!vscode.workspace.getWorkspaceFolder(uri)) elsewhere();
    };
    const timer = setInterval(() => vscode.window.state.focused && void this.#look(), lookEveryMs);
    return vscode.Disposable.from(
      files,
      files.onDidCreate(soon),
      files.onDidChange(soon),
      files.onDidDelete(soon),
      onDidChangeDomains(elsewhere),
      vscode.workspace.onDidChangeWorkspaceFolders(elsewhere),
      onDidChooseRunFolder(elsewhere),
      vscode.workspace.onDidOpenTextDocument(elsewhereIfOutside),
      vscode.workspace.onDidCloseTextDocument(elsewhereIfOutside),
      new vscode.Disposable(() => clearInterval(timer)),
    );
  }

  /** Anyone who listens next reads what is there by itself, and receives what changes from then on. */
  #end(): void {
    this.#looking?.dispose();
    this.#looking = undefined;
    this.#places = undefined;
    this.#stamp = undefined;
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
  }

  #soon(): void {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#changed.fire();
    }, gatherMs);
  }

  async #look(): Promise<void> {
    const looking = this.#looking;
    this.#places ??= runPlaces();
    const stamp = await stampOf(await this.#places);
    if (this.#looking !== looking) return;
    const isChanged = this.#stamp !== undefined && stamp !== this.#stamp;
    this.#stamp = stamp;
    if (isChanged) this.#soon();
  }

  dispose(): void {
    this.#end();
    this.#changed.dispose();
  }
}

/**
 * Returns what differs when a run was made, written or deleted, or a training run was made, deleted or has said its
 * kind.
 */
async function stampOf(places: readonly string[]): Promise<string> {
  const names = await Promise.all(places.map((place) => readdir(place).catch(() => [])));
  const training = (await trainingRuns()).map(({ id, kind }) => [id, kind]);
  return JSON.stringify([names, await ledgersIn(places), training]);
}
