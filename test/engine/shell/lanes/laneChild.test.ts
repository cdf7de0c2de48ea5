import { cpSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type LaneChild, laneChild, startLaneEarly } from '../../../../src/engine/shell/lanes/laneChild.ts';
import { type LaneProcess, startLane } from '../../../../src/engine/shell/lanes/laneProcess.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const folder = 'domains/parcel-desk';
const started: { kill(): void }[] = [];

afterEach(() => {
  for (const each of started.splice(0)) each.kill();
});

function child(options: Omit<Parameters<typeof laneChild>[0], 'folder'> = {}): LaneChild {
  const made = laneChild({ folder, ...options });
  started.push({ kill: () => made.process.kill('SIGKILL') });
  return made;
}

const isEarly = ({ process }: LaneChild) => process.spawnargs.at(-1)?.includes('"isEarly":true');

test('the next lane of a folder takes the process that was started early, once', () => {
  startLaneEarly(folder);
  startLaneEarly(folder);
  expect([child(), child()].map(isEarly)).toEqual([true, false]);
});

test('a lane that needs another process gets one', () => {
  started.push({ kill: startLaneEarly(folder) });
  expect([child({ heapMb: 64 }), child({ inspectable: true })].map(isEarly)).toEqual([false, false]);
});

test('an early process that is not needed is not taken', () => {
  const discard = startLaneEarly(folder);
  discard();
  expect(isEarly(child())).toBe(false);
});

test('discarding an early process does not end one that was taken', () => {
  const discard = startLaneEarly(folder);
  const taken = child();
  discard();
  expect([isEarly(taken), taken.process.killed]).toEqual([true, false]);
});

test('an early lane describes the same tools', async () => {
  const describe = () =>
    new Promise((resolve, reject) => {
      const lane: LaneProcess = startLane(
        { folder, toolsFile: 'tools.ts', timeoutMs: 1000 },
        { onMessage: resolve, onDeath: ({ failure }) => reject(new Error(failure.message)) },
      );
      started.push(lane);
    });
  const late = await describe();
  startLaneEarly(folder);
  const early = await describe();
  expect(early).toEqual(late);
  expect(early).toMatchObject({ type: 'described' });
});

test("an asterisk in the folder's path, which Node's permissions read as a wildcard, is refused without a sandbox", () => {
  const starred = join(temporaryFolder('rehearsal'), '*');
  cpSync(folder, starred, { recursive: true });
  process.env['REHEARSAL_SANDBOX'] = 'off';
  try {
    expect(() => laneChild({ folder: starred })).toThrow('Rename the folder');
    expect(() => startLaneEarly(starred)()).not.toThrow();
  } finally {
    delete process.env['REHEARSAL_SANDBOX'];
    rmSync(dirname(starred), { recursive: true });
  }
});

test('a folder that is not there starts nothing', () => {
  expect(() => startLaneEarly('/nowhere')()).not.toThrow();
});
