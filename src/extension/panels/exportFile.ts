import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { messageOf } from '../../engine/shell/files/fault.ts';
import type { ToExtension } from '../../webview/messages/protocol.ts';
import { showErrorMessage } from '../workspace/messages.ts';

type Export = Extract<ToExtension, { type: 'export' }>;

const kinds = { csv: 'Comma-separated values', png: 'Picture' } as const;

/**
 * Saves what a page made where a person says. The page proposes a name, never a folder.
 * @returns the file, or undefined where the person cancelled or it could not be written
 */
export async function saveExport({ name, format, content }: Export, folder: string): Promise<string | undefined> {
  const file = await vscode.window.showSaveDialog({
    defaultUri: vscode.Uri.file(join(folder, `${fileName(name)}.${format}`)),
    filters: { [kinds[format]]: [format] },
  });
  if (!file) return undefined;
  try {
    await writeFile(file.fsPath, format === 'png' ? Buffer.from(content, 'base64') : content);
  } catch (error) {
    void showErrorMessage(`${file.fsPath} could not be written: ${messageOf(error)}`);
    return undefined;
  }
  void vscode.window.setStatusBarMessage(`Saved ${basename(file.fsPath)}`, 5000);
  return file.fsPath;
}

/** A proposed name without what a file system would take for something else. */
function fileName(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').replaceAll(/^[.-]+|-+$/g, '') || 'export';
}
