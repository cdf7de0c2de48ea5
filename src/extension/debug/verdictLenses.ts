import * as vscode from 'vscode';
import { debugType } from '../workspace/contributions.ts';
import { valuesIn } from './inlineValues.ts';
import { onDidChooseFrame } from './stoppedSession.ts';

/** A verdict in words begins with its name. */
const icons = { held: '$(pass)', violated: '$(error)', unknown: '$(circle-outline)' } as const;

/**
 * Shows the verdicts at the chosen frame above the rules of the policy. Next to a line that wraps, VS Code would draw
 * them in the middle of the rule or over the lens below.
 */
export function registerVerdictLenses(): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  /** The last lenses of each policy. They stay while the rollout runs, so that lines do not move at each step. */
  const last = new Map<string, vscode.CodeLens[]>();
  return vscode.Disposable.from(
    changed,
    onDidChooseFrame(() => changed.fire()),
    vscode.debug.onDidChangeActiveDebugSession(() => {
      last.clear();
      changed.fire();
    }),
    vscode.languages.registerCodeLensProvider(
      { scheme: 'file', pattern: '**/*.md' },
      {
        onDidChangeCodeLenses: changed.event,
        provideCodeLenses: async (document) => {
          if (vscode.debug.activeDebugSession?.type !== debugType) return [];
          const frame = vscode.debug.activeStackItem;
          const key = document.uri.toString();
          if (!(frame instanceof vscode.DebugStackFrame)) return last.get(key) ?? [];
          try {
            last.set(key, (await valuesIn(document, frame.frameId)).map(lensOf));
          } catch {
            // A session that has just ended.
          }
          return last.get(key) ?? [];
        },
      },
    ),
  );
}

function lensOf({ line, text }: { readonly line: number; readonly text: string }): vscode.CodeLens {
  const [name = ''] = /^\w+/.exec(text) ?? [];
  const icon = name in icons ? `${icons[name as keyof typeof icons]} ` : '';
  return new vscode.CodeLens(new vscode.Range(line - 1, 0, line - 1, 0), { title: `${icon}${text}`, command: '' });
}
