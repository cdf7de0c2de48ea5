import * as vscode from 'vscode';
import type { Outcome, Pointer } from '../../engine/core/evaluation/outcome.ts';
import { terminalText } from '../../engine/core/text/terminalText.ts';
import type { Location } from '../../engine/shell/files/diagnostic.ts';
import type { Locations } from '../../engine/shell/load/loadedDomain.ts';
import { conversationScheme } from '../workspace/contributions.ts';

/** Marks messages about a rollout, for the menu of a message. */
export const rolloutMessage = 'rehearsalRollout';

/** The locations of the parts of a domain that a message links to. */
export type MessagePlaces = Pick<Locations, 'policyRules' | 'tasks'>;

/**
 * Returns what a failed rollout says: why, where to look, and, where its database is not the expected one, the rows of
 * both.
 * @param recording its path
 */
export function messagesOf(outcome: Outcome, recording: string, places: MessagePlaces): vscode.TestMessage[] {
  const stackTrace = framesOf(outcome, recording, places);
  const task = places.tasks.get(outcome.task);
  const of = (message: vscode.TestMessage): vscode.TestMessage => {
    message.stackTrace = stackTrace;
    message.contextValue = rolloutMessage;
    if (task) message.location = new vscode.Location(vscode.Uri.file(task.file), positionOf(task));
    return message;
  };
  const why = of(new vscode.TestMessage(terminalText(outcome.message)));
  if (!outcome.rows) return [why];
  const rows = of(
    vscode.TestMessage.diff('The final database is not the expected one', outcome.rows.expected, outcome.rows.actual),
  );
  return [why, rows];
}

/** The steps to look at in the recording, each with the rule that it is about, and the task. */
function framesOf(outcome: Outcome, recording: string, places: MessagePlaces): vscode.TestMessageStackFrame[] {
  const uri = vscode.Uri.file(recording);
  const frames = outcome.pointers.flatMap((pointer) => pointerFrames(pointer, uri, places));
  const task = places.tasks.get(outcome.task);
  const last = task
    ? [new vscode.TestMessageStackFrame(`task ${outcome.task}`, vscode.Uri.file(task.file), positionOf(task))]
    : [];
  return [...frames, ...last];
}

/**
 * The view of a recording begins at the step that its address names. Next to a message, VS Code shows the text of the
 * conversation, where step 0 is the first line.
 */
function pointerFrames(
  { step, label, rule }: Pointer,
  recording: vscode.Uri,
  { policyRules }: MessagePlaces,
): vscode.TestMessageStackFrame[] {
  const place = recording.with({ scheme: conversationScheme, fragment: `step-${step}` });
  const turn = new vscode.TestMessageStackFrame(label, place, new vscode.Position(step, 0));
  const at = rule === undefined ? undefined : policyRules.get(rule);
  if (!at) return [turn];
  return [turn, new vscode.TestMessageStackFrame(`rule ${rule}`, vscode.Uri.file(at.file), positionOf(at))];
}

const positionOf = ({ line, column }: Location) => new vscode.Position(line - 1, column - 1);
