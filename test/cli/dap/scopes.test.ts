import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { expect, test } from 'vitest';
import { modelServer } from '../../support/modelServer.ts';
import { calling } from '../../support/scriptedModel.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { domain, policy, ruleLine, type Session, sharedSession as session } from './harness.ts';

const atRule = () => ({ breakpoints: { [policy]: ruleLine() } });

/** Returns the rows of a scope as text, opened to a depth. */
async function shown(run: Session, scope: string, depth = 2): Promise<string> {
  const rows = async (reference: number, indent: string, left: number): Promise<string[]> => {
    const lines: string[] = [];
    for (const { name, value, variablesReference } of await run.children(reference)) {
      const line = value.replaceAll('\n', ' ');
      lines.push(`${indent}${name}: ${line.length > 110 ? `${line.slice(0, 107)}...` : line}`);
      if (variablesReference > 0 && left > 1) lines.push(...(await rows(variablesReference, `${indent}  `, left - 1)));
    }
    return lines;
  };
  const { reference } = await run.variables(scope);
  return (await rows(reference, '', depth)).join('\n');
}

async function names(run: Session): Promise<readonly string[]> {
  const { body } = await run.client.request<DebugProtocol.ScopesResponse['body']>('scopes', { frameId: 0 });
  return body.scopes.map(({ name, expensive }) => `${name}${expensive ? ' (when opened)' : ''}`);
}

test('what each seat sees, the verifiers, the persona and the usage, where a call is about to be made', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, atRule());
  const story = [`scopes: ${(await names(run)).join(', ')}`];
  for (const scope of ['Agent sees', 'User sees', 'Next request', 'Verifiers', 'Persona', 'Usage'])
    story.push(`\n# ${scope}\n${await shown(run, scope)}`);
  await run.step('next');
  await run.step('stepOut');
  story.push(`\n# Verifiers, after the lamp was changed\n${await shown(run, 'Verifiers')}`);
  story.push(`\n# Persona > agenda\n${await shown(run, 'Persona', 3)}`);
  await expect(`${story.join('\n')}\n`).toMatchFileSnapshot('golden/scopes.txt');
});

test('a row that changed is marked in everything that holds it', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant', stopOnEntry: true });
  const set = { breakpoints: [{ name: 'tool:change_item' }] };
  await run.client.request('setFunctionBreakpoints', set);
  await run.step('continue');
  await run.step('stepIn');
  expect(await run.top()).toMatch(/the database is written$/);
  expect(await run.value('Database', 'orders')).toMatch(/ {3}\(\d+ changes\)$/);
  expect(await run.value('Database', 'customers')).not.toMatch(/change/);
  const pages = (await run.variables('Database', 'orders')).found;
  expect(pages.filter(({ value }) => /change/.test(value)).map(({ name }) => name)).toEqual(['W1101 … W1200']);
  expect(await run.value('Database', 'orders', 'W1101', 'W1138')).toMatch(/ {3}\(\d+ changes\)$/);
  expect(await run.value('Database', 'orders', 'W1101', 'W1137')).not.toMatch(/change/);
  expect(await run.value('Database', 'orders', 'W1101', 'W1138', 'items_changed')).toBe('true   (was missing)');
});

test('the request that comes next is, byte for byte, what the model is then sent', async () => {
  const { url, bodies } = await modelServer((_, nth) =>
    nth === 1 ? calling(['find_customer_by_email', { email: 'hugo.okafor@example.com' }]) : 'Sorry, I can not help.',
  );
  const run = session();
  const prices = { agent: { input: 1000, output: 2000 } };
  await run.begin({ task: 'lamp-variant', agent: `openai:m@${url}`, prices, stopOnEntry: true });
  const toAgent = async () => {
    while ((await run.value('Rollout', 'next')) !== 'the agent responds') await run.step('stepIn');
  };
  for (const nth of [0, 1]) {
    await toAgent();
    const body = await run.value('Next request', 'body');
    expect(await run.value('Next request', 'to')).toBe(`openai:m at ${url}, in the agent's seat`);
    expect(bodies).toHaveLength(nth);
    await run.step('stepIn');
    expect(body).toBe(bodies[nth]);
    await run.step('stepBack');
    expect(await run.value('Next request', 'body'), 'as it was sent').toBe(bodies[nth]);
    await run.step('stepIn');
  }
  expect(await shown(run, 'Usage')).toMatch(
    /^agent: 20 tokens: 14 in, 6 out\nall: 20 tokens: 14 in, 6 out\nrequests: 2\nwaited for: \d+\.\d s\ncost: 0\.026$/,
  );
});

test('a recording shows the same, and its gold actions are played only when somebody looks', async () => {
  const live = session();
  await live.begin({ task: 'lamp-variant', noDebug: true });
  const [recording = ''] = live.recordings();
  const run = session();
  await run.begin({ recording, domain }, atRule());
  await run.step('continue');
  expect(await shown(run, 'Verifiers', 1)).toMatch(
    /^reward if ended here: 0: rule confirm-before-write was violated.*\ndatabase: not yet: orders\.W1138/,
  );
  expect(await run.value('Persona', 'agenda', 'still to get')).toBe('what is about order_id: W1138');
  await run.finish();
  expect(await shown(run, 'Verifiers', 1)).toMatch(/^reward: 0: rule confirm.*\ndatabase: violated: orders\.W1138/);
  expect(await run.value('Next request', 'none')).toMatch(/^no seat speaks next/);
  const without = join(temporaryFolder('rehearsal-without'), 'order-desk');
  cpSync(domain, without, { recursive: true, filter: (path) => !path.endsWith('lamp-variant.task.yaml') });
  const other = session();
  await other.begin({ recording, domain: without });
  expect(await other.value('Agent sees', 'instructions')).toMatch(/^# Order desk/);
  for (const scope of ['User sees', 'Persona', 'Verifiers'])
    expect(await other.value(scope, 'not known')).toMatch(/has no task "lamp-variant", so/);
});
