import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { RolloutEvent } from '../../../src/engine/core/events/event.ts';
import { readRecording } from '../../../src/engine/shell/records/recording.ts';
import { approveDomain } from '../../support/approval.ts';
import { sampled } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { rehearsal } from '../../support/terminal.ts';
import { lineOf, reason, type Session, session, text } from './harness.ts';

vi.setConfig({ testTimeout: 90_000 });

const head = `import { defineTools } from 'rehearsal';
import * as z from 'zod';
const { tool } = defineTools<{ agent: { chairs: Record<string, { colour: string }> } }>();
const input = z.object({});
export const look = tool({ description: 'Looks.', effect: 'read', input, run: (_, { db }) => db.chairs });
`;
/** A tool that never returns has a short limit; one that ends its process has time to do so on a busy machine. */
const tool = (run: string, timeoutMs = 500) =>
  `${head}export const broken = tool({ description: 'Breaks.', effect: 'read', timeoutMs: ${timeoutMs}, input, run: ${run} });\n`;

/** A domain with one task, which reads the database and then calls a tool. */
function domainOf(call: string, files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder('rehearsal-broken');
  const script = ['look', call].map((name) => `[{ tool: ${name}, arguments: {} }]`).join(', ');
  const all = {
    'domain.yaml': 'name: chairs\nturnCap: 12\n',
    'database.json': '{ "chairs": { "A1": { "colour": "blue" } } }\n',
    'policy.md': '- Look first.\n',
    'personas/plain.persona.yaml': 'id: plain\ndescription: Plain.\n',
    'tasks/looks.task.yaml': `id: looks\npersona: plain\nuser: { goal: Look. }\nactions: []\nscript: [${script}, Done.]\n`,
    'tools.ts': head,
    ...files,
  };
  for (const [name, content] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

const eventsOf = (path: string): readonly RolloutEvent[] => readRecording(path).lines.map(({ event }) => event);

/** Expects a valid recording without a reward, and its receipt, however the rollout ended. */
async function expectKept(run: Session): Promise<readonly RolloutEvent[]> {
  const [recording = ''] = run.recordings();
  const folder = dirname(recording);
  const events = eventsOf(recording);
  expect(readRecording(recording).problems).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: 'rewarded', reward: null });
  expect(readFileSync(join(folder, 'ledger.jsonl'), 'utf8')).toContain(basename(recording, '.traj.jsonl'));
  expect(await rehearsal('verify', folder)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^1 recordings? verified/),
  });
  return events;
}

const deaths = [
  ['an endless loop', tool('() => { for (;;) {} }'), /did not return within 500 ms/],
  ['process.exit', tool('() => process.exit(3)', 60_000), /called process\.exit\(3\)/],
  ['process.abort', tool('() => process.abort()', 60_000), /ended with (?:signal|exit code)/],
  ['a promise that never settles', tool('() => new Promise(() => undefined)'), /gave no result within 500 ms/],
] as const;

test.each(sampled(deaths, 2))(
  '%s in a tool stops at the reward, and is recorded and signed',
  async (_name, code, why) => {
    const domain = domainOf('broken', { 'tools.ts': code });
    const run = session();
    const { stop } = await run.begin({ domain, task: 'looks', agent: 'scripted' });
    expect(reason(stop)).toBe('exit');
    expect(text(stop)).toMatch(why);
    expect(text(stop)).toMatch(/^not scored: the (?:tool broken|process that runs the tool broken)/);
    expect(run.client.output).toContain('NO REWARD');
    const ended = (await expectKept(run)).find(({ type }) => type === 'rolloutEnded');
    const line = lineOf(join(domain, 'tools.ts'), 'export const broken');
    expect(ended).toMatchObject({ failure: { file: join(domain, 'tools.ts'), line } });
    const said = run.client.events.find(({ body }) => /^\s*ended:/.test(String(body?.output)));
    expect(said?.body).toMatchObject({ source: { path: join(domain, 'tools.ts') }, line });
    expect((await run.step('continue')).event).toBe('terminated');
  },
);

test('without debugging, the session of a tool that never ends is over by itself', async () => {
  const run = session();
  const domain = domainOf('broken', { 'tools.ts': tool('() => { for (;;) {} }') });
  const { stop } = await run.begin({ domain, task: 'looks', agent: 'scripted', noDebug: true });
  expect(stop.event).toBe('terminated');
  await expectKept(run);
});

test('a tool that never ends is stepped through to the reward, back, and left for a fork', async () => {
  const run = session();
  const domain = domainOf('broken', { 'tools.ts': tool('() => { for (;;) {} }') });
  await run.begin({ domain, task: 'looks', agent: 'scripted', forkAgent: 'gold', stopOnEntry: true });
  const places: string[] = [];
  while (!/ no reward$/.test(places.at(-1) ?? '')) {
    await run.step('stepIn');
    places.push(await run.top());
  }
  const [called, ended] = places.slice(places.findIndex((each) => each.endsWith('broken is called')));
  expect(called).toMatch(/^tools\.ts:6 /);
  expect(ended).toBe('tools.ts:6 the environment failed');
  await expectKept(run);
  while (!/the tool returns$/.test(await run.top())) await run.step('stepBack');
  expect(await run.type('/say Nothing else to do.')).toBe('');
  expect(await run.finish()).toMatch(/^reward 1/);
  expect(eventsOf(run.recordings()[1] ?? '').at(-1)).toMatchObject({ type: 'rewarded', reward: 1 });
});

test('the line of a dead MCP server names its place before its last words, and links to it', async () => {
  const server = resolve('test/engine/shell/fixtures/mcpServer.mjs');
  const yaml = `name: chairs\nturnCap: 12\nmcpServers:\n  shop:\n    command: ${JSON.stringify(process.execPath)}\n    args: [${JSON.stringify(server)}, good]\n    timeoutMs: 30000\n`;
  const domain = approveDomain(domainOf('die', { 'domain.yaml': yaml }));
  const run = session();
  const { stop } = await run.begin({ domain, task: 'looks', agent: 'scripted' });
  expect(reason(stop)).toBe('exit');
  const ended = (await expectKept(run)).find(({ type }) => type === 'rolloutEnded');
  const file = join(domain, 'domain.yaml');
  const { line } = (ended as { failure: { line: number } }).failure;
  expect([4, 5]).toContain(line);
  const said = run.client.events.find(({ body }) => /^\s*ended:/.test(String(body?.output)));
  expect(said?.body.output).toContain(`; see ${file}:${line}. Its last output: fatal: out of cheese`);
  expect(said?.body).toMatchObject({ source: { path: file }, line });
});
