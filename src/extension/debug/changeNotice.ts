import { basename } from 'node:path';
import * as vscode from 'vscode';
import { debugType } from '../workspace/contributions.ts';
import { onDidChangeDomainFiles } from '../workspace/domainWatch.ts';

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
  const look = async (): Promise<void> => {
    const session = vscode.debug.activeDebugSession;
    if (session?.type !== debugType) return;
    try {
      // New changes also come back as an event.
      const { files }: Pick<ChangeNews, 'files'> = await session.customRequest('rehearsal/changes');
      if (files.length === 0) mark(false);
    } catch {
      // A session that has not begun yet, or is over, has nothing to find.
    }
  };
  return vscode.Disposable.from(
    item,
    vscode.workspace.onDidSaveTextDocument(look),
    onDidChangeDomainFiles(look),
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
    // A session that is restarted keeps its id, and its end is not always reported.
    vscode.debug.onDidStartDebugSession(({ type }) => type === debugType && mark(false)),
  );
}
