import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import { sectionsOf } from '../../../src/cli/report/sections.ts';
import { measureOf, type Timing } from '../../../src/engine/core/evaluation/measure.ts';
import { metricsOf } from '../../../src/engine/core/evaluation/metrics.ts';
import type { UserView } from '../../../src/engine/core/seats/seat.ts';
import { loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import { externalSeatsOf } from '../../../src/engine/shell/externalSeats.ts';
import { askUserModel } from '../../../src/engine/shell/models/simulatedUser.ts';
import { sidecarPath } from '../../../src/engine/shell/records/recording.ts';
import { openMeter } from '../../../src/engine/shell/runs/meter.ts';
import { completion, endpoint } from '../../support/endpoint.ts';
import { modelServer } from '../../support/modelServer.ts';
import { type Rehearsed, rehearse, replayed } from '../../support/rehearsed.ts';
import type { ModelRequest } from '../../support/scriptedModel.ts';
import { viewAfter } from '../core/simulator/view.ts';

const seat = (baseUrl: string) => ({ type: 'openai' as const, model: 'm', baseUrl, keyName: null, timeoutMs: 120_000 });
const never = new AbortController().signal;
const view = viewAfter(['Please paint chair A1 red.', 'Shall I paint chair A1 red?']);
const flip = 'Hello! How can I help you today?';

test('roles are swapped, turns of the user are kept, and the answer is the reply', async () => {
  const { url, requests } = await modelServer(() => 'Yes, please.');
  const { reply, call } = await askUserModel(seat(url), '', view, never);
  expect(reply).toEqual({ content: 'Yes, please.', stop: null });
  expect(call.flaws).toBeUndefined();
  const [request] = requests;
  expect(request?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  expect(request?.messages[2]?.content).toBe('Please paint chair A1 red.');
});

test('a stop beside a yes is withheld and noted in the sidecar', async () => {
  const { url } = await modelServer(() => 'Yes, please. ###STOP###');
  const { reply, call } = await askUserModel(seat(url), '', view, never);
  expect(reply).toEqual({ content: 'Yes, please.', stop: null });
  expect(call.withheld).toBe('done');
});

test('a domain without the guard accepts every answer unchanged', async () => {
  const { url, requests } = await modelServer(() => flip);
  const domain = { ...view.domain, file: { ...view.domain.file, guard: false } };
  const { reply, call } = await askUserModel(seat(url), '', { ...view, domain }, never);
  expect([reply, call.flaws, requests.length]).toEqual([{ content: flip, stop: null }, undefined, 1]);
});

test('after a refused answer, the model is asked once more with the reason', async () => {
  const { url, requests } = await modelServer((_, nth) => (nth === 1 ? flip : 'Yes, please.'));
  const { reply, call } = await askUserModel(seat(url), '', view, never);
  expect(reply.content).toBe('Yes, please.');
  expect(call.flaws).toEqual([{ code: 'role-flip', message: expect.any(String), content: flip }]);
  expect(requests).toHaveLength(2);
  expect(requests[0]?.messages[0]?.content).not.toContain('could not be used');
  expect(requests[1]?.messages[0]?.content).toContain('could not be used: it speaks as the agent');
});

test.each([
  ['role-flip', flip],
  ['empty', ' '],
  ['leaked-instructions', 'You are the customer and never the agent: you offer no help.'],
  ['early-stop', '###STOP###'],
  ['invented-goal', 'Then take C77.'],
  ['repeated', 'No no no no no no.'],
])('a second %s ends it as the failure of the simulator', async (code, answer) => {
  const { url, requests } = await modelServer(() => answer);
  const fault = await askUserModel(seat(url), 'sk-secret', view, never).then(
    () => null,
    (error: unknown) => error,
  );
  expect(fault).toMatchObject({
    name: 'Fault',
    reason: 'userFailed',
    failure: {
      who: 'simulator',
      code: `simulator/${code}`,
      message: expect.stringMatching(/^m does not play the user/),
    },
    note: { flaws: [{ content: answer }, { content: answer }] },
  });
  expect(String(fault)).not.toContain('sk-secret');
  expect(requests).toHaveLength(2);
});

test('a user whose thoughts take all tokens fails with the setting to change', async () => {
  const message = { role: 'assistant', content: '', reasoning_content: 'The chair is' };
  const url = await endpoint(() => ({ status: 200, body: { choices: [{ finish_reason: 'length', message }] } }));
  await expect(askUserModel(seat(url), '', view, never)).rejects.toThrow(
    /it says nothing\. The answer was cut off at the token limit: set a larger maxTokens for the user$/,
  );
});

/** Starts an endpoint whose answers a test computes from the request. */
async function asked(answer: (body: object) => object): Promise<string> {
  const server = createServer(async (request, response) => {
    const message = answer(JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString()));
    const choices = [{ index: 0, message: { role: 'assistant', ...message } }];
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'c', choices }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

test("a model in the user's seat is offered the user's tools, and its calls and their results are its own", async () => {
  let seen: { messages?: { role: string }[]; tools?: { function: { name: string } }[] } = {};
  const url = await asked((body) => {
    seen = body;
    const press = { id: 'u2', type: 'function', function: { name: 'press', arguments: '{"hard":true}' } };
    return { content: 'I will try. ###STOP###', tool_calls: [press] };
  });
  const { messages: said, started } = view;
  const look = { id: 'u1', name: 'look_around', arguments: {} };
  const parameters = { type: 'object' };
  const messages: UserView['messages'] = [
    ...said,
    { role: 'user', step: 5, content: '', toolCalls: [look] },
    { role: 'tool', step: 6, callId: 'u1', name: 'look_around', content: '"dark"', isError: false, by: 'user' },
  ];
  const userTools = ['look_around', 'press'].map((name) => ({ name, description: name, parameters }));
  const { reply } = await askUserModel(seat(url), '', { ...view, messages, started: { ...started, userTools } }, never);
  const toolCalls = [{ id: 'u2', name: 'press', arguments: { hard: true } }];
  expect(reply).toEqual({ content: 'I will try. ###STOP###', stop: null, toolCalls });
  expect(seen.tools?.map((tool) => tool.function.name)).toEqual(['look_around', 'press']);
  expect(seen.messages?.slice(-2)).toMatchObject([
    { role: 'assistant', tool_calls: [{ id: 'u1', function: { name: 'look_around' } }] },
    { role: 'tool', tool_call_id: 'u1', content: '"dark"' },
  ]);
  expect(JSON.stringify(seen.messages?.[0])).toContain('Your tools are things around you');
});

test('a model in the user seat without tools is offered none, and calls that it invents are not made', async () => {
  let seen: { tools?: unknown } = {};
  const url = await asked((body) => {
    seen = body;
    const fly = { id: 'u1', type: 'function', function: { name: 'fly', arguments: '{}' } };
    return { content: 'A1, please.', tool_calls: [fly] };
  });
  expect((await askUserModel(seat(url), '', view, never)).reply).toEqual({
    content: 'A1, please.',
    stop: null,
  });
  expect(seen.tools).toBeUndefined();
});

const parcels = inRoot('domains/parcel-desk');
const words = ['Can P46 come on Tuesday?', 'Yes, please.', 'Thanks. ###STOP###'];
const inTurn = ({ messages }: ModelRequest) =>
  words[messages.filter(({ role }) => role === 'assistant').length] ?? '###STOP###';
const play = async (url: string): Promise<Rehearsed> => {
  const [closed] = await rehearse(parcels, ['reschedule-P46'], { agent: { type: 'gold' }, user: seat(url) });
  if (!closed) throw new Error('nothing was played');
  return closed;
};
const sidecarOf = ({ recording }: Rehearsed): readonly Timing[] =>
  readFileSync(sidecarPath(recording), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Timing);

test('a model plays a task with the gold seat to reward 1, and a replay asks no model', async () => {
  const { url, requests } = await modelServer(inTurn);
  const closed = await play(url);
  expect(closed).toMatchObject({ reward: 1, endReason: 'userStopped' });
  const asked = requests.length;
  expect(replayed(parcels, closed).problems).toBe(0);
  expect(requests).toHaveLength(asked);
});

test('two user turns never follow each other, and each request holds all turns of its own before', async () => {
  const { url, requests } = await modelServer(inTurn);
  const { events } = await play(url);
  const seats = events.flatMap(({ type }) => (type === 'userReplied' || type === 'agentReplied' ? [type] : []));
  expect(seats[0]).toBe('userReplied');
  expect(seats.some((type, at) => type === 'userReplied' && seats[at - 1] === 'userReplied')).toBe(false);
  const said = events.flatMap((event) => (event.type === 'userReplied' ? [event.content] : []));
  const kept = requests.map(({ messages }) =>
    messages.flatMap(({ role, content }) => (role === 'assistant' ? [content] : [])),
  );
  expect(kept).toEqual(said.map((_, at) => said.slice(0, at)));
});

test('a refusal is recorded and counted, and the rollout continues', async () => {
  let isFirst = true;
  const { url } = await modelServer((request) => {
    const answer = isFirst ? flip : inTurn(request);
    isFirst = false;
    return answer;
  });
  const closed = await play(url);
  expect(closed.reward).toBe(1);
  const measure = measureOf(closed.events, [], sidecarOf(closed));
  expect(measure.simulator).toEqual({ flaws: ['role-flip'], withheld: 0 });
  expect(metricsOf([measure]).simulator).toEqual({
    flaws: { 'role-flip': 1 },
    flawedShare: 1,
    broken: 0,
    withheld: 0,
  });
});

test('a broken simulator is to blame, and the rollout has no reward', async () => {
  const usage = { prompt_tokens: 7, completion_tokens: 3 };
  const url = await endpoint(() => {
    const answer = completion({ content: flip });
    return answer && { ...answer, body: { ...(answer.body as object), usage } };
  });
  const closed = await play(url);
  expect(closed).toMatchObject({
    reward: null,
    endReason: 'userFailed',
    failure: { who: 'simulator', code: 'simulator/role-flip' },
  });
  expect(closed.events.at(-1)).toMatchObject({ type: 'rewarded', reward: null, failedBy: 'simulator' });
  const measure = measureOf(closed.events, [], sidecarOf(closed));
  expect(measure).toMatchObject({ failedBy: 'simulator', simulator: { flaws: ['role-flip', 'role-flip'] } });
  expect(measure.tokens.user).toEqual({ input: 14, output: 6 });
  expect(measure.latency.user).toEqual([sidecarOf(closed).find(({ flaws }) => flaws)?.ms]);
  expect(measure.latency.user[0]).toBeGreaterThan(0);
  const metrics = metricsOf([measure]);
  expect(metrics).toMatchObject({ scored: 0, failedBy: { simulator: 1 }, simulator: { broken: 1 } });
  const shown = sectionsOf(metrics, []).find(({ id }) => id === 'simulator')?.rows;
  expect(shown).toEqual([
    ['refused: role-flip', '2'],
    ['stops taken back', '0'],
    ['rollouts it ended', '1'],
    ['rollouts with anything refused', '100.0 %'],
  ]);
});

test('the usage of a broken simulator counts for the budget', async () => {
  const usage = { prompt_tokens: 7, completion_tokens: 3 };
  const url = await endpoint(() => {
    const answer = completion({ content: flip });
    return answer && { ...answer, body: { ...(answer.body as object), usage } };
  });
  const meter = openMeter({ tokens: 100 }, {});
  const externalSeats = meter.metered(
    externalSeatsOf(
      { type: 'gold' },
      seat(url),
      () => undefined,
      () => Promise.reject(new Error('no person is asked')),
    ),
  );
  const { domain } = loadDomain(parcels);
  await expect(externalSeats.user(view, never, { ...domain, tools: [] })).rejects.toMatchObject({ name: 'Fault' });
  expect(meter.spent().tokens).toBe(20);
});
