import { stripVTControlCharacters } from 'node:util';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { expect, test, vi } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import { modelServer } from '../../support/modelServer.ts';
import { type Session, sharedSession as session, text } from './harness.ts';

vi.setConfig({ testTimeout: 90_000 });
const domain = inRoot('domains/parcel-desk');
const flip = 'Hello! How can I help you today?';
const scopes = async (run: Session) => {
  const { body } = await run.client.request<DebugProtocol.ScopesResponse['body']>('scopes', { frameId: 0 });
  return body.scopes.map(({ name }) => name);
};
const shown = (run: Session) => stripVTControlCharacters(run.client.output);

/** Steps to the user's next message, or to the end. */
async function toUser(run: Session): Promise<string> {
  for (;;) {
    const said = text(await run.step('stepIn')) ?? '';
    if (/^user[: ]|^reward|stopped/.test(said)) return said;
  }
}

test('a message that the guard refused is shown where it was refused, live and in the recording', async () => {
  const answers = ['Can P46 come on Tuesday?', flip, 'Yes, please. ###STOP###', 'Thanks. ###STOP###'];
  const { url, bodies } = await modelServer((_, nth) => answers[nth - 1] ?? '###STOP###');
  const run = session();
  const seats = { agent: 'gold', user: `openai:m@${url}` };
  await run.begin({ domain, task: 'reschedule-P46', ...seats, stopOnEntry: true });
  await toUser(run);
  expect(await scopes(run)).not.toContain('Refused by the guard');
  await toUser(run);
  const line = 'refused   role-flip (it speaks as the agent';
  expect(shown(run)).toContain(line);
  expect(shown(run)).toContain(flip);
  expect(shown(run)).toContain('a stop (done) was taken back');
  const { found } = await run.variables('Refused by the guard');
  expect(found).toMatchObject([
    { name: '1 role-flip', value: flip },
    { name: 'stop taken back', value: 'done' },
  ]);
  expect(await run.value('Refused by the guard', '1 role-flip', 'why')).toMatch(/^it speaks as the agent/);
  const step = (await run.type('messages[-1].step')) ?? '';
  expect([await run.type(`/request ${step}.1`), await run.type(`/request ${step}.2`)]).toEqual(bodies.slice(1, 3));
  // Later the refused message is shown with the message that replaced it, and that message can still be edited.
  await run.step('stepIn');
  expect(await scopes(run)).not.toContain('Refused by the guard');
  const messages = (await run.variables('Messages')).found;
  const name = messages.find(({ value }) => value === 'Yes, please.')?.name ?? '';
  expect(await run.value('Messages', name, '1 role-flip')).toBe(flip);
  expect(shown(run).split(line)).toHaveLength(2);
  await run.finish();
  const [recording] = run.recordings();
  const later = session();
  await later.begin({ domain, recording });
  await toUser(later);
  await toUser(later);
  expect(await later.value('Refused by the guard', '1 role-flip')).toBe(flip);
  expect(shown(later)).toContain(line);
});

test('a simulator that ended the rollout shows both messages at its end', async () => {
  const { url } = await modelServer((_, nth) => (nth % 2 === 1 ? ' ' : flip));
  const run = session();
  await run.begin({ domain, task: 'reschedule-P46', agent: 'gold', user: `openai:m@${url}`, stopOnEntry: true });
  expect(await run.finish()).toMatch(/^not scored: /);
  expect(shown(run)).toMatch(/refused {3}empty \(it .*\): no text\nrefused {3}role-flip \(it .*\): Hello! /);
  while (!(await run.top()).includes('the simulated user failed')) await run.step('stepBack');
  const { found } = await run.variables('Refused by the guard');
  expect(found.map(({ name, value }) => [name, value])).toEqual([
    ['1 empty', ' '],
    ['2 role-flip', flip],
  ]);
});
