import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import {
  confinedPid,
  findSandbox,
  type Sandbox,
  signalOf,
  spawnConfined,
} from '../../../../src/engine/shell/processes/sandbox.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const scratch = temporaryFolder('rehearsal-sandbox');
/** Returns the sandbox that a new process finds with other environment variables. */
function foundWith(environment: NodeJS.ProcessEnv): Sandbox {
  const module = new URL('../../../../src/engine/shell/processes/sandbox.ts', import.meta.url).href;
  const code = `import { findSandbox } from ${JSON.stringify(module)}; console.log(JSON.stringify(findSandbox()));`;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code];
  return JSON.parse(
    execFileSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, ...environment } }),
  );
}

/** Creates a folder for the start of the PATH, in which bwrap is the given shell script. */
function planted(script: string): string {
  const folder = mkdtempSync(join(scratch, 'bin-'));
  writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, 'bwrap'), 0o755);
  return [folder, process.env['PATH']].join(delimiter);
}

test('it can be switched off', () => {
  expect(foundWith({ REHEARSAL_SANDBOX: 'off' })).toMatchObject({
    name: null,
    reason: expect.stringMatching(/REHEARSAL_SANDBOX/),
  });
});

describe.runIf(process.platform === 'linux')('bubblewrap that does not work', () => {
  test.each([
    [
      'echo "bwrap: setting up uid map: Permission denied" >&2; exit 1',
      /uid map: Permission denied$/,
      /user namespaces/,
    ],
    ['echo "bwrap: Unknown option --disable-userns" >&2; exit 1', /Unknown option/, /0\.8 or newer/],
    ['exit 0', /does not start a process here/, /./],
  ])('%s', (script, reason, advice) => {
    expect(foundWith({ PATH: planted(script), REHEARSAL_BUBBLEWRAP: '', REHEARSAL_SANDBOX: '' })).toMatchObject({
      name: null,
      reason: expect.stringMatching(reason),
      advice: expect.stringMatching(advice),
    });
  });
});

test.runIf(process.platform === 'linux')(
  'a variable that names a program that does not exist is to be corrected',
  () => {
    expect(foundWith({ REHEARSAL_BUBBLEWRAP: '/nonexistent', REHEARSAL_SANDBOX: '' })).toEqual({
      name: null,
      reason: 'REHEARSAL_BUBBLEWRAP names /nonexistent, which does not exist',
      advice: 'Correct the variable, or remove it to use the bwrap on the PATH.',
    });
  },
);

test.runIf(findSandbox().name === 'bubblewrap')(
  'the process inside is known, and the signal that ended it',
  async () => {
    const confinement = { readable: [], memoryMb: 4096 };
    const { process: child } = spawnConfined(
      process.execPath,
      ['-e', 'console.log("up"); setInterval(() => 0, 1e6)'],
      confinement,
      { stdio: ['ignore', 'pipe', 'inherit'], env: {} },
    );
    await once(child.stdout as Readable, 'data');
    const inside = confinedPid(child.pid as number);
    expect(inside).not.toBe(child.pid);
    process.kill(inside, 'SIGTERM');
    const [code] = (await once(child, 'exit')) as [number];
    expect(signalOf(code)).toBe('SIGTERM');
  },
);
