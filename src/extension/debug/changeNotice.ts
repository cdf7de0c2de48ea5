import { basename } from 'node:path';
import * as vscode from 'vscode';
import { debugType } from '../contributions.ts';

type ChangeNews = { readonly files: readonly { readonly file: string }[]; readonly since: number };

const offer = 'Fork with Changed Files';
const changedKey = 'rehearsal.filesChanged';

/** Says when files of the domain were edited that the paused rollout did not begin with, and offers a fork with them. */
export function registerChangeNotice(): vscode.Disposable {
  const mark = (isChanged: boolean) => void vscode.commands.executeCommand('setContext', changedKey, isChanged);
  return vscode.Disposable.from(
    vscode.workspace.onDidSaveTextDocument(() => {
      const session = vscode.debug.activeDebugSession;
      // What it finds comes back as an event; a session that has not begun yet, or is over, has nothing to find.
      if (session?.type === debugType) session.customRequest('rehearsal/changes').then(undefined, () => undefined);
    }),
    vscode.debug.onDidReceiveDebugSessionCustomEvent(({ session, event, body }) => {
      if (session.type !== debugType) return;
      if (event === 'rehearsal/forked') mark(false);
      if (event !== 'rehearsal/filesChanged') return;
      mark(true);
      void offerFork(session, body as ChangeNews);
    }),
    vscode.debug.onDidTerminateDebugSession(({ type }) => type === debugType && mark(false)),
  );
}

async function offerFork(session: vscode.DebugSession, { files, since }: ChangeNews): Promise<void> {
  const names = files.map(({ file }) => basename(file)).join(', ');
  const message = `${names} changed since step ${since}. The rollout continues with the files that it started with.`;
  if ((await vscode.window.showInformationMessage(message, offer)) !== offer) return;
  if (vscode.debug.activeDebugSession?.id !== session.id) return;
  await vscode.commands.executeCommand('rehearsal.rollout.swap');
}
