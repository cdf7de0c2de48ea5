import { dirname } from 'node:path';
import type { Json } from '../../../engine/core/values/json.ts';
import type { Conversation, Read } from '../conversation.ts';
import { type ConversationReader, readOf } from '../conversationReader.ts';
import { unrepeated } from '../history.ts';
import type { PlacedValue } from '../jsonValues.ts';
import { conversationIdOf, earlierTurns, type FileRow, joinedFiles, orderedRows } from '../messageRows.ts';
import { toolsIn } from '../offeredTools.ts';
import { firstOf, listIn, objectOf, textOf } from '../saidMessage.ts';
import { conversationOf, type Outline, type PlacedRead, readMessages } from '../transcript.ts';

/**
 * Reads `{"prompt", "completion"}`, each a text or a list of messages. Those with one id of a conversation are its turns.
 */
export const promptCompletion: ConversationReader = {
  name: 'prompt-completion',
  label: 'prompt and completion',
  source: 'chats',
  keys: ['prompt', 'completion'],
  messageKeys: ['prompt', 'completion', 'history'],
  matches: isPair,
  read: (logs) => {
    const { conversations, notes } = readPairs(
      logs.flatMap(({ path: file, values }) => values.map((each) => ({ ...each, file }))),
    );
    return readOf(conversations, [], notes);
  },
};

/** Reports whether a value contains both a prompt and its completion. */
export function isPair(value: unknown): boolean {
  const object = objectOf(value);
  return object['prompt'] !== undefined && object['completion'] !== undefined;
}

/** Reads pairs of a prompt and its completion: those of one conversation of a folder together, by its id. */
export function readPairs(rows: readonly FileRow[]): Pick<Read, 'conversations' | 'notes'> {
  const groups = Map.groupBy(rows, (row) => {
    const id = conversationIdOf(objectOf(row.value));
    return id === undefined ? row : `${dirname(row.file)} ${id}`;
  });
  const all = [...groups.values()];
  return {
    conversations: all.map(([first, ...rest]) => turnsOfPairs(first as FileRow, rest)),
    notes: joinedFiles(all),
  };
}

function turnsOfPairs(first: FileRow, rest: readonly FileRow[]): Conversation {
  if (rest.length === 0) return pairOf(first.file, first);
  const said: PlacedRead[] = [];
  const instructions = new Set<string>();
  for (const row of orderedRows([first, ...rest])) {
    const own = readPair(row).filter(({ said: [only] }) => {
      const isKnown = only?.role === 'system' && instructions.has(only.content);
      if (only?.role === 'system') instructions.add(only.content);
      return !isKnown;
    });
    // A row of one turn may say the same as the turn before; a longer one has the turns before it.
    said.push(...(own.length > 2 ? unrepeated(said.slice(-own.length), own) : own));
  }
  return conversationOf(outlineOf(first.file, first), said);
}

/** Reads a prompt and a completion as one conversation. */
export const pairOf = (file: string, row: PlacedValue, id?: string): Conversation =>
  conversationOf(outlineOf(file, row, id), readPair(row));

function outlineOf(file: string, { value, line }: PlacedValue, id?: string): Outline {
  const object = objectOf(value);
  const { task, tools, tool_defs } = object;
  const own = id ?? conversationIdOf(object) ?? textOf(firstOf(object, 'id', 'example_id'));
  return { file, line, id: own, task: textOf(task), tools: toolsIn(tools ?? tool_defs) };
}

function readPair({ value, line }: PlacedValue): readonly PlacedRead[] {
  const { prompt, completion, history, system } = objectOf(value);
  const asked = [
    ...readMessages(textOf(system) ? [{ role: 'system', content: system ?? null }] : [], line, 'system'),
    ...readMessages(earlierTurns(history), line, 'history'),
    ...readMessages(messagesIn(prompt, 'user'), line, 'prompt'),
  ];
  return [...asked, ...unrepeated(asked, readMessages(messagesIn(completion, 'assistant'), line, 'completion'))];
}

function messagesIn(value: Json | undefined, role: string): readonly Json[] {
  const list = listIn(value).filter((each) => 'role' in objectOf(each));
  return list.length > 0 ? list : [{ role, content: value ?? null }];
}
