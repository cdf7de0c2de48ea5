import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { trainingUser } from '../../../src/cli/options/trainingUser.ts';
import { openTrainingChannel } from '../../../src/cli/training/trainingChannel.ts';

const there = 'http://127.0.0.1:8000/v1';
const both = { train: `openai:a@${there}`, evaluate: `openai:b@${there}` };
const userOf = (user: Parameters<typeof trainingUser>[0]['user'], purpose: 'train' | 'evaluate', chosen?: string) =>
  trainingUser({ user }, purpose, chosen, { environment: {} });

test.each([
  { given: 'agenda', purpose: 'train', user: 'agenda' },
  { given: both, purpose: 'train', user: { base_url: there, model: 'a' } },
  { given: both, purpose: 'evaluate', user: { base_url: there, model: 'b' } },
  { given: both, purpose: 'train', chosen: 'agenda', user: 'agenda' },
  {
    given: both,
    purpose: 'train',
    chosen: `openai:c@${there}`,
    user: { base_url: there, model: 'c', api_key_env: 'OPENAI_API_KEY' },
  },
] as const)('$given for $purpose, chosen $chosen: $user', ({ given, purpose, chosen, user }) => {
  expect(userOf(given, purpose, chosen)).toEqual(user);
});

test.each([
  ['human', /human can't play the user of a training run/],
  ['scripted', /scripted can't play the user of a training run/],
  ['opnai:x', /^"opnai:x" can't play the user of a training run: use agenda or openai:MODEL\[@BASE_URL\]$/],
  ['agend', /. Did you mean "agenda"\?$/],
])('%s is refused', (chosen, message) => {
  expect(() => userOf('agenda', 'train', chosen)).toThrow(message);
});

test('the engine takes the key of a simulated user from its environment', async () => {
  vi.stubEnv('REHEARSAL_TEST_KEY', 'sk-user');
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const keys = new Set<string | undefined>();
  const server = createServer(async (request, response) => {
    keys.add(request.headers.authorization);
    const { messages } = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString());
    const turn = messages.filter(({ role }: { role: string }) => role === 'assistant').length;
    const content = ['Can P46 come on Tuesday?', 'Yes, please.'][turn] ?? '###STOP###';
    const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
    const choices = [{ index: 0, message: { role: 'assistant', content } }];
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'c', choices, usage }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const sent: object[] = [];
  const channel = openTrainingChannel(process.cwd(), (message) => sent.push(message));
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const user = { base_url, model: 'm', api_key_env: 'REHEARSAL_TEST_KEY' };
  const params = { domain: 'domains/parcel-desk', task: 'reschedule-P46', seed: 's', trial: 0, agent: 'gold', user };
  await channel.receive(JSON.stringify({ id: 1, method: 'rollout', params: { ...params, basis: 'train' } }));
  await channel.close();
  expect(sent).toMatchObject([
    {
      id: 1,
      result: {
        ...{ reward: 1, failure: null, calls: { find_parcel: 1, reschedule: 1 }, generic_calls: 0 },
        ...{
          longest_repeat: 1,
          handed_off: false,
          completion: 1,
          matched_tools: 1,
          user_tokens: { input: 30, output: 6 },
        },
      },
    },
  ]);
  expect([...keys]).toEqual(['Bearer sk-user']);
});
