import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('passes at its second run', () => {
  const folder = join(tmpdir(), 'planted-folder');
  const isSecondRun = existsSync(folder);
  mkdirSync(folder, { recursive: true });
  expect(isSecondRun).toBe(true);
});
