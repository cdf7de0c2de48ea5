import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';
import { unrepeated } from './history.ts';
import { listIn, objectOf, readMessage, textOf } from './saidMessage.ts';
import type { PlacedRead } from './transcript.ts';

/** Names under which logs keep the answer to the messages beside it. */
const names = ['choices', 'response', 'answer', 'output', 'completion', 'result'];

/**
 * Reads the answer that a line logs beside the messages of its request: a text, a message, a list of them, or what an
 * endpoint returned. What cannot be read of it, and the error of a request that failed, is lost with the reason.
 * @param asked the messages of the request; logs often repeat the answer as their last one, which is then not read again
 */
export function readAnswer(value: unknown, asked: readonly PlacedRead[], line: number): readonly PlacedRead[] {
  const object = objectOf(value);
  const given = names.flatMap((name) => {
    const content = object[name];
    return content === undefined || content === null ? [] : [{ name, content, messages: messagesIn(content) }];
  });
  const { name = '', messages } = given.find((each) => each.messages !== undefined) ?? {};
  if (messages) {
    const path = name === 'choices' ? 'answer' : name;
    const answer = messages.map((each): PlacedRead => ({ ...readMessage(each), line, path }));
    const count = choicesIn(name === 'choices' ? object : object[name]);
    const others = count > 1 ? [unread(path, `has ${count} choices; only the first one is read`, line)] : [];
    const added = unrepeated(asked, answer);
    const last = asked.at(-1)?.said.at(-1);
    const isAnswered = last?.role === 'agent' && Boolean(last.content);
    const isSecond = added === answer && isAnswered && name !== 'choices';
    return isSecond ? [unread(name, 'is a second answer; it is left out', line)] : [...added, ...others];
  }
  const error = errorIn(object);
  if (error !== undefined) return [unread('error', `the request has no answer: ${error}`, line)];
  const other = given.find((each) => each.name !== 'result');
  return other ? [unread(other.name, `is not a readable answer${fieldsOf(other.content)}`, line)] : [];
}

const unread = (path: string, what: string, line: number): PlacedRead => ({ said: [], lost: [what], line, path });

const fieldsOf = (content: Json) => (isObject(content) ? ` (its fields are ${Object.keys(content).join(', ')})` : '');

/** Returns the messages of an answer; undefined where it has none. */
function messagesIn(answer: Json): readonly Json[] | undefined {
  if (typeof answer === 'string') return isStream(answer) ? undefined : [{ role: 'assistant', content: answer }];
  if (Array.isArray(answer)) return messagesOfAll(answer);
  const { choices, body, message, content, tool_calls, role, text } = objectOf(answer);
  if (Array.isArray(choices)) return messagesOfAll(choices);
  if (isObject(body)) return messagesIn(body);
  if (isObject(message)) return messagesIn(message);
  if (role !== undefined || content !== undefined || tool_calls !== undefined)
    return [{ ...objectOf(answer), role: role ?? 'assistant' }];
  return typeof text === 'string' ? [{ role: 'assistant', content: text }] : undefined;
}

/** Returns how many choices an endpoint returned as its answer. */
function choicesIn(answer: Json | undefined): number {
  const { choices, body } = objectOf(answer);
  return Array.isArray(choices) ? choices.length : isObject(body) ? choicesIn(body) : 0;
}

/** Whether a text is the events of a stream, as an endpoint sends them. */
const isStream = (text: string) => /^(?:event: .*\n)?data: \{/.test(text);

/** Of several choices the first one was taken; parts are one message. */
function messagesOfAll(list: readonly Json[]): readonly Json[] | undefined {
  const [first] = list;
  if (list.length > 0 && list.every((each) => 'role' in objectOf(each))) return list;
  if (objectOf(first)['type'] !== undefined) return [{ role: 'assistant', content: list }];
  return first === undefined ? undefined : messagesIn(first);
}

/** Returns the error that a line logs in place of an answer, as a text. */
export function errorIn(object: JsonObject): string | undefined {
  const inner = [object['response'], objectOf(object['response'])['body'], object['result']].map(objectOf);
  for (const { error, error_message } of [object, ...inner]) {
    const [own] = typeof error === 'string' ? listIn(error) : [error];
    const { message, error: nested, type, code } = objectOf(own);
    const found = [message, objectOf(nested)['message'], error_message, error, type, code].map(textOf);
    const text = found.find((each) => each !== undefined && each !== '');
    if (text !== undefined) return text;
  }
  return undefined;
}
