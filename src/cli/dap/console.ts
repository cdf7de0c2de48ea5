import type { RolloutEvent } from '../../engine/core/events/event.ts';
import type { Json } from '../../engine/core/values/json.ts';
import type { GuardNote } from '../../engine/shell/records/stepNotes.ts';
import { guardTranscript, lineText, type TranscriptLine, transcriptOf } from '../terminal/transcript.ts';
import type { Variable } from './variables/rows.ts';
import { jsonChildren, refusedVariables } from './variables/variables.ts';

export const help = `Expressions: db.orders.W1.status, messages[0].content, count(calls, it.failed), turn, rules, event, reward
/say TEXT   the turn of the seat that is next: yours when you hold it (plain text does the same), else a fork takes it over
/call TOOL {"argument": "value"}   the turn of the agent, or of a user that has tools, as a call
/request    the exact request that a model was sent for the step you look at (/request 7 for step 7)
/why        explains the reward, or why it would not be 1 so far: every verdict, its evidence, and its file and line
/turn N     goes to turn N: a recorded one at once, to a later one the rollout runs on
/fork       continues from the step you look at in a new recording, with the seats of a fork
/resample   asks the seat again for the answer you look at, in a fork with new random numbers
/take user  (or agent) a person takes that seat from the step you look at, in a fork
/swap       forks from the step you look at with the policy, personas, rules and tools as their files are now
/stop       ends the conversation, in the turn of a user that you play
/help       this text
`;

/** As they are typed. */
export const commands = [
  '/say',
  '/call',
  '/request',
  '/why',
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
  const clipped = speaker !== 'note' && text.length > longestLine ? `${text.slice(0, longestLine - 3)}...` : text;
  return lineText({ speaker, text: clipped }, colours);
}

/** Everything of an event; a tool's result that is JSON is opened as such. */
function wholeOf(event: RolloutEvent): readonly Variable[] {
  const { type: _, ...rest } = event;
  return jsonChildren(
    Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, read(name, value as Json)])),
  );
}

function read(name: string, value: Json): Json {
  if (name !== 'content' || typeof value !== 'string' || !/^[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as Json;
  } catch {
    return value;
  }
}
