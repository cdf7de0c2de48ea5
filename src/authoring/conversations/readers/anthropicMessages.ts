import type { Json, JsonObject } from '../../../engine/core/values/json.ts';
import { type ConversationReader, readEach } from '../conversationReader.ts';
import { unrepeated } from '../history.ts';
import { readAnswer } from '../loggedAnswer.ts';
import { conversationIdOf, hasParts } from '../messageRows.ts';
import { toolsIn } from '../offeredTools.ts';
import { listIn, objectOf, textOf } from '../saidMessage.ts';
import { conversationOf, type PlacedRead, readMessages } from '../transcript.ts';

/** Reads requests of Anthropic's Messages API, with the answer where a line has it. */
export const anthropicMessages: ConversationReader = {
  name: 'anthropic-messages',
  label: 'Anthropic Messages',
  source: 'chats',
  keys: ['system', 'messages', 'content'],
  messageKeys: ['messages', 'completion'],
  matches: (value) => {
    const { messages, system, tools } = requestIn(value);
    if (!Array.isArray(messages)) return false;
    const isSystemApart = system !== undefined && messages.every((each) => objectOf(each)['role'] !== 'system');
    const isTool = Array.isArray(tools) && tools.some((tool) => 'input_schema' in objectOf(tool));
    return isSystemApart || isTool || hasParts(messages, 'anthropic-messages') || isAnswer(answerIn(value));
  },
  read: (logs) =>
    readEach(logs, (file, { value, line }) => {
      const request = requestIn(value);
      const { custom_id, id } = objectOf(value);
      const { messages, system, tools } = request;
      const answer = answerIn(value);
      const asked = readMessages(listIn(messages), line);
      const whole = isAnswer(answer)
        ? answered(listIn(messages), asked, answer, line)
        : [...asked, ...readAnswer(value, asked, line)];
      const opening = system === undefined || system === null ? [] : [{ role: 'system', content: system }];
      return conversationOf(
        {
          file,
          line,
          id: textOf(custom_id) ?? conversationIdOf(objectOf(value)) ?? textOf(request['id']) ?? textOf(id),
          tools: toolsIn(tools),
          isRequest: isAnswer(answer) || whole.length > asked.length,
        },
        [...readMessages(opening, line, 'system'), ...whole],
      );
    }),
};

function requestIn(value: unknown): JsonObject {
  const object = objectOf(value);
  const { request, body, params } = object;
  const inner = [request, body, params, objectOf(request)['body']].find((each) =>
    Array.isArray(objectOf(each)['messages']),
  );
  return inner === undefined ? object : objectOf(inner);
}

function answerIn(value: unknown): JsonObject {
  const { response, output, result } = objectOf(value);
  const inner = objectOf(response ?? output ?? objectOf(result)['message']);
  return objectOf(inner['body'] ?? inner);
}

/** Reads the messages of a request with its answer, which some logs have among them as well. */
function answered(
  messages: readonly Json[],
  asked: readonly PlacedRead[],
  answer: JsonObject,
  line: number,
): readonly PlacedRead[] {
  const read = readMessages([answer], line, 'response');
  const added = unrepeated(asked, read);
  return added === read ? readMessages(withAnswer(messages, answer), line) : [...asked, ...added];
}

/** Adds the answer to the messages of a request. It continues the words that the request ends with, where it has any. */
function withAnswer(messages: readonly Json[], answer: JsonObject): readonly Json[] {
  const last = objectOf(messages.at(-1));
  if (last['role'] !== 'assistant') return [...messages, answer];
  const begun =
    typeof last['content'] === 'string' ? [{ type: 'text', text: last['content'] }] : listIn(last['content']);
  return [...messages.slice(0, -1), { ...answer, content: continued(begun, listIn(answer['content'])) }];
}

/** Returns the parts of words and of what continues them: the two texts where they meet are one. */
function continued(begun: readonly Json[], rest: readonly Json[]): readonly Json[] {
  const [last, next] = [objectOf(begun.at(-1)), objectOf(rest[0])];
  if (typeof last['text'] !== 'string' || typeof next['text'] !== 'string') return [...begun, ...rest];
  return [...begun.slice(0, -1), { ...next, text: last['text'] + next['text'] }, ...rest.slice(1)];
}

const isAnswer = ({ type, role, content }: JsonObject): boolean =>
  type === 'message' && role === 'assistant' && Array.isArray(content as Json);
