import type { ViewId } from '../../webview/messages/protocol.ts';

export type PageParts = {
  readonly view: ViewId;
  readonly title: string;
  /** The source of the bundle, for a content security policy. */
  readonly source: string;
  /** Addresses of the bundle's script and styles. */
  readonly script: string;
  readonly styles: string;
  /** A new nonce at each call. */
  readonly nonce: () => string;
};

/**
 * The page of a view. Its policy allows the bundle's script by a nonce, the bundle's styles by their source, pictures
 * that their address holds, and nothing else, in particular no inline styles: the controls use constructed style
 * sheets, which no policy governs. At its start the toolkit appends one empty style element to learn about
 * `:focus-visible`, with the nonce that the `csp-nonce` tag names. That nonce is good for styles only; the script's
 * nonce is in no readable place.
 */
export function page({ view, title, source, script, styles, nonce }: PageParts): string {
  const scriptNonce = nonce();
  const styleNonce = nonce();
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${scriptNonce}'`,
    `style-src ${source} 'nonce-${styleNonce}'`,
    `font-src ${source}`,
    // Pictures in results of tools; a picture runs no script.
    'img-src data:',
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta property="csp-nonce" content="${styleNonce}">
  <link rel="stylesheet" href="${styles}">
  <title>${title}</title>
</head>
<body>
  <div id="view" data-view="${view}"></div>
  <script nonce="${scriptNonce}" src="${script}"></script>
</body>
</html>`;
}
