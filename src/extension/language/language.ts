import * as vscode from 'vscode';
import type { RunWatch } from '../runs/runWatch.ts';
import { registerCompletion } from './completion.ts';
import { registerDefinition } from './definition.ts';
import { registerDiagnostics } from './diagnostics.ts';
import { registerFolding } from './folding.ts';
import { registerFormatting } from './formatting.ts';
import { registerHighlights } from './highlights.ts';
import { registerHover } from './hover.ts';
import type { LanguageClient } from './languageClient.ts';
import { registerLinks } from './links.ts';
import { registerOutline } from './outline.ts';
import { registerQuickFixes } from './quickFixes.ts';
import { registerReferences } from './references.ts';
import { registerRename } from './rename.ts';
import { registerResultLenses } from './resultLenses.ts';
import { registerSemanticTokens } from './semanticTokens.ts';
import { registerTaskLenses } from './taskLenses.ts';
import { registerWorkspaceSymbols } from './workspaceSymbols.ts';

/** Everything that an editor knows of the files of a domain; what it takes to know it is loaded in a worker. */
export function registerLanguage(client: LanguageClient, runs: RunWatch): vscode.Disposable {
  const register = [
    registerDiagnostics,
    registerQuickFixes,
    registerCompletion,
    registerHover,
    registerDefinition,
    registerReferences,
    registerHighlights,
    registerRename,
    registerLinks,
    registerSemanticTokens,
    registerOutline,
    registerFolding,
    registerFormatting,
    registerWorkspaceSymbols,
    registerTaskLenses,
  ];
  return vscode.Disposable.from(registerResultLenses(runs, client), ...register.map((each) => each(client)));
}
