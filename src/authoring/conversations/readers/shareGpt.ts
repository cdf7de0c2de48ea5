import { type Json, jsonOf } from '../../../engine/core/values/json.ts';
import { type ConversationReader, joinedReads, readOf } from '../conversationReader.ts';
import { conversationIdOf } from '../messageRows.ts';
import { toolsIn } from '../offeredTools.ts';
import { listIn, objectOf, type ReadMessage, readMessage, textOf } from '../saidMessage.ts';
import { conversationOf, type PlacedRead } from '../transcript.ts';

/** Reads ShareGPT's `{"conversations": [{"from", "value"}]}`, as datasets for fine-tuning have it. */
export const shareGpt: ConversationReader = {
  name: 'sharegpt',
  label: 'ShareGPT',
  source: 'chats',
  keys: ['conversations'],
  matches: (value) => listIn(objectOf(value)['conversations']).some((each) => 'from' in objectOf(each)),
  read: (logs) =>
    joinedReads(
      logs.map(({ path: file, values }) =>
        readOf(
          values.map(({ value, line }) => {
            const { conversations, system, tools, id } = objectOf(value);
            const opening = textOf(system) ? [{ from: 'system', value: textOf(system) ?? '' }] : [];
            const given = [...opening, ...listIn(conversations)].map((each, index): PlacedRead => {
              return { ...readTurn(each), line, path: `conversations.${index}` };
            });
            return conversationOf(
              { file, line, id: textOf(id) ?? conversationIdOf(objectOf(value)), tools: toolsIn(tools) },
              given,
            );
          }),
          [],
        ),
      ),
    ),
};

/** A turn of `function_call` has its call as JSON text. */
function readTurn(turn: Json): ReadMessage {
  const { from, value } = objectOf(turn);
  if (from !== 'function_call' && from !== 'tool_call') return readMessage(turn);
  const calls = jsonOf(textOf(value) ?? '');
  return readMessage({ role: 'assistant', content: null, tool_calls: listIn(calls) });
}
