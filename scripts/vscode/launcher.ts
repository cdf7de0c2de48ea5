#!/usr/bin/env node
/**
 * Looks like a desktop VS Code's executable to `@vscode/test-electron`: takes its command line, runs the tests in
 * the extension host of VS Code for the browser, forwards what they print and ends with their exit code.
 */
import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';
import type { Page } from 'playwright-core';
import { Failure, runMain } from '../terminal.ts';
import { launchBrowser } from './browser.ts';
import { type Server, startServer } from './server.ts';
import { testMark } from './testMark.ts';
import { testSettings } from './testSettings.ts';

/** The part of VS Code's command line that matters here. */
export type LauncherOptions = { extensions: string[]; tests: string; folder: string | undefined };

/** Messages of VS Code about missing compiled modules and the marketplace, which do not matter here. */
const missingModules = /bindings file|native-watchdog|open-vsx\.org/;

/** Longest time from opening the page to the end of the tests: every quick fix is audited there in the full suite. */
const timeLimit = Number(process.env.REHEARSAL_HOST_TEST_TIMEOUT_MS ?? 1_800_000);

/** Parses VS Code's command line and ignores options of desktop windows. Throws a `Failure` for a missing option. */
export function parseLauncherArguments(args: readonly string[]): LauncherOptions {
  const options = (name: string) =>
    args.flatMap((arg) => (arg.startsWith(`--${name}=`) ? [arg.slice(name.length + 3)] : []));
  const extensions = options('extensionDevelopmentPath');
  const [tests] = options('extensionTestsPath');
  if (extensions.length === 0 || !tests) {
    throw new Failure('The launcher needs --extensionDevelopmentPath=FOLDER and --extensionTestsPath=FILE.');
  }
  const folder = args.find((arg) => !arg.startsWith('-'));
  const absolute = (path: string) => (isAbsolute(path) ? path : resolve(path));
  return { extensions: extensions.map(absolute), tests: absolute(tests), folder: folder && absolute(folder) };
}

/** Returns the query that makes the workbench load the extension and run the tests in its extension host. */
export function testQuery(origin: string, { extensions, tests, folder }: LauncherOptions): Record<string, string> {
  const remote = (path: string) => `vscode-remote://${new URL(origin).host}${pathToFileURL(path).pathname}`;
  const payload = [
    ['extensionDevelopmentPath', remote(extensions[0] ?? '')],
    ['extensionTestsPath', remote(tests)],
  ];
  return { ...(folder ? { folder } : { ew: 'true' }), payload: JSON.stringify(payload) };
}

/** Opens the page and waits for the result that the workbench reports: 0 when all tests passed. */
async function runInPage(page: Page, address: string): Promise<number> {
  const others: string[] = [];
  let printed = false;
  const log = (type: string, args: unknown[]) => {
    const line = format(...args);
    if (line.startsWith(testMark)) {
      printed = true;
      console.log(line.slice(testMark.length));
    } else if (process.env.REHEARSAL_VERBOSE) console.log(line);
    else if (!missingModules.test(line)) others.push(`[${type}] ${line}`);
  };
  const exited = new Promise<number>((done, failed) => {
    page.exposeFunction('codeAutomationExit', (code: number) => done(code)).catch(failed);
    page.exposeFunction('codeAutomationLog', log).catch(failed);
    page.once('crash', () => failed(new Failure('The page with the tests crashed.')));
  });
  const expired = new Promise<never>((_, failed) => {
    const message = `The tests in VS Code did not end within ${timeLimit / 1000} s (REHEARSAL_HOST_TEST_TIMEOUT_MS).`;
    setTimeout(() => failed(new Failure(message)), timeLimit).unref();
  });
  try {
    await page.goto(address);
    const code = await Promise.race([exited, expired]);
    if (code !== 0 && !printed) console.error(others.join('\n'));
    return code;
  } catch (error) {
    console.error(others.join('\n'));
    throw error;
  }
}

async function main(args: string[]): Promise<number> {
  const options = parseLauncherArguments(args);
  let server: Server | undefined;
  const window = await launchBrowser();
  try {
    server = await startServer({
      smokeTestDriver: true,
      // VS Code for the browser develops one extension; the others are installed.
      extensions: options.extensions.slice(1),
      // In the browser the default is to save a second after each edit, which a desktop VS Code does not do.
      settings: { ...testSettings, 'files.autoSave': 'off' },
    });
    const page = await window.newPage({ viewport: { width: 800, height: 600 }, reducedMotion: 'reduce' });
    return await runInPage(page, server.address(testQuery(server.origin, options)));
  } finally {
    await window.close();
    await server?.stop();
  }
}

if (import.meta.main) await runMain(main);
