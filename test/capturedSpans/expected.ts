import { readConversations } from '../../src/authoring/conversations/readConversations.ts';
import { shown } from '../support/conversationLines.ts';
import type { Library } from './libraries.ts';

/** Returns a library's conversation: each message once, in order, without the failed attempt. */
export function expectedOf({
  system = 'Be brief.',
  result = (status) => status,
}: Pick<Library, 'system' | 'result'>): readonly string[] {
  return [
    `s ${system}`,
    'u Where are W1 and W2?',
    'a> get_order{"order_id":"W1"}',
    'a> get_order{"order_id":"W2"}',
    `t< get_order{"order_id":"W1"} ${result('shipped on Monday')}`,
    `t< get_order{"order_id":"W2"} ${result('shipped on Tuesday')}`,
    'a Both have shipped.',
    'u Thanks.',
    'a You are welcome.',
  ];
}

/** Reads spans. Returns each conversation as lines, and the parts that could not be read. */
export async function readCapture(file: string) {
  const { conversations, problems } = await readConversations([file], 'spans');
  return { read: conversations.map(shown), lost: [...problems, ...conversations.flatMap((each) => each.lost)] };
}

/** Returns how the conversation read from spans differs from a library's; null if it does not. */
export async function differenceIn(file: string, library: Library): Promise<string | null> {
  const found = await readCapture(file);
  const isSame = found.lost.length === 0 && JSON.stringify(found.read) === JSON.stringify([expectedOf(library)]);
  return isSame ? null : JSON.stringify(found, null, 2);
}
