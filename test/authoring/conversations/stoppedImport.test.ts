import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import { importConversations } from '../../../src/authoring/conversations/importConversations.ts';
import { recogniseNames } from '../../../src/authoring/conversations/recogniser.ts';
import { loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import { signingKey } from '../../../src/engine/shell/records/ledger.ts';
import { openSupervisor } from '../../../src/engine/shell/supervisor.ts';
import { lines, readLog } from '../../support/readLog.ts';
import { temporaryFolder } from '../../support/temporary.ts';

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
    const supervisor = await openSupervisor(loadDomain(inRoot('domains', 'order-desk'), { soundness: false }));
    const person = new AbortController();
    const importing = importConversations(supervisor, await readLog(lines(chat, chat, chat)), {
      from: 'chats',
      folder,
      key: signingKey(join(temporaryFolder('key'), 'key.pem')),
      seed: null,
      masksDatabase: false,
      signal: person.signal,
      onProgress: (_, __, what) => {
        if (what === 'written') person.abort();
      },
    });
    await expect(importing).rejects.toThrow(stopped);
    await supervisor.close();
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual(hasFile ? ['notes.txt'] : []);
  },
);

test('a recogniser that a person stops says so, and not that Python is missing', async () => {
  const options = { python: process.execPath, name: 'rampart', language: 'en', signal: AbortSignal.abort() } as const;
  await expect(recogniseNames(['Where is W1?'], options)).rejects.toThrow(stopped);
});
