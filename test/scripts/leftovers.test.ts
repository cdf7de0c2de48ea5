import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findLeftovers } from '../../scripts/leftovers.ts';
import { temporaryFolder } from '../support/temporary.ts';

test('what ends while the check waits is not left behind', async () => {
  const folder = temporaryFolder('leftovers');
  const file = join(folder, 'late');
  writeFileSync(file, '');
  const waiting = findLeftovers(folder, 240_000);
  rmSync(file);
  expect(await waiting).toEqual([]);
});
