import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test, vi } from 'vitest';
import { approveAgent } from '../../support/approval.ts';
import { modelServer } from '../../support/modelServer.ts';
import { calling } from '../../support/scriptedModel.ts';
import { inFullSuite } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { sharedSession as session } from './harness.ts';

vi.setConfig({ testTimeout: 90_000 });
const asking = 'I can change the desk lamp in W1138 to white. The items can be changed only once. Shall I do that?';
const script = [
  calling(['find_customer_by_email', { email: 'hugo.okafor@example.com' }]),
  calling(['get_order', { order_id: 'W1138' }], ['list_variants', { product: 'desk lamp' }]),
  asking,
];

/** Copies the example and sets the address of its model. */
function agentAt(url: string): string {
  const folder = temporaryFolder('agent');
  const example = 'docs/examples/sdk-agent';
  copyFileSync(join(example, 'agent.mjs'), join(folder, 'agent.mjs'));
  const file = readFileSync(join(example, 'sdk.agent.yaml'), 'utf8');
  writeFileSync(join(folder, 'sdk.agent.yaml'), file.replace(/^model: .*$/m, `$&@${url}`));
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  return approveAgent(join(folder, 'sdk.agent.yaml'));
}

test('an agent of published SDKs is stepped through: its calls stop on tools and rules', async () => {
  const { url, bodies } = await modelServer((_, nth) => script[nth - 1] ?? 'Anything else?');
  const run = session();
  const agent = `agent:${agentAt(url)}`;
  await run.begin({ task: 'lamp-variant', agent, stopOnEntry: true });
  const story: string[] = [];
  for (let n = 0; n < 17; n += 1) {
    await run.step(n < 15 ? 'stepIn' : 'stepBack');
    story.push(await run.top());
  }
  await expect(`${story.join('\n')}\n`).toMatchFileSnapshot('golden/agentSeat.steps.txt');
  await expect(stripVTControlCharacters(run.client.output)).toMatchFileSnapshot('golden/agentSeat.txt');
  expect(bodies).toHaveLength(3);
});

inFullSuite('the exact request is shown for the step that is looked at, and for those that a fork shares', async () => {
  const { url, bodies } = await modelServer((_, nth) => script[nth - 1] ?? 'Anything else?');
  const run = session();
  const agent = `agent:${agentAt(url)}`;
  await run.begin({ task: 'lamp-variant', agent, forkAgent: 'gold', stopOnEntry: true });
  expect(await run.type('/request')).toBe('refused: no model was asked in this rollout, or its sidecar is missing');
  await run.step('next');
  expect(await run.type('/request')).toBe(bodies[0]);
  await run.step('next');
  await run.step('stepIn');
  expect(await run.type('/request')).toBe(bodies[1]);
  const { body } = await run.client.request<{ name: string; body: string }>('rehearsal/request', { frameId: 4 });
  expect(body.body).toBe(bodies[0]);
  expect(await run.type(`/request ${body.name}`)).toBe(bodies[0]);
  expect(await run.type('/request 99')).toMatch(/refused: no model was asked for step 99; it was for 3/);
  await run.step('stepOut');
  expect(await run.type('/say Hello, how can I help?')).toBe('');
  expect(await run.type('/request 3')).toBe(bodies[0]);
  expect(readFileSync(run.recordings()[1] ?? '', 'utf8')).toContain('"parent"');
  const later = session();
  await later.begin({ recording: run.recordings()[0] });
  expect(await later.type(`/request ${body.name}`)).toBe(bodies[0]);
});
