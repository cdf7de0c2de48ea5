import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { type ImportReport, leftOut } from '../benchmarks/importReport.ts';
import { type Benchmark, benchmarks } from '../engine/core/domain/benchmark.ts';
import { counted } from '../engine/core/text/counted.ts';
import { failureMessage, runWithProgress } from './commandLine/commandLine.ts';
import type { Context } from './commandLine/context.ts';
import { showErrorMessage, showInformationMessage } from './workspace/messages.ts';
import { mayRun } from './workspace/trust.ts';

/**
 * Makes domains of a benchmark from the person's own copy of it. What could not be carried over is in the log.
 * @returns the folder of the domains, or undefined when it was cancelled or failed
 */
export async function importBenchmark(context: Context): Promise<string | undefined> {
  if (!mayRun('Imports')) return undefined;
  const picked = await vscode.window.showQuickPick([...benchmarks], { placeHolder: 'Which benchmark?' });
  const benchmark = benchmarks.find((each) => each === picked);
  if (!benchmark) return undefined;
  const from = await pick(`Your copy of ${benchmark}: a checkout, or the folder of the installed package`, 'folder');
  const into = from && (await pick('Folder that the domains go into', 'folder'));
  if (!into) return undefined;
  const out = join(into, benchmark);
  if (existsSync(out)) {
    void showErrorMessage(`${out} already exists. Choose another folder, or remove it first.`);
    return undefined;
  }
  const report = await imported(context, benchmark, { from, out });
  return report ? shown(context, benchmark, report, out) : undefined;
}

/** Runs the import; where the copy needs another Python than the one that was found, the person can choose it. */
async function imported(
  context: Context,
  benchmark: Benchmark,
  at: { readonly from: string; readonly out: string; readonly python?: string },
): Promise<ImportReport | undefined> {
  const named = Object.entries(at).flatMap(([option, path]) => [`--${option}`, path]);
  const end = await runWithProgress(context, `Rehearsal: importing ${benchmark}`, ['import', benchmark, ...named]);
  if (end.isCancelled) return undefined;
  if ('domains' in end.answer) return end.answer as ImportReport;
  const message = failureMessage(end, `The import of ${benchmark}`);
  const chosen = await showErrorMessage(message, 'Choose Python…', 'Show Log');
  if (chosen === 'Show Log') context.log.show();
  const python =
    chosen === 'Choose Python…' ? await pick(`A Python that has what ${benchmark} needs`, 'file') : undefined;
  return python === undefined ? undefined : imported(context, benchmark, { ...at, python });
}

async function shown(context: Context, benchmark: Benchmark, report: ImportReport, out: string): Promise<string> {
  for (const { domain, task, what } of report.notCarried)
    context.log.info(`${benchmark} ${domain}${task === undefined ? '' : ` ${task}`}: not carried over: ${what}`);
  const made = report.domains.map(({ name, tasks }) => `${name} (${counted(tasks, 'task')})`).join(', ');
  const { domains, tasks } = leftOut(report);
  const left = [
    ...(domains > 0 ? [counted(domains, 'whole domain')] : []),
    ...(tasks > 0 ? [counted(tasks, 'task')] : []),
  ];
  const without = left.length === 0 ? '' : ` Not carried over: ${left.join(' and ')}; see the log for the reasons.`;
  const message = `Imported ${made} into ${out}.${without}`;
  const chosen = await showInformationMessage(message, 'Open Folder', 'Show Log');
  if (chosen === 'Show Log') context.log.show();
  if (chosen === 'Open Folder') await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(out));
  return out;
}

async function pick(title: string, what: 'folder' | 'file'): Promise<string | undefined> {
  const [chosen] =
    (await vscode.window.showOpenDialog({
      canSelectFiles: what === 'file',
      canSelectFolders: what === 'folder',
      openLabel: 'Choose',
      title,
    })) ?? [];
  return chosen?.fsPath;
}
