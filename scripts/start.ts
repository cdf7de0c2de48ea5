#!/usr/bin/env node
/**
 * `npm start`: opens a sample domain in VS Code with this extension. A desktop VS Code on PATH loads it from the
 * repository; otherwise VS Code for the browser is installed into the cache folder and gets the packaged extension.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from './build.ts';
import { packageExtension } from './package.ts';
import { findOnPath, runCommand } from './process.ts';
import { inRoot, root } from './repository.ts';
import { announce, elapsed, Failure, runMain, style } from './terminal.ts';
import { cacheFolder } from './vscode/cacheFolder.ts';
import { findDesktop } from './vscode/desktop.ts';
import { type Server, startServer } from './vscode/server.ts';

const sampleFolder = inRoot('domains', 'order-desk');

const usage = `Usage: npm start -- [options]
  --folder DIR     the folder to open (domains/order-desk)
  --browser        use VS Code for the browser even where a desktop VS Code is installed
  --port N         the port of VS Code for the browser (a free one)
  --user-data DIR  where VS Code for the browser keeps its settings (the cache folder)
  --no-open        print the address and open no browser`;

type Options = { folder: string; port: number | undefined; userData: string; open: boolean; browser: boolean };

function readOptions(args: string[]): Options | undefined {
  const { values } = parseArgs({
    args,
    allowNegative: true,
    options: {
      folder: { type: 'string', default: sampleFolder },
      port: { type: 'string' },
      'user-data': { type: 'string', default: join(cacheFolder(), 'start') },
      open: { type: 'boolean', default: true },
      browser: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return undefined;
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65_536)) {
    throw new Failure(`--port must be a number from 1 to 65535: "${values.port}".`);
  }
  const folder = resolve(values.folder);
  if (!existsSync(folder)) throw new Failure(`The folder ${folder} does not exist.`);
  const userData = resolve(values['user-data']);
  return { folder, port, userData, open: values.open, browser: values.browser };
}

/** Opens a desktop VS Code with the extension of this repository. */
async function startDesktop(command: string, folder: string): Promise<void> {
  await ensureBuilt();
  const args = ['--new-window', `--extensionDevelopmentPath=${root}`, folder];
  const { code, output } = await runCommand(command, args, { shell: process.platform === 'win32' });
  if (code !== 0) throw new Failure(`${command} ended with code ${code}:\n${output.trim()}`);
  announce(`Opened ${folder} in ${command}. ${nextStep(folder)}`);
}

/** Starts VS Code for the browser with the packaged extension; its settings are kept between runs. */
async function startBrowser(options: Options): Promise<Server> {
  const started = performance.now();
  const vsix = await packageExtension();
  const { port, userData } = options;
  // The extension opens the failing task of a sample domain unless start pages are turned off.
  const settings = { 'workbench.startupEditor': 'welcomePageInEmptyWorkbench' };
  const server = await startServer({ vsix, userData, settings, ...(port === undefined ? {} : { port }) });
  const address = server.address({ folder: options.folder });
  announce(`VS Code is ready (${elapsed(started)}). ${nextStep(options.folder)}`);
  console.log(`\n  ${style('bold', address)}\n`);
  if (process.env.SSH_CONNECTION) {
    console.log(
      `  From another machine: ssh -L ${server.port}:127.0.0.1:${server.port} <this machine>, then open the address.`,
    );
  }
  if (!hasDisplay()) {
    console.log('  No display was found. To see the same failure in another terminal:');
    console.log('    npx rehearsal run domains/order-desk lamp-variant');
    console.log('    npx rehearsal debug domains/order-desk lamp-variant\n');
  }
  console.log('  Press Ctrl+C to end it.');
  if (options.open) await openAddress(address);
  return server;
}

/** Returns what to do in the window that opened. */
function nextStep(folder: string): string {
  return folder === sampleFolder
    ? 'It shows a task that fails. Click Debug in the line above `id: lamp-variant`.'
    : 'Open a file of tasks/ there and press F5.';
}

function hasDisplay(): boolean {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  return process.platform !== 'linux' || Boolean(DISPLAY ?? WAYLAND_DISPLAY);
}

/** Opens the address in the user's browser, if there is one. */
async function openAddress(address: string): Promise<void> {
  const command = process.platform === 'darwin' ? findOnPath('open') : findOnPath('xdg-open');
  if (hasDisplay() && command) await runCommand(command, [address]).catch(() => undefined);
}

/** Resolves at Ctrl+C or SIGTERM. */
function interrupted(): Promise<void> {
  return new Promise((done) => {
    process.once('SIGINT', () => done());
    process.once('SIGTERM', () => done());
  });
}

async function main(args: string[]): Promise<number> {
  const options = readOptions(args);
  if (!options) {
    console.log(usage);
    return 0;
  }
  const desktop = options.browser ? undefined : findDesktop();
  if (desktop) {
    await startDesktop(desktop, options.folder);
    return 0;
  }
  const server = await startBrowser(options);
  await interrupted();
  console.log('\nEnding VS Code ...');
  await server.stop();
  return 0;
}

if (import.meta.main) await runMain(main, usage);
