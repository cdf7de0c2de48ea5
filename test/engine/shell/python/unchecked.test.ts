import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('a row of tau2 may hold what its type refuses', () => {
  const { status, stderr } = spawnSync('python3', ['-B', join(import.meta.dirname, 'test_unchecked.py')], {
    encoding: 'utf8',
  });
  expect(stderr).toMatch(/Ran 1 test[\s\S]*OK/);
  expect(status).toBe(0);
});
