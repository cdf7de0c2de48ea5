import type { DebugProtocol } from '@vscode/debugprotocol';
import type { Completed } from '../../terminal/io.ts';
import { expressionOf } from '../variables/databaseRows.ts';
import type { InProcessClient } from './inProcessClient.ts';

/** Returns the words that begin with the last word of a text. */
export function lastWordOf(text: string, words: readonly string[]): Completed {
  const end = /\S*$/.exec(text)?.[0] ?? '';
  return [[...new Set(words)].filter((word) => word.startsWith(end)), end];
}

/** Returns what completes a text of the Debug Console. */
export async function completedInConsole(client: InProcessClient, text: string): Promise<Completed> {
  const found = await targetsOf(client, text);
  const start = Math.min(text.length, ...found.map((each) => each.start ?? text.length));
  return [found.map((each) => text.slice(start, each.start) + (each.text ?? each.label)), text.slice(start)];
}

/** Returns what completes `TABLE/ID/FIELD`. */
export async function completedRow(client: InProcessClient, text: string): Promise<Completed> {
  const keys = text.split('/');
  const end = keys.pop() ?? '';
  const isUsers = keys[0] === 'user';
  const path = (isUsers ? keys.slice(1) : keys).map((key) => (/^\d+$/.test(key) ? Number(key) : key));
  const root = isUsers ? 'user' : 'db';
  const parent = path.length === 0 ? root : expressionOf(isUsers ? 'user' : 'agent', path);
  const found = await targetsOf(client, `${parent}["${end}`);
  return [found.map(({ label }) => label), end];
}

async function targetsOf(client: InProcessClient, text: string): Promise<readonly DebugProtocol.CompletionItem[]> {
  const args = { text, column: text.length + 1, frameId: 0 };
  return (await client.request<DebugProtocol.CompletionsResponse['body']>('completions', args)).targets;
}
