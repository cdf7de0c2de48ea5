import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { throwUnlessUsersServed } from '../../src/cli/targets/userEndpoints.ts';
import { smallDomain } from '../support/smallDomain.ts';
import { rehearsal, rehearsalWith } from '../support/terminal.ts';
import { rows, scratch } from './dataAttack.ts';

const key = 'sk-planted-0b7e5d44';
const task = 'id: one\npersona: plain\nuser: { goal: Go. }\n';

/** Replaces a file of a domain, and checks the domain. */
const inPlaceOf = (name: string, make: (file: string) => void, words: RegExp) => async () => {
  const folder = smallDomain({}, task);
  rmSync(join(folder, name), { force: true });
  make(join(folder, name));
  const { code, out } = await rehearsal('check', folder, '--static');
  expect([code, out]).toEqual([1, expect.stringMatching(words)]);
  return `refused: ${words.exec(out)?.[0]}`;
};

/** Passes the address of a foreign server to `send`, and expects that the person's key does not arrive there. */
const sendingTo = (send: (url: string) => Promise<string>) => async () => {
  const heard: (string | undefined)[] = [];
  const server = createServer(({ headers }, response) => {
    heard.push(headers.authorization);
    response.writeHead(400).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const said = await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
    expect(heard.filter((each) => each?.includes(key))).toEqual([]);
    const [why] = /would send \w+/.exec(said) ?? [];
    expect(why, said).toBeDefined();
    return `refused: ${why}`;
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

const desk = [inRoot('domains', 'parcel-desk'), 'reschedule-P68'] as const;
/** Runs a task with a model, and returns why it was refused. */
async function run(environment: NodeJS.ProcessEnv, agent: string): Promise<string> {
  const argv = ['run', ...desk, '--agent', agent, '--json', '--out', join(scratch(), 'run')];
  const { code, out } = await rehearsalWith({ OPENAI_API_KEY: key, ...environment }, ...argv);
  expect(code).toBe(2);
  return out;
}

const files = 'Only regular files of limited size are read.';
const origin = 'A key goes only to the address that it was allowed for.';

export const domainAttacks = [
  ...rows('Domain', files, process.platform !== 'win32')(
    [
      'policy.md is a link to /dev/zero',
      inPlaceOf('policy.md', (file) => symlinkSync('/dev/zero', file), /is a link to \/dev\/zero/),
    ],
    [
      'database.json is a link to a file outside the domain',
      inPlaceOf('database.json', (file) => symlinkSync('/etc/passwd', file), /is a link to \/etc\/passwd/),
    ],
    [
      'rules.yaml is a pipe',
      inPlaceOf('rules.yaml', (file) => void execFileSync('mkfifo', [file]), /is a device, a pipe or a socket/),
    ],
    [
      'database.json is a file of 10 GB',
      inPlaceOf(
        'database.json',
        (file) => {
          writeFileSync(file, '');
          truncateSync(file, 10_000_000_000);
        },
        /has more than \d+ MB/,
      ),
    ],
  ),
  ...rows('Domain', origin)(
    ['launch.json names another address for the model', sendingTo((url) => run({}, `openai:m@${url}`))],
    [
      'the settings of a workspace name another address for models',
      // The editor always sets the allowed origins, so an address from a workspace is not one of them.
      sendingTo((url) => run({ OPENAI_BASE_URL: url, REHEARSAL_KEY_ORIGINS: '' }, 'openai:m')),
    ],
    [
      'a training file names a key and another address',
      sendingTo((base_url) => {
        const user = { base_url, model: 'm', api_key_env: 'OPENAI_API_KEY' };
        const { signal } = new AbortController();
        return throwUnlessUsersServed({ kind: 'grpo', config: { user } }, { OPENAI_API_KEY: key }, signal).then(
          () => 'it is sent',
          (error: Error) => error.message,
        );
      }),
    ],
  ),
];
