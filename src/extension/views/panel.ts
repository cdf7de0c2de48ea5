import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { parseToExtension, type ToExtension, type ToWebview, type ViewId } from '../../webview/protocol.ts';

/** A page may run its own script and read nothing but the bundle. */
export function webviewOptions(extensionUri: vscode.Uri): vscode.WebviewOptions {
  return { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(extensionUri, 'dist')] };
}

/**
 * The page of a view. Its policy allows the bundle's script by a nonce, the bundle's styles by their source, and
 * nothing else, in particular no inline styles: the controls use constructed style sheets, which no policy governs.
 * At its start the toolkit appends one empty style element to learn about `:focus-visible`, with the nonce that
 * the `csp-nonce` tag names. That nonce is good for styles only; the script's nonce stands in no readable place.
 */
export function pageOf(webview: vscode.Webview, extensionUri: vscode.Uri, view: ViewId, title: string): string {
  const asset = (name: string): string =>
    webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, 'dist', name)).toString();
  const scriptNonce = newNonce();
  const styleNonce = newNonce();
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${scriptNonce}'`,
    `style-src ${webview.cspSource} 'nonce-${styleNonce}'`,
    `font-src ${webview.cspSource}`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta property="csp-nonce" content="${styleNonce}">
  <link rel="stylesheet" href="${asset('webview.css')}">
  <title>${title}</title>
</head>
<body>
  <div id="view" data-view="${view}"></div>
  <script nonce="${scriptNonce}" src="${asset('webview.js')}"></script>
</body>
</html>`;
}

function newNonce(): string {
  return randomBytes(18).toString('base64');
}

/** The extension's side of the channel to one page. */
export type Channel = {
  /** A message to a hidden page is lost; the page asks again, by `ready`, when it is shown. */
  readonly post: (message: ToWebview) => void;
  readonly dispose: () => void;
};

/** Calls back for each message of the page. One that is not understood is logged and changes nothing. */
export function connectPage(
  webview: vscode.Webview,
  log: vscode.LogOutputChannel,
  onMessage: (message: ToExtension) => void,
): Channel {
  const listener = webview.onDidReceiveMessage((value: unknown) => {
    const parsed = parseToExtension(value);
    if (parsed.ok) onMessage(parsed.message);
    else log.warn(`A message of a view was not understood. ${parsed.problem}`);
  });
  return {
    post: (message) => void webview.postMessage(message),
    dispose: () => listener.dispose(),
  };
}
