import { basename } from 'node:path';
import { isObject, type Json, type JsonObject } from '../../../engine/core/values/json.ts';
import type { ImportProblem, Read } from '../conversation.ts';
import { type ConversationReader, joinedReads, readOf } from '../conversationReader.ts';
import type { PlacedValue } from '../jsonValues.ts';
import type { LogFile } from '../logFile.ts';
import { withoutLogEnding } from '../logFolder.ts';
import { conversationIdOf, earlierTurns } from '../messageRows.ts';
import { firstOf, listIn, objectOf, readMessage, roleNamed, textOf } from '../saidMessage.ts';
import { chatOf } from './openaiChat.ts';
import { shareGptOf } from './shareGpt.ts';

/** Reads preference data: each row is the conversation with the chosen answer, and that with the rejected one. */
export const preference: ConversationReader = {
  name: 'preference',
  label: 'preference data',
  source: 'chats',
  keys: ['prompt', 'chosen', 'rejected'],
  messageKeys: ['messages', 'conversations', 'prompt', 'history', 'chosen', 'rejected'],
  matches: (value) => answersIn(objectOf(value)) !== undefined,
  read: (logs) => joinedReads(logs.flatMap((log) => log.values.map((each, at) => pairIn(log, each, at + 1)))),
};

type Answers = { readonly chosen: readonly Json[]; readonly rejected: readonly Json[] };

/** Returns the messages of both answers. OpenAI has its own names for them. */
function answersIn(object: JsonObject): Answers | undefined {
  const [chosen, rejected] = [
    firstOf(object, 'chosen', 'preferred_output'),
    firstOf(object, 'rejected', 'non_preferred_output'),
  ].map(turnsIn);
  return chosen?.length && rejected?.length ? { chosen, rejected } : undefined;
}

/** Returns the messages of an answer: a list of them, one, its text, or the text of a conversation. */
function turnsIn(answer: Json | undefined): readonly Json[] {
  if (typeof answer === 'string' && answer.trim() !== '' && listIn(answer).length === 0) return transcriptIn(answer);
  return listIn(answer).filter((each) => isObject(each) && readMessage(each).said.length > 0);
}

/** Reads `Human: …` and `Assistant: …`, each behind an empty line; any other text is an answer. */
function transcriptIn(text: string): readonly Json[] {
  const turns = text.split(/(?:^|\n\n)(?=(?:Human|Assistant): )/).filter((turn) => turn.trim() !== '');
  const named = turns.map((turn) => /^(?<role>Human|Assistant): (?<content>[\s\S]*)$/.exec(turn)?.groups);
  const isTranscript = named[0]?.['role'] === 'Human' && named.every((each) => each !== undefined);
  if (!isTranscript) return [{ role: 'assistant', content: text }];
  return named.map((each) => ({ role: each?.['role'] ?? '', content: each?.['content']?.trim() ?? '' }));
}

function pairIn({ path }: LogFile, { value, line }: PlacedValue, number: number): Read {
  const object = objectOf(value);
  const { chosen, rejected } = answersIn(object) ?? { chosen: [], rejected: [] };
  const asked = askedIn(object, [...chosen, ...rejected]);
  const own = textOf(firstOf(object, 'id', 'custom_id', 'prompt_id')) ?? conversationIdOf(object);
  const id = own ?? `${withoutLogEnding(basename(path))}-${number}`;
  return joinedReads(
    Object.entries({ chosen, rejected }).map(([name, answer]) => {
      const isWhole = answer.some(isUsers);
      if (!isWhole && asked.length === 0) return readOf([], [unasked(path, line, name)]);
      const messages = isWhole ? answer : [...asked, ...answer];
      const rest = { ...requestIn(object), id: `${id}-${name}` };
      const isShareGpt = messages.some((each) => 'from' in objectOf(each));
      const read = isShareGpt
        ? shareGptOf(path, { value: { ...rest, conversations: messages }, line })
        : chatOf(path, { value: { ...rest, messages }, line });
      return 'messages' in read ? readOf([read], []) : readOf([], [read]);
    }),
  );
}

const unasked = (file: string, line: number, name: string): ImportProblem => ({
  ...{ file, line },
  message: `${name}: has no message of the user, and nothing is before it (prompt, messages or conversations)`,
});

function isUsers(message: Json): boolean {
  const { role, from } = objectOf(message);
  return roleNamed(textOf(role ?? from) ?? '') === 'user';
}

/** Returns the fields of a row about its conversation, apart from the messages. */
function requestIn(object: JsonObject): JsonObject {
  const { system, system_prompt, tools, functions, task } = { ...objectOf(object['input']), ...object };
  const named = Object.entries({ system: system ?? system_prompt, tools, functions, task });
  return Object.fromEntries(named.flatMap(([key, each]) => (each === undefined ? [] : [[key, each]])));
}

/** Returns the messages before the answers. Some rows repeat one of the answers there. */
function askedIn(object: JsonObject, answers: readonly Json[]): readonly Json[] {
  const { messages, conversations, prompt, input, instruction, history } = object;
  const request = [instruction ?? prompt, instruction === undefined ? null : input].flatMap(
    (each) => textOf(each) || [],
  );
  const own = [messages, conversations, objectOf(input)['messages'], prompt]
    .map(listIn)
    .find((list) => list.length > 0);
  const asked = own ?? [
    ...earlierTurns(history),
    ...(request.length > 0 ? [{ role: 'user', content: request.join('\n\n') }] : []),
  ];
  const said = new Set(answers.map((each) => JSON.stringify(readMessage(each).said)));
  const last = asked.at(-1);
  return last !== undefined && said.has(JSON.stringify(readMessage(last).said)) ? asked.slice(0, -1) : asked;
}
