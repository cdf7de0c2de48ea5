import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  finishedRollouts,
  openLedger,
  type Receipt,
  readLedger,
  signingKey,
} from '../../../../src/engine/shell/records/ledger.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const receipt = (rollout: string): Receipt => ({
  rollout,
  recording: `${rollout}.traj.jsonl`,
  task: { id: 't', hash: 'h' },
  trial: 0,
  seed: '1',
  policyHash: 'p',
  basis: 'evaluate',
  reward: 1,
  endReason: 'userStopped',
  databaseDiff: 'd',
  chain: 'c',
  sidecarChain: 's',
});

test('a truncated receipt is ignored, and the next one is on a new line', () => {
  const folder = temporaryFolder('rehearsal-ledger');
  const [path, key] = [join(folder, 'ledger.jsonl'), signingKey(join(folder, 'key.pem'))];
  openLedger(path, key).receive(receipt('one'));
  const whole = readFileSync(path, 'utf8');
  appendFileSync(path, whole.slice(0, 90));
  expect(finishedRollouts(path).map(({ rollout }) => rollout)).toEqual(['one']);
  openLedger(path, key).receive(receipt('two'));
  expect(readFileSync(path, 'utf8').startsWith(whole)).toBe(true);
  const { receipts, problems } = readLedger(path, key.publicKey);
  expect(receipts.map(({ rollout }) => rollout)).toEqual(['one', 'two']);
  expect(problems).toEqual([]);
});

test('a receipt verifies whatever the order of its keys', () => {
  const folder = temporaryFolder('rehearsal-ledger');
  const [path, key] = [join(folder, 'ledger.jsonl'), signingKey(join(folder, 'key.pem'))];
  const reversed = Object.fromEntries(Object.entries(receipt('one')).reverse()) as Receipt;
  openLedger(path, key, 'run-1').receive(reversed);
  expect(readLedger(path, key.publicKey)).toMatchObject({ receipts: [{ rollout: 'one', run: 'run-1' }], problems: [] });
});

test('the signing key is created once and complete, without other files beside it', () => {
  const folder = temporaryFolder('rehearsal-key');
  const path = join(folder, 'deep', 'key.pem');
  const { publicKey } = signingKey(path);
  expect(signingKey(path).publicKey).toBe(publicKey);
  expect(existsSync(path)).toBe(true);
  expect(readdirSync(join(folder, 'deep'))).toEqual(['key.pem']);
});

test('two signers that take turns in one ledger continue the same chain', () => {
  const folder = temporaryFolder('rehearsal-ledger');
  const [path, key] = [join(folder, 'ledger.jsonl'), signingKey(join(folder, 'key.pem'))];
  const [one, other] = [openLedger(path, key), openLedger(path, key)];
  for (const [sign, rollout] of [
    [one, 'a'],
    [other, 'b'],
    [one, 'c'],
    [one, 'd'],
    [other, 'e'],
  ] as const)
    sign.receive(receipt(rollout));
  const { receipts, problems } = readLedger(path, key.publicKey);
  expect(receipts.map(({ rollout }) => rollout)).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(problems).toEqual([]);
});

function ledger() {
  const folder = temporaryFolder('rehearsal');
  const key = signingKey(join(folder, 'key', 'signing-key.pem'));
  const path = join(folder, 'ledger.jsonl');
  const { receive } = openLedger(path, key);
  for (const rollout of ['a.0', 'a.1', 'a.2']) receive(receipt(rollout));
  return { path, key, text: readFileSync(path, 'utf8') };
}

test('receipts verify with the key that signed them', () => {
  const { path, key } = ledger();
  expect(readLedger(path, key.publicKey)).toMatchObject({
    receipts: [{ rollout: 'a.0' }, { rollout: 'a.1' }, { rollout: 'a.2' }],
    problems: [],
  });
});

test.each([
  {
    name: 'a changed reward',
    damage: (text: string) => text.replace('"reward":1', '"reward":0'),
    message: /a\.0 was changed/,
  },
  {
    name: 'a dropped receipt',
    damage: (text: string) => text.split('\n').toSpliced(1, 1).join('\n'),
    message: /does not follow/,
  },
])('$name is found', ({ damage, message }) => {
  const { path, key, text } = ledger();
  writeFileSync(path, damage(text));
  expect(readLedger(path, key.publicKey).problems[0]?.message).toMatch(message);
});

test('another key does not verify any receipt', () => {
  const { path } = ledger();
  const other = signingKey(join(temporaryFolder('rehearsal'), 'other.pem'));
  expect(readLedger(path, other.publicKey).problems).toHaveLength(3);
});
