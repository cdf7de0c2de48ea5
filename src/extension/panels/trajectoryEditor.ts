import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { Context } from '../commandLine/context.ts';
import { conversationScheme, debugType } from '../workspace/contributions.ts';
import { domainOfRecording, readDomain } from '../workspace/workspaceDomains.ts';
import { connectPage, pageOf, webviewOptions } from './panel.ts';
import { recordingFile } from './recordingFile.ts';
import { openPlace } from './recordingPlace.ts';

/** View type of the recordings' editor in package.json. */
export const trajectoryEditorType = 'rehearsal.trajectory';

/** Key of the user's choice to see the section of latency and tokens. */
const timelineKey = 'rehearsal.trajectory.timelineOpen';

/** Shows a recording as a conversation, read-only. The text stays one click away. */
export function registerTrajectoryEditor(context: Context): vscode.Disposable {
  const { extensionUri } = context.extension;
  const provider: vscode.CustomReadonlyEditorProvider = {
    openCustomDocument: (uri) => ({ uri, dispose: () => {} }),
    resolveCustomEditor: ({ uri: opened }, panel) => {
      const uri = opened.scheme === conversationScheme ? opened.with({ scheme: 'file' }) : opened;
      panel.webview.options = webviewOptions(extensionUri);
      const channel = connectPage(panel.webview, context.log, (message) => {
        switch (message.type) {
          case 'ready':
            void file.show();
            break;
          case 'debugRecording':
            void vscode.commands.executeCommand('rehearsal.recording.debug', uri, message.step);
            break;
          case 'openPlace':
            void openPlace(uri, message.kind, message.name);
            break;
          case 'openAsText':
            void vscode.commands.executeCommand('vscode.openWith', uri, 'default');
            break;
          case 'timelineToggled':
            void context.extension.globalState.update(timelineKey, message.isOpen);
            break;
          case 'selectRun':
          case 'openStep':
          case 'openRollout':
          case 'stop':
          case 'resume':
          case 'train':
          case 'showLog':
          case 'overlay':
          case 'compareStep':
          case 'export':
          case 'compareRecordings':
          case 'compareAgain':
          case 'stopComparing':
          case 'openCompared':
          case 'editor':
            break;
          default:
            message satisfies never;
        }
      });
      const layout = () => ({ isTimelineOpen: context.extension.globalState.get<boolean>(timelineKey) });
      const file = recordingFile(uri, channel, layout, async (recording) => {
        const folder = await domainOfRecording(recording);
        return folder === undefined ? undefined : readDomain(folder);
      });
      const watcher = watchFile(uri, () => {
        if (panel.visible) void file.showNew();
      });
      // The file may have been written last before the session ended.
      const ended = vscode.debug.onDidTerminateDebugSession(({ type }) => {
        if (type === debugType && panel.visible) void file.showNew();
      });
      panel.webview.html = pageOf(panel.webview, extensionUri, 'trajectory', 'Recording');
      panel.onDidDispose(() => {
        channel.dispose();
        watcher.dispose();
        ended.dispose();
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
