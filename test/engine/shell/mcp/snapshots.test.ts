import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { ScratchTools } from '../../../../src/engine/shell/scratchTools.ts';
import { approveDomain } from '../../../support/approval.ts';
import { mcpDomain } from '../../../support/mcpDomain.ts';
import { rehearse } from '../../../support/rehearsed.ts';
import { sampled } from '../../../support/suite.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const fixture = fileURLToPath(new URL('../fixtures/notesServer.mjs', import.meta.url));

type Played = {
  /** Keys of the server. */
  readonly keys: string;
  /** The calls of the agent. */
  readonly calls?: readonly string[];
  readonly that?: string;
  /** The setup of the task. */
  readonly setUp?: string;
};

/** Writes a domain of the official SDK's server of notes. Returns its folder, and what the server logs. */
function notesDomain({ keys, calls = [], that = 'true', setUp = '' }: Played) {
  const log = join(temporaryFolder('notes'), 'log');
  const args = JSON.stringify([fixture, '--log', log]);
  const writes = '[add_note, clear_notes, remember_token, add_slowly]';
  const folder = mcpDomain(
    'notes',
    `  notes: { command: ${JSON.stringify(process.execPath)}, args: ${args}, env: { NOTES_TOKEN: "\${env:NOTES_TOKEN}" }, writes: ${writes}, ${keys} }`,
    `user: { goal: You want notes. }
${setUp}
script:
${calls.map((call) => `  - [${call}]`).join('\n')}
  - [{ tool: count_notes }]
  - Done.
assertions: [{ in: notes, that: '${that}' }]
evaluate: [assertions]
train: [assertions]
`,
    { 'start/a.txt': 'a' },
  );
  const logged = () => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []);
  const restored = () => logged().filter((line) => line.startsWith('restore'));
  return { folder: approveDomain(folder), logged, restored };
}

const add = '{ tool: add_note, arguments: { text: milk } }';
const clear = '{ tool: clear_notes }';
const token = 'a secret of eight';
const withReader = (keys: string) => `reader: { tool: list_notes, rows: true }, state: snapshot, ${keys}`;
const ofRows = withReader(
  'snapshot: { tool: list_notes, rows: true }, restore: { tool: import_notes, argument: notes }',
);
const ofText = withReader('snapshot: { tool: export_text }, restore: { tool: import_text, argument: text }');
const ofFile = withReader('snapshot: { tool: export_file }, restore: { tool: import_file, argument: data }');

/** Plays a task, and a fork before its last call. Returns the rollouts and the restored states. */
async function playedAndForked(given: Played) {
  vi.stubEnv('NOTES_TOKEN', token);
  const { folder, restored } = notesDomain(given);
  const [played] = await rehearse(folder, ['a']);
  if (!played) throw new Error('no rollout');
  const last = played.events.findLastIndex(({ type }) => type === 'agentReplied') - 1;
  const before = played.events.slice(
    0,
    played.events.findLastIndex(({ type }, at) => type === 'agentReplied' && at < last),
  );
  const [fork] = await rehearse(folder, ['a'], { from: before });
  return { played, fork, restored: restored() };
}

const rowsAfter: readonly (readonly [calls: readonly string[], rows: object[]])[] = [
  [[add, clear], []],
  [[add], [{ id: 1, text: 'milk' }]],
  [
    [add, add],
    [
      { id: 1, text: 'milk' },
      { id: 2, text: 'milk' },
    ],
  ],
];

test.each(sampled(rowsAfter, 6))('a snapshot with rows goes back as a list after %j', async (calls, rows) => {
  const { played, fork, restored } = await playedAndForked({
    keys: ofRows,
    calls,
    that: `count(state) == ${rows.length}`,
  });
  expect([played.reward, fork?.reward]).toEqual([1, 1]);
  expect(restored).toEqual([`restore ${JSON.stringify(rows)}`]);
});

test('a snapshot that may be rows is refused where it does not declare them', async () => {
  const { folder } = notesDomain({
    keys: ofRows.replace('snapshot: { tool: list_notes, rows: true }', 'snapshot: { tool: list_notes }'),
    calls: [clear],
  });
  vi.stubEnv('NOTES_TOKEN', token);
  const [played] = await rehearse(folder, ['a']);
  expect(played).toMatchObject({
    reward: null,
    failure: { code: 'mcp/unclear-rows', message: expect.stringContaining('Write rows: true under snapshot') },
  });
});

test('a snapshot that is a file goes back to its server', async () => {
  const { played, fork, restored } = await playedAndForked({ keys: ofFile, calls: [add], that: 'count(state) == 1' });
  expect([played.reward, fork?.reward]).toEqual([1, 1]);
  expect(restored).toEqual(['restore [{"id":1,"text":"milk"}]']);
});

test('a recording does not have the secret of a snapshot, so a fork from it is refused', async () => {
  await expect(playedAndForked({ keys: ofText, calls: ['{ tool: remember_token }'] })).rejects.toMatchObject({
    failure: {
      code: 'fork/secret',
      message: expect.stringMatching(/\[NOTES_TOKEN\] in place of the value of NOTES_TOKEN.*Start the task from/),
    },
  });
});

/** Opens the tools of a domain as `rehearsal mcp` does. */
async function scratchOf(given: Played) {
  vi.stubEnv('NOTES_TOKEN', token);
  const domain = notesDomain(given);
  const tools = await ScratchTools.open(loadDomain(domain.folder), { readKey: () => undefined });
  onTestFinished(() => tools.close());
  return { ...domain, call: tools.shown.call };
}

test.each([
  ['a text', ofText],
  ['a file', ofFile],
  ['rows', ofRows],
])('a server gets its own snapshot back with its secrets while the process lives: %s', async (_, keys) => {
  const { call, restored } = await scratchOf({ keys });
  await call('remember_token', {});
  expect((await call('list_notes', {})).content).toBe('{"id":1,"text":"[NOTES_TOKEN]"}');
  expect((await call('crash', {})).content).toMatch(/The next call continues from the state before this call$/);
  expect((await call('count_notes', {})).content).toBe('{"count":1}');
  expect(restored()).toEqual([`restore [{"id":1,"text":"${token}"}]`]);
});

test('a file without its secret counts as one that cannot be read', async () => {
  const { call } = await scratchOf({ keys: ofFile });
  await call('remember_token', {});
  expect(await call('export_file', {})).toMatchObject({
    content: '[application/octet-stream, 1 kB]',
    media: [{ data: expect.stringContaining('[NOTES_TOKEN]'), problem: 'it contains a secret' }],
  });
});

test('a write that was cancelled is in the state that a later call continues from', async () => {
  const { call, logged, restored } = await scratchOf({ keys: ofText });
  await call('add_note', { text: 'milk' });
  const cancel = new AbortController();
  const cancelled = call('add_slowly', { text: 'tea' }, cancel.signal);
  await expect.poll(logged).toContain('kept tea');
  cancel.abort();
  expect(await cancelled).toMatchObject({ isError: true, content: 'Error: the call was cancelled' });
  expect((await call('count_notes', {})).content).toBe('{"count":2}');
  expect((await call('crash', {})).content).toMatch(/The next call continues from the state before this call$/);
  expect((await call('count_notes', {})).content).toBe('{"count":2}');
  expect(restored()).toHaveLength(1);
});

test('a write that was cancelled is named as missing where the server ends before its state is read', async () => {
  const { call, logged } = await scratchOf({ keys: ofText });
  await call('add_note', { text: 'milk' });
  const cancel = new AbortController();
  const cancelled = call('add_slowly', { text: 'tea' }, cancel.signal);
  await expect.poll(logged).toContain('kept tea');
  cancel.abort();
  await cancelled;
  expect((await call('crash', {})).content).toMatch(/without the calls that were cancelled$/);
  expect((await call('count_notes', {})).content).toBe('{"count":1}');
});

test.each([
  ['files', '{ files: start, calls: [{ tool: add_note, arguments: { text: egg } }] }'],
  ['args', `{ args: ${JSON.stringify([fixture, '--notes', '1'])} }`],
])('a task that sets up %s starts its server once', async (_, setUp) => {
  vi.stubEnv('NOTES_TOKEN', token);
  const { folder, logged } = notesDomain({
    keys: ofText,
    calls: [add],
    setUp: `setUp: { notes: ${setUp} }`,
    that: 'count(state) == 2',
  });
  const [played] = await rehearse(folder, ['a']);
  expect(played?.reward).toBe(1);
  // The first start describes the tools. A server with other arguments does not log its start.
  expect(logged()).toEqual(setUp.includes('args') ? ['start'] : ['start', 'start']);
});
