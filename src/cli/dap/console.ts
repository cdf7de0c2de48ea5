import type { RolloutEvent } from '../../engine/core/event.ts';
import type { Json } from '../../engine/core/json.ts';
import type { Step } from '../../engine/shell/driver.ts';
import type { GuardNote } from '../../engine/shell/guardNotes.ts';
import { guardTranscript, lineText, type TranscriptLine, transcriptOf } from '../transcript.ts';
import { evaluate, roots } from './expression.ts';
import { jsonChildren, refusedVariables, type Variable } from './variables.ts';

export const help = `Expressions: db.orders.W1.status, messages[0].content, count(calls, it.failed), turn, rules, event, reward
/say TEXT   the turn of the seat that is next: yours when you hold it (plain text does the same), else a fork takes it over
/call TOOL {"argument": "value"}   the turn of the agent, or of a user that has tools, as a call
/request    the exact request that a model was sent for the step you look at (/request 7 for step 7)
/why        why the reward is what it is, or would not be 1 so far
/stop       ends the conversation, in the turn of a user that you play
/help       this text
`;

const commands = ['/say', '/call', '/request', '/why', '/stop', '/help'] as const;

export type Command =
  | { readonly type: 'help' }
  | { readonly type: 'why' }
  /** `name` is empty for the step that is looked at. */
  | { readonly type: 'request'; readonly name: string }
  /** A user ends the conversation. */
  | { readonly type: 'leave' }
  /** What a person says or calls in a turn, without `/say`. */
  | { readonly type: 'turn'; readonly text: string }
  | { readonly type: 'unknown'; readonly name: string };

/** Reads what was typed into the Debug Console, other than a path. */
export function parseCommand(text: string): Command {
  const [name = ''] = text.split(/\s/, 1);
  if (name === '/help') return { type: 'help' };
  if (name === '/why') return { type: 'why' };
  if (name === '/request') return { type: 'request', name: text.slice(name.length).trim() };
  if (name === '/say') return { type: 'turn', text: text.slice(name.length).trim() };
  if (name === '/stop' || name === '/end') return { type: 'leave' };
  if (!text.startsWith('/') || name === '/call') return { type: 'turn', text };
  return { type: 'unknown', name };
}

/** A line of the Debug Console, and the whole of what it says to be opened below it. */
export type ConsoleLine = { readonly text: string; readonly whole: Variable | null };

const longestLine = 240;

/** What the Debug Console says of an event, after what the guard refused before it. */
export function consoleLines(event: RolloutEvent, guard: GuardNote, colours: boolean): readonly ConsoleLine[] {
  const refused = refusedVariables(guard);
  return [
    ...guardTranscript(guard).map((line, index) => ({ text: shownLine(line, colours), whole: refused[index] ?? null })),
    ...transcriptOf(event).map((line, index) => ({
      text: shownLine(line, colours),
      whole:
        index === 0 && line.speaker !== 'note'
          ? { name: event.type, value: line.text, children: () => wholeOf(event) }
          : null,
    })),
  ];
}

function shownLine({ speaker, text }: TranscriptLine, colours: boolean): string {
  const clipped = text.length > longestLine ? `${text.slice(0, longestLine - 3)}...` : text;
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

type Completion = { readonly label: string; readonly start: number; readonly length: number };

/** Keys below a path, roots of paths, or commands, for what was typed so far. */
export function completionsOf(typed: string, step: Step | undefined): readonly Completion[] {
  const [parent, last = ''] = /^(.*)\.([\w$]*)$/s.exec(typed)?.slice(1) ?? ['', typed];
  const found = parent && step ? evaluate(parent, step) : null;
  const value = found && typeof found !== 'string' ? found.value : null;
  const names = typeof value === 'object' && value !== null ? Object.keys(value) : [...roots, ...commands];
  const fitting = names.filter((name) => name.startsWith(last)).slice(0, 200);
  return fitting.map((label) => ({ label, start: typed.length - last.length, length: last.length }));
}
