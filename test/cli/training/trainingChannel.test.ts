import { appendFileSync, cpSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openTrainingChannel } from '../../../src/cli/training/trainingChannel.ts';
import { approveDomain } from '../../support/approval.ts';
import { completion, endpoint } from '../../support/endpoint.ts';
import { temporaryFolder } from '../../support/temporary.ts';

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

test('the model that plays the user is asked with the settings of the domain, and gets no headers of another model', async () => {
  const bodies: { model: string; temperature?: number; top_k?: number; headers: IncomingHttpHeaders }[] = [];
  const url = await endpoint((_, body, headers) => {
    bodies.push({ ...JSON.parse(body), headers });
    return completion({ content: '###GIVE-UP###' });
  });
  const folder = join(temporaryFolder('settings'), 'parcel-desk');
  cpSync('domains/parcel-desk', folder, { recursive: true });
  const settings = 'models: { user: { temperature: 0.3, extraBody: { top_k: 7 }, headers: { x-desk: parcels } } }\n';
  appendFileSync(join(folder, 'domain.yaml'), `user: openai:own@${url}\n${settings}`);
  approveDomain(folder);
  const sent: object[] = [];
  const channel = openTrainingChannel(process.cwd(), (message) => sent.push(message));
  onTestFinished(() => channel.close());
  for (const model of ['own', 'another']) {
    const user = { base_url: url, model, api_key: 'k' };
    const params = { domain: folder, task: 'missing-P49', seed: 's', trial: 0, agent: 'gold', user, basis: 'train' };
    await channel.receive(JSON.stringify({ id: 1, method: 'rollout', params }));
  }
  expect(sent).toMatchObject([{ result: {} }, { result: {} }]);
  const asked = bodies.map(({ model, temperature, top_k, headers }) => [
    model,
    [temperature, top_k, headers['x-desk']],
  ]);
  expect(Object.fromEntries(asked)).toEqual({ own: [0.3, 7, 'parcels'], another: [0.3, 7, undefined] });
});
