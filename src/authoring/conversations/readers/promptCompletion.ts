import type { Json } from '../../../engine/core/values/json.ts';
import type { Conversation } from '../conversation.ts';
import { type ConversationReader, readEach } from '../conversationReader.ts';
import type { PlacedValue } from '../jsonValues.ts';
import { earlierTurns } from '../messageRows.ts';
import { toolsIn } from '../offeredTools.ts';
import { firstOf, listIn, objectOf, textOf } from '../saidMessage.ts';
import { conversationOf, readMessages } from '../transcript.ts';

/** Reads `{"prompt", "completion"}`, each a text or a list of messages. */
export const promptCompletion: ConversationReader = {
  name: 'prompt-completion',
  label: 'prompt and completion',
  source: 'chats',
  keys: ['prompt', 'completion'],
  messageKeys: ['prompt', 'completion', 'history'],
  matches: isPair,
  read: (logs) => readEach(logs, (path, each) => pairOf(path, each)),
};

/** Reports whether a value contains both a prompt and its completion. */
export function isPair(value: unknown): boolean {
  const object = objectOf(value);
  return object['prompt'] !== undefined && object['completion'] !== undefined;
}

/** Reads a prompt and a completion as one conversation. */
export function pairOf(file: string, { value, line }: PlacedValue, id?: string): Conversation {
  const { prompt, completion, history, system, task, tools } = objectOf(value);
  const object = objectOf(value);
  const own = id ?? textOf(firstOf(object, 'id', 'example_id'));
  return conversationOf({ file, line, id: own, task: textOf(task), tools: toolsIn(tools ?? object['tool_defs']) }, [
    ...readMessages(textOf(system) ? [{ role: 'system', content: system ?? null }] : [], line, 'system'),
    ...readMessages(earlierTurns(history), line, 'history'),
    ...readMessages(messagesIn(prompt, 'user'), line, 'prompt'),
    ...readMessages(messagesIn(completion, 'assistant'), line, 'completion'),
  ]);
}

function messagesIn(value: Json | undefined, role: string): readonly Json[] {
  const list = listIn(value).filter((each) => 'role' in objectOf(each));
  return list.length > 0 ? list : [{ role, content: value ?? null }];
}
