import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadCommands } from '../../src/cli/commands.ts';
import { readSettings, throwUnlessNamed } from '../../src/cli/options/modelSettings.ts';
import { settledModel } from '../../src/cli/options/rolloutOptions.ts';
import { domainFileSchema } from '../../src/engine/core/domain/domain.ts';
import type { SeatSettings } from '../../src/engine/core/domain/modelSettings.ts';
import type { ModelSeat } from '../../src/engine/core/domain/seatSpec.ts';
import { effectsOfDomain } from '../../src/engine/shell/approvals/effects.ts';
import { requestTo } from '../../src/engine/shell/models/chatRequest.ts';
import { withFilledHeaders } from '../../src/engine/shell/models/modelSettings.ts';
import { listenAnew } from '../support/endpoint.ts';
import { simulatedDomain } from '../support/simulatedDomain.ts';
import { rehearsal } from '../support/terminal.ts';

describe('--set', () => {
  test.each([
    [['agent.temperature=0.5'], { agent: { temperature: 0.5 } }],
    [
      ['user.maxTokens=64', 'judge.reasoningEffort=low'],
      { user: { maxTokens: 64 }, judge: { reasoningEffort: 'low' } },
    ],
    [['tools.extraBody.top_k=20'], { tools: { extraBody: { top_k: 20 } } }],
    [['user.extraBody={"top_k": 20}'], { user: { extraBody: { top_k: 20 } } }],
    [['agent.headers.X-Title=7'], { agent: { headers: { 'X-Title': '7' } } }],
    [['agent.onTruncation=retry'], { agent: { onTruncation: 'retry' } }],
  ] as const)('%j', (set, expected) => {
    expect(readSettings({ set: [...set] })).toEqual(expected);
  });

  test.each([
    ['temperature=1', /expected SEAT\.NAME=VALUE with a seat of agent, user, judge, tools/],
    ['unknown.temperature=1', /expected SEAT\.NAME=VALUE/],
    ['agent.temperature=hot', /^--set agent\.temperature: .*number/],
    ['agent.temprature=1', /agent: .*temprature.* The settings are temperature, maxTokens/],
    ['agent.extraBody.messages=[]', /expected no field of these: model, messages/],
    ['agent.headers.X=a\r\nB: c', /expected names and values of HTTP headers/],
    ['agent.__proto__.maxTokens=1', /expected SEAT\.NAME=VALUE/],
  ])('%s is refused in a sentence', (set, message) => {
    expect(() => readSettings({ set: [set] })).toThrow(message);
  });

  test('--temperature and --max-tokens are those of the agent alone', () => {
    expect(readSettings({ temperature: 0.9, maxTokens: 64 })).toEqual({
      agent: { temperature: 0.9, maxTokens: 64 },
    });
  });
});

const model: ModelSeat = { type: 'openai', model: 'm', baseUrl: 'http://a.example/v1', keyName: null };

test('a request has the settings of its seat, and nothing else of it', () => {
  const seat = { ...model, temperature: 0.5, maxTokens: 9, reasoningEffort: 'low', extraBody: { top_k: 3 } };
  expect(requestTo({ ...seat, headers: { 'X-Title': 't' } }, { messages: [] })).toEqual({
    model: 'm',
    messages: [],
    temperature: 0.5,
    max_tokens: 9,
    reasoning_effort: 'low',
    top_k: 3,
  });
});

describe('headers go only to the model that the same source names', () => {
  const address = 'openai:m@http://a.example/v1';
  const headers = { Authorization: 'Bearer ${env:MY_API_KEY}' };
  const file = domainFileSchema.parse({ name: 'd', agent: address, models: { agent: { temperature: 1, headers } } });
  const settled = (chosen: string | undefined, own: string, settings: SeatSettings = {}, environment = {}) =>
    settledModel(model, { role: 'agent', chosen, own, settings }, file, environment);

  test.each([
    ["the domain's own address", undefined, address, { temperature: 1, headers }],
    ['a model without an address', undefined, 'openai:m', { temperature: 1 }],
    ['a model that a person chose', 'openai:m@http://b.example/v1', address, { temperature: 1 }],
  ])('%s', (_, chosen, own, expected) => {
    expect(settled(chosen, own)).toEqual({ ...model, ...expected });
  });

  test("a person's headers do not go to a model of the domain", () => {
    const settings = { agent: { headers: { 'X-Key': 'k' }, maxTokens: 3 } };
    expect(settled(undefined, 'openai:m', settings)).toEqual({ ...model, temperature: 1, maxTokens: 3 });
    expect(settled(address, 'openai:m', settings)).toMatchObject({ headers: { 'X-Key': 'k' } });
    const where = { headers: '--set', seat: '--' };
    expect(() => throwUnlessNamed(settings, {}, where)).toThrow(/Add --agent openai:MODEL@BASE_URL$/);
    expect(() => throwUnlessNamed({ tools: settings.agent }, {}, where)).toThrow(/because domain.yaml names its model/);
    throwUnlessNamed(settings, { agent: address }, where);
  });

  test('a key in a header needs consent for the address', () => {
    expect(() => settled(undefined, address, {}, { MY_API_KEY: 'secret-of-mine' })).toThrow(
      /would send MY_API_KEY to http:\/\/a\.example, and it was not allowed for any address/,
    );
  });

  test('variables are filled when the model is asked', async () => {
    const filled = await withFilledHeaders({ ...model, headers }, () => 'secret-of-mine');
    expect(filled.headers).toEqual({ Authorization: 'Bearer secret-of-mine' });
    await expect(withFilledHeaders({ ...model, headers }, () => undefined)).rejects.toThrow(
      'a header of m needs MY_API_KEY, which is not set',
    );
  });

  test('headers of a domain are part of what a person approves', () => {
    expect(effectsOfDomain({ folder: '/d', file, parts: { tasks: [] } }, true).effects).toEqual([
      { type: 'address', by: 'model of the agent', url: 'http://a.example/v1', headers },
    ]);
  });
});

describe('--rate-limit-wait', () => {
  test.each([
    ['run', (f: string) => ['run', f, 'a', '--agent', 'scripted', '--out', join(f, 'run')]],
    ['debug', (f: string) => ['debug', f, 'a', '--agent', 'scripted', '--script', file(f, 'go.txt', 'continue\n')]],
    ['shadow', (f: string, seat: string) => ['shadow', f, file(f, 'chats.jsonl', `${chat}\n`), '--agent', seat]],
    [
      'synth',
      (f: string, seat: string) => [
        'synth',
        'domains/parcel-desk',
        '--teacher',
        seat,
        '--count',
        '1',
        '--out',
        join(f, 'synth'),
      ],
    ],
    ['preview', (f: string, seat: string) => ['preview', f, 'a', '--user', seat]],
    ['draft', (f: string, seat: string) => ['draft', 'persona', f, '--model', seat]],
  ])('%s waits no longer for an endpoint, as its message advises', async (_, argumentsIn) => {
    const server = createServer((_, response) => {
      response.writeHead(429, { 'retry-after': '3600' }).end('{}');
    });
    await listenAnew(server);
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const options = argumentsIn(simulatedDomain(url), `openai:m@${url}`);
    const { out, err } = await rehearsal(...options, '--rate-limit-wait', '1');
    expect(out + err).toMatch(/limits the rate.* wait so long with --rate-limit-wait 3(?:600|59\d)$/m);
  });

  test('every command that takes a model has it', async () => {
    const taking = (await loadCommands()).filter(({ options }) => options.some(({ value }) => value === 'SEAT'));
    const lacking = taking.filter(({ options }) => !options.some(({ name }) => name === 'rate-limit-wait'));
    // The training file has limits for the trainer.
    expect(lacking.map(({ name }) => name)).toEqual(['train']);
  });
});

const chat = JSON.stringify({
  messages: [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hello, how can I help?' },
  ],
});

/** Writes a file next to the domain's folder and returns its path. */
function file(folder: string, name: string, content: string): string {
  const path = `${folder}-${name}`;
  writeFileSync(path, content);
  return path;
}
