import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { findSandbox } from '../../src/engine/shell/processes/sandbox.ts';
import { signingKey } from '../../src/engine/shell/records/ledger.ts';
import { completion, endpoint } from '../support/endpoint.ts';
import { modelServer } from '../support/modelServer.ts';
import { inFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';

type Found = { readonly name: string; readonly status: string; readonly found: string; readonly advice: string | null };
type Path = { readonly path: string; readonly status: string; readonly what: string; readonly calls: number };
type Report = {
  readonly conditions: readonly Found[];
  readonly live?: { readonly model: string; readonly paths: readonly Path[] };
};

const key = 'sk-planted-7f3a9c';

async function doctor(argv: readonly string[], environment: NodeJS.ProcessEnv = {}, cwd = process.cwd()) {
  let [out, err] = ['', ''];
  const code = await main(['doctor', ...argv], {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    terminal: false,
    interactive: false,
    cwd,
    environment,
    signal: new AbortController().signal,
    readLine: () => Promise.reject(new Error('no person is at this terminal')),
  });
  return { code, out, err };
}

const reported = (out: string) => JSON.parse(out) as Report;
const statuses = ({ live }: Report) =>
  Object.fromEntries((live?.paths ?? []).map(({ path, status }) => [path, status]));

it('reports what this machine has, and of a key only whether it is set', async () => {
  const { code, out } = await doctor(['--json'], {
    OPENAI_API_KEY: key,
    OPENAI_BASE_URL: `http://me:${key}@127.0.0.1:1/v1`,
  });
  const { conditions } = reported(out);
  const found = Object.fromEntries(conditions.map(({ name, status }) => [name, status]));
  expect(found).toMatchObject({ Node: 'ok', workers: 'ok', loopback: 'ok', 'run folder': 'ok', OPENAI_API_KEY: 'ok' });
  expect(conditions.filter(({ status, advice }) => (status === 'ok') !== (advice === null))).toEqual([]);
  expect(out).not.toContain(key);
  expect(code).toBe(0);
});

inFullSuite('says whether a sandbox confines domains, and what to do where none does', async () => {
  const found = async (of = 'sandbox') =>
    reported((await doctor(['--json'])).out).conditions.find(({ name }) => name === of);
  const { name } = findSandbox();
  expect(await found()).toMatchObject({ status: name === null ? 'warning' : 'ok' });
  vi.stubEnv('REHEARSAL_SANDBOX', 'off');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await found()).toMatchObject({
    status: 'warning',
    found: 'REHEARSAL_SANDBOX=off switches it off',
    advice: expect.stringMatching(/^Unset REHEARSAL_SANDBOX\. .*run only domains that you trust/),
  });
  // The domain that doctor starts for this is built in, and needs no approval.
  expect(await found('workers')).toMatchObject({ status: 'ok' });
});

it('a key that is not there is a warning with what to do', async () => {
  const { code, out } = await doctor([]);
  expect(out).toMatch(/warning +OPENAI_API_KEY +absent\n +Set it if your model needs one/);
  expect(code).toBe(0);
});

inFullSuite('a signing key in a repository, or that others can read, is a warning', async () => {
  const home = temporaryFolder('rehearsal-home');
  const path = join(home, 'signing-key.pem');
  signingKey(path);
  chmodSync(path, 0o644);
  const condition = async () => {
    const { out } = await doctor(['--json'], { REHEARSAL_HOME: home });
    return reported(out).conditions.find(({ name }) => name === 'signing key');
  };
  expect(await condition()).toMatchObject({ status: 'warning', advice: `chmod 600 ${path}` });
  mkdirSync(join(home, '.git'));
  expect((await condition())?.found).toContain('is in a git repository');
});

inFullSuite('a run folder that cannot be written is a failure, and the exit code says so', async () => {
  const folder = temporaryFolder('rehearsal');
  writeFileSync(join(folder, '.rehearsal'), 'a file where a folder is expected');
  const { code, out } = await doctor([], {}, folder);
  expect(out).toMatch(/FAILED +run folder/);
  expect(code).toBe(1);
});

inFullSuite('every path of a model that answers, and answers wrongly, is degraded', async () => {
  const { url } = await modelServer(() => 'I like turtles.');
  const { code, out } = await doctor(['--live', url, '--model', 'turtle', '--json'], {
    OPENAI_API_KEY: key,
    OPENAI_BASE_URL: url,
  });
  expect(statuses(reported(out))).toEqual({
    agent: 'degraded',
    user: 'degraded',
    judge: 'degraded',
    grader: 'degraded',
    'tool simulator': 'degraded',
  });
  expect(out).not.toContain(key);
  expect(code).toBe(0);
});

it('paths that a model takes well are ok', async () => {
  const { url } = await modelServer(({ messages }) => {
    const [system] = messages;
    if (system?.content.includes('You simulate the tool')) return '{"result": {"opens": "08:00", "closes": "18:00"}}';
    if (system?.content.includes('You judge'))
      return `{"holds": ${messages[1]?.content.includes('Is this true?')}, "reason": "step 1"}`;
    return 'I like turtles.';
  });
  const { out } = await doctor(['--live', url, '--model', 'clever', '--json']);
  expect(statuses(reported(out))).toMatchObject({ judge: 'ok', grader: 'ok', 'tool simulator': 'ok' });
  expect(reported(out).live?.paths.map(({ calls }) => calls > 0)).toEqual([true, true, true, true, true]);
});

inFullSuite('a request counts whose answer the seat refuses, and a path without a request was not tried', async () => {
  const { url } = await modelServer(() => 'How can I help you today?');
  const { out } = await doctor(['--live', url, '--model', 'flipped', '--only', 'user', '--json']);
  expect(reported(out).live?.paths).toMatchObject([
    { path: 'user', status: 'degraded', calls: 2, what: expect.stringContaining('does not play the user') },
  ]);
  const refusing = await endpoint(() => ({ status: 500, body: { error: { message: 'out of order' } } }));
  const judged = await doctor(['--live', refusing, '--model', 'none', '--only', 'grader', '--json']);
  expect(reported(judged.out).live?.paths).toMatchObject([
    { path: 'judge', status: 'failed', calls: 1, what: expect.stringContaining('out of order') },
    { path: 'grader', status: 'failed', calls: 0, what: expect.stringMatching(/^was not tried, .*out of order/) },
  ]);
});

it('every request has the headers of a rollout and the settings that the options name', async () => {
  const asked: object[] = [];
  const url = await endpoint((_, body, headers) => {
    const { temperature, reasoning_effort: effort, top_k: topK } = JSON.parse(body);
    const { authorization, 'x-team': team, 'x-client-request-id': id = null } = headers;
    asked.push({ authorization, team, hasId: id !== null, topK, temperature, effort });
    return completion({ content: 'I like turtles.' });
  });
  const settings = ['headers.X-Team=red', 'extraBody.top_k=20', 'reasoningEffort=none'];
  const sets = settings.flatMap((setting) => ['--set', `agent.${setting}`]);
  await doctor(['--live', url, '--model', 'turtle', '--json', '--temperature', '0.7', ...sets]);
  expect(asked.length).toBeGreaterThan(10);
  const ofRollout = { authorization: 'Bearer none', team: 'red', hasId: true };
  const expected = { ...ofRollout, topK: 20, temperature: 0.7, effort: 'none' };
  expect(new Set(asked.map((each) => JSON.stringify(each)))).toEqual(new Set([JSON.stringify(expected)]));
});

inFullSuite('--only tries the paths that it names alone', async () => {
  const { url } = await modelServer(() => 'I like turtles.');
  const { out } = await doctor(['--live', url, '--model', 'clever', '--only', 'agent', '--json']);
  expect(statuses(reported(out))).toEqual({ agent: 'degraded' });
});

inFullSuite('an endpoint that refuses every call fails every path', async () => {
  const url = await endpoint(() => ({ status: 500, body: { error: { message: 'out of order' } } }));
  const { code, out } = await doctor(['--live', url, '--model', 'none']);
  expect(out.match(/FAILED/g)).toHaveLength(5);
  expect(out).toContain('answered 500');
  expect(code).toBe(1);
});

inFullSuite('a path that takes too long is stopped', async () => {
  const url = await endpoint((request) => (request === 0 ? null : completion({ content: 'Hello.' })));
  const { out } = await doctor(['--live', url, '--model', 'slow', '--timeout', '1', '--json']);
  expect(reported(out).live?.paths[0]).toMatchObject({
    path: 'agent',
    status: 'failed',
    what: expect.stringContaining('longer than 1 s'),
  });
});

it.each([
  [['--live', 'somewhere'], /"somewhere" is not a URL: expected something like http/],
  [['--model', 'x'], /--model goes with --live/],
  [['--live', 'http://127.0.0.1:9/v1', '--set', 'user.temperature=1'], /set agent\.NAME instead of user\.NAME/],
  [['--live', 'http://127.0.0.1:9/v1', '--only', 'agents'], /--only is one of agent, user, judge/],
  [
    ['--live', 'http://127.0.0.1:9/v1', '--model', 'x', '--set', 'agent.headers.X-Team=${env:NO_TEAM}'],
    /needs NO_TEAM, which is not set/,
  ],
  [['--live', 'http://127.0.0.1:9/v1'], /does not say which models it has/],
])('%j: one message, exit code 2', async (argv, message) => {
  const { code, err } = await doctor(argv);
  expect(code).toBe(2);
  expect(err).toMatch(message);
});
