import { expect, test } from 'vitest';
import { readAddress } from '../../../src/cli/targets/ssh/address.ts';
import { sshFault } from '../../../src/cli/targets/ssh/words.ts';

test.each([
  ['ssh://gpu', { host: 'gpu', port: undefined, folder: '~/rehearsal' }],
  ['ssh://ada@gpu.example:2222/', { host: 'ada@gpu.example', port: 2222, folder: '~/rehearsal' }],
  ['ssh://ada@gpu.example/data/my%20runs/', { host: 'ada@gpu.example', port: undefined, folder: '/data/my runs' }],
  ['ssh://gpu/~/runs', { host: 'gpu', port: undefined, folder: '~/runs' }],
  ['ssh://gpu/~/', { host: 'gpu', port: undefined, folder: '~' }],
  ['ssh://gpu/~ada', { host: 'gpu', port: undefined, folder: '/~ada' }],
])('%s', (text, address) => {
  expect(readAddress(text)).toEqual(address);
});

test.each([
  ['ssh://', /expected ssh:\/\/user@host:port\/folder/],
  ['ssh://-oProxyCommand=run', /expected ssh:/],
  ['ssh://-l@gpu', /expected ssh:/],
  ['ssh://gpu:99999', /expected ssh:/],
  ['ssh://gpu/100%', /expected ssh:/],
  ['ssh://ada:secret@gpu', /an address must not contain a password; ssh signs in with a key$/],
])('%s is refused', (text, words) => {
  expect(() => readAddress(text)).toThrow(words);
});

const address = readAddress('ssh://ada@gpu:2222');

test.each([
  ['@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.', 'ssh/host-key-changed'],
  ['No ED25519 host key is known for gpu and you have requested strict checking.', 'ssh/host-key-unknown'],
  ['ada@gpu: Permission denied (publickey,password).', 'ssh/key-refused'],
  ['ssh: Could not resolve hostname gpu: Name or service not known', 'ssh/unknown-host'],
  ['ssh: connect to host gpu port 2222: Connection timed out', 'ssh/unreachable'],
  ['Timeout, server gpu not responding.', 'ssh/unreachable'],
  ['something new', 'ssh/failed'],
])('%s', (words, code) => {
  expect(sshFault(address, words).failure.code).toBe(code);
});
