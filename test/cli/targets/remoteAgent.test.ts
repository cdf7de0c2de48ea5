import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { readAddress } from '../../../src/cli/targets/ssh/address.ts';
import { openSsh } from '../../../src/cli/targets/ssh/remoteAgent.ts';
import { keptSecret } from '../../../src/engine/shell/keys/secrets.ts';
import { temporaryFolder } from '../../support/temporary.ts';

afterEach(() => void vi.unstubAllEnvs());

test('a key that another machine prints is in none of its words, cut or not', async () => {
  const key = keptSecret('KEY', 'key-0123456789abcdef');
  const folder = temporaryFolder('remote-agent');
  writeFileSync(join(folder, 'words'), `${key}\n${key}${'x'.repeat(7990)}`);
  writeFileSync(join(folder, 'ssh'), `#!/bin/sh\ncat ${join(folder, 'words')} >&2\nexit 1\n`, { mode: 0o755 });
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env['PATH']}`);
  const said: string[] = [];
  const call = openSsh(readAddress('ssh://gpu'), 'true', { onWords: (line) => void said.push(line) });
  await expect(call.end()).rejects.toThrow(/^on gpu: [^0-9]*x+$/);
  expect(said).toEqual(['[KEY]']);
});
