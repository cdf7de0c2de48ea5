import { basename } from 'node:path';
import * as vscode from 'vscode';
import { debugType } from '../contributions.ts';

type ChangeNews = { readonly files: readonly { readonly file: string }[]; readonly since: number };

const changedKey = 'rehearsal.filesChanged';

/**
 * Shows in the status bar which files of the domain were edited since the paused rollout began, until a fork has them or
 * the session ends. A restarted session begins with the files as they are.
 */
export function registerChangeNotice(): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('rehearsal.changed', vscode.StatusBarAlignment.Left);
  item.name = 'Rehearsal: Changed Files';
  item.command = 'rehearsal.rollout.swap';
  item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
  const mark = (isChanged: boolean) => {
    void vscode.commands.executeCommand('setContext', changedKey, isChanged);
    if (isChanged) item.show();
    else item.hide();
  };
  return vscode.Disposable.from(
    item,
    vscode.workspace.onDidSaveTextDocument(() => {
      const session = vscode.debug.activeDebugSession;
      // What it finds comes back as an event; a session that has not begun yet, or is over, has nothing to find.
      if (session?.type === debugType) session.customRequest('rehearsal/changes').then(undefined, () => undefined);
    }),
    vscode.debug.onDidReceiveDebugSessionCustomEvent(({ session, event, body }) => {
      if (session.type !== debugType) return;
      if (event === 'rehearsal/forked') mark(false);
      if (event !== 'rehearsal/filesChanged') return;
      const { files, since } = body as ChangeNews;
      const names = files.map(({ file }) => basename(file)).join(', ');
      item.text = `$(repo-forked) ${names} changed since step ${since}`;
      item.tooltip = 'The rollout continues with the files that it started with. Click to fork with the changed files.';
      mark(true);
    }),
    vscode.debug.onDidTerminateDebugSession(({ type }) => type === debugType && mark(false)),
  );
}
