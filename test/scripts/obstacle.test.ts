import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { reasonOf } from '../../scripts/obstacle.ts';
import { pythonObstacle } from '../../scripts/pythonTests.ts';
import { temporaryFolder } from '../support/temporary.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

const reason = 'no python3 is on PATH. Python 3.11 or newer is needed, and REHEARSAL_PYTHON can name it';

test.skipIf(process.platform === 'win32').each([
  [['dnf', 'apt-get'], `${reason}. Install it: sudo apt-get install -y python3 python3-venv`],
  [['brew'], `${reason}. Install it: brew install python`],
  [[], reason],
  [['python3', 'brew'], undefined],
])('on a machine with %j, the reason without Python has the command that installs it', (programs, expected) => {
  const folder = temporaryFolder('obstacle');
  for (const name of programs) writeFileSync(join(folder, name), '#!/bin/sh\n', { mode: 0o755 });
  vi.stubEnv('PATH', folder);
  vi.stubEnv('REHEARSAL_PYTHON', undefined);
  const obstacle = pythonObstacle();
  expect(obstacle && reasonOf(obstacle)).toBe(expected);
});
