import { type ConversationReader, joinedReads, readOf } from '../conversationReader.ts';
import { objectOf, textOf } from '../saidMessage.ts';
import { isPair, pairOf } from './promptCompletion.ts';

/** Reads the rows of results that `verifiers` saves: a prompt, a completion and its reward. */
export const verifiers: ConversationReader = {
  name: 'verifiers',
  label: 'verifiers results',
  source: 'chats',
  keys: ['example_id', 'prompt', 'completion', 'reward'],
  matches: (value) => isPair(value) && 'reward' in objectOf(value),
  read: (logs) =>
    joinedReads(
      logs.map(({ path, values }) => {
        const counts = new Map<string, number>();
        const read = values.map((each) => {
          const { task } = objectOf(each.value);
          const example = textOf(objectOf(each.value)['example_id']) ?? textOf(task) ?? 'rollout';
          const number = counts.get(example) ?? 0;
          counts.set(example, number + 1);
          const rest = Object.fromEntries(Object.entries(objectOf(each.value)).filter(([key]) => key !== 'task'));
          return pairOf(path, { ...each, value: rest }, `example-${example}-${number}`);
        });
        return readOf(read, []);
      }),
    ),
};
