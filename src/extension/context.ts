import { join } from 'node:path';
import * as vscode from 'vscode';
import { EditorModels } from './assistant/editorModels.ts';

/** The few things that every feature needs. */
export type Context = {
  readonly extension: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  /** The command line's bundle, which also is debug adapter and engine of the trainer. */
  readonly cli: string;
  /** Environment for child processes: Node without Electron, the key when one is stored, and the editor's models. */
  readonly environment: () => Promise<Record<string, string>>;
};

/** Name of the stored key, and of the environment variable that a child process gets it in. */
export const keyName = 'OPENAI_API_KEY';

/** Makes what every feature needs; reads nothing and starts nothing. */
export function createContext(extension: vscode.ExtensionContext): Context {
  // Every F5 asks for the key, and secret storage answers by way of the window.
  let key: Thenable<string | undefined> | undefined;
  const models = new EditorModels();
  extension.subscriptions.push(
    models,
    extension.secrets.onDidChange(() => {
      key = undefined;
    }),
  );
  return {
    extension,
    log: vscode.window.createOutputChannel('Rehearsal', { log: true }),
    cli: join(extension.extensionPath, 'dist', 'rehearsal.mjs'),
    environment: async () => {
      key ??= extension.secrets.get(keyName);
      const stored = await key;
      const baseUrl = vscode.workspace.getConfiguration('rehearsal').get<string>('model.baseUrl');
      return {
        ELECTRON_RUN_AS_NODE: '1',
        ...(stored ? { [keyName]: stored } : {}),
        ...(baseUrl ? { OPENAI_BASE_URL: baseUrl } : {}),
        ...(await models.environment()),
      };
    },
  };
}
