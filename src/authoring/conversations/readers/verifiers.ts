import { type ConversationReader, readFiles } from '../conversationReader.ts';
import { objectOf, textOf } from '../saidMessage.ts';
import { isPair, pairOf } from './promptCompletion.ts';

/** Reads the rows of results that `verifiers` saves: a prompt, a completion and its reward. */
export const verifiers: ConversationReader = {
  name: 'verifiers',
  label: 'verifiers results',
  source: 'chats',
  keys: ['example_id', 'prompt', 'completion', 'reward'],
  messageKeys: ['prompt', 'completion', 'history'],
  matches: (value) => isPair(value) && 'reward' in objectOf(value),
  read: (logs) =>
    readFiles(logs, ({ path, values }) => {
      const counts = new Map<string, number>();
      return values.map((each) => {
        const { task, ...rest } = objectOf(each.value);
        const example = textOf(rest['example_id']) ?? textOf(task) ?? 'rollout';
        const number = counts.get(example) ?? 0;
        counts.set(example, number + 1);
        return pairOf(path, { ...each, value: rest }, `example-${example}-${number}`);
      });
    }),
};
