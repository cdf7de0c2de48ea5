import { expect, test, vi } from 'vitest';
import { modelServer } from '../../support/modelServer.ts';
import { sharedSession as session } from './harness.ts';

vi.setConfig({ testTimeout: 90_000 });

test('a client receives the usage of each model answer', async () => {
  const { url, requests } = await modelServer(() => 'Which order is it about?', {
    prompt_tokens: 20,
    completion_tokens: 10,
  });
  const run = session();
  await run.begin({ task: 'mistaken-order', agent: `openai:m@${url}`, stopOnEntry: true });
  await run.step('next');
  await run.step('next');
  const told = run.client.events.filter(({ event }) => event === 'rehearsal/modelAnswered');
  expect(told.length).toBe(requests.length);
  expect(told.length).toBeGreaterThan(0);
  for (const { body } of told) expect(body).toEqual({ input: 20, output: 10, money: null });
});

test('seats without a model tell nothing', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant', agent: 'gold', stopOnEntry: true });
  await run.step('next');
  expect(run.client.received).not.toContain('rehearsal/modelAnswered');
});
