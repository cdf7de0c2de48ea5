import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { counted } from '../../engine/core/text/counted.ts';
import { makeNewRunFolder, removeUnbegunRun } from '../../engine/shell/records/runName.ts';
import type { Balance } from '../../synthesis/balanceReport.ts';
import { askNamedModel } from '../authoring/drafting.ts';
import { type CommandEnd, failureMessage, runWithProgress } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { tell } from '../commandLine/tell.ts';
import { writableWorkOf } from '../runs/runPlaces.ts';
import { type Synthesis, syntheses } from '../runs/synthFolders.ts';
import { showInformationMessage } from '../workspace/messages.ts';
import { mayRun } from '../workspace/trust.ts';
import { domainFolders, offerNewDomain } from '../workspace/workspaceDomains.ts';

/** A planned synthesis: the arguments of the command line, and the output folder. */
type Plan = { readonly args: readonly string[]; readonly folder: string };

/**
 * Plays the training tasks of domains until there are enough trajectories to learn from, with progress and cancel.
 * @returns the folder of the synthesis, or undefined where nothing was begun
 */
export async function synthesize(context: Context): Promise<string | undefined> {
  if (!mayRun('Rollouts')) return undefined;
  const begun = (await syntheses()).filter(({ chosen, count }) => chosen < count);
  const goneOn = begun.length === 0 ? null : await pickBegun(begun);
  if (goneOn === undefined) return undefined;
  const plan = goneOn ? planOf(goneOn) : await newPlan(context);
  if (!plan) return undefined;
  const end = await runWithProgress(context, 'Rehearsal: synthesizing cold-start trajectories', plan.args);
  removeUnbegunRun(plan.folder);
  void tellOf(context, plan.folder, end);
  return plan.folder;
}

/** One to continue with, null for a new one, undefined for nothing. */
async function pickBegun(begun: readonly Synthesis[]): Promise<Synthesis | null | undefined> {
  const items = [
    { label: 'New synthesis', description: '', synthesis: null },
    ...begun.map((each) => ({
      label: `Continue ${each.id}`,
      description: `${each.chosen} of ${each.count} from ${each.domains.map((folder) => basename(folder)).join(', ')}`,
      synthesis: each,
    })),
  ];
  return (await vscode.window.showQuickPick(items, { placeHolder: 'Start a new one, or resume one?' }))?.synthesis;
}

function planOf({ folder, domains, teacher, count, nearMisses, seed }: Synthesis): Plan {
  const taught = teacher === 'gold' ? [] : ['--teacher', teacher];
  const options = ['--count', String(count), '--near-misses', String(nearMisses), '--seed', seed, ...taught];
  return { args: ['synth', ...domains, ...options, '--out', folder], folder };
}

async function newPlan(context: Context): Promise<Plan | undefined> {
  const domains = await pickDomains();
  const [first] = domains ?? [];
  if (!domains || first === undefined) return undefined;
  const teacher = await askTeacher(context);
  if (!teacher) return undefined;
  const count = await vscode.window.showInputBox({
    title: 'How many trajectories?',
    prompt: 'MUA-RL starts from about 2,000. Up to a quarter of them are near-misses.',
    value: '2000',
    validateInput: (text) => (/^[1-9][0-9]{0,5}$/.test(text) ? undefined : 'Type a whole number from 1 to 999999.'),
  });
  if (!count) return undefined;
  const place = writableWorkOf('synth', first);
  if (place === undefined) return undefined;
  const folder = makeNewRunFolder(place, 'synth');
  return { args: ['synth', ...domains, '--count', count, ...teacher, '--out', folder], folder };
}

async function pickDomains(): Promise<readonly string[] | undefined> {
  const folders = await domainFolders();
  if (folders.length === 0) {
    void offerNewDomain();
    return undefined;
  }
  if (folders.length === 1) return folders;
  const items = folders.map((folder) => ({ label: basename(folder), folder, picked: true }));
  const picked = await vscode.window.showQuickPick(items, {
    canPickMany: true,
    placeHolder: 'Of which domains? The trajectories are balanced over them',
  });
  return picked && picked.length > 0 ? picked.map(({ folder }) => folder) : undefined;
}

async function askTeacher(context: Context): Promise<readonly string[] | undefined> {
  const gold = { label: 'The gold seat', description: 'without a model; near-misses by one slip that the seed draws' };
  const model = { label: 'A model…', description: 'costs tokens; its key is set with Set Model Key…' };
  const picked = await vscode.window.showQuickPick([gold, model], { placeHolder: 'Who plays the agent?' });
  if (picked === gold) return [];
  const named = picked === model ? await askNamedModel(context, 'The model that teaches') : undefined;
  return named === undefined ? undefined : ['--teacher', named];
}

async function tellOf(context: Context, folder: string, end: CommandEnd): Promise<void> {
  const { answer } = end;
  const balance = answer['balance'] as Balance | undefined;
  if (!balance) {
    void tell(context, 'error', failureMessage(end, 'The synthesis'));
    return;
  }
  const { accepted, successes, nearMisses } = balance;
  const count = Number(answer['count']);
  const isShort = accepted < count;
  const said = `${accepted} of ${count} trajectories to learn from: ${counted(successes, 'success', 'successes')}, ${counted(nearMisses, 'near-miss', 'near-misses')}.`;
  const why = !isShort
    ? ''
    : answer['stopped'] === null
      ? ' Further rollouts only repeat.'
      : ' Synthesize again to resume it.';
  const buttons = accepted > 0 ? ['Spot-Check', 'Show Balance'] : ['Show Balance'];
  const chosen = await showInformationMessage(`${said}${why}`, ...buttons);
  if (chosen === 'Spot-Check') await vscode.commands.executeCommand('rehearsal.synth.spotCheck', folder);
  if (chosen === 'Show Balance') await vscode.window.showTextDocument(vscode.Uri.file(join(folder, 'balance.txt')));
}
