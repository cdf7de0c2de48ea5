import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { Persona } from '../../engine/core/domain/persona.ts';
import type { Task } from '../../engine/core/domain/task.ts';
import { domainFolderOf } from '../../engine/shell/domain/domainFolder.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import type { FilePart } from '../../engine/shell/source/fileParts.ts';
import type { Placed } from '../../engine/shell/source/items.ts';
import { activeFile } from './activeFile.ts';
import { showInformationMessage } from './messages.ts';

/** Folders of the workspace that hold a domain.yaml, in a stable order. */
export async function domainFolders(): Promise<readonly string[]> {
  const files = await vscode.workspace.findFiles('**/domain.yaml', '**/node_modules/**', 200);
  return files.map((uri) => dirname(uri.fsPath)).sort();
}

/**
 * The domain as it is in the editors: unsaved text counts. No code of the domain runs, and what its files say against
 * each other is not looked for: the worker of the language features does. The readers of its files are loaded at the
 * first call, so that activation does not wait for them. Reading thousands of tasks takes seconds, so they are read one
 * by one, and other work of the extension host runs in between. The domain is then loaded from these texts. The
 * databases are not read, because nothing in the extension host uses them.
 * @param reading `onTask` gets each task as soon as it was read; an aborted `signal` rejects the reading
 */
export async function readDomain(
  folder: string,
  { onTask, signal }: { readonly onTask?: (task: Task) => void; readonly signal?: AbortSignal } = {},
): Promise<LoadedDomain> {
  const [{ readFiles }, { readTasksAhead }] = await Promise.all([
    import('../../engine/shell/domain/loadDomain.ts'),
    import('../../engine/shell/load/domainFiles.ts'),
  ]);
  const overlay = unsavedTexts();
  for (const tasks of readTasksAhead(folder, overlay)) {
    for (const task of tasks) onTask?.(task);
    await setImmediate();
    signal?.throwIfAborted();
  }
  return readFiles(folder, { overlay, databases: false });
}

/** The unsaved texts of the editors, by the paths of their files. */
export function unsavedTexts(): ReadonlyMap<string, string> {
  const unsaved = vscode.workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && uri.scheme === 'file');
  return new Map(unsaved.map((document) => [document.uri.fsPath, document.getText()]));
}

/** Saves the unsaved files of a domain: what runs reads them from the disk. */
export async function saveFilesOf(folder: string): Promise<void> {
  const unsaved = vscode.workspace.textDocuments.filter(
    ({ isDirty, uri }) => isDirty && uri.scheme === 'file' && domainFolderOf(uri.fsPath) === folder,
  );
  await Promise.all(unsaved.map((document) => document.save()));
}

/**
 * The domain that a recording was made in: the one that its run names, else one of the workspace that has the name
 * which the recording says. Throws a `Fault` when the recording can't be read.
 */
export async function domainOfRecording(recording: string): Promise<string | undefined> {
  const [{ domainBeside }, { readRecording }] = await Promise.all([
    import('../../engine/shell/domain/domainBeside.ts'),
    import('../../engine/shell/records/recording.ts'),
  ]);
  const beside = domainBeside(recording);
  if (beside !== undefined) return beside;
  const started = readRecording(recording).lines[0]?.event;
  const name = started?.type === 'rolloutStarted' ? started.domain.name : undefined;
  const domains = await Promise.all((await domainFolders()).map((folder) => readDomain(folder)));
  return domains.find(({ domain }) => domain.name === name)?.folder;
}

/**
 * Returns the task whose text is at a line (from 1) of a task file, else the file's first one; undefined for another file.
 * Reads the file as it is in the editor, and only as much of it as that takes: a domain can have thousands of tasks.
 */
export async function taskAt(file: string, line: number): Promise<string | undefined> {
  return file.endsWith('.task.yaml') ? itemAt(file, line, { word: '', isWanted: () => true }) : undefined;
}

/** Returns the draft at a line of a file of tasks or personas, as `taskAt` does the task. */
export async function draftAt(file: string, line: number): Promise<string | undefined> {
  const { isDraft } = await import('../../engine/shell/load/drafts.ts');
  return itemAt(file, line, { word: 'draft', isWanted: isDraft });
}

/** Items that are looked for. A part of a file without their word has none, and is not parsed. */
type Wanted = { readonly word: string; readonly isWanted: (item: Placed<Task | Persona>) => boolean };

async function itemAt(file: string, line: number, { word, isWanted }: Wanted): Promise<string | undefined> {
  const { readSource, partsOf, parseItems, placeOf, writtenIds, kinds } = await itemReaders();
  const [, name] = /\.(task|persona)\.yaml$/.exec(file) ?? [];
  if (name !== 'task' && name !== 'persona') return undefined;
  const read = readSource(file, name, unsavedTexts(), undefined, domainFolderOf(file));
  if (!('source' in read)) return undefined;
  const parts = partsOf(read.source).filter(({ source }) => source.text.includes(word));
  const itemsOf = (part: FilePart) =>
    parseItems<Task | Persona>(part.source, kinds[name])
      .items.filter(isWanted)
      .map((item) => ({ id: item.value.id, line: part.line + placeOf(item).line }));
  for (const part of parts.filter((each) => each.line < line).toReversed()) {
    const items = itemsOf(part);
    const item = items.findLast((each) => each.line <= line);
    if (item) return item.id;
    // An item with an error is named too, so that the error is shown in place of another task.
    const written = items.length > 0 || word !== '' ? [] : writtenIds(part.source.text);
    const named = written.findLast((each) => part.line + each.line <= line) ?? written[0];
    if (named) return named.id;
  }
  for (const part of parts) {
    const [first] = itemsOf(part);
    if (first) return first.id;
  }
  return undefined;
}

/** Returns the readers of tasks and personas, which are loaded at the first call, so that activation does not wait for them. */
async function itemReaders() {
  const [{ readSource }, { partsOf }, { parseItems, placeOf }, { writtenIds }, { taskSchema }, { personaSchema }] =
    await Promise.all([
      import('../../engine/shell/source/source.ts'),
      import('../../engine/shell/source/fileParts.ts'),
      import('../../engine/shell/source/items.ts'),
      import('../../engine/shell/load/writtenIds.ts'),
      import('../../engine/core/domain/task.ts'),
      import('../../engine/core/domain/persona.ts'),
    ]);
  const kinds = {
    task: { kind: 'task', schema: 'task', item: taskSchema },
    persona: { kind: 'persona', schema: 'persona', item: personaSchema },
  } as const;
  return { readSource, partsOf, parseItems, placeOf, writtenIds, kinds };
}

const domainCommands: Readonly<Record<string, string>> = {
  'New Domain…': 'rehearsal.domain.new',
  'Open Sample Domain…': 'rehearsal.sample.open',
};

/** Reports that a workspace has no domain, and offers to create one or to copy a sample. */
export async function offerNewDomain(): Promise<void> {
  const text = 'There is no domain in this workspace yet. Create one, or copy a sample.';
  const pressed = await showInformationMessage(text, ...Object.keys(domainCommands));
  const command = pressed === undefined ? undefined : domainCommands[pressed];
  if (command !== undefined) await vscode.commands.executeCommand(command);
}

/** The domain of the file that the active editor shows, as text or as a form; else the one that a person picks. */
export async function domainAtHand(): Promise<string | undefined> {
  const file = activeFile();
  return (file === undefined ? undefined : domainFolderOf(file)) ?? (await pickDomain());
}

/** The folder of the workspace's only domain, or of the one that a person picks; undefined without a domain. */
export async function pickDomain(): Promise<string | undefined> {
  const folders = await domainFolders();
  if (folders.length === 0) {
    void offerNewDomain();
    return undefined;
  }
  if (folders.length === 1) return folders[0];
  const picked = await vscode.window.showQuickPick(
    folders.map((folder) => ({ label: vscode.workspace.asRelativePath(folder), folder })),
    { placeHolder: 'Which domain?' },
  );
  return picked?.folder;
}
