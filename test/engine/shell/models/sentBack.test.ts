import { expect, test } from 'vitest';
import { type EventOf, eventSchema } from '../../../../src/engine/core/events/event.ts';
import type { Message } from '../../../../src/engine/core/events/message.ts';
import { agentBody, userBody } from '../../../../src/engine/shell/models/chatRequest.ts';
import { streamed } from '../../../../src/engine/shell/models/lentModel.ts';
import { askAgentModel } from '../../../../src/engine/shell/models/openai.ts';
import { askUserModel } from '../../../../src/engine/shell/models/simulatedUser.ts';
import { completion, endpoint } from '../../../support/endpoint.ts';
import { modelView } from '../../../support/modelView.ts';
import { viewAfter } from '../../core/simulator/view.ts';

const never = new AbortController().signal;
const seat = (baseUrl: string, model = 'm') => ({ type: 'openai' as const, model, baseUrl, keyName: null });
const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
const signature = { google: { thought_signature: 'c2lnbmVk' } };
const said: Message = { role: 'user', step: 2, content: 'Hello' };
const result: Message = { role: 'tool', step: 5, callId: 'c1', name: 'look', content: 'It is red.', isError: false };

/** Asks the agent's model twice, with its first answer in the second request. Returns that message of the request. */
async function sentAfter(
  message: object,
  later: readonly Message[],
  { change = (url: string) => seat(url), isStreamed = false } = {},
) {
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: null, ...message } }];
  const whole = { status: 200, body: streamed({ choices }) };
  const url = await endpoint(() => (isStreamed ? whole : completion(message)) as never);
  const view = { ...modelView(), messages: [said] };
  const { reply } = await askAgentModel(seat(url), '', view, never);
  const recorded = JSON.stringify({ type: 'agentReplied', ...reply });
  const { type: _, ...kept } = eventSchema.parse(JSON.parse(recorded)) as EventOf<'agentReplied'>;
  const own = { role: 'agent' as const, step: 3, ...kept } as Message;
  const { call: asked } = await askAgentModel(change(url), '', { ...view, messages: [said, own, ...later] }, never);
  const { messages } = asked.request as { readonly messages: readonly object[] };
  return { reply, sent: messages.find((each) => 'role' in each && each.role === 'assistant') };
}

/** Answers of an endpoint with a call, and the fields that are sent back to it. */
const withCalls: readonly (readonly [name: string, message: object, back: object])[] = [
  ['reasoning_content', { reasoning_content: 'Hm.', tool_calls: [call] }, { reasoning_content: 'Hm.' }],
  ['reasoning', { reasoning: 'Hm.', tool_calls: [call] }, { reasoning: 'Hm.' }],
  [
    'reasoning_details',
    { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }], tool_calls: [call] },
    { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] },
  ],
  [
    'a signature of a call',
    { tool_calls: [{ ...call, extra_content: signature }] },
    { tool_calls: [{ ...call, extra_content: signature }] },
  ],
  [
    'a signature of a function',
    { tool_calls: [{ ...call, function: { ...call.function, signature: 's' } }] },
    { tool_calls: [{ ...call, function: { ...call.function, signature: 's' } }] },
  ],
  [
    'thoughts in tags',
    { content: '<think>Hm.</think>One moment.', tool_calls: [call] },
    { content: '<think>Hm.</think>One moment.' },
  ],
  [
    'thoughts as a part',
    {
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 's' },
        { type: 'text', text: 'One moment.' },
      ],
      tool_calls: [call],
    },
    { content: [{ type: 'thinking', thinking: 'Hm.', signature: 's' }, { text: 'One moment.' }] },
  ],
  [
    'thoughts of another form',
    { reasoning: { steps: ['Hm.'] }, thinking: 7, tool_calls: [call] },
    { reasoning: { steps: ['Hm.'] }, thinking: 7 },
  ],
  ['an unknown field', { vendor_state: { a: [1] }, tool_calls: [call] }, { vendor_state: { a: [1] } }],
];

test.each(withCalls)('%s goes back as it came, whole and streamed', async (_, message, back) => {
  for (const isStreamed of [false, true]) {
    const { sent } = await sentAfter(message, [result], { isStreamed });
    expect(sent).toMatchObject(back);
  }
});

test.each(withCalls)('%s goes back in later turns, too', async (_, message, back) => {
  const { sent } = await sentAfter(message, [result, { ...said, step: 6 }]);
  expect(sent).toMatchObject(back);
});

test.each([false, true])('whole numbers beyond 2^53 go back as they came (streamed: %j)', async (isStreamed) => {
  const state = '{"seed":9007199254740993,"code":"9007199254740993","parts":[-12345678901234567890,1.5]}';
  const ofCall = `"extra_content":${state},"function":{"name":"look","arguments":"{}","state":${state}}`;
  const message = `{"role":"assistant","content":null,"vendor_state":${state},"tool_calls":[{"index":0,"id":"c1","type":"function",${ofCall}}]}`;
  const part = isStreamed ? 'delta' : 'message';
  const whole = `{"choices":[{"index":0,"finish_reason":"tool_calls","seed":9007199254740993,"${part}":${message}}]}`;
  const sent: string[] = [];
  const url = await endpoint((_, body) => {
    sent.push(body);
    return { status: 200, body: isStreamed ? `data: ${whole}\n\n` : whole };
  });
  const { reply } = await askAgentModel(seat(url), '', { ...modelView(), messages: [said] }, never);
  expect(reply.providerFields).toMatchObject({
    message: { vendor_state: { seed: '9007199254740993', code: '9007199254740993' } },
    integers: ['message/vendor_state', 'calls/0/extra_content', 'calls/0/function/state'].flatMap((place) => [
      `/${place}/seed`,
      `/${place}/parts/0`,
    ]),
  });
  const event = eventSchema.parse(JSON.parse(JSON.stringify({ type: 'agentReplied', ...reply })));
  const own = { role: 'agent', step: 3, ...event } as Message;
  const { call: asked } = await askAgentModel(seat(url), '', { ...modelView(), messages: [said, own, result] }, never);
  expect(sent[1]).toContain(`"vendor_state":${state}`);
  expect(sent[1]?.split(state)).toHaveLength(4);
  expect(JSON.stringify(asked.request)).toBe(sent[1]);
});

test.each([
  ['cut off', '{"parcel": "P4'],
  ['a list', '["P46"]'],
  ['a text', 'P46'],
])('arguments that are %s go back as an object, and are recorded as they came', async (_, given) => {
  const answer = { tool_calls: [{ ...call, function: { name: 'look', arguments: given } }] };
  const { reply, sent } = await sentAfter(answer, [result]);
  expect(reply.toolCalls).toMatchObject([{ arguments: given }]);
  expect(sent).toMatchObject({ tool_calls: [{ function: { arguments: JSON.stringify({ arguments: given }) } }] });
});

test.each([
  ['look up!', /^look_up_$/],
  ['functions.look', /^functions_look$/],
  ['', /^_[0-9a-f]{8}$/],
  ['\u770b', /^_[0-9a-f_]+$/],
  ['x'.repeat(65), /^x{55}_[0-9a-f]{8}$/],
  ['unknown-tool', /^unknown-tool$/],
])('the name of a tool that was not offered goes back as one that providers take: %j', async (name, back) => {
  const { reply, sent } = await sentAfter({ tool_calls: [{ ...call, function: { name, arguments: '{"at":1}' } }] }, []);
  expect(reply.toolCalls).toMatchObject([{ name }]);
  expect(sent).toMatchObject({ tool_calls: [{ id: 'c1', function: { name: expect.stringMatching(back) } }] });
});

test('the user gets back the name of such a call in the same way', () => {
  const view = viewAfter(['Please paint chair A1 red.', 'Shall I paint chair A1 red?']);
  const own = { role: 'user' as const, step: 9, content: '', toolCalls: [{ id: 'c', name: 'look.up', arguments: {} }] };
  const answer = { ...result, callId: 'c', name: 'look.up', step: 10 };
  const { messages } = userBody({ ...view, messages: [...view.messages, own, answer] }, seat('http://a'));
  expect(messages.flatMap(({ tool_calls: calls }) => calls ?? [])).toMatchObject([{ function: { name: 'look_up' } }]);
});

test('a tool that is offered keeps its name', async () => {
  const offered = { name: 'admin.look', description: 'Looks.', parameters: { type: 'object' } };
  const view = modelView();
  const own = {
    role: 'agent' as const,
    step: 3,
    content: null,
    toolCalls: [{ id: 'c', name: 'admin.look', arguments: {} }],
  };
  const { messages } = agentBody(
    { started: { ...view.started, tools: [offered] }, messages: [said, own] },
    seat('http://a'),
  );
  expect(messages.at(-1)).toMatchObject({ tool_calls: [{ function: { name: 'admin.look' } }] });
});

const plain = { role: 'assistant', content: 'It is red.' };

test.each([
  ['thoughts of a turn without calls', { content: 'It is red.', reasoning_content: 'Hm.' }],
  ['details of thoughts of a turn without calls', { content: 'It is red.', reasoning_details: [{ text: 'Hm.' }] }],
  ['tags of a turn without calls', { content: '<think>Hm.</think>It is red.' }],
  ['annotations, audio and a refusal', { content: 'It is red.', annotations: [1], audio: { id: 'a' }, refusal: 'No.' }],
  ['empty fields', { content: 'It is red.', function_call: null, reasoning: null, vendor_state: {}, other: '' }],
])('%s do not go back', async (_, message) => {
  const { sent } = await sentAfter(message, [{ ...said, step: 6 }]);
  expect(sent).toEqual(plain);
});

test.each([
  ['another model', (url: string) => seat(url, 'other')],
  ['another endpoint', (url: string) => seat(url.replace('127.0.0.1', 'localhost'))],
])('%s gets none of these fields', async (_, change) => {
  const message = { reasoning: 'Hm.', vendor_state: 's', tool_calls: [{ ...call, extra_content: signature }] };
  const { sent } = await sentAfter(message, [result], { change });
  expect(sent).toEqual({ role: 'assistant', content: null, tool_calls: [call] });
});

test('a gateway that gives messages an identity gets only that back', async () => {
  const { reply, sent } = await sentAfter({ rehearsal_id: 'm1', reasoning_content: 'Hm.', tool_calls: [call] }, [
    result,
  ]);
  expect(reply).not.toHaveProperty('providerFields');
  expect(sent).toEqual({ role: 'assistant', content: null, tool_calls: [call], rehearsal_id: 'm1' });
});

test('an answer without such fields is recorded without them', async () => {
  const { reply } = await sentAfter({ content: null, refusal: null, tool_calls: [{ ...call, index: 0 }] }, [result]);
  expect(reply).toEqual({ content: null, toolCalls: [{ id: 'c1', name: 'look', arguments: {} }] });
});

test('fields that are too large are named and not recorded', async () => {
  const { reply } = await sentAfter({ vendor_state: 'x'.repeat(1_000_001), tool_calls: [call] }, [result]);
  expect(reply.providerFields).toEqual({ from: expect.stringMatching(/^m@http/), omitted: ['vendor_state'] });
});

test('a recording keeps the fields', () => {
  const providerFields = {
    from: 'm@http://127.0.0.1:8000',
    reasoningIn: 'reasoning',
    message: { vendor_state: { a: [1] } },
    calls: [{ extra_content: signature }],
  };
  const shared = { reasoning: 'Hm.', providerFields };
  const agent = { type: 'agentReplied', content: null, toolCalls: [], ...shared };
  const user = { type: 'userReplied', content: 'Yes.', stop: null, ...shared };
  expect([agent, user].map((event) => eventSchema.parse(event))).toEqual([agent, user]);
});

test('a model that plays the user gets its own fields back', async () => {
  const answer = { content: 'Yes, please.', reasoning: 'Hm.', vendor_state: 's' };
  const url = await endpoint(() => completion(answer) as never);
  const view = viewAfter(['Please paint chair A1 red.', 'Shall I paint chair A1 red?']);
  const { reply } = await askUserModel(seat(url), '', view, never);
  expect(reply).toMatchObject({ reasoning: 'Hm.', providerFields: { reasoningIn: 'reasoning' } });
  const own: Message = { role: 'user', step: 9, ...reply };
  const heard: Message = { role: 'agent', step: 10, content: 'Done. Anything else?', toolCalls: [] };
  const { call: asked } = await askUserModel(
    seat(url),
    '',
    { ...view, messages: [...view.messages, own, heard] },
    never,
  ).catch(({ note }) => ({ call: note }));
  const { messages } = asked.request as { readonly messages: readonly object[] };
  expect(messages).toContainEqual({ role: 'assistant', content: 'Yes, please.', vendor_state: 's' });
});

test('a streamed answer of a lent model has all its fields', () => {
  const message = {
    role: 'assistant',
    content: null,
    reasoning: 'Hm.',
    tool_calls: [{ ...call, extra_content: signature }],
  };
  const [first = ''] = streamed({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }).split('\n\n');
  const { choices } = JSON.parse(first.replace('data: ', ''));
  expect(choices[0].delta).toEqual({ ...message, tool_calls: [{ index: 0, ...call, extra_content: signature }] });
});
