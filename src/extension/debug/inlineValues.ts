import * as vscode from 'vscode';
import { debugType } from '../workspace/contributions.ts';

/** In the policy, whose lines wrap, `verdictLenses` shows the values above the rules. */
const valueFiles: vscode.DocumentSelector = { scheme: 'file', pattern: '**/*.{yaml,ts}' };
const hoverFiles: vscode.DocumentSelector = { scheme: 'file', pattern: '**/*.{md,yaml,ts}' };

type Shown = { readonly values: readonly { readonly line: number; readonly text: string }[] };

/**
 * Values beside checks, tools and tasks, and hovers over their names, while a rollout or a recording is debugged. Other
 * debuggers have these languages for themselves otherwise, so both are there only as long as a session is.
 */
export function registerInlineValues(): vscode.Disposable {
  const sessions = new Set<string>();
  let shown: vscode.Disposable | undefined;
  return vscode.Disposable.from(
    vscode.debug.onDidStartDebugSession(({ type, id }) => {
      if (type !== debugType) return;
      sessions.add(id);
      shown ??= vscode.Disposable.from(
        vscode.languages.registerInlineValuesProvider(valueFiles, inlineValues),
        vscode.languages.registerEvaluatableExpressionProvider(hoverFiles, expressions),
      );
    }),
    vscode.debug.onDidTerminateDebugSession(({ id }) => {
      sessions.delete(id);
      if (sessions.size > 0) return;
      shown?.dispose();
      shown = undefined;
    }),
    { dispose: () => shown?.dispose() },
  );
}

/** Returns what the adapter knows at a frame about the lines of a file. */
export async function valuesIn(document: vscode.TextDocument, frameId: number): Promise<Shown['values']> {
  const { uri, lineCount, isDirty } = document;
  const session = vscode.debug.activeDebugSession;
  if (session?.type !== debugType) return [];
  const { values }: Shown = await session.customRequest('rehearsal/inlineValues', {
    frameId,
    file: uri.fsPath,
    ...(isDirty ? { text: document.getText() } : {}),
  });
  return values.filter(({ line }) => line <= lineCount);
}

const inlineValues: vscode.InlineValuesProvider = {
  provideInlineValues: async (document, _viewPort, { frameId }) =>
    (await valuesIn(document, frameId)).map(
      ({ line, text }) => new vscode.InlineValueText(document.lineAt(line - 1).range, ` ${text}`),
    ),
};

const path = /[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$-]*|\[(?:\d+|"[^"\]]*"|'[^'\]]*')\])*/g;
/** Ids of rules, tasks and rows have dashes, which in code are a minus. */
const id = /[A-Za-z_][\w]*(?:-[\w]+)+/g;

/** The path up to the part that the pointer is over, or an id as a whole. */
const expressions: vscode.EvaluatableExpressionProvider = {
  provideEvaluatableExpression: ({ lineAt, fileName }, { line, character }) => {
    const { text } = lineAt(line);
    const under = (pattern: RegExp) =>
      [...text.matchAll(pattern)].find(
        ({ 0: found, index }) => index <= character && character <= index + found.length,
      );
    const named = fileName.endsWith('.ts') ? undefined : under(id);
    const found = named ?? under(path);
    if (!found) return undefined;
    const rest = named ? '' : (/^[\w$-]*["']?\]?/.exec(text.slice(character))?.[0] ?? '');
    const end = named
      ? found.index + named[0].length
      : Math.min(character + rest.length, found.index + found[0].length);
    const range = new vscode.Range(line, found.index, line, end);
    return new vscode.EvaluatableExpression(range, text.slice(found.index, end));
  },
};
