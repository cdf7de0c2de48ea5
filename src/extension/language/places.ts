import * as vscode from 'vscode';
import type { Location } from '../../engine/shell/files/diagnostic.ts';
import type { Position } from '../../language/symbols/symbols.ts';

/** The place of a cursor, as the engine counts: from 1. */
export function positionAt({ uri }: vscode.TextDocument, { line, character }: vscode.Position): Position {
  return { file: uri.fsPath, line: line + 1, column: character + 1 };
}

/** Lines and columns of the engine count from 1. */
export function rangeOf({ line, column, endLine, endColumn }: Location): vscode.Range {
  return new vscode.Range(line - 1, column - 1, endLine - 1, endColumn - 1);
}

export function locationOf(at: Location): vscode.Location {
  return new vscode.Location(vscode.Uri.file(at.file), rangeOf(at));
}

/** The files that people write for a domain in YAML. */
export const yamlFiles: vscode.DocumentFilter = {
  scheme: 'file',
  pattern: '**/{domain.yaml,*.task.yaml,*.persona.yaml,*.tool.yaml,rules.yaml,*.rules.yaml,phrases.yaml}',
};

/** Those and the policy. Which file is the policy, the domain says: a file that is not one gets no answer. */
export const writtenFiles: readonly vscode.DocumentFilter[] = [yamlFiles, { scheme: 'file', pattern: '**/*.md' }];

/** All files of a domain that name something. */
export const namingFiles: readonly vscode.DocumentFilter[] = [
  ...writtenFiles,
  { scheme: 'file', pattern: '**/*.{ts,py,json}' },
];
