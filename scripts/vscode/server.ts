import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { runCommand } from '../process.ts';
import { Failure } from '../terminal.ts';
import { installCodeServer } from './codeServer.ts';
import { startTokenProxy } from './tokenProxy.ts';

/** Options of a VS Code server. `userData` is a new temporary folder unless it is given. */
export type ServerOptions = {
  port?: number;
  userData?: string;
  /** The parent of its temporary folders, in place of the system's. */
  temporary?: string;
  /** Path of a .vsix that is installed before the start. */
  vsix?: string;
  /** Folders of extensions that are installed as they are. */
  extensions?: readonly string[];
  /** User settings besides `quietSettings`. */
  settings?: Record<string, unknown>;
  /** Required for tests inside the extension host. It hides notifications. */
  smokeTestDriver?: boolean;
  /** Asks whether a folder is trusted, as VS Code does. Otherwise every folder is trusted. */
  workspaceTrust?: boolean;
  /** Seconds in which a disconnected page can reconnect to its extension host. The default is three hours. */
  reconnectionSeconds?: number;
  env?: Record<string, string>;
};

/** A running VS Code server on the loopback interface. Every request needs the token that is in its addresses. */
export type Server = {
  origin: string;
  port: number;
  userData: string;
  /** Returns the address of the workbench with a query, for example `{ folder }`, and the token. */
  address(query: Record<string, string>): string;
  /** Returns the process ids of the running extension hosts; each open page has one. */
  extensionHosts(): readonly number[];
  /** Replaces the user settings and removes what earlier pages stored. No page may be open. */
  resetUser(settings: Record<string, unknown>): void;
  stop(): Promise<void>;
  /** Kills all of its processes. */
  kill(): Promise<void>;
};

/** User settings that turn off welcome pages, assistants and network traffic. */
export const quietSettings: Record<string, unknown> = {
  'workbench.startupEditor': 'none',
  'chat.disableAIFeatures': true,
  'telemetry.telemetryLevel': 'off',
  'extensions.autoUpdate': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'git.enabled': false,
  'window.restoreWindows': 'none',
};

const startLimit = 180_000;

/** Starts VS Code for the browser, installing it first if necessary, and resolves when it answers. */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const entry = await installCodeServer();
  const temporary = options.userData === undefined;
  const parent = options.temporary ?? tmpdir();
  const userData = options.userData ?? mkdtempSync(join(parent, 'rehearsal-vscode-'));
  writeSettings(userData, options.settings ?? {});
  const folders = folderArguments(userData);
  const env = { ...process.env, ...options.env };
  if (options.vsix && temporary)
    cpSync(await installedExtension(entry, options.vsix, env), join(userData, 'extensions'), { recursive: true });
  else if (options.vsix) await installExtension(entry, folders, options.vsix, env);
  for (const extension of options.extensions ?? []) copyExtension(extension, join(userData, 'extensions'));
  const home = mkdtempSync(join(parent, 'rehearsal-socket-'));
  const socket = join(home, 'vscode.sock');
  const child = spawn(process.execPath, [entry, ...folders, ...listenArguments(socket, options)], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  });
  const endAtExit = () => signalGroup(child, 'SIGKILL');
  process.once('exit', endAtExit);
  const clean = async () => {
    await end(child);
    process.off('exit', endAtExit);
    for (const folder of temporary ? [home, userData] : [home]) {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  };
  try {
    const extensionHosts = followExtensionHosts(child);
    await untilListening(child);
    const { port, address, close } = await startTokenProxy(socket, options.port);
    const resetUser = (settings: Record<string, unknown>) => {
      rmSync(join(userData, 'User'), { recursive: true, force: true, maxRetries: 5 });
      writeSettings(userData, settings);
    };
    const stop = () => close().then(clean);
    const kill = () => {
      signalGroup(child, 'SIGKILL');
      return stop();
    };
    return { origin: `http://127.0.0.1:${port}`, port, userData, address, extensionHosts, resetUser, stop, kill };
  } catch (error) {
    await clean();
    throw error;
  }
}

function writeSettings(userData: string, settings: Record<string, unknown>): void {
  mkdirSync(join(userData, 'User'), { recursive: true });
  mkdirSync(join(userData, 'extensions'), { recursive: true });
  // Without its own configuration file code-server writes one into the user's home.
  writeFileSync(join(userData, 'code-server.yaml'), '');
  const file = join(userData, 'User', 'settings.json');
  // A user-data folder that was used before keeps what its user set.
  if (existsSync(file)) return;
  writeFileSync(file, `${JSON.stringify({ ...quietSettings, ...settings }, undefined, 2)}\n`);
  // A setting of the scope "machine" is read from here, as on any machine that a window is connected to.
  mkdirSync(join(userData, 'Machine'), { recursive: true });
  writeFileSync(join(userData, 'Machine', 'settings.json'), `${JSON.stringify(settings, undefined, 2)}\n`);
}

/** Copies an extension's folder to the installed ones. If there is a list of those, only what it names is loaded. */
function copyExtension(extension: string, extensions: string): void {
  const folder = join(extensions, basename(extension));
  cpSync(extension, folder, { recursive: true });
  const list = join(extensions, 'extensions.json');
  if (!existsSync(list)) return;
  const { publisher, name, version } = JSON.parse(readFileSync(join(extension, 'package.json'), 'utf8'));
  const listed = JSON.parse(readFileSync(list, 'utf8')) as object[];
  const location = { $mid: 1, path: folder, scheme: 'file' };
  const entry = { identifier: { id: `${publisher}.${name}` }, version, location, relativeLocation: basename(folder) };
  writeFileSync(list, JSON.stringify([...listed, entry]));
}

function folderArguments(userData: string): string[] {
  const config = join(userData, 'code-server.yaml');
  return ['--config', config, '--user-data-dir', userData, '--extensions-dir', join(userData, 'extensions')];
}

/**
 * Returns the arguments with which code-server listens on a socket file that only this user can open, without a
 * password. The proxy before it checks the token, because code-server has no option for VS Code's connection token.
 */
function listenArguments(socket: string, options: ServerOptions): string[] {
  const { smokeTestDriver, workspaceTrust, reconnectionSeconds } = options;
  return [
    '--auth',
    'none',
    '--socket',
    socket,
    '--socket-mode',
    '600',
    '--disable-telemetry',
    '--disable-update-check',
    '--disable-getting-started-override',
    ...(reconnectionSeconds === undefined ? [] : ['--reconnection-grace-time', `${reconnectionSeconds}`]),
    ...(workspaceTrust ? [] : ['--disable-workspace-trust']),
    ...(smokeTestDriver ? ['--vscode-option=enable-smoke-test-driver=true'] : []),
  ];
}

/**
 * Returns the extensions folder of a VS Code in which a package is installed. Installing takes seconds, so the folder
 * is kept next to the package. Processes that install at the same time each fill their own folder; the first one stays.
 */
async function installedExtension(entry: string, vsix: string, env: NodeJS.ProcessEnv): Promise<string> {
  const stamp = createHash('sha256').update(entry).update(readFileSync(vsix)).digest('hex').slice(0, 16);
  const kept = join(dirname(vsix), `installed-${stamp}`);
  const extensions = join(kept, 'extensions');
  if (existsSync(kept)) return extensions;
  const filled = mkdtempSync(join(dirname(vsix), 'installing-'));
  writeSettings(filled, {});
  await installExtension(entry, folderArguments(filled), vsix, env);
  try {
    renameSync(filled, kept);
  } catch (error) {
    rmSync(filled, { recursive: true, force: true });
    if (!existsSync(kept)) throw error;
  }
  for (const name of readdirSync(dirname(vsix)))
    if (name.startsWith('installed-') && name !== basename(kept))
      rmSync(join(dirname(vsix), name), { recursive: true, force: true });
  return extensions;
}

async function installExtension(entry: string, folders: string[], vsix: string, env: NodeJS.ProcessEnv): Promise<void> {
  const { code, output } = await runCommand(
    process.execPath,
    [entry, ...folders, '--force', '--install-extension', vsix],
    { env },
  );
  if (code !== 0 || !/successfully installed/.test(output)) {
    throw new Failure(`VS Code could not install ${vsix}:\n${output.trim()}`);
  }
}

/** Reads from the server's log which extension hosts run. */
function followExtensionHosts(child: ChildProcess): () => readonly number[] {
  const running = new Set<number>();
  if (child.stdout)
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, pid, what] = /<(\d+)> (Launched Extension Host Process|Extension Host Process exited)/.exec(line) ?? [];
      if (what?.startsWith('Launched')) running.add(Number(pid));
      else if (what) running.delete(Number(pid));
    });
  return () => [...running];
}

function untilListening(child: ChildProcess): Promise<void> {
  let log = '';
  return new Promise((resolve, reject) => {
    const timer = globalThis.setTimeout(() => fail(`it was not ready after ${startLimit / 1000} s`), startLimit);
    const fail = (reason: string) => {
      clearTimeout(timer);
      signalGroup(child, 'SIGTERM');
      reject(new Failure(`VS Code's server did not start: ${reason}.\n${log}`));
    };
    const read = (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-4000);
      if (!log.includes('HTTP server listening')) return;
      clearTimeout(timer);
      child.stdout?.off('data', read);
      child.stderr?.off('data', read).resume();
      resolve();
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code, signal) => fail(`it ended with ${signal ?? `code ${code}`}`));
  });
}

/** Ends the server and everything it started: SIGTERM, and SIGKILL where that is not enough after 8 s. */
async function end(child: ChildProcess): Promise<void> {
  const alive = () => signalGroup(child, 0);
  signalGroup(child, 'SIGTERM');
  const deadline = performance.now() + 8000;
  while (alive() && performance.now() < deadline) await setTimeout(50);
  if (alive()) signalGroup(child, 'SIGKILL');
}

/** Signals the server's own process group, for extension hosts outlive it; false where nothing is left of it. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (child.pid === undefined) return false;
  try {
    return process.kill(process.platform === 'win32' ? child.pid : -child.pid, signal);
  } catch {
    return false;
  }
}
