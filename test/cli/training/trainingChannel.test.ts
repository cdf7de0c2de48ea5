import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openTrainingChannel } from '../../../src/cli/training/trainingChannel.ts';

test('an engine whose trainer is gone ends the rollouts that wait for a model', async () => {
  const asked = Promise.withResolvers<void>();
  const server = createServer(() => asked.resolve());
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const sent: object[] = [];
  const channel = openTrainingChannel(process.cwd(), (message) => sent.push(message));
  const agent = { base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, model: 'silent' };
  const params = { domain: 'domains/parcel-desk', task: 'missing-P49', seed: 's', trial: 0, agent, user: 'agenda' };
  const rollout = { method: 'rollout', params: { ...params, basis: 'train', timeout_s: 3600 } };
  const playing = channel.receive(JSON.stringify({ id: 1, ...rollout }));
  await asked.promise;
  await channel.close();
  await playing;
  await channel.receive(JSON.stringify({ id: 2, ...rollout }));
  expect(sent).toMatchObject([
    { id: 1, result: { end_reason: 'cancelled', reward: null } },
    { id: 2, error: { code: 'cancelled' } },
  ]);
});

test('a rollout whose domain is still opened is cancelled, too', async () => {
  const sent: object[] = [];
  const channel = openTrainingChannel(process.cwd(), (message) => sent.push(message));
  const params = { domain: 'domains/parcel-desk', task: 'missing-P49', seed: 's', trial: 0, agent: 'gold' };
  const rollout = { id: 1, method: 'rollout', params: { ...params, user: 'agenda', basis: 'train' } };
  const playing = channel.receive(JSON.stringify(rollout));
  await channel.receive(JSON.stringify({ id: 2, method: 'cancel', params: { request: 1 } }));
  await playing;
  await channel.close();
  expect(sent).toMatchObject([
    { id: 2, result: { cancelled: true } },
    { id: 1, error: { code: 'cancelled' } },
  ]);
});
