import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import {
  type ConversationsOptions,
  importConversations,
} from '../../../src/authoring/conversations/importConversations.ts';
import { recogniseNames } from '../../../src/authoring/conversations/recogniser.ts';
import { loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import { signingKey } from '../../../src/engine/shell/records/ledger.ts';
import { openSupervisor } from '../../../src/engine/shell/supervisor.ts';
import { lines, readLog } from '../../support/readLog.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const importInto = async (folder: string, more: Partial<ConversationsOptions> = {}) => {
  const supervisor = await openSupervisor(loadDomain(inRoot('domains', 'order-desk'), { soundness: false }));
  try {
    return await importConversations(supervisor, await readLog(lines(chat, chat, chat)), {
      from: 'chats',
      folder,
      key: signingKey(join(temporaryFolder('key'), 'key.pem')),
      seed: null,
      masksDatabase: false,
      signal: new AbortController().signal,
      ...more,
    });
  } finally {
    await supervisor.close();
  }
};

const stopped = 'stopped: nothing was written';
const chat = { messages: [{ role: 'user', content: 'Where is W1?' }] };

test.each(['a new folder', 'a folder with a file'])(
  'an import into %s that is stopped while it writes leaves nothing behind',
  async (place) => {
    const folder = join(temporaryFolder('stopped'), 'run');
    const hasFile = place !== 'a new folder';
    if (hasFile) {
      mkdirSync(folder);
      writeFileSync(join(folder, 'notes.txt'), 'mine');
    }
    const person = new AbortController();
    const onProgress = (_: number, __: number, what: string) => {
      if (what === 'written') person.abort();
    };
    await expect(importInto(folder, { signal: person.signal, onProgress })).rejects.toThrow(stopped);
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual(hasFile ? ['notes.txt'] : []);
  },
);

test('an import does not write over a file that appears meanwhile, which its error names', async () => {
  const folder = temporaryFolder('occupied');
  const file = join(folder, 'chat-2.0.traj.jsonl');
  const onProgress = (done: number, _: number, what: string) => {
    if (what === 'written' && done === 1) writeFileSync(file, 'mine');
  };
  await expect(importInto(folder, { onProgress })).rejects.toThrow(`${file}: can't be written`);
  expect(readFileSync(file, 'utf8')).toBe('mine');
});

test('a recogniser that a person stops says so, and not that Python is missing', async () => {
  const options = { python: process.execPath, name: 'rampart', language: 'en', signal: AbortSignal.abort() } as const;
  await expect(recogniseNames(['Where is W1?'], options)).rejects.toThrow(stopped);
});
