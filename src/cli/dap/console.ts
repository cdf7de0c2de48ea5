import type { RolloutEvent } from '../../engine/core/events/event.ts';
import { excerpt } from '../../engine/core/text/excerpt.ts';
import { type Json, jsonOrText } from '../../engine/core/values/json.ts';
import type { GuardNote } from '../../engine/shell/records/stepNotes.ts';
import { guardTranscript, lineText, type TranscriptLine, transcriptOf } from '../terminal/transcript.ts';
import type { Variable } from './variables/rows.ts';
import { jsonChildren, refusedVariables } from './variables/variables.ts';

export const help = `Expressions: db.orders.W1.status, messages[0].content, count(calls, it.failed), turn, rules, event, reward
/say TEXT   says TEXT as the seat that is next. If that is not your seat, this makes a fork in which you take the turn
/call TOOL {"argument": "value"}   makes a call in the turn of the agent, or of a user that has tools
/request    prints the request that the model received for this step. /request 7 prints that of step 7
/why        explains the reward, or what speaks against reward 1 so far: each verdict, its evidence, its file and line
/back       goes to the previous step, without calling anything
/turn N     goes to turn N. If it is not recorded yet, the rollout continues up to it
/fork       continues from this step in a new recording
/resample   asks the seat for another answer in place of the one at this step, in a fork
/take user  you play the user from this step on, in a fork. /take agent: the agent
/swap       makes a fork at this step that uses the current files: policy, personas, rules and tools
/stop       ends the conversation, if you play the user and it is your turn
/help       prints this list
`;

/** As they are typed. */
export const commands = [
  '/say',
  '/call',
  '/request',
  '/why',
  '/back',
  '/turn',
  '/fork',
  '/resample',
  '/take',
  '/swap',
  '/stop',
  '/help',
] as const;

export type Command =
  | { readonly type: 'help' }
  | { readonly type: 'why' | 'fork' | 'swap' }
  /** A person takes a seat; `seat` is null if none was named. */
  | { readonly type: 'take'; readonly seat: 'agent' | 'user' | null }
  /** `name` is empty for the step that is looked at. */
  | { readonly type: 'request'; readonly name: string }
  /** Goes to the previous step. */
  | { readonly type: 'back' }
  /** Goes to a turn, from 1. */
  | { readonly type: 'goTo'; readonly turn: number }
  /** The seat whose answer is shown answers again. */
  | { readonly type: 'resample' }
  /** A user ends the conversation. */
  | { readonly type: 'leave' }
  /** The text or call of a person's turn, typed without `/say`. */
  | { readonly type: 'turn'; readonly text: string }
  | { readonly type: 'unknown'; readonly name: string };

/** Parses the text typed into the Debug Console, other than a path. */
export function parseCommand(text: string): Command {
  const [name = ''] = text.split(/\s/, 1);
  if (name === '/help') return { type: 'help' };
  if (name === '/why' || name === '/fork' || name === '/swap')
    return { type: name.slice(1) as 'why' | 'fork' | 'swap' };
  if (name === '/take') return takeover(text);
  if (name === '/request') return { type: 'request', name: text.slice(name.length).trim() };
  if (name === '/turn') return { type: 'goTo', turn: Number(text.slice(name.length).trim() || Number.NaN) };
  if (name === '/back') return { type: 'back' };
  if (name === '/resample') return { type: 'resample' };
  if (name === '/say') return { type: 'turn', text: text.slice(name.length).trim() };
  if (name === '/stop' || name === '/end') return { type: 'leave' };
  if (!text.startsWith('/') || name === '/call') return { type: 'turn', text };
  return { type: 'unknown', name };
}

function takeover(text: string): Command {
  const [, seat] = text.trim().split(/\s+/);
  return { type: 'take', seat: seat === 'agent' || seat === 'user' ? seat : null };
}

/** A line of the Debug Console, the whole of what it says to be opened below it, and the rule that it is about. */
export type ConsoleLine = Pick<TranscriptLine, 'text' | 'rule'> & { readonly whole: Variable | null };

const longestLine = 240;

/** Returns what the Debug Console says about an event, after what the guard refused before it. */
export function consoleLines(event: RolloutEvent, guard: GuardNote, colours: boolean): readonly ConsoleLine[] {
  const refused = refusedVariables(guard);
  return [
    ...guardTranscript(guard).map((line, index) => ({ text: shownLine(line, colours), whole: refused[index] ?? null })),
    ...transcriptOf(event).map((line, index) => ({
      text: shownLine(line, colours),
      ...(line.rule === undefined ? {} : { rule: line.rule }),
      whole:
        index === 0 && line.speaker !== 'note'
          ? { name: event.type, value: line.text, children: () => wholeOf(event) }
          : null,
    })),
  ];
}

/** Of a note there is nothing to open: what is cut of it could not be read anywhere. */
function shownLine({ speaker, text }: TranscriptLine, colours: boolean): string {
  return lineText({ speaker, text: speaker === 'note' ? text : excerpt(text, longestLine) }, colours);
}

/** Everything of an event; a tool's result that is JSON is opened as such. */
function wholeOf(event: RolloutEvent): readonly Variable[] {
  const { type: _, ...rest } = event;
  return jsonChildren(
    Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, read(name, value as Json)])),
  );
}

function read(name: string, value: Json): Json {
  return name === 'content' && typeof value === 'string' && /^[[{]/.test(value) ? jsonOrText(value) : value;
}
