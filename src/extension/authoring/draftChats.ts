import { runOrTell } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { pickRecording } from '../views/recordingPicker.ts';
import { recordingOf } from '../views/runCommands.ts';
import { mayRun } from '../workspace/trust.ts';
import { type Drafted, nothingDrafted, openAt, tellDrafted } from './drafting.ts';
import type { IntentsNode } from './intentsTree.ts';

/**
 * Drafts a task from a real conversation, and a persona where no one of the domain behaves so, and opens its file.
 * @param target a recording, or an intent, of which its example is taken
 * @returns the file of the task
 */
export async function draftFromChat(context: Context, target: unknown): Promise<string | undefined> {
  if (!mayRun('The tools of a domain')) return undefined;
  const recording =
    exampleOf(target) ?? recordingOf(target) ?? (await pickRecording('Which conversation becomes a task?'));
  if (!recording) return undefined;
  const title = 'Rehearsal: drafting a task from a conversation';
  const end = await runOrTell(context, title, ['draft', 'from-chats', recording], nothingDrafted);
  if (!end) return undefined;
  const { file, drafts } = end.answer as unknown as Drafted;
  await openAt(file);
  tellDrafted(context, drafts, 'The audit finds nothing in this draft. Read it, and accept what is right.');
  return file;
}

function exampleOf(target: unknown): string | undefined {
  const node = target as Partial<IntentsNode> | undefined;
  if (node?.type === 'intent') return node.intent?.example.name;
  return node?.type === 'conversation' ? node.recording : undefined;
}
