import { readConversations } from '../../src/authoring/conversations/readConversations.ts';
import { shown } from '../support/conversationLines.ts';

/** The conversation that every library had: each message once, in order, without the attempt that failed. */
export const expected: readonly string[] = [
  's Be brief.',
  'u Where are W1 and W2?',
  'a> get_order{"order_id":"W1"}',
  'a> get_order{"order_id":"W2"}',
  't< get_order{"order_id":"W1"} shipped on Monday',
  't< get_order{"order_id":"W2"} shipped on Tuesday',
  'a Both have shipped.',
  'u Thanks.',
  'a You are welcome.',
];

/** Reads spans: each conversation as lines, and what of them could not be read. */
export function readCapture(file: string) {
  const { conversations, problems } = readConversations([file], 'spans');
  return { read: conversations.map(shown), lost: [...problems, ...conversations.flatMap((each) => each.lost)] };
}

/** Returns how what is read from spans differs from that conversation; null where it does not. */
export function differenceIn(file: string): string | null {
  const found = readCapture(file);
  const isSame = found.lost.length === 0 && JSON.stringify(found.read) === JSON.stringify([expected]);
  return isSame ? null : JSON.stringify(found, null, 2);
}
