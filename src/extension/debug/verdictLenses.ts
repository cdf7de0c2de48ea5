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
  const last = new Map<string, { readonly version: number; readonly lenses: vscode.CodeLens[] }>();
  /** The last frame that was chosen: where a text is edited while the rollout runs, its verdicts move with their rules. */
  let frameId: number | undefined;
  /** Counts what was forgotten: an answer about the rollout before a fork comes too late. */
  let round = 0;
  const forget = () => {
    last.clear();
    frameId = undefined;
    round += 1;
    changed.fire();
  };
  return vscode.Disposable.from(
    changed,
    onDidChooseFrame(() => changed.fire()),
    vscode.debug.onDidChangeActiveDebugSession(forget),
    vscode.debug.onDidReceiveDebugSessionCustomEvent(({ event, session }) => {
      if (event === 'rehearsal/forked' && session === vscode.debug.activeDebugSession) forget();
    }),
    vscode.languages.registerCodeLensProvider(
      { scheme: 'file', pattern: '**/*.md' },
      {
        onDidChangeCodeLenses: changed.event,
        provideCodeLenses: async (document) => {
          if (vscode.debug.activeDebugSession?.type !== debugType) return [];
          const frame = vscode.debug.activeStackItem;
          const { uri, version } = document;
          const known = last.get(uri.toString());
          if (frame instanceof vscode.DebugStackFrame) frameId = frame.frameId;
          else if (known === undefined || known.version === version) return (known?.lenses ?? []).map(ofLastStop);
          if (frameId === undefined) return [];
          const asked = round;
          try {
            const lenses = (await valuesIn(document, frameId)).map(lensOf);
            if (asked !== round) return [];
            last.set(uri.toString(), { version, lenses });
            return frame instanceof vscode.DebugStackFrame ? lenses : lenses.map(ofLastStop);
          } catch {
            return []; // a session that has just ended
          }
        },
      },
    ),
  );
}

/** Returns a lens that names its verdict as that of the last stop: while the rollout runs, the verdict may change. */
function ofLastStop({ range, command }: vscode.CodeLens): vscode.CodeLens {
  const title =
    command?.title.replace(/^(?:\$\([\w-]+\) )?(\w+(?: \d+ times)?)/, '$(history) $1 at the last stop') ?? '';
  return new vscode.CodeLens(range, { title, command: '' });
}

function lensOf({ line, text }: { readonly line: number; readonly text: string }): vscode.CodeLens {
  const [name = ''] = /^\w+/.exec(text) ?? [];
  const icon = name in icons ? `${icons[name as keyof typeof icons]} ` : '';
  return new vscode.CodeLens(new vscode.Range(line - 1, 0, line - 1, 0), { title: `${icon}${text}`, command: '' });
}
