import { basename, isAbsolute, join } from 'node:path';
import * as vscode from 'vscode';
import { rewardText } from '../../engine/core/events/displayText.ts';
import { counted } from '../../engine/core/text/counted.ts';
import type { Diagnostic } from '../../engine/shell/files/diagnostic.ts';
import { answerOf, checkAnswer, failureMessage, runQuietly } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { requireWritable } from '../runs/runPlaces.ts';
import { domainFolders, saveFilesOf } from '../workspace/workspaceDomains.ts';
import { runArguments } from './runArguments.ts';

/** Most characters of an answer: what is longer fills a model's window, and it can ask for less. */
const longestAnswer = 60_000;

type DomainInput = { readonly domain?: string };
type RunInput = DomainInput & { readonly task: string; readonly agent?: string };
type RecordingInput = { readonly recording: string };

/** Answers a call of a tool. */
type Answer<Input> = (input: Input, token: vscode.CancellationToken) => Promise<string>;

/**
 * The tools of Rehearsal that the editor's own agent may call, so that it can change a policy and prove the change:
 * check a domain, run a task, read a recording, explain a reward. Each is a command of the command line.
 */
export function registerLanguageModelTools(context: Context): vscode.Disposable {
  const said = (args: readonly string[], token: vscode.CancellationToken) => printed(context, args, token);
  const check: Answer<DomainInput> = async ({ domain }, token) => {
    const folder = await folderOf(domain);
    await saveFilesOf(folder);
    const isStatic = vscode.workspace.isTrusted ? [] : ['--static'];
    const end = await runQuietly(context, ['check', folder, '--json', ...isStatic], { token });
    type Checked = { readonly diagnostics?: readonly Diagnostic[]; readonly tasks?: number };
    const { diagnostics = [], tasks }: Checked = checkAnswer(end);
    const lines = diagnostics.map(
      ({ severity, code: id, file, line, message: words, hint }) =>
        `${severity} ${id} ${vscode.workspace.asRelativePath(file)}:${line} ${words}${hint ? ` ${hint}` : ''}`,
    );
    return [
      `${basename(folder)}: ${counted(tasks ?? 0, 'task')}, ${counted(diagnostics.length, 'finding')}`,
      ...lines,
    ].join('\n');
  };
  const play: Answer<RunInput> = async ({ domain, task, agent }, token) => {
    const folder = await folderOf(domain);
    await saveFilesOf(folder);
    const args = runArguments({ folder, runs: requireWritable('runs', folder), task, agent });
    const end = await runQuietly(context, args, { token });
    const { reward, recording } = end.answer as { readonly reward?: number | null; readonly recording?: string };
    if (recording === undefined) throw new Error(failureMessage(end, 'the rollout'));
    return `${rewardText(reward ?? null)}\nrecording ${recording}\n\n${await said(['explain', recording], token)}`;
  };
  const tools = {
    rehearsal_checkDomain: readOnly('Checking the domain', check),
    rehearsal_runTask: starting<RunInput>(
      ({ task, agent }) => (agent ? `Rehearsing ${task} with ${agent}` : `Rehearsing ${task}`),
      play,
    ),
    rehearsal_readTrajectory: readOnly<RecordingInput>('Reading the recording', ({ recording }, token) =>
      said(['replay', pathOf(recording), '--static'], token),
    ),
    rehearsal_explainFailure: starting<RecordingInput>(
      () => 'Explaining the reward',
      ({ recording }, token) => said(['explain', pathOf(recording)], token),
    ),
  };
  return vscode.Disposable.from(
    ...Object.entries(tools).map(([name, tool]) =>
      vscode.lm.registerTool(name, tool as vscode.LanguageModelTool<object>),
    ),
  );
}

function readOnly<Input>(invocationMessage: string, answer: Answer<Input>): vscode.LanguageModelTool<Input> {
  return { prepareInvocation: () => ({ invocationMessage }), invoke: invoked(answer) };
}

const warning = 'The tools of the domain are programs, and they will run.';

/** A tool that lets code of the domain run: it is asked for first, and refused where no one trusts the workspace. */
function starting<Input>(words: (input: Input) => string, answer: Answer<Input>): vscode.LanguageModelTool<Input> {
  return {
    prepareInvocation: ({ input }) => ({
      invocationMessage: words(input),
      // What is refused is not asked for.
      ...(vscode.workspace.isTrusted ? { confirmationMessages: { title: words(input), message: warning } } : {}),
    }),
    invoke: invoked(async (input, token) => {
      if (!vscode.workspace.isTrusted)
        throw new Error('this workspace is in Restricted Mode: domain code does not run. Ask the user to trust it');
      return answer(input, token);
    }),
  };
}

function invoked<Input>(answer: Answer<Input>): vscode.LanguageModelTool<Input>['invoke'] {
  return async ({ input }, token) => {
    const text = await answer(input, token);
    const left = text.length - longestAnswer;
    const shown = left > 0 ? `${text.slice(0, longestAnswer)}\n... and ${left} more characters` : text;
    return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(shown)]);
  };
}

/** Returns what a command prints, line by line. */
async function printed(context: Context, args: readonly string[], token: vscode.CancellationToken): Promise<string> {
  const lines: string[] = [];
  answerOf(await runQuietly(context, args, { token, onLine: (line) => lines.push(line) }), `rehearsal ${args[0]}`);
  return lines.join('\n');
}

/** The folder of a domain that is named by its folder or its name, or of the workspace's only one. */
async function folderOf(named: string | undefined): Promise<string> {
  const folders = await domainFolders();
  const found = named === undefined ? folders : foldersNamed(folders, named);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const names = folders.map((folder) => vscode.workspace.asRelativePath(folder)).join(', ');
  throw new Error(
    folders.length === 0 ? 'this workspace has no domain (a folder with domain.yaml)' : `name one domain: ${names}`,
  );
}

/** A path means one domain, also where another one has the same name. */
function foldersNamed(folders: readonly string[], named: string): readonly string[] {
  const exact = folders.filter((folder) => folder === named || vscode.workspace.asRelativePath(folder) === named);
  return exact.length > 0 ? exact : folders.filter((folder) => basename(folder) === basename(named));
}

function pathOf(named: string): string {
  const [root] = vscode.workspace.workspaceFolders ?? [];
  return isAbsolute(named) || !root ? named : join(root.uri.fsPath, named);
}
