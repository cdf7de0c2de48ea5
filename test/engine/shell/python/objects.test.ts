import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('state in objects is written and read again unchanged', () => {
  const { status, stderr } = spawnSync('python3', ['-B', join(import.meta.dirname, 'test_objects.py')], {
    encoding: 'utf8',
  });
  expect(stderr).toMatch(/Ran 5 tests[\s\S]*OK/);
  expect(status).toBe(0);
});
