import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { inRoot } from '../../../scripts/repository.ts';
import { page as viewHtml } from '../../../src/extension/panels/page.ts';
import type { ToExtension, ToWebview, ViewId } from '../../../src/webview/messages/protocol.ts';
import { auditCharts } from './charts.ts';
import { sharedBrowser } from './shared.ts';
import { type Theme, themes } from './themes.ts';
import { limit } from './until.ts';
import { screenshotFolder } from './workbench.ts';

/** A view's own page in a browser; the test plays the extension. */
export type ViewPage = {
  readonly page: Page;
  /** Sends messages; resolves when the view has drawn them. */
  readonly send: (...messages: readonly ToWebview[]) => Promise<void>;
  readonly posted: () => Promise<readonly ToExtension[]>;
  readonly setTheme: (theme: Theme) => Promise<void>;
  /** Returns what the content security policy blocked, and the page's errors. */
  readonly complaints: () => Promise<readonly string[]>;
  /** Violations that axe-core finds, one line each, and charts that a screen reader cannot read. */
  readonly accessibility: () => Promise<readonly string[]>;
  /** Saves a screenshot of the page in the folder of the screenshots. */
  readonly screenshot: (name: string) => Promise<void>;
  /** Returns the state that the page would be given again when its tab is shown again. */
  readonly kept: () => Promise<unknown>;
  readonly close: () => Promise<void>;
};

type Size = { readonly width: number; readonly height: number };

export type ViewBrowser = {
  readonly open: (view: ViewId, theme?: Theme, state?: unknown, size?: Size) => Promise<ViewPage>;
  readonly close: () => Promise<void>;
};

/** Serves the built bundle with the extension's own page and policy. */
export async function openViewBrowser(): Promise<ViewBrowser> {
  if (!existsSync(inRoot('dist', 'webview.js')))
    throw new Error('dist/webview.js is missing: run `npm run build` first.');
  const server = createServer((request, response) => {
    const name = request.url?.slice(1) ?? '';
    const isAsset = name === 'webview.js' || name === 'webview.css';
    response.setHeader('content-type', name.endsWith('.js') ? 'text/javascript' : isAsset ? 'text/css' : 'text/html');
    response.end(isAsset ? readFileSync(inRoot('dist', name)) : html(name as ViewId));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const context = await (await sharedBrowser()).newContext({ viewport: { width: 1200, height: 1000 } });
  context.setDefaultTimeout(limit);
  return {
    open: async (view, theme = themes.dark, state, size) => {
      const page = await context.newPage();
      if (size) await page.setViewportSize(size);
      return openView(page, `${origin}/${view}`, theme, state);
    },
    close: async () => {
      await context.close();
      server.close();
    },
  };
}

function html(view: ViewId): string {
  let nonces = 0;
  const nonce = (): string => `nonce${++nonces}`;
  return viewHtml({ view, title: view, source: "'self'", script: '/webview.js', styles: '/webview.css', nonce });
}

/** The data that the page keeps for the test, in addition to the view's own. */
type TestWindow = {
  posted: ToExtension[];
  refused: string[];
  kept: unknown;
  /** Called when the last of the messages that were sent has arrived. */
  arrived: () => void;
  applyTheme: (theme: Theme) => void;
  axe: typeof axe;
};

async function openView(page: Page, address: string, theme: Theme, state: unknown): Promise<ViewPage> {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await page.addInitScript(playEditor, { theme, state });
  await page.goto(address);
  await page.waitForFunction(() => (window as unknown as TestWindow).posted.some(({ type }) => type === 'ready'));
  return {
    page,
    send: (...messages) => page.evaluate(sendAndDraw, messages as readonly unknown[]),
    posted: () => page.evaluate(() => (window as unknown as TestWindow).posted),
    setTheme: (next) => page.evaluate((value) => (window as unknown as TestWindow).applyTheme(value), next),
    complaints: async () => [...errors, ...(await page.evaluate(() => (window as unknown as TestWindow).refused))],
    accessibility: async () => {
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate(() => (window as unknown as TestWindow).axe.run());
      const found = violations.map(({ id, impact, help, nodes }) => `${impact} ${id}: ${help}: ${nodes[0]?.html}`);
      return [...found, ...(await page.evaluate(auditCharts)).problems];
    },
    screenshot: async (name) => {
      await page.screenshot({ path: join(screenshotFolder(), `${name}.png`) });
    },
    kept: () => page.evaluate(() => (window as unknown as TestWindow).kept),
    close: () => page.close(),
  };
}

/** Runs in the page: sends messages to the view and waits until it has handled and drawn them. */
async function sendAndDraw(messages: readonly unknown[]): Promise<void> {
  for (const message of messages) window.postMessage(message, '*');
  // Messages of a window arrive in order, so what was sent before this one has been handled.
  await new Promise<void>((resolve) => {
    (window as unknown as TestWindow).arrived = resolve;
    window.postMessage('the last message', '*');
  });
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  await frame();
  await frame();
}

/** Runs in the page before the view does: the editor's functions, variables and classes. */
function playEditor({ theme, state }: { theme: Theme; state: unknown }): void {
  const host = window as unknown as TestWindow & { acquireVsCodeApi: () => unknown };
  host.posted = [];
  host.refused = [];
  host.acquireVsCodeApi = () => ({
    postMessage: (message: ToExtension) => host.posted.push(message),
    getState: () => state,
    setState: (next: unknown) => {
      host.kept = next;
    },
  });
  // This listener precedes the view's, which does not receive the events that it stops.
  window.addEventListener('message', (event) => {
    if (event.data !== 'the last message') return;
    event.stopImmediatePropagation();
    host.arrived();
  });
  host.applyTheme = ({ bodyClass, variables }) => {
    document.documentElement.removeAttribute('style');
    for (const [name, value] of Object.entries(variables)) {
      document.documentElement.style.setProperty(`--vscode-${name}`, value);
    }
    document.body.className = bodyClass;
    document.body.dataset.vscodeThemeKind = bodyClass.split(' ').at(-1) ?? '';
  };
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
    host.refused.push(`${violatedDirective} refused ${blockedURI}`);
  });
  const bodyWatch = new MutationObserver(() => {
    if (!document.body) return;
    bodyWatch.disconnect();
    host.applyTheme(theme);
  });
  bodyWatch.observe(document, { childList: true, subtree: true });
}
