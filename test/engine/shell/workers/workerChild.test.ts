import { cpSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { startWorkerEarly, type WorkerChild, workerChild } from '../../../../src/engine/shell/workers/workerChild.ts';
import { startWorker, type WorkerProcess } from '../../../../src/engine/shell/workers/workerProcess.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const folder = 'domains/parcel-desk';
const started: { kill(): void }[] = [];

afterEach(() => {
  for (const each of started.splice(0)) each.kill();
});

function child(options: Omit<Parameters<typeof workerChild>[0], 'folder'> = {}): WorkerChild {
  const made = workerChild({ folder, ...options });
  started.push({ kill: () => made.process.kill('SIGKILL') });
  return made;
}

const isEarly = ({ process }: WorkerChild) => process.spawnargs.at(-1)?.includes('"isEarly":true');

test('the next worker of a folder takes the process that was started early, once', () => {
  startWorkerEarly(folder);
  startWorkerEarly(folder);
  expect([child(), child()].map(isEarly)).toEqual([true, false]);
});

test('a worker that needs another process gets one', () => {
  started.push({ kill: startWorkerEarly(folder) });
  expect([child({ heapMb: 64 }), child({ inspectable: true })].map(isEarly)).toEqual([false, false]);
});

test('an early process that is not needed is not taken', () => {
  const discard = startWorkerEarly(folder);
  discard();
  expect(isEarly(child())).toBe(false);
});

test('discarding an early process does not end one that was taken', () => {
  const discard = startWorkerEarly(folder);
  const taken = child();
  discard();
  expect([isEarly(taken), taken.process.killed]).toEqual([true, false]);
});

test('an early worker describes the same tools', async () => {
  const describe = () =>
    new Promise((resolve, reject) => {
      const worker: WorkerProcess = startWorker(
        { folder, toolsFile: 'tools.ts', timeoutMs: 1000 },
        { onMessage: resolve, onDeath: ({ failure }) => reject(new Error(failure.message)) },
      );
      started.push(worker);
    });
  const late = await describe();
  startWorkerEarly(folder);
  const early = await describe();
  expect(early).toEqual(late);
  expect(early).toMatchObject({ type: 'described' });
});

test("an asterisk in the folder's path, which Node's permissions read as a wildcard, is refused without a sandbox", () => {
  const starred = join(temporaryFolder('rehearsal'), '*');
  cpSync(folder, starred, { recursive: true });
  process.env['REHEARSAL_SANDBOX'] = 'off';
  try {
    expect(() => workerChild({ folder: starred })).toThrow('Rename the folder');
    expect(() => startWorkerEarly(starred)()).not.toThrow();
  } finally {
    delete process.env['REHEARSAL_SANDBOX'];
    rmSync(dirname(starred), { recursive: true });
  }
});

test('a folder that is not there starts nothing', () => {
  expect(() => startWorkerEarly('/nowhere')()).not.toThrow();
});
