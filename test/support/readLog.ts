import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadConversations } from '../../src/authoring/conversations/conversation.ts';
import type { Source } from '../../src/authoring/conversations/conversationReader.ts';
import { readConversations } from '../../src/authoring/conversations/readConversations.ts';
import { temporaryFolder } from './temporary.ts';

/** Formats values as JSON lines. */
export const lines = (...values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

const folder = temporaryFolder('formats');
let files = 0;

/** Writes a file with a content and reads its conversations. */
export function readLog(
  content: string | Buffer,
  format?: string,
  source: Source = 'chats',
): Promise<ReadConversations> {
  files += 1;
  const file = join(folder, `log-${files}`);
  writeFileSync(file, content);
  return readConversations([file], source, format === undefined ? {} : { format });
}
