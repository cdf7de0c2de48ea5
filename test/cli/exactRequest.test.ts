import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sidecarPath } from '../../src/engine/shell/records/recording.ts';
import { approveAgent } from '../support/approval.ts';
import { completion, endpoint } from '../support/endpoint.ts';
import { modelServer } from '../support/modelServer.ts';
import { calling } from '../support/scriptedModel.ts';
import { inFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal, rehearsalWith } from '../support/terminal.ts';

const desk = 'domains/parcel-desk';
const task = 'reschedule-P46';
const fresh = () => temporaryFolder('exact');
const secret = 'They might be lying. Keys 2 and 1: {"2": 1, "1": 2} \u2028 \ud800';

/** Runs the task with models in both seats. Returns the recording, and the requests to each endpoint. */
async function run(agentFlag: (url: string) => string) {
  const agent = await modelServer(
    (_, nth) =>
      [
        { ...calling(['find_parcel', { parcel: 'P46' }]), reasoning_content: secret },
        { content: 'Shall I bring P46 on Tuesday?', reasoning_content: secret },
        calling(['reschedule', { parcel: 'P46', day: 'Tuesday' }]),
      ][nth - 1] ?? { content: 'Done, P46 comes on Tuesday.', reasoning_content: secret },
  );
  const user = await modelServer((_, nth) => ['P46 on Tuesday “now”, please.', 'Yes, do.'][nth - 1] ?? '###STOP###');
  const out = fresh();
  const flags = ['--agent', agentFlag(agent.url), '--user', `openai:u@${user.url}`, '--out', out];
  const allowed = [agent, user].map(({ url }) => `OPENAI_API_KEY=${new URL(url).origin}`).join(' ');
  const environment = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: agent.url, REHEARSAL_KEY_ORIGINS: allowed };
  const { code, err } = await rehearsalWith(environment, 'run', desk, task, '--temperature', '0.5', ...flags);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return { recording: join(out, `${task}.0.traj.jsonl`), agent: agent.bodies, user: user.bodies };
}

const stepsOf = (recording: string, type: string) =>
  readFileSync(recording, 'utf8')
    .trim()
    .split('\n')
    .flatMap((line, n) => (JSON.parse(line).event.type === type ? [n] : []));

async function shown(recording: string, step: number | string): Promise<string> {
  const { code, out, err } = await rehearsal('replay', recording, '--request', String(step));
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out.endsWith('\n')).toBe(true);
  return out.slice(0, -1);
}

test.each([
  ['a model', (url: string) => `openai:m@${url}`],
  ['an agent', () => `agent:${approveAgent('docs/examples/sdk-agent/sdk.agent.yaml')}`],
])('with %s in the seat, every request of both seats is shown byte for byte as it was sent', async (_, flag) => {
  const { recording, agent, user } = await run(flag);
  const asked = async (type: string) =>
    Promise.all(stepsOf(recording, type).map(async (step) => shown(recording, step)));
  expect(await asked('agentReplied')).toEqual(agent);
  expect(await asked('userReplied')).toEqual(user);
  expect(agent).toHaveLength(4);
  expect(user).toHaveLength(3);
  expect(user.join('')).not.toContain('lying');
  expect(user.join('')).not.toContain('find_parcel');
  expect(readFileSync(recording, 'utf8')).toContain('lying');
});

inFullSuite(
  'a simulated user that was asked again shows the refused message, and both requests by their own names',
  async () => {
    const agent = await modelServer(() => 'Which day?');
    const user = await modelServer((_, nth) => ['', 'P46 on Tuesday, please.'][nth - 1] ?? '###STOP###');
    const out = fresh();
    const seats = ['--agent', `openai:m@${agent.url}`, '--user', `openai:u@${user.url}`];
    const { out: told } = await rehearsal('run', desk, task, ...seats, '--out', out);
    const recording = join(out, `${task}.0.traj.jsonl`);
    const refused = /^refused {3}empty \(it .*\): no text\nuser {6}P46 on Tuesday, please\.$/m;
    expect(told).toMatch(refused);
    expect((await rehearsal('replay', recording)).out).toMatch(refused);
    const [first = 0] = stepsOf(recording, 'userReplied');
    expect(await shown(recording, `${first}.1`)).toBe(user.bodies[0]);
    expect(await shown(recording, `${first}.2`)).toBe(user.bodies[1]);
    const { err } = await rehearsal('replay', recording, '--request', String(first));
    expect(err).toBe(`rehearsal replay: step ${first} took several requests: ${first}.1, ${first}.2\n`);
  },
);

test('a request that failed is shown too, at the step that ended the rollout', async () => {
  const kept: string[] = [];
  const url = await endpoint((nth) =>
    nth === 0 ? completion({ content: 'Which day?' }) : { status: 500, body: { error: { message: 'boom' } } },
  );
  const out = fresh();
  const { code } = await rehearsal('run', desk, task, '--agent', `openai:m@${url}`, '--out', out);
  expect(code).toBe(2);
  const recording = join(out, `${task}.0.traj.jsonl`);
  const [ended = 0] = stepsOf(recording, 'rolloutEnded');
  kept.push(await shown(recording, ended));
  expect(JSON.parse(kept[0] ?? '').messages.at(-2)).toMatchObject({ role: 'assistant', content: 'Which day?' });
});

test('a step without a request, and a recording without any, are refused in words', async () => {
  const { recording } = await run((url) => `openai:m@${url}`);
  const said = async (step: string) => (await rehearsal('replay', recording, '--request', step)).err;
  expect(await said('0')).toMatch(/no model was asked for step 0; it was for 2, 3, /);
  expect(await said('many')).toMatch(/no model was asked for step many/);
  rmSync(sidecarPath(recording));
  expect(await said('2')).toMatch(/no model was asked in this rollout, or its sidecar is missing/);
});
