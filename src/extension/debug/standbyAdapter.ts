import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import * as vscode from 'vscode';
import { domainFolderOf } from '../../engine/shell/domain/domainFolder.ts';
import { type Context, commandLineOf } from '../commandLine/context.ts';
import { activeFile } from '../workspace/activeFile.ts';
import { debugType } from '../workspace/contributions.ts';

/** The token that a launch configuration must send to the standby; other adapters do not require one. */
export const standbyToken = randomBytes(16).toString('hex');

/** Minutes without a session or a file of a domain after which it ends. */
const idleMinutes = 10;

type Running = {
  readonly child: ChildProcess;
  readonly environment: string;
  /** The port it listens on; null when it ended first. */
  readonly port: Promise<number | null>;
};

/**
 * A debug adapter that is up before F5: while a file of a domain is shown in a trusted workspace, a process has the
 * engine loaded, the domain's files read and a worker's process started. Without it a launch takes about twice as long.
 */
export class StandbyAdapter implements vscode.Disposable {
  readonly #context: Context;
  #running: Running | null = null;
  #folder: string | undefined;
  #sessions = 0;
  #idle: NodeJS.Timeout | undefined;
  readonly #subscriptions: readonly vscode.Disposable[];

  constructor(context: Context) {
    this.#context = context;
    this.#subscriptions = [
      vscode.window.onDidChangeActiveTextEditor(() => void this.#prepare()),
      vscode.debug.onDidStartDebugSession(({ type }) => this.#counted(type, 1)),
      vscode.debug.onDidTerminateDebugSession(({ type }) => this.#counted(type, -1)),
    ];
    void this.#prepare();
  }

  /** The port of the standby, when it runs with this environment. */
  async port(environment: Readonly<Record<string, string>>): Promise<number | null> {
    const running = this.#running;
    return running?.environment === JSON.stringify(environment) ? running.port : null;
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#end();
  }

  #counted(type: string, change: 1 | -1): void {
    if (type !== debugType) return;
    this.#sessions = Math.max(0, this.#sessions + change);
    // The session took the worker that was waiting.
    if (this.#sessions === 0) void this.#prepare();
  }

  /** Makes the domain of the active file ready, and gives the standby ten more minutes. */
  async #prepare(): Promise<void> {
    const file = activeFile();
    this.#folder = (file && domainFolderOf(file)) ?? this.#folder;
    if (!this.#folder || !vscode.workspace.isTrusted) return;
    const environment = await this.#context.environment();
    const running = this.#started(environment);
    running.child.stdin?.write(`${this.#folder}\n`);
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#ended(), idleMinutes * 60_000);
  }

  #started(environment: Readonly<Record<string, string>>): Running {
    const key = JSON.stringify(environment);
    if (this.#running?.environment === key) return this.#running;
    // Sessions of the one before live on: it ends by itself once its standard input and its clients are gone.
    this.#end();
    const child = spawn(
      process.execPath,
      [...commandLineOf(this.#context), 'dap', '--port', '0', '--standby', '--json'],
      {
        env: { ...process.env, ...environment, REHEARSAL_DAP_TOKEN: standbyToken },
        stdio: ['pipe', 'pipe', 'ignore'],
      },
    );
    const running: Running = { child, environment: key, port: portOf(child) };
    child.stdin?.on('error', () => undefined);
    child.once('exit', () => {
      if (this.#running === running) this.#running = null;
    });
    this.#running = running;
    return running;
  }

  #ended(): void {
    if (this.#sessions === 0) this.#end();
  }

  #end(): void {
    clearTimeout(this.#idle);
    this.#running?.child.stdin?.end();
    this.#running = null;
  }
}

/** The first line that a listening adapter prints names its address. */
function portOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    if (child.stdout) {
      createInterface({ input: child.stdout }).once('line', (line) => {
        const { address } = JSON.parse(line) as { readonly address: string };
        resolve(Number(address.split(':').at(-1)));
      });
    }
    child.once('error', () => resolve(null)).once('exit', () => resolve(null));
  });
}
