import { basename } from 'node:path';
import * as vscode from 'vscode';
import { messageOf } from '../../engine/shell/fault.ts';
import type { ReadRecording } from '../../engine/shell/recording.ts';
import type { Context } from '../context.ts';
import { type Channel, connectPage, pageOf, webviewOptions } from './panel.ts';

/** View type of the recordings' editor in package.json. */
export const trajectoryEditorType = 'rehearsal.trajectory';

/** Events that one message carries, so that a long recording shows its first steps at once. */
const eventsPerMessage = 500;

/** Lists a recording step by step, read-only. The text stays one click away. */
export function registerTrajectoryEditor(context: Context): vscode.Disposable {
  const { extensionUri } = context.extension;
  const provider: vscode.CustomReadonlyEditorProvider = {
    openCustomDocument: (uri) => ({ uri, dispose: () => {} }),
    resolveCustomEditor: ({ uri }, panel) => {
      panel.webview.options = webviewOptions(extensionUri);
      const channel = connectPage(panel.webview, context.log, (message) => {
        switch (message.type) {
          case 'ready':
            void postRecording(channel, uri);
            break;
          case 'debugRecording':
            void vscode.commands.executeCommand('rehearsal.recording.debug', uri);
            break;
          case 'openAsText':
            void vscode.commands.executeCommand('vscode.openWith', uri, 'default');
            break;
          case 'selectRun':
          case 'openStep':
          case 'openRollout':
          case 'stop':
          case 'train':
          case 'showLog':
            break;
          default:
            message satisfies never;
        }
      });
      const watcher = watchFile(uri, () => void postRecording(channel, uri));
      panel.webview.html = pageOf(panel.webview, extensionUri, 'trajectory', 'Recording');
      panel.onDidDispose(() => {
        channel.dispose();
        watcher.dispose();
      });
    },
  };
  return vscode.window.registerCustomEditorProvider(trajectoryEditorType, provider);
}

/** A recording of a running rollout grows. */
function watchFile(uri: vscode.Uri, onChange: () => void): vscode.Disposable {
  const watcher = vscode.workspace.createFileSystemWatcher(
    new vscode.RelativePattern(vscode.Uri.joinPath(uri, '..'), basename(uri.path)),
  );
  let timer: NodeJS.Timeout | undefined;
  watcher.onDidChange(() => {
    clearTimeout(timer);
    timer = setTimeout(onChange, 300);
  });
  return watcher;
}

async function postRecording(channel: Channel, uri: vscode.Uri): Promise<void> {
  const name = basename(uri.path);
  try {
    const { parseRecording } = await import('../../engine/shell/recording.ts');
    const bytes = await vscode.workspace.fs.readFile(uri);
    const { lines, problems } = parseRecording(uri.path, Buffer.from(bytes).toString('utf8'));
    channel.post({ type: 'recordingOpened', name, total: lines.length, problem: problemOf(name, problems) });
    for (let start = 0; start < lines.length; start += eventsPerMessage) {
      const events = lines.slice(start, start + eventsPerMessage).map(({ n, event }) => ({ n, event }));
      channel.post({ type: 'recordingRead', events });
    }
  } catch (error) {
    channel.post({
      type: 'recordingOpened',
      name,
      total: 0,
      problem: `${name} can't be read: ${messageOf(error)}`,
    });
  }
}

function problemOf(name: string, problems: ReadRecording['problems']): string | null {
  const [first] = problems;
  return first ? `${name}, line ${first.line}: ${first.message}` : null;
}
