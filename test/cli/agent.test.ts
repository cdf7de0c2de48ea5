import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test, vi } from 'vitest';
import { approveAgent } from '../support/approval.ts';
import { commandLine } from '../support/commandLine.ts';
import { modelServer } from '../support/modelServer.ts';
import { calling, type ModelRequest } from '../support/scriptedModel.ts';
import { inFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal, rehearsalWith } from '../support/terminal.ts';

const desk = 'domains/parcel-desk';
const agent = `agent:${approveAgent('docs/examples/sdk-agent/sdk.agent.yaml')}`;
const fresh = () => temporaryFolder('agent-cli');

/** Answers a user of parcel-desk: handles one request after the other. */
function answer({ messages }: ModelRequest): string | object {
  const said = messages.map(({ content }) => content ?? '').slice(1);
  const [parcel = 'P0'] = /P\d+/.exec(said.join(' ')) ?? [];
  const [day = 'Monday'] = /(?:Mon|Tues|Wednes|Thurs|Fri|Satur)day/.exec(said[0] ?? '') ?? [];
  if (messages.length === 2) return calling(['find_parcel', { parcel }]);
  if (messages.length === 4) return `Shall I bring ${parcel} on ${day}?`;
  if (messages.length === 6) return calling(['reschedule', { parcel, day }]);
  return `Done, ${parcel} comes on ${day}.`;
}

inFullSuite('many rollouts at once have an agent each, and their tokens count', async () => {
  const { url, requests } = await modelServer(answer);
  const out = join(fresh(), 'run');
  const flags = ['--agent', agent, '--tasks', 'reschedule-*', '--split', 'test', '--out', out, '--concurrency', '4'];
  const { code, out: printed, err } = await rehearsalWith({ OPENAI_BASE_URL: url }, 'eval', desk, ...flags, '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const { results, summary } = JSON.parse(printed) as {
    results: { reward: number; tokens: { agent: { input: number; output: number } } }[];
    summary: { meanReward: number };
  };
  expect(results.length).toBeGreaterThan(4);
  expect(summary.meanReward).toBe(1);
  expect(requests).toHaveLength(4 * results.length);
  expect(results[0]?.tokens.agent).toEqual({ input: 28, output: 12 });
  expect((await rehearsal('verify', out)).code).toBe(0);
});

inFullSuite('a token budget also limits an agent’s model, and the run continues with a larger budget', async () => {
  const { url, requests } = await modelServer(answer);
  const out = join(fresh(), 'run');
  const flags = ['--agent', agent, '--tasks', 'reschedule-P46', '--out', out];
  const { code, err } = await rehearsalWith({ OPENAI_BASE_URL: url }, 'eval', desk, ...flags, '--budget-tokens', '15');
  expect(code).toBe(2);
  expect(err).toMatch(/the budget is spent \(20 tokens/);
  expect(requests).toHaveLength(2);
  expect((await rehearsalWith({ OPENAI_BASE_URL: url }, 'eval', desk, ...flags)).code).toBe(0);
  expect(requests).toHaveLength(4);
});

test('a domain names its agent by a path', async () => {
  const { url } = await modelServer(answer);
  const folder = join(fresh(), 'parcel-desk');
  cpSync(desk, folder, { recursive: true });
  writeFileSync(
    join(folder, 'domain.yaml'),
    `${readFileSync(join(folder, 'domain.yaml'), 'utf8')}\nagent: agent:own.agent.yaml\n`,
  );
  for (const [from, to] of [
    ['agent.mjs', 'agent.mjs'],
    ['sdk.agent.yaml', 'own.agent.yaml'],
  ] as const)
    copyFileSync(join('docs/examples/sdk-agent', from), join(folder, to));
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  approveAgent(join(folder, 'own.agent.yaml'));
  const out = join(fresh(), 'run');
  const { code } = await rehearsalWith(
    { OPENAI_BASE_URL: url },
    'run',
    folder,
    'reschedule-P46',
    '--out',
    out,
    '--gate',
  );
  expect(code).toBe(0);
  const [recording = ''] = readdirSync(out).filter((name) => name.endsWith('.traj.jsonl'));
  expect(JSON.parse(readFileSync(join(out, recording), 'utf8').split('\n')[0] ?? '').event.seats.agent).toBe(
    'agent:own',
  );
});

test('what an agent writes to its standard error is shown; when everything is killed, it ends too', async () => {
  const folder = fresh();
  const file = join(folder, 'odd.agent.yaml');
  const fixture = resolve('test/engine/shell/fixtures/agent.mjs');
  writeFileSync(file, `command: ${process.execPath}\nargs: [${fixture}, dies]\n`);
  const run = (out: string) => {
    const seat = `agent:${approveAgent(file)}`;
    return ['run', desk, 'reschedule-P46', '--agent', seat, '--out', join(folder, out)] as const;
  };
  const { err } = await rehearsal(...run('a'));
  expect(err).toBe('odd: out of ideas\n');
  const mark = `mark-${process.pid}`;
  writeFileSync(file, `command: ${process.execPath}\nargs: [${fixture}, silent, ${mark}]\n`);
  const engine = spawn(process.execPath, [commandLine, ...run('b')], { stdio: 'ignore' });
  const runs = () =>
    spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
      .stdout.split('\n')
      .filter((line) => line.endsWith(`silent ${mark}`));
  await vi.waitUntil(() => runs().length === 1, { timeout: 120_000, interval: 200 });
  engine.kill('SIGKILL');
  await vi.waitUntil(() => runs().length === 0, { timeout: 120_000, interval: 200 });
});

test('an agent file that is not there is one message', async () => {
  const { code, err } = await rehearsal('run', desk, 'reschedule-P46', '--agent', 'agent:nothing.yaml');
  expect(code).toBe(2);
  expect(err).toMatch(/^rehearsal run: there is no agent file .*nothing\.yaml or .*parcel-desk\/nothing\.yaml\n$/);
});
