import { basename } from 'node:path';
import * as vscode from 'vscode';
import { debugType } from '../workspace/contributions.ts';
import { onDidChangeFile } from '../workspace/domainWatch.ts';

type Edits = { readonly files: readonly { readonly file: string; readonly since: number }[] };

/** The number of files that the status bar names; the tooltip names all. */
const namedFiles = 3;

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
  const known = new Map<string, Edits['files']>();
  const show = () => {
    const files = known.get(vscode.debug.activeDebugSession?.id ?? '') ?? [];
    void vscode.commands.executeCommand('setContext', changedKey, files.length > 0);
    if (files.length === 0) {
      item.hide();
      return;
    }
    const names = files.map(({ file }) => basename(file));
    const more = names.length - namedFiles;
    const named = more > 0 ? `${names.slice(0, namedFiles).join(', ')} and ${more} more` : names.join(', ');
    item.text = `$(repo-forked) ${named} changed since step ${Math.min(...files.map(({ since }) => since))}`;
    const all = more > 0 ? `${names.join(', ')}. ` : '';
    item.tooltip = `${all}The rollout continues with the files that it started with. Click to fork with the changed files.`;
    item.show();
  };
  const set = ({ id }: vscode.DebugSession, { files }: Edits) => {
    if (files.length > 0) known.set(id, files);
    else if (!known.delete(id)) return;
    show();
  };
  const forget = (session: vscode.DebugSession) => set(session, { files: [] });
  const look = async (session: vscode.DebugSession | undefined): Promise<void> => {
    if (session?.type !== debugType) return;
    try {
      set(session, (await session.customRequest('rehearsal/changes')) as Edits);
    } catch {
      // A session that has not begun yet, or is over, has nothing to find.
    }
  };
  const lookAtActive = () => look(vscode.debug.activeDebugSession);
  return vscode.Disposable.from(
    item,
    vscode.workspace.onDidSaveTextDocument(lookAtActive),
    onDidChangeFile(lookAtActive),
    vscode.debug.onDidReceiveDebugSessionCustomEvent(({ session, event, body }) => {
      if (session.type !== debugType) return;
      // Only a fork with the changed files has them.
      if (event === 'rehearsal/forked') void look(session);
      if (event === 'rehearsal/filesChanged') set(session, body as Edits);
    }),
    vscode.debug.onDidChangeActiveDebugSession(show),
    vscode.debug.onDidTerminateDebugSession(forget),
    // A session that is restarted keeps its id, and its end is not always reported.
    vscode.debug.onDidStartDebugSession(forget),
  );
}
