import { isObject, type Json, type JsonObject } from '../../../engine/core/values/json.ts';
import type { Conversation, ImportProblem } from '../conversation.ts';
import { type ConversationReader, readEach } from '../conversationReader.ts';
import type { PlacedValue } from '../jsonValues.ts';
import { listIn, objectOf, type ReadMessage, readMessage, roleNamed, textOf } from '../saidMessage.ts';
import { conversationOf, joinedItems, type PlacedRead } from '../transcript.ts';

/** Reads `conversations.json` of ChatGPT's export: a tree of messages, and the branch that was shown last. */
export const chatGpt: ConversationReader = {
  name: 'chatgpt',
  label: 'ChatGPT export',
  source: 'chats',
  keys: ['mapping', 'current_node', 'title'],
  matches: (value) => isObject(objectOf(value)['mapping']),
  read: (logs) => readEach(logs, conversationIn),
};

function conversationIn(file: string, { value, line }: PlacedValue, notes: ImportProblem[]): Conversation {
  const { mapping, current_node, id, conversation_id } = objectOf(value);
  const nodes = objectOf(mapping);
  const branch = branchOf(nodes, textOf(current_node) ?? lastOf(nodes));
  const spoken = (key: string) => isSpoken(objectOf(objectOf(nodes[key])['message']));
  const others = Object.keys(nodes).filter((key) => spoken(key) && !branch.includes(key)).length;
  const own = textOf(id ?? conversation_id);
  if (others > 0)
    notes.push({
      file,
      line,
      message: `${own ?? 'a conversation'}: ${others} messages of other branches are left out`,
    });
  const read = branch.filter(spoken).map((key, index): PlacedRead => {
    return { ...readNode(objectOf(objectOf(nodes[key])['message'])), line, path: `message ${index + 1}` };
  });
  return conversationOf({ file, line, id: own }, joinedItems(read));
}

const lastOf = (nodes: JsonObject) => Object.keys(nodes).findLast((key) => listOf(nodes[key]).length === 0);
const listOf = (node: Json | undefined) =>
  Array.isArray(objectOf(node)['children']) ? (objectOf(node)['children'] as readonly Json[]) : [];

function branchOf(nodes: JsonObject, leaf: string | undefined): readonly string[] {
  const branch: string[] = [];
  for (let at = leaf; at !== undefined && nodes[at] && !branch.includes(at); at = textOf(objectOf(nodes[at])['parent']))
    branch.unshift(at);
  return branch;
}

/** Hidden messages and empty ones of the system are not part of what was said. */
function isSpoken({ author, content, metadata }: JsonObject): boolean {
  if (objectOf(metadata)['is_visually_hidden_from_conversation'] === true) return false;
  const { role } = objectOf(author);
  const text = textIn(objectOf(content));
  return roleNamed(textOf(role) ?? '') !== undefined && !(role === 'system' && text === '') && text !== undefined;
}

/** The words of a content; undefined for what is shown beside the conversation. */
function textIn(content: JsonObject): string | undefined {
  const { content_type, parts, text, result } = content;
  if (besides.has(textOf(content_type) ?? '')) return undefined;
  const listed = Array.isArray(parts)
    ? parts.map((part) => textOf(part) ?? textOf(objectOf(part)['text']) ?? '')
    : null;
  return withoutMarks(listed?.filter(Boolean).join('\n') ?? textOf(text) ?? textOf(result) ?? '');
}

const besides = new Set(['model_editable_context', 'user_editable_context', 'reasoning_recap', 'system_error']);

/** Citations are marks of characters for private use, which no one was shown. */
const withoutMarks = (text: string) => text.replace(/\s?\uE200[^\uE201]*\uE201/g, '');

function readNode({ author, content, recipient }: JsonObject): ReadMessage {
  const { role } = objectOf(author);
  const object = objectOf(content);
  const text = textIn(object) ?? '';
  const to = textOf(recipient) ?? 'all';
  const hasPictures = listIn(object['parts']).some((part) => isObject(part) && textOf(part['text']) === undefined);
  const lost = hasPictures ? ['has parts that are not text (a picture, a file); they are left out'] : [];
  // The name of a tool differs between its call (`web`) and its result (`web.run`); results follow their calls.
  if (role === 'tool') return { said: [{ role: 'tool', content: text, isError: false }], lost };
  if (role === 'assistant' && object['content_type'] === 'thoughts') {
    const thoughts = (Array.isArray(object['thoughts']) ? object['thoughts'] : []).map(
      (each) => textOf(objectOf(each)['content']) ?? '',
    );
    return { said: [{ role: 'agent', content: '', calls: [], reasoning: thoughts.join('\n') }], lost: [] };
  }
  if (role === 'assistant' && to !== 'all') {
    const given = readMessage({ role: 'assistant', tool_calls: [{ name: to, arguments: text }] });
    return given;
  }
  const read = readMessage({ role: role ?? null, content: text });
  return hasPictures ? { said: read.said, lost } : read;
}
