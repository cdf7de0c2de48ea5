import { spawn } from 'node:child_process';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Context } from './context.ts';
import { mayRun } from './trust.ts';

type Imported = {
  readonly domains: readonly { readonly name: string; readonly tasks: number }[];
  readonly notCarried: readonly { readonly domain: string; readonly task?: string; readonly what: string }[];
};

/**
 * Makes domains of a benchmark from the person's own copy of it. What could not be carried over is in the log.
 * @returns the folder of the domains, or undefined when it was cancelled or failed
 */
export async function importBenchmark(context: Context): Promise<string | undefined> {
  if (!mayRun('Imports')) return undefined;
  const benchmark = await vscode.window.showQuickPick(['tau2', 'bfcl'], { placeHolder: 'Which benchmark?' });
  if (!benchmark) return undefined;
  const from = await pickFolder(`Your copy of ${benchmark}: a checkout, or the folder of the installed package`);
  const into = from && (await pickFolder('Folder that the domains go into'));
  if (!into) return undefined;
  const out = join(into, benchmark);
  const title = `Rehearsal: importing ${benchmark}`;
  const printed = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () =>
    run(context, ['import', benchmark, '--from', from, '--out', out, '--json']),
  );
  const report = printed as Partial<Imported> & { readonly error?: { readonly message: string } };
  if (!report.domains) {
    void vscode.window.showErrorMessage(
      report.error?.message ?? `${benchmark} could not be imported; the log says why.`,
    );
    return undefined;
  }
  for (const { domain, task, what } of report.notCarried ?? [])
    context.log.info(`${benchmark} ${domain}${task === undefined ? '' : ` ${task}`}: not carried over: ${what}`);
  const made = report.domains.map(({ name, tasks }) => `${name} (${tasks} tasks)`).join(', ');
  const chosen = await vscode.window.showInformationMessage(`Imported ${made} into ${out}.`, 'Open Folder', 'Show Log');
  if (chosen === 'Show Log') context.log.show();
  if (chosen === 'Open Folder') await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(out));
  return out;
}

async function pickFolder(title: string): Promise<string | undefined> {
  const [folder] =
    (await vscode.window.showOpenDialog({
      canSelectFiles: false,
      canSelectFolders: true,
      openLabel: 'Choose',
      title,
    })) ?? [];
  return folder?.fsPath;
}

/** The last line that the command line printed on its output, as JSON. */
async function run(context: Context, args: readonly string[]): Promise<object> {
  const child = spawn(process.execPath, [context.cli, ...args], {
    env: { ...process.env, ...(await context.environment()) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => context.log.info(chunk.toString().trimEnd()));
  await new Promise((resolve) => child.once('close', resolve));
  const line = out.trim().split('\n').at(-1) ?? '';
  return line.startsWith('{') ? (JSON.parse(line) as object) : {};
}
