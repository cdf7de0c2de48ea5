import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { readChats } from '../engine/shell/import/chats.ts';
import type { ReadConversations } from '../engine/shell/import/conversation.ts';
import { type ConversationsReport, maskingSeed } from '../engine/shell/import/importConversations.ts';
import { readSpans } from '../engine/shell/import/spans.ts';
import { type SigningKey, signingKey } from '../engine/shell/ledger.ts';
import { type Given, text } from './command.ts';
import { type Io, UsageError } from './io.ts';

/** What conversations that were not rehearsed may stand in. */
const readers = {
  chats: (files: readonly string[]) => joined(files.map(readChats)),
  spans: readSpans,
} satisfies Record<string, (files: readonly string[]) => ReadConversations>;
export type Source = keyof typeof readers;

/** Whether it is conversations, and not a benchmark, that is to be imported. */
export function isConversations(named: string | undefined): named is Source {
  return named !== undefined && Object.hasOwn(readers, named);
}

/** The conversations in some files, and what of them can't be read. */
export const readLogs = (from: Source, files: readonly string[]): ReadConversations => readers[from](files);

/** Files of conversations that a person named, as paths. */
export function logFiles(named: readonly string[], io: Io): readonly string[] {
  return named.map((name) => {
    const path = resolve(io.cwd, name);
    if (!existsSync(path)) throw new UsageError(`${name}: there is no such file`);
    if (statSync(path).isDirectory()) throw new UsageError(`${name} is a folder; name the files in it`);
    return path;
  });
}

function joined(read: readonly ReadConversations[]): ReadConversations {
  return {
    conversations: read.flatMap(({ conversations }) => conversations),
    problems: read.flatMap(({ problems }) => problems),
  };
}

/** What stand-ins for personal data are drawn from; null where a person wants it kept. */
export function seedOfStandIns(given: Given, key: SigningKey = signingKey()): string | null {
  const named = text(given, 'seed');
  if (given.values['keep-personal-data'] !== true) return named ?? maskingSeed(key);
  if (named !== undefined)
    throw new UsageError('--seed draws stand-ins, and --keep-personal-data wants none: choose one');
  return null;
}

/** How much was masked, as people read it. */
export function maskedLine(masked: ConversationsReport['masked']): string {
  if (masked === null) return 'personal data was kept';
  const counts = Object.entries(masked).map(([kind, count]) => `${count} ${kind}`);
  return `masked: ${counts.length === 0 ? 'nothing was found to mask; read what you share' : counts.join(', ')}`;
}
