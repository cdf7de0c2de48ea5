import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { withLock } from '../../scripts/lock.ts';
import { temporaryFolder } from '../support/temporary.ts';

test('commands that need the same download at once install it once', async () => {
  const folder = join(temporaryFolder('install'), 'browser');
  const program = fileURLToPath(new URL('planted/install.ts', import.meta.url));
  const install = () => promisify(execFile)(process.execPath, [program, folder]);
  const printed = await Promise.all([install(), install(), install()]);
  expect(printed.map(({ stdout, stderr }) => stdout + stderr).toSorted()).toEqual(['', '', 'installed']);
});

test('callers in one process have the lock one after the other, also after one that failed', async () => {
  const folder = temporaryFolder('lock');
  const order: string[] = [];
  const first = withLock(folder, async () => {
    await Promise.resolve();
    order.push('first');
    throw new Error('no network');
  });
  const second = withLock(folder, async () => void order.push('second'));
  await expect(first).rejects.toThrow('no network');
  await second;
  expect(order).toEqual(['first', 'second']);
});
