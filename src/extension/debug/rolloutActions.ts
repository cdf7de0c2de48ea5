import * as vscode from 'vscode';
import { nameOf } from '../../engine/shell/records/recordingName.ts';
import { debugType } from '../workspace/contributions.ts';
import { chosenFrame, debuggedSession, doing } from './stoppedSession.ts';
import { valueScheme } from './valueFiles.ts';

/** The recording that a session shows, and the current step. */
export type ShownRecording = { readonly path: string; readonly step: number };

/** A command of the Debug Console at the frame that was chosen, or has the focus. */
async function typed(target: unknown, expression: string): Promise<boolean> {
  const session = debuggedSession();
  if (!session) return false;
  return doing(async () => {
    const frameId = await chosenFrame(session, target);
    await session.customRequest('evaluate', { expression, context: 'repl', ...(frameId ? { frameId } : {}) });
  });
}

/** Goes to the previous step. VS Code itself has neither a key nor an entry in the palette for it. */
export async function stepBack(): Promise<boolean> {
  if (!debuggedSession()) return false;
  return doing(() => vscode.commands.executeCommand('workbench.action.debug.stepBack'));
}

/** Continues live from a frame, in its own recording. */
export function forkHere(target: unknown): Promise<boolean> {
  return typed(target, '/fork');
}

/** Continues from a frame with the policy, personas, rules and tools as their files are now. */
export async function forkWithChangedFiles(target: unknown): Promise<boolean> {
  // What a person sees in an editor is meant, not what was on the disk before.
  await vscode.workspace.saveAll(false);
  return typed(target, '/swap');
}

/** A person takes a seat from a frame on. */
export function takeOver(target: unknown, seat: 'agent' | 'user'): Promise<boolean> {
  hasEdited = false;
  return typed(target, `/take ${seat}`);
}

/** Whether a file was edited since the last turn of a person, or since the user asked for the first. */
let hasEdited = false;

/**
 * Moves the focus to the Debug Console when the turn of a person is awaited: what is typed would edit a file. The focus
 * stays where it is if the user edits a file meanwhile.
 */
export function registerTurnFocus(): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      // A file that another program changed is not dirty. A saved value continues the rollout, so it does not count.
      if (contentChanges.length > 0 && document.isDirty && document.uri.scheme !== valueScheme) hasEdited = true;
    }),
    vscode.debug.onDidStartDebugSession(({ type }) => {
      if (type === debugType) hasEdited = false;
    }),
    vscode.debug.onDidReceiveDebugSessionCustomEvent(({ session, event }) => {
      if (event !== 'rehearsal/turnAwaited' || session !== vscode.debug.activeDebugSession) return;
      if (!hasEdited) void vscode.commands.executeCommand('workbench.panel.repl.view.focus');
      hasEdited = false;
    }),
  );
}

/** Asks the model of a turn once more: a fork at the frame, as the protocol restarts one. */
export async function resample(target: unknown): Promise<boolean> {
  const session = debuggedSession();
  if (!session) return false;
  return doing(async () => session.customRequest('restartFrame', { frameId: await chosenFrame(session, target) }));
}

/** Replays the debugged recording from its start, without calling a model, so at no cost. */
export async function replay(): Promise<boolean> {
  const session = debuggedSession();
  if (!session) return false;
  const { path: recording }: ShownRecording = await session.customRequest('rehearsal/recording');
  const { domain } = session.configuration as { readonly domain?: string };
  const configuration = { type: debugType, request: 'attach', name: `Replay ${nameOf(recording)}`, recording };
  return vscode.debug.startDebugging(session.workspaceFolder, {
    ...configuration,
    ...(typeof domain === 'string' ? { domain } : {}),
  });
}
