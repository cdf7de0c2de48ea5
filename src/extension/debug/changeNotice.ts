import { basename } from 'node:path';
import * as vscode from 'vscode';
import { debugType } from '../workspace/contributions.ts';
import { onDidChangeDomainFiles } from '../workspace/domainWatch.ts';

type ChangeNews = { readonly files: readonly { readonly file: string }[]; readonly since: number };

const changedKey = 'rehearsal.filesChanged';

/**
 * Shows in the status bar which files of the domain were edited since the paused rollout began, until a fork has them or
 * the session ends. A restarted session begins with the files as they are. Of several sessions it shows the active one,
 * which is the one that a click forks.
 */
export function registerChangeNotice(): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('rehearsal.changed', vscode.StatusBarAlignment.Left);
  item.name = 'Rehearsal: Changed Files';
  item.command = 'rehearsal.rollout.swap';
  item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
  /** By the id of the session. */
  const known = new Map<string, ChangeNews>();
  const show = () => {
    const news = known.get(vscode.debug.activeDebugSession?.id ?? '');
    void vscode.commands.executeCommand('setContext', changedKey, news !== undefined);
    if (!news) {
      item.hide();
      return;
    }
    const names = news.files.map(({ file }) => basename(file)).join(', ');
    item.text = `$(repo-forked) ${names} changed since step ${news.since}`;
    item.tooltip = 'The rollout continues with the files that it started with. Click to fork with the changed files.';
    item.show();
  };
  const forget = ({ id }: vscode.DebugSession) => {
    if (known.delete(id)) show();
  };
  const look = async (): Promise<void> => {
    const session = vscode.debug.activeDebugSession;
    if (session?.type !== debugType) return;
    try {
      // New changes also come back as an event.
      const { files }: Pick<ChangeNews, 'files'> = await session.customRequest('rehearsal/changes');
      if (files.length === 0) forget(session);
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
      if (event === 'rehearsal/forked') forget(session);
      if (event !== 'rehearsal/filesChanged') return;
      known.set(session.id, body as ChangeNews);
      show();
    }),
    vscode.debug.onDidChangeActiveDebugSession(show),
    vscode.debug.onDidTerminateDebugSession(forget),
    // A session that is restarted keeps its id, and its end is not always reported.
    vscode.debug.onDidStartDebugSession(forget),
  );
}
