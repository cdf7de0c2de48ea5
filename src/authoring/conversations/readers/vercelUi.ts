import type { ConversationReader } from '../conversationReader.ts';
import { hasParts } from '../messageRows.ts';
import { listIn, objectOf, textOf } from '../saidMessage.ts';
import { openaiChat } from './openaiChat.ts';

/** Reads messages of the AI SDK's user interface: `parts`, or `toolInvocations` before them. */
export const vercelUi: ConversationReader = {
  name: 'vercel-ui',
  label: 'Vercel UI messages',
  source: 'chats',
  keys: ['messages', 'parts'],
  messageKeys: ['messages', 'completion'],
  isWhole: true,
  matches: (value) => {
    const messages = Array.isArray(value) ? value : [value, ...listIn(objectOf(value)['messages'])];
    return messages.some(isUiMessage);
  },
  read: openaiChat.read,
};

function isUiMessage(value: unknown): boolean {
  const { role, parts: given, toolInvocations } = objectOf(value);
  // A table of messages has them as JSON text.
  const parts = listIn(given);
  if (textOf(role) === undefined) return false;
  return (
    Array.isArray(toolInvocations) ||
    hasParts([{ parts: isTextual(parts) ? parts : [] }], 'vercel-ui', 'parts') ||
    hasTools(parts)
  );
}

/** Parts of OpenTelemetry have their words as `content`. */
const isTextual = (parts: unknown): parts is readonly never[] =>
  Array.isArray(parts) && parts.every((part) => objectOf(part)['type'] !== 'text' || 'text' in objectOf(part));

const hasTools = (parts: unknown): boolean =>
  Array.isArray(parts) && parts.some((part) => /^tool-/.test(textOf(objectOf(part)['type']) ?? ''));
