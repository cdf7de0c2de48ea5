import { join } from 'node:path';
import * as vscode from 'vscode';
import { terminalText } from '../../engine/core/text/terminalText.ts';
import { withoutInspector } from '../../engine/shell/processes/runtimeFlags.ts';
import { EditorModels } from '../editorModels/editorModels.ts';
import { allowedKeysOf } from './keyConsent.ts';

/** The few things that every feature needs. */
export type Context = {
  readonly extension: vscode.ExtensionContext;
  readonly log: Log;
  /** The command line's bundle, which also is debug adapter and engine of the trainer. */
  readonly cli: string;
  /** Environment for child processes: Node without Electron, the key when one is stored, and the editor's models. */
  readonly environment: () => Promise<Record<string, string>>;
};

/** Returns what starts the command line, as arguments of this runtime. */
export const commandLineOf = ({ cli }: Pick<Context, 'cli'>): readonly string[] => [...withoutInspector(), cli];

export type Log = Pick<vscode.LogOutputChannel, 'info' | 'warn' | 'error' | 'show' | 'dispose'>;

/** The log. Text of models, servers and domains reaches it without control characters. */
function createLog(): Log {
  const channel = vscode.window.createOutputChannel('Rehearsal', { log: true });
  return {
    info: (message) => channel.info(terminalText(message)),
    warn: (message) => channel.warn(terminalText(message)),
    error: (message) => channel.error(terminalText(String(message))),
    show: (...place: readonly unknown[]) => channel.show(...(place as [boolean?])),
    dispose: () => channel.dispose(),
  };
}

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
    log: createLog(),
    cli: join(extension.extensionPath, 'dist', 'rehearsal.mjs'),
    environment: async () => {
      key ??= extension.secrets.get(keyName);
      const stored = await key;
      const settings = vscode.workspace.getConfiguration('rehearsal');
      const baseUrl = settings.get<string>('model.baseUrl');
      // The key belongs to the address that the person chose, and not to the one that a workspace names.
      const chosen = [settings.inspect<string>('model.baseUrl')?.globalValue, process.env['OPENAI_BASE_URL']];
      const own = chosen.flatMap((url) => (url && URL.canParse(url) ? `${keyName}=${new URL(url).origin}` : []));
      return {
        ELECTRON_RUN_AS_NODE: '1',
        ...(stored ? { [keyName]: stored } : {}),
        ...(baseUrl ? { OPENAI_BASE_URL: baseUrl } : {}),
        REHEARSAL_KEY_ORIGINS: [...own, ...allowedKeysOf(extension)].join(' '),
        ...(await models.environment()),
      };
    },
  };
}
