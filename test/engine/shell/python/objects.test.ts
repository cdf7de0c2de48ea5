import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('state that lies in objects is written down and read again as it was', () => {
  const { status, stderr } = spawnSync('python3', ['-B', join(import.meta.dirname, 'test_objects.py')], {
    encoding: 'utf8',
  });
  expect(stderr).toMatch(/Ran 5 tests[\s\S]*OK/);
  expect(status).toBe(0);
});
