import { type Json, jsonOf } from '../../../engine/core/values/json.ts';
import { pythonLiteral } from '../../../engine/core/values/pythonLiteral.ts';
import type { Conversation } from '../conversation.ts';
import { type ConversationReader, readEach } from '../conversationReader.ts';
import type { PlacedValue } from '../jsonValues.ts';
import { conversationIdOf } from '../messageRows.ts';
import { toolsIn } from '../offeredTools.ts';
import { listIn, objectOf, type ReadMessage, readMessage, resultText, roleNamed, textOf } from '../saidMessage.ts';
import { conversationOf } from '../transcript.ts';

/** Reads ShareGPT's `{"conversations": [{"from", "value"}]}`, as datasets for fine-tuning have it, also with roles. */
export const shareGpt: ConversationReader = {
  name: 'sharegpt',
  label: 'ShareGPT',
  source: 'chats',
  keys: ['conversations'],
  messageKeys: ['conversations'],
  matches: (value) =>
    listIn(objectOf(value)['conversations']).some((each) => 'from' in objectOf(each) || 'role' in objectOf(each)),
  read: (logs) => readEach(logs, shareGptOf),
};

export function shareGptOf(file: string, { value, line }: PlacedValue): Conversation {
  const object = objectOf(value);
  const { conversations, system, tools, id } = object;
  const opening = textOf(system) ? [{ from: 'system', value: textOf(system) ?? '' }] : [];
  const turns = [...opening, ...listIn(conversations)];
  return conversationOf(
    { file, line, id: textOf(id) ?? conversationIdOf(object), tools: toolsIn(tools) },
    turns.map((each, index) => ({
      ...readTurn(each, turns[index - 1]),
      line,
      path: `conversations.${index}`,
    })),
  );
}

/** A turn of `function_call` has its call as JSON text. In the form of Hermes, calls and results are in tags of a text. */
function readTurn(turn: Json, before?: Json): ReadMessage {
  const { from, value } = objectOf(turn);
  const text = textOf(value) ?? '';
  if (isUnreadCall(turn)) return { said: [], lost: ['is not a call in JSON; it is left out'] };
  if (isCall(turn)) return readMessage({ role: 'assistant', content: null, tool_calls: listIn(jsonOf(text)) });
  const role = roleNamed(textOf(from) ?? '');
  if (role === 'tool' && isUnreadCall(before))
    return { said: [], lost: ['is the result of a call that cannot be read; it is left out'] };
  const [words, calls] = taggedIn(text, 'tool_call');
  if (role === 'agent' && calls.length > 0)
    return readMessage({ role: 'assistant', content: words === '' ? null : words, tool_calls: calls });
  const [, results] = taggedIn(text, 'tool_response');
  if (role !== 'tool' || results.length === 0) return readMessage(turn);
  const said = results.flatMap((result) => {
    const { name, content } = objectOf(result);
    return readMessage({ role: 'tool', name: name ?? null, content: resultText(content ?? result) }).said;
  });
  return { said, lost: [] };
}

const isCall = (turn: Json | undefined) => /^(?:function|tool)_call$/.test(textOf(objectOf(turn)['from']) ?? '');

const isUnreadCall = (turn: Json | undefined) =>
  isCall(turn) && listIn(jsonOf(textOf(objectOf(turn)['value']) ?? '')).length === 0;

/** Returns what a text says besides the JSON values that are in tags, and these values; none where one is not JSON. */
function taggedIn(text: string, tag: string): readonly [words: string, values: readonly Json[]] {
  const pattern = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g');
  const values = [...text.matchAll(pattern)].map(([, inner = '']) => jsonOf(inner) ?? pythonLiteral(inner.trim()));
  if (values.some((each) => each === undefined)) return [text, []];
  return [text.replace(pattern, '').trim(), values as readonly Json[]];
}
