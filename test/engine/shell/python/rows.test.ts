import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('shared rows obey the laws of a dictionary and do not change the base', () => {
  const { status, stderr } = spawnSync('python3', ['-B', join(import.meta.dirname, 'test_rows.py')], {
    encoding: 'utf8',
  });
  expect(stderr).toMatch(/Ran 2 tests[\s\S]*OK/);
  expect(status).toBe(0);
});
