import { type Json, withoutNulls } from '../../../engine/core/values/json.ts';
import type { Conversation } from '../conversation.ts';
import { type ConversationReader, readFiles } from '../conversationReader.ts';
import { listIn, objectOf, type ReadMessage, readMessage, textOf } from '../saidMessage.ts';
import { conversationOf, type PlacedRead } from '../transcript.ts';

/** Reads the simulations of tau2's results, and those of tau-bench. */
export const tau2Results: ConversationReader = {
  name: 'tau2-results',
  label: 'tau2 results',
  source: 'chats',
  keys: ['simulations'],
  messageKeys: ['messages'],
  matches: (value) => Array.isArray(objectOf(value)['simulations']) || isSimulation(value),
  read: (logs) =>
    readFiles(logs, ({ path, values }) =>
      values.flatMap(({ value, line }) => {
        const { simulations } = objectOf(value);
        const given = Array.isArray(simulations) ? simulations : [value as Json];
        return given.map((each) => simulationOf(path, line, each as Json));
      }),
    ),
};

/** A line of results of tau-bench has its messages in `traj`. */
function isSimulation(value: unknown): boolean {
  const { task_id, messages, traj } = objectOf(value);
  return (
    task_id !== undefined &&
    (Array.isArray(traj) || (Array.isArray(messages) && 'termination_reason' in objectOf(value)))
  );
}

function simulationOf(file: string, line: number, value: Json): Conversation {
  const { task_id, trial, messages, traj } = objectOf(value);
  const id = `${textOf(task_id) ?? 'task'}-${textOf(trial) ?? 0}`;
  const given = listIn(messages ?? traj).map((each, index): PlacedRead => {
    return { ...readTurn(each), line, path: `messages.${index}` };
  });
  return conversationOf({ file, line, id }, given);
}

/** The user of tau2 has tools too: what it called is not part of what the agent saw. */
function readTurn(value: Json): ReadMessage {
  const message = withoutNulls(objectOf(value));
  const isUsers =
    message['requestor'] === 'user' || (message['role'] === 'user' && listIn(message['tool_calls']).length > 0);
  if (!isUsers) return readMessage(value);
  const content = textOf(message['content']) ?? '';
  if (message['role'] === 'user' && content !== '') return { said: [{ role: 'user', content }], lost: [] };
  return { said: [], lost: ["is a call of the user's own tools, or its result; it is left out"] };
}
