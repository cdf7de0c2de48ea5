import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { AgentSeat } from '../../../src/engine/core/domain/seatSpec.ts';
import type { RolloutEvent } from '../../../src/engine/core/events/event.ts';
import { AgentSession } from '../../../src/engine/shell/models/agentSession.ts';
import { LentModel } from '../../../src/engine/shell/models/lentModel.ts';
import { parseSeat } from '../../../src/engine/shell/models/parseSeat.ts';
import { sidecarPath } from '../../../src/engine/shell/records/recording.ts';
import { approveAgent } from '../../support/approval.ts';
import { endpoint } from '../../support/endpoint.ts';
import { modelServer } from '../../support/modelServer.ts';
import { modelView } from '../../support/modelView.ts';
import { rehearse, replayed } from '../../support/rehearsed.ts';
import { calling, type ModelRequest } from '../../support/scriptedModel.ts';
import { smallDomain } from '../../support/smallDomain.ts';
import { inFullSuite, sampled } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { until } from '../../support/until.ts';

const desk = 'domains/parcel-desk';
const example = 'docs/examples/sdk-agent/sdk.agent.yaml';
const pythonExample = 'docs/examples/python-agent/python.agent.yaml';
const fixture = resolve('test/engine/shell/fixtures/agent.mjs');

/** Returns the seat of an agent's file, with a model at the given address, if any. */
function seat(path: string, url?: string): AgentSeat {
  const parsed = parseSeat(`agent:${approveAgent(path)}`, 'agent', 'person', url ? { OPENAI_BASE_URL: url } : {});
  if (typeof parsed === 'string' || parsed.type !== 'agent') throw new Error(String(parsed));
  return parsed;
}

/** A file for the fixture in one of its modes. */
function agentFile(mode: string, more = ''): string {
  const path = join(temporaryFolder('agent'), 'odd.agent.yaml');
  writeFileSync(path, `command: ${process.execPath}\nargs: [${fixture}, ${mode}, ${gateOf(path)}]\n${more}`);
  return path;
}

/** The file that an agent of the fixture waits for in some modes. */
const gateOf = (path: string) => join(dirname(path), 'go');

const fromModel = (url?: string) => `model: openai:m${url ? `@${url}` : ''}\n`;
const events = (of: { readonly events: readonly { readonly type: string }[] }) => of.events.map(({ type }) => type);

/** The answers of a model that solves reschedule-P46. */
const script = [
  calling(['find_parcel', { parcel: 'P46' }]),
  { content: 'Shall I bring P46 on Tuesday?', reasoning_content: 'They must confirm.' },
  calling(['reschedule', { parcel: 'P46', day: 'Tuesday' }]),
  'Done, P46 comes on Tuesday.',
];

test.each([
  ['published SDKs', example, 'sdk'],
  ['plain Python', pythonExample, 'python'],
])(
  'an agent of %s plays a whole rollout: its calls are the rollout’s, its model calls are recorded',
  async (_, file, name) => {
    const { url, requests } = await modelServer((_, nth) => script[nth - 1] ?? 'Anything else?');
    const readKey = (name: string) => (name === 'OPENAI_API_KEY' ? 'the-real-key' : undefined);
    const [played] = await rehearse(desk, ['reschedule-P46'], { agent: seat(file, url), readKey });
    expect(played?.failure).toBeNull();
    expect(played?.reward).toBe(1);
    expect(played?.results).toEqual(['{"status":"on the way","day":"Thursday","to":"home"}', 'ok']);
    const replies = played?.events.filter((event) => event.type === 'agentReplied');
    expect(replies).toEqual([
      {
        type: 'agentReplied',
        content: null,
        toolCalls: [{ id: 'find_parcel_0', name: 'find_parcel', arguments: { parcel: 'P46' } }],
      },
      {
        type: 'agentReplied',
        content: 'Shall I bring P46 on Tuesday?',
        reasoning: 'They must confirm.',
        toolCalls: [],
      },
      {
        type: 'agentReplied',
        content: null,
        toolCalls: [{ id: 'reschedule_0', name: 'reschedule', arguments: { parcel: 'P46', day: 'Tuesday' } }],
      },
      { type: 'agentReplied', content: 'Done, P46 comes on Tuesday.', toolCalls: [] },
    ]);
    expect(played?.events[0]).toMatchObject({ seats: { agent: `agent:${name}` } });
    expect(events(played!)).toContain('rulesChecked');
    expect(replayed(desk, played!).problems).toBe(0);
    const sidecar = readFileSync(sidecarPath(played?.recording ?? ''), 'utf8');
    const lines = sidecar
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ usage }) => usage)).toHaveLength(4);
    expect(lines.map(({ request }) => request).filter(Boolean)).toEqual(requests);
    expect(requests.map(({ messages }) => messages.map(({ role }) => role[0]).join(''))).toEqual([
      'su',
      'suat',
      'suatau',
      'suatauat',
    ]);
    expect(sidecar + readFileSync(played?.recording ?? '', 'utf8')).not.toContain('the-real-key');
  },
);

test('the real key reaches the model, and the agent gets only the lent key', async () => {
  const keys: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers.authorization);
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello.' } }];
    request
      .resume()
      .on('end', () => response.setHeader('content-type', 'application/json').end(JSON.stringify({ choices })));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const readKey = () => 'the-real-key';
  const [played] = await rehearse(desk, ['reschedule-P46'], {
    agent: seat(agentFile('streams', fromModel()), url),
    readKey,
  });
  expect(keys[0]).toBe('Bearer the-real-key');
  const [first] = played?.events.filter((event) => event.type === 'agentReplied') ?? [];
  expect(first?.content).toMatch(/^200 data: .*"content":"Hello\.".*data: \[DONE\]/s);
});

test('its process gets two addresses and a key, and nothing else of this environment', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'the-real-key');
  vi.stubEnv('SECRET_OF_MINE', 'x');
  onTestFinished(() => void vi.unstubAllEnvs());
  const agent = seat(agentFile('environment', 'env: { MODE: quiet }\n'));
  const [played] = await rehearse(desk, ['reschedule-P46'], { agent });
  const [first] = played?.events.filter((event) => event.type === 'agentReplied') ?? [];
  const names = (first?.content ?? '').split(' ');
  expect(names).toEqual(expect.arrayContaining(['MODE', 'OPENAI_API_KEY', 'OPENAI_BASE_URL', 'REHEARSAL_MCP_URL']));
  expect(names).not.toContain('SECRET_OF_MINE');
  expect(JSON.stringify(played?.events)).not.toContain('the-real-key');
});

/** A session of the fixture in one of its modes, and a conversation for it. */
function openSession(mode: string, togetherMs?: number) {
  const session = new AgentSession(
    seat(agentFile(mode)),
    (make) => make('', () => undefined),
    () => undefined,
    togetherMs,
  );
  onTestFinished(() => session.close());
  const { domain: _, ...view } = modelView();
  return { session, view };
}

test('thoughts in a message of an agent are separated from it', async () => {
  const { session, view } = openSession('thinks');
  const { reply } = await session.ask(view, new AbortController().signal);
  expect(reply).toEqual({ content: 'Which day?', reasoning: 'They want Thursday.', toolCalls: [] });
});

test('calls that are made together are one message', async () => {
  const { session, view } = openSession('together', 700);
  const { reply } = await session.ask(view, new AbortController().signal);
  expect(reply.toolCalls).toMatchObject([
    { id: 'mcp_3_0', arguments: { parcel: 'P46' } },
    { id: 'mcp_3_1', arguments: { parcel: 'P50' } },
  ]);
});

inFullSuite('calls of a model’s message keep its order and its ids', async () => {
  const both = calling(['find_parcel', { parcel: 'P50' }], ['find_parcel', { parcel: 'P46' }]);
  const { url } = await modelServer((_, nth) => (nth === 1 ? both : 'Which day?'));
  const [played] = await rehearse(desk, ['reschedule-P46'], { agent: seat(example, url) });
  const calls = played?.events.flatMap((event) =>
    event.type === 'agentReplied' && event.toolCalls.length > 0 ? [event.toolCalls] : [],
  );
  expect(calls?.[0]).toMatchObject([
    { id: 'find_parcel_0', arguments: { parcel: 'P50' } },
    { id: 'find_parcel_1', arguments: { parcel: 'P46' } },
  ]);
});

inFullSuite('several requests for one answer are one call of the model, with all of them', async () => {
  const unknown = calling(['fly', {}]);
  const { url, bodies } = await modelServer((_, nth) => (nth === 1 ? unknown : 'Hello.'));
  const [played] = await rehearse(desk, ['reschedule-P46'], { agent: seat(example, url) });
  const lines = readFileSync(sidecarPath(played?.recording ?? ''), 'utf8')
    .trim()
    .split('\n');
  const first = lines.map((line) => JSON.parse(line)).find(({ request }) => request);
  expect(first.usage).toEqual({ input: 14, output: 6 });
  expect([...first.earlier, first.request].map((body) => JSON.stringify(body))).toEqual(bodies.slice(0, 2));
});

test('a text that comes back without its identity gets it again, so that a gateway knows it', async () => {
  const { url, requests } = await modelServer((_, nth) => ({
    content: nth < 3 ? 'Hello.' : 'Bye.',
    rehearsal_id: `s.${nth}`,
  }));
  const model = { type: 'openai', model: 'm', baseUrl: url, keyName: null } as const;
  const lent = new LentModel(
    model,
    (make) => make('', () => undefined),
    () => undefined,
  );
  const messages: object[] = [{ role: 'user', content: 'Hi' }];
  for (const content of ['Hello.', [{ type: 'text', text: 'Hello.' }], 'Bye.']) {
    await lent.answer({ model: 'mine', messages }, new AbortController().signal);
    messages.push({ role: 'assistant', content }, { role: 'user', content: 'And?' });
  }
  messages.splice(1, 0, { role: 'assistant', content: 'Never said.' });
  await lent.answer({ messages }, new AbortController().signal);
  const identities = requests.map(({ messages: sent }) =>
    sent.map((each) => (each as { rehearsal_id?: string }).rehearsal_id),
  );
  expect(identities[2]).toEqual([undefined, 's.1', undefined, 's.2', undefined]);
  expect(identities[3]).toEqual([undefined, undefined, 's.1', undefined, 's.2', undefined, 's.3', undefined]);
});

const results: readonly { readonly mode: string; readonly said: RegExp; readonly more?: string }[] = [
  { mode: 'echo', said: /^You said: I need P46 on Tuesday instead\.$/ },
  { mode: 'unknownTool', said: /^failed: Error: there is no tool named "fly"$/ },
  { mode: 'misfit', said: /^failed: Error: the arguments of find_parcel do not fit: parcel: / },
  { mode: 'wrongKey', said: /^401 .*invalid_api_key.* \| .*invalid_api_key/ },
  { mode: 'noModel', said: /^404 .*no model is lent to this agent/ },
  { mode: 'responses', said: /there is nothing at POST \/v1\/responses: the model is lent for chat completions/ },
  { mode: 'malformed', said: /^400 .*messages must be a list/, more: fromModel('http://127.0.0.1:9/v1') },
  { mode: 'instructions', said: /Look a parcel up|parcel/ },
];

/** Rehearses the same task with each of these agents, all at once. */
const rehearseEach = (agents: readonly AgentSeat[]) =>
  rehearse(
    desk,
    agents.map(() => 'reschedule-P46'),
    { agent: agents },
  );

test('an agent that sends something unexpected gets an answer, and the rollout continues', async () => {
  const cases = sampled(results, 2);
  const all = await rehearseEach(cases.map(({ mode, more = '' }) => seat(agentFile(mode, more))));
  expect(all).toHaveLength(cases.length);
  for (const [index, { mode, said }] of cases.entries()) {
    const played = all[index];
    const texts = played?.events.flatMap((event) =>
      event.type === 'agentReplied' && event.content ? [event.content] : [],
    );
    expect(texts?.[0], mode).toMatch(said);
    expect(played?.failure, mode).toBeNull();
  }
});

const deaths: readonly {
  readonly name: string;
  readonly file: () => string | Promise<string>;
  readonly failure: { readonly who: string; readonly code: string; readonly message: RegExp };
}[] = [
  {
    name: 'dies in its turn',
    file: () => agentFile('dies'),
    failure: {
      who: 'agent',
      code: 'agent/died',
      message: /the agent "odd" .* ended with code 3 in its turn\. Its last output: out of ideas/,
    },
  },
  {
    name: 'never answers',
    file: () => agentFile('silent', 'timeoutMs: 300\n'),
    failure: { who: 'agent', code: 'agent/timeout', message: /neither called a tool nor ended its turn within 0\.3 s/ },
  },
  {
    name: 'speaks rubbish',
    file: () => agentFile('rubbish'),
    failure: {
      who: 'agent',
      code: 'agent/rubbish',
      message: /printed "Thinking\.\.\.", and a line \{"content": "\.\.\."\} is expected/,
    },
  },
  {
    name: 'prints a line without an end',
    file: () => agentFile('endless'),
    failure: { who: 'agent', code: 'agent/too-long', message: /printed more than 67108864 characters in one line/ },
  },
  {
    name: 'answers twice',
    file: () => agentFile('twice'),
    failure: { who: 'agent', code: 'agent/unasked', message: /answered "One more thing\." when it was not its turn/ },
  },
  {
    name: 'can not be started',
    file: () => {
      const path = agentFile('echo');
      writeFileSync(path, 'command: no-such-program-here\n');
      return path;
    },
    failure: {
      who: 'environment',
      code: 'agent/start',
      message: /could not be started: no-such-program-here in .*ENOENT/,
    },
  },
  {
    name: 'wants a real key',
    file: () => agentFile('echo', 'env: { KEY: "${env:OPENAI_API_KEY}" }\n'),
    failure: {
      who: 'environment',
      code: 'agent/variable',
      message: /OPENAI_API_KEY, which is never handed to an agent/,
    },
  },
  {
    name: 'has a model that can not be reached',
    file: () => agentFile('streams', fromModel('http://127.0.0.1:9/v1')),
    failure: { who: 'infrastructure', code: 'model/unreachable', message: /can't be reached/ },
  },
  {
    name: 'has a model that fails',
    file: async () =>
      agentFile('streams', fromModel(await endpoint(() => ({ status: 500, body: { error: { message: 'boom' } } })))),
    failure: { who: 'infrastructure', code: 'model/error', message: /answered 500/ },
  },
  {
    name: 'is a service that is not there',
    file: () => {
      const path = agentFile('echo');
      writeFileSync(path, 'url: http://127.0.0.1:9/turn\n');
      return path;
    },
    failure: {
      who: 'infrastructure',
      code: 'agent/unreachable',
      message: /the agent "odd" \(http:.*\) can't be reached/,
    },
  },
];

test('an agent that fails ends its rollout with a clear message, and does not affect other rollouts', async () => {
  const cases = sampled(deaths, 2);
  const files = await Promise.all(cases.map(({ file }) => file()));
  const all = await rehearseEach([...files, agentFile('echo')].map((file) => seat(file)));
  expect(all).toHaveLength(cases.length + 1);
  for (const [index, { name, failure }] of cases.entries()) {
    const played = all[index];
    expect(played?.failure, name).toMatchObject({ who: failure.who, code: failure.code });
    expect(played?.failure?.message, name).toMatch(failure.message);
    expect(played?.reward, name).toBe(failure.who === 'agent' ? 0 : null);
    expect(replayed(desk, played!).problems, name).toBe(0);
  }
  expect(all.at(-1)?.failure).toBeNull();
});

test('a call between two turns is refused and does not become a turn of the seat', async () => {
  const said: string[] = [];
  const path = agentFile('betweenTurns');
  const session = new AgentSession(
    seat(path),
    (make) => make('', () => undefined),
    (line) => said.push(line),
  );
  const { signal } = new AbortController();
  const { domain: _, ...view } = modelView();
  expect((await session.ask(view, signal)).reply).toEqual({ content: 'Hello.', toolCalls: [] });
  writeFileSync(gateOf(path), '');
  await until('the answer to the call', () => said.length > 0);
  expect(said).toEqual(['odd: failed: Error: tools can be called only in the turn of the agent']);
  const longer = { ...view, messages: [...view.messages, { role: 'user' as const, step: 5, content: 'And?' }] };
  expect((await session.ask(longer, signal)).reply).toEqual({ content: 'Hello.', toolCalls: [] });
  await session.close();
});

test('after the rollout, both addresses answer that it has ended', async () => {
  let seen: { base_url: string; api_key: string; mcp_url: string } | undefined;
  const service = await turnsAt((turn) => {
    seen = turn as typeof seen;
    return { status: 200, body: { content: 'Hello.' } };
  });
  const path = agentFile('echo');
  writeFileSync(path, `url: ${service}\n`);
  await rehearse(desk, ['reschedule-P46'], { agent: seat(path) });
  const headers = { authorization: `Bearer ${seen?.api_key}`, 'content-type': 'application/json' };
  for (const url of [`${seen?.base_url}/chat/completions`, seen?.mcp_url ?? '']) {
    const response = await fetch(url, { method: 'POST', headers, body: '{}' });
    expect([response.status, await response.text()]).toEqual([410, expect.stringContaining('this rollout has ended')]);
  }
});

inFullSuite('a service gets each turn with the conversation so far, and can answer badly', async () => {
  const turns: { readonly rollout: string; readonly messages: ModelRequest['messages'] }[] = [];
  const service = await turnsAt((turn) => {
    turns.push(turn as (typeof turns)[0]);
    return { status: 200, body: { content: `Answer ${turns.length}.` } };
  });
  const path = agentFile('echo');
  writeFileSync(path, `url: ${service}\nheaders: { x-team: desk }\n`);
  await rehearse(desk, ['reschedule-P46'], { agent: seat(path) });
  expect(new Set(turns.map(({ rollout }) => rollout)).size).toBe(1);
  expect(turns[1]?.messages.slice(1)).toMatchObject([
    { role: 'user', content: 'I need P46 on Tuesday instead.' },
    { role: 'assistant', content: 'Answer 1.' },
    { role: 'user' },
  ]);
  for (const [answer, message] of [
    [{ status: 500, body: 'down' }, /answered 500: down/],
    [{ status: 200, body: 'hello' }, /answered "hello", and \{"content": "\.\.\."\} is expected/],
  ] as const) {
    writeFileSync(path, `url: ${await turnsAt(() => answer)}\n`);
    const [played] = await rehearse(desk, ['reschedule-P46'], { agent: seat(path) });
    expect(played?.failure).toMatchObject({ who: 'agent', message: expect.stringMatching(message) });
  }
});

test('the example in Python prints why it got no answer', async () => {
  const path = join(temporaryFolder('agent'), 'lone.agent.yaml');
  writeFileSync(path, `command: python3\nargs: [${resolve(dirname(pythonExample), 'agent.py')}]\n`);
  const [played] = await rehearse(desk, ['reschedule-P46'], { agent: seat(path) });
  expect(played?.failure?.message).toContain('no model is lent to this agent');
});

test('a rollout that resumes from its events gives the agent the conversation so far', async () => {
  const { url } = await modelServer((_, nth) => script[nth - 1] ?? 'Anything else?');
  const [whole] = await rehearse(desk, ['reschedule-P46'], { agent: seat(pythonExample, url) });
  const at = whole?.events.findLastIndex(({ type }) => type === 'toolReturned') ?? 0;
  const again = await modelServer(() => 'Done, P46 comes on Tuesday.');
  const from = whole?.events.slice(0, at + 1) ?? [];
  const [rest] = await rehearse(desk, ['reschedule-P46'], { agent: seat(pythonExample, again.url), from });
  expect(again.requests[0]?.messages.map(({ role }) => role[0]).join('')).toBe('suatauat');
  expect(rest?.events).toEqual(whole?.events);
});

test('when a worker dies, the agents of its other rollouts continue where they were', async () => {
  const task = (id: string) =>
    `- { id: ${id}, persona: plain, user: { goal: "${id} it.", opening: "${id} it." }, actions: [] }\n`;
  const folder = smallDomain(
    { look: { effect: 'read', run: "return 'red';" }, hang: { effect: 'read', run: 'for (;;);' } },
    task('Hang') + task('Look'),
    'toolTimeoutMs: 400\n',
  );
  const path = agentFile('hangs');
  const onEvent = (task: string, { type }: RolloutEvent) => {
    if (task === 'Hang' && type === 'rolloutEnded') writeFileSync(gateOf(path), '');
  };
  const [hung, other] = await rehearse(folder, ['Hang', 'Look'], { agent: seat(path), onEvent });
  expect(hung?.failure).toMatchObject({ who: 'environment' });
  const replies = other?.events.flatMap((event) => (event.type === 'agentReplied' ? [event] : []));
  expect(replies?.slice(0, 2)).toMatchObject([{ toolCalls: [{ name: 'look' }] }, { content: 'It is red' }]);
  expect(other?.failure).toBeNull();
});

test('no process of an agent lives longer than its rollout', async () => {
  const path = agentFile('silent', 'timeoutMs: 500\n');
  await rehearse(desk, ['reschedule-P46', 'reschedule-P50'], { agent: seat(path) });
  const processes = () => spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout;
  await until('the end of each process of the agent', () => !processes().includes(gateOf(path)));
});

const files: readonly { readonly text: string; readonly message: RegExp }[] = [
  {
    text: 'command: [node]\n',
    message: /odd\.agent\.yaml:1:\d+ error agent\/wrong-type command is a list, but a text is expected/,
  },
  { text: 'comand: node\n', message: /agent\/unknown-key .*Did you mean "command"\?|comand/ },
  {
    text: 'command: node\nmodel: gpt\n',
    message: /:2:8 error agent\/model The model can't be lent: "gpt" is not a model/,
  },
  { text: 'url: nowhere\n', message: /agent\/wrong-value url is "nowhere"/ },
  { text: 'command: "node\n', message: /agent\/syntax/ },
];

test.each(files)('an agent file that is wrong is refused with its place: $text', ({ text, message }) => {
  const path = agentFile('echo');
  writeFileSync(path, text);
  expect(parseSeat(`agent:${path}`, 'agent', 'person')).toMatch(message);
});

test('a file is looked for where the person is and in the domain, and the seat is not the user’s', () => {
  expect(parseSeat('agent:nothing.yaml', 'agent', 'person', {}, ['/here', '/domain'])).toBe(
    'there is no agent file /here/nothing.yaml or /domain/nothing.yaml',
  );
  expect(parseSeat(`agent:${example}`, 'user', 'person')).toMatch(
    /is not a seat for the user: expected agenda, scripted, human or openai/,
  );
});

/** Starts a service that answers turns as a test defines. */
async function turnsAt(
  answer: (turn: unknown) => { readonly status: number; readonly body: unknown },
): Promise<string> {
  const server = createServer(async (request, response) => {
    const { status, body } = answer(JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString()));
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/turn`;
}
