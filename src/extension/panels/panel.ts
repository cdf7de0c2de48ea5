import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { ToExtension, ToWebview, ViewId } from '../../webview/messages/protocol.ts';
import type { Log } from '../commandLine/context.ts';
import { page } from './page.ts';

/** A page may run its own script and read nothing but the bundle. */
export function webviewOptions(extensionUri: vscode.Uri): vscode.WebviewOptions {
  return { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(extensionUri, 'dist')] };
}

/** The page of a view, with its own nonces. */
export function pageOf(webview: vscode.Webview, extensionUri: vscode.Uri, view: ViewId, title: string): string {
  const asset = (name: string): string =>
    webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, 'dist', name)).toString();
  const source = webview.cspSource;
  return page({ view, title, source, script: asset('webview.js'), styles: asset('webview.css'), nonce: newNonce });
}

function newNonce(): string {
  return randomBytes(18).toString('base64');
}

/** The extension's side of the channel to one page. */
export type Channel = {
  /**
   * A message to a hidden page is lost; the page asks again, by `ready`, when it is shown. Resolves once the page has
   * the message, or it is lost.
   */
  readonly post: (message: ToWebview) => Thenable<unknown>;
  readonly dispose: () => void;
};

/** Calls back for each message of the page. One that is not understood is logged and changes nothing. */
export function connectPage(webview: vscode.Webview, log: Log, onMessage: (message: ToExtension) => void): Channel {
  const listener = webview.onDidReceiveMessage(async (value: unknown) => {
    const { parseToExtension } = await import('../../webview/messages/protocol.ts');
    const parsed = parseToExtension(value);
    if (parsed.ok) onMessage(parsed.message);
    else log.warn(`A message of a view was not understood. ${parsed.problem}`);
  });
  return {
    post: (message) => webview.postMessage(message),
    dispose: () => listener.dispose(),
  };
}
