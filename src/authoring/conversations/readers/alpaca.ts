import type { Json } from '../../../engine/core/values/json.ts';
import { type ConversationReader, readEach } from '../conversationReader.ts';
import { conversationIdOf, earlierTurns, turnOf } from '../messageRows.ts';
import { objectOf, textOf } from '../saidMessage.ts';
import { conversationOf, readMessages } from '../transcript.ts';

/** Reads `{"instruction", "input", "output"}`, and earlier turns as pairs in `history`, as LLaMA-Factory writes them. */
export const alpaca: ConversationReader = {
  name: 'alpaca',
  label: 'Alpaca',
  source: 'chats',
  keys: ['instruction', 'output'],
  messageKeys: ['history'],
  matches: (value) => {
    const { instruction, output } = objectOf(value);
    return textOf(instruction) !== undefined && typeof output === 'string';
  },
  read: (logs) =>
    readEach(logs, (file, { value, line }) => {
      const object = objectOf(value);
      const { instruction, input, output, history, system, id } = object;
      const request = [instruction, input].flatMap((each) => textOf(each) || []).join('\n\n');
      const messages: readonly Json[] = [
        ...(textOf(system) ? [{ role: 'system', content: system ?? null }] : []),
        ...earlierTurns(history),
        ...turnOf(request, output ?? null),
      ];
      return conversationOf(
        { file, line, id: textOf(id) ?? conversationIdOf(object) },
        readMessages(messages, line, 'output'),
      );
    }),
};
