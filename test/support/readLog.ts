import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadConversations, SpokenMessage } from '../../src/engine/shell/import/conversation.ts';
import type { Source } from '../../src/engine/shell/import/conversationReader.ts';
import { readConversations } from '../../src/engine/shell/import/readConversations.ts';
import { temporaryFolder } from './temporary.ts';

/** Values as JSON lines. */
export const lines = (...values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

const folder = temporaryFolder('formats');
let files = 0;

/** Reads the conversations of a file with a content. */
export function readLog(content: string | Buffer, format?: string, source: Source = 'chats'): ReadConversations {
  files += 1;
  const file = join(folder, `log-${files}`);
  writeFileSync(file, content);
  return readConversations([file], source, format);
}

/** A conversation as lines: `u`, `s` and `a` say something, `a~` thinks, `a>` calls, `t<` returns to a call. */
export function shown({ messages }: { readonly messages: readonly SpokenMessage[] }): readonly string[] {
  const calls = messages.flatMap((each) => (each.role === 'agent' ? each.calls : []));
  return messages.flatMap((each) => {
    if (each.role === 'tool') {
      const call = calls.find(({ id }) => id === each.callId);
      return [`t< ${call?.name}${JSON.stringify(call?.arguments)} ${each.isError ? '!' : ''}${each.content}`];
    }
    if (each.role !== 'agent') return [`${each.role[0]} ${each.content}`];
    return [
      ...(each.reasoning === undefined ? [] : [`a~ ${each.reasoning}`]),
      ...(each.content ? [`a ${each.content}`] : []),
      ...each.calls.map(({ name, arguments: given }) => `a> ${name}${JSON.stringify(given)}`),
    ];
  });
}
