import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../../scripts/vscode/browser.ts';
import { type Server, startServer } from '../../../scripts/vscode/server.ts';
import { temporaryFolder } from '../../support/temporary.ts';

/** The test files of a vitest worker share one browser and one VS Code server. */
let browser: Promise<Browser> | undefined;
let server: Promise<Server> | undefined;

// vitest ends a worker with SIGTERM. Without a handler the process would end before its exit listeners end these two.
const exitAtEnd = () => process.once('SIGTERM', () => process.exit());

/** Returns the browser of this process. Open a context in it and close only that. */
export function sharedBrowser(): Promise<Browser> {
  if (!browser) exitAtEnd();
  // Its process is killed when this one exits, and leaves files then.
  browser ??= launchBrowser(temporaryFolder('browser'));
  return browser;
}

/** Returns the VS Code server of this process, with a package installed. */
export function sharedServer(vsix: string): Promise<Server> {
  // Its process is killed when this one exits, and cannot remove its folders then.
  // A page that is closed while VS Code still opens may leave its extension host without telling it to end.
  server ??= startServer({ vsix, reconnectionSeconds: 10, temporary: temporaryFolder('server') });
  return server;
}

/** Returns the pages that are open in the browser of this process. */
export async function sharedPages(): Promise<Page[]> {
  return (await browser)?.contexts().flatMap((context) => context.pages()) ?? [];
}
