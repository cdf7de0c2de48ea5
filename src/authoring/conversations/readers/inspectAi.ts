import type { Json } from '../../../engine/core/values/json.ts';
import type { Conversation } from '../conversation.ts';
import { type ConversationReader, readFiles } from '../conversationReader.ts';
import { toolsIn } from '../offeredTools.ts';
import { listIn, objectOf, textOf } from '../saidMessage.ts';
import { conversationOf, readMessages } from '../transcript.ts';

/** Reads the samples of logs of inspect_ai, in its JSON format. */
export const inspectAi: ConversationReader = {
  name: 'inspect-ai',
  label: 'inspect_ai log',
  source: 'chats',
  keys: ['eval', 'samples'],
  messageKeys: ['messages'],
  matches: (value) => isSample(value) || (isLog(value) && samplesIn(value).some(isSample)),
  read: (logs) =>
    readFiles(logs, ({ path, values }) =>
      values.flatMap(({ value, line }) => samplesIn(value).map((each) => sampleOf(path, line, each))),
    ),
};

const isLog = (value: unknown) => 'eval' in objectOf(value) || 'plan' in objectOf(value);

const samplesIn = (value: unknown): readonly Json[] =>
  isSample(value) ? [value as Json] : listIn(objectOf(value)['samples']);

function isSample(value: unknown): boolean {
  const { messages, epoch, input } = objectOf(value);
  return Array.isArray(messages) && epoch !== undefined && input !== undefined;
}

function sampleOf(file: string, line: number, value: Json): Conversation {
  const { id, epoch, messages, events } = objectOf(value);
  const tools = listIn(events).findLast(
    (each) => objectOf(each)['event'] === 'model' && Array.isArray(objectOf(each)['tools']),
  );
  return conversationOf(
    { file, line, id: `${textOf(id) ?? 'sample'}-${textOf(epoch) ?? 1}`, tools: toolsIn(objectOf(tools)['tools']) },
    readMessages(listIn(messages), line),
  );
}
