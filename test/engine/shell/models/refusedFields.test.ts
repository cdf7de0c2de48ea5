import { expect, test } from 'vitest';
import type { ModelSeat } from '../../../../src/engine/core/domain/seatSpec.ts';
import type { Retry } from '../../../../src/engine/shell/models/endpointAttempts.ts';
import { LentModel } from '../../../../src/engine/shell/models/lentModel.ts';
import { askAgentModel } from '../../../../src/engine/shell/models/openai.ts';
import { type Answer, askedAtOnce, completion, endpoint } from '../../../support/endpoint.ts';
import { modelView } from '../../../support/modelView.ts';

type Body = Readonly<Record<string, unknown>> & { readonly messages: readonly Readonly<Record<string, unknown>>[] };
type Refusal = NonNullable<Answer>;

const never = new AbortController().signal;

/** An endpoint that refuses some requests. Returns its requests, too. */
async function strictEndpoint(refuses: (body: Body) => Refusal | null) {
  const bodies: Body[] = [];
  const url = await endpoint((_, text) => {
    const body = JSON.parse(text) as Body;
    bodies.push(body);
    const events = [{ choices: [{ delta: { content: 'Yes.' }, finish_reason: 'stop' }] }];
    const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    return refuses(body) ?? (body['stream'] ? { status: 200, body: stream } : completion({ content: 'Yes.' }));
  });
  return { url, bodies };
}

async function asked(settings: Partial<ModelSeat>, refuses: (body: Body) => Refusal | null, view = modelView()) {
  const { url, bodies } = await strictEndpoint(refuses);
  const retries: Retry[] = [];
  const seat = { type: 'openai' as const, model: 'm', baseUrl: url, keyName: null, ...settings };
  const ask = () => askAgentModel(seat, '', view, never, (retry) => retries.push(retry));
  return { ask, bodies, retries, seat };
}

const jsonSchema = { type: 'json_schema', json_schema: { name: 'verdict', schema: {} } };
const takesOther = "Input should be 'text' or 'json_object'";
const literalError = `[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': "${takesOther}", 'input': 'json_schema', 'ctx': {'expected': "'text' or 'json_object'"}}]`;

const error = (message: string, more = {}, status = 400): Refusal => ({
  status,
  body: { error: { message, type: 'invalid_request_error', ...more } },
});
const named = (field: string, status: number, body: unknown) => (request: Body) =>
  field in request ? { status, body } : null;

const streamedRequest = { stream: true, stream_options: { include_usage: true } };

/** Errors with which servers refuse a field, and the request that is sent instead. */
const refusals: readonly (readonly [words: string, Partial<ModelSeat>, (body: Body) => Refusal | null, object])[] = [
  [
    "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
    { temperature: 0, maxTokens: 5 },
    (body) => ('temperature' in body ? error(refusals[0]?.[0] ?? '', { param: 'temperature' }) : null),
    { max_tokens: 5 },
  ],
  [
    'invalid temperature: only 1 is allowed for this model',
    { temperature: 0 },
    (body) => ('temperature' in body ? error(refusals[1]?.[0] ?? '') : null),
    {},
  ],
  [
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    { maxTokens: 5 },
    (body) => ('max_tokens' in body ? error(refusals[2]?.[0] ?? '', { code: 'unsupported_parameter' }) : null),
    { max_completion_tokens: 5 },
  ],
  [
    "property 'logprobs' is unsupported",
    { extraBody: { logprobs: true } },
    (body) => ('logprobs' in body ? error(refusals[3]?.[0] ?? '') : null),
    {},
  ],
  [
    'Extra inputs are not permitted (a list of details, status 422)',
    { extraBody: { seed: 1 } },
    named('seed', 422, {
      detail: [{ type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs are not permitted' }],
    }),
    {},
  ],
  [
    'json: unknown field "parallel_tool_calls"',
    { extraBody: { parallel_tool_calls: false } },
    (body) => ('parallel_tool_calls' in body ? error(refusals[5]?.[0] ?? '') : null),
    {},
  ],
  [
    'Model grok does not support parameter reasoningEffort.',
    { reasoningEffort: 'low' },
    (body) => ('reasoning_effort' in body ? error(refusals[6]?.[0] ?? '') : null),
    {},
  ],
  ...[
    { message: 'Unsupported value.', param: 'reasoning_effort' },
    { message: 'Unsupported value.', param: 'body.reasoning_effort' },
    { message: 'Invalid parameter', param: 'reasoning_effort' },
    { message: '不支持该参数', param: 'reasoning_effort' },
    { message: 'Bad request', param: 'reasoning_effort.effort', code: 'unsupported_parameter' },
  ].map(
    ({ message, ...more }) =>
      [
        `${message} (the field is in ${more.param} alone)`,
        { reasoningEffort: 'low' as const },
        (body: Body) => ('reasoning_effort' in body ? error(message, more) : null),
        {},
      ] as const,
  ),
  ...(
    [
      [500, { error: { message: literalError, type: 'internal_server_error', param: null, code: null } }],
      [400, { object: 'error', message: literalError, type: 'BadRequestError', param: null, code: 400 }],
      [422, { detail: [{ type: 'literal_error', loc: ['body', 'response_format', 'type'], msg: takesOther }] }],
      [
        400,
        {
          error: {
            code: 400,
            message: 'response_format type must be one of "text" or "json_object", but got: json_schema',
            type: 'invalid_request_error',
          },
        },
      ],
      [400, { error: { message: "Supported values: 'text', 'json_object'", param: 'response_format.type' } }],
    ] as const
  ).map(
    ([status, body]) =>
      [
        `${status} ${JSON.stringify(body)}`,
        { extraBody: { response_format: jsonSchema } },
        (sent: Body) =>
          (sent['response_format'] as typeof jsonSchema | undefined)?.type === 'json_schema' ? { status, body } : null,
        { response_format: { type: 'json_object' } },
      ] as const,
  ),
  ...(
    [
      [422, { error: 'Input validation error: `temperature` must be strictly positive', error_type: 'validation' }],
      [422, { status: 422, message: 'Invalid params: temperature must be in range (0, +inf)' }],
      [400, { error: { message: 'temperature must be in (0.0, 1.0)' } }],
      [400, { error: { message: 'temperature should be greater than 0' } }],
      [400, { error: { message: 'do_sample is False, but temperature is set to 0' } }],
      [500, { detail: '`temperature` (=0.0) has to be a strictly positive float, otherwise it is invalid.' }],
    ] as const
  ).map(
    ([status, body]) =>
      [
        `${status} ${JSON.stringify(body)}`,
        { temperature: 0 },
        (sent: Body) => (sent['temperature'] === 0 ? { status, body } : null),
        { temperature: 0.01 },
      ] as const,
  ),
  ...["'response_format.type' must be 'text'", 'Invalid response_format: json_schema'].map(
    (words) =>
      [
        words,
        { extraBody: { response_format: jsonSchema } },
        (body: Body) => ('response_format' in body ? error(words) : null),
        {},
      ] as const,
  ),
  [
    'json_object is not accepted either',
    { extraBody: { response_format: jsonSchema } },
    (body) =>
      'response_format' in body ? error('response_format: json_schema and json_object are not available') : null,
    {},
  ],
  ...[
    'This model only support stream mode, please enable the stream parameter to access the model.',
    'parameter.enable_thinking must be set to false for non-streaming calls',
    'Non-streaming requests are not supported for this model',
    'stream must be set to true',
    'This endpoint only supports streaming.',
  ].map(
    (words) => [words, {}, (body: Body) => (body['stream'] === true ? null : error(words)), streamedRequest] as const,
  ),
  ...[
    '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
    'top_p cannot be used with temperature',
    'Set at most one of top_p and temperature.',
  ].map(
    (words) =>
      [
        words,
        { temperature: 0.5, extraBody: { top_p: 0.9 } },
        (body: Body) => ('temperature' in body && 'top_p' in body ? error(words) : null),
        { temperature: 0.5 },
      ] as const,
  ),
  [
    'stream_options is not supported',
    {},
    (body) =>
      body['stream'] === true
        ? 'stream_options' in body
          ? error('stream_options is not supported')
          : null
        : error('This model only supports streaming'),
    { stream: true },
  ],
];

test.each(refusals)('%s', async (_, settings, refuses, expected) => {
  const { ask, bodies, retries } = await asked(settings, refuses);
  const { reply, call } = await ask();
  expect(reply.content).toBe('Yes.');
  const sent = { ...bodies.at(-1), messages: [], tools: [] };
  expect(sent).toEqual({ model: 'm', messages: [], tools: [], ...expected });
  const adapted = call.adapted ?? [];
  expect(call).toMatchObject({
    request: bodies.at(-1),
    adapted: adapted.map(() => expect.stringMatching(/^with|^to stream/)),
  });
  const report = { attempt: 1, of: 1, reason: expect.stringContaining('the endpoint does not accept ') };
  expect(retries).toEqual(bodies.slice(1).map(() => report));
});

test('what is refused is left out from then on, and reported once', async () => {
  const refuses = (body: Body) => ('temperature' in body ? error("'temperature' is not supported") : null);
  const { ask, bodies, retries } = await asked({ temperature: 0 }, refuses);
  await Promise.all([ask(), ask(), ask()]);
  await ask();
  expect(bodies.filter((body) => 'temperature' in body).length).toBeLessThanOrEqual(3);
  expect(bodies.at(-1)).not.toHaveProperty('temperature');
  expect(retries).toHaveLength(1);
});

test('a field that is refused beside another one is sent without that one', async () => {
  const refuses = (body: Body) =>
    'temperature' in body && 'top_p' in body ? error('temperature and top_p are mutually exclusive') : null;
  const { ask, bodies, retries, seat } = await asked({ temperature: 0, extraBody: { top_p: 0.9 } }, refuses);
  await ask();
  await ask();
  expect(retries.map(({ reason }) => reason)).toEqual([
    'the endpoint does not accept top_p beside temperature and is asked without top_p beside temperature from now on',
  ]);
  const { temperature: _, ...without } = seat;
  await askAgentModel(without, '', modelView(), never);
  expect(bodies.at(-1)).toMatchObject({ top_p: 0.9 });
});

test('several fields are left out one after the other, a renamed one too', async () => {
  const refuses = (body: Body) => {
    const field = ['temperature', 'max_tokens', 'max_completion_tokens'].find((each) => each in body);
    return field ? error(`Unsupported parameter: '${field}'`) : null;
  };
  const { ask, retries } = await asked({ temperature: 0, maxTokens: 5 }, refuses);
  expect((await ask()).call.request).not.toHaveProperty('max_completion_tokens');
  expect(retries).toHaveLength(3);
});

test('an endpoint that refuses a field also under its other name is asked once for each', async () => {
  const refuses = (body: Body) => {
    const field = ['max_completion_tokens', 'max_tokens'].find((each) => each in body);
    // The last answer would end a loop.
    return field && bodies.length < 20 ? error(`Unsupported parameter: '${field}'`) : null;
  };
  const settings = { maxTokens: 64, extraBody: { max_completion_tokens: 64 } };
  const { ask, bodies, retries } = await asked(settings, refuses);
  await expect(ask()).rejects.toMatchObject({ failure: { code: 'model/refused' } });
  expect(bodies.map(({ max_tokens, max_completion_tokens }) => [max_tokens, max_completion_tokens])).toEqual([
    [64, 64],
    [64, undefined],
    [undefined, 64],
  ]);
  expect(retries).toHaveLength(2);
});

test('a field of messages that an endpoint refuses does not go back to it', async () => {
  const message =
    "'messages.1' : for 'role:assistant' the following must be satisfied: property 'reasoning' is unsupported";
  const refuses = ({ messages }: Body) => (messages.some((each) => 'reasoning' in each) ? error(message) : null);
  const { ask, bodies, seat } = await asked({}, refuses);
  const providerFields = { from: `m@${new URL(seat.baseUrl).origin}`, reasoningIn: 'reasoning' as const };
  const call = { id: 'c1', name: 'look', arguments: {} };
  const own = { role: 'agent' as const, step: 3, content: null, toolCalls: [call], reasoning: 'Hm.', providerFields };
  const result = { role: 'tool' as const, step: 4, callId: 'c1', name: 'look', content: 'Red.', isError: false };
  const view = { ...modelView(), messages: [{ role: 'user' as const, step: 2, content: 'Hello' }, own, result] };
  const { reply } = await askAgentModel(seat, '', view, never);
  expect(reply.content).toBe('Yes.');
  expect(bodies[0]?.messages.some((each) => 'reasoning' in each)).toBe(true);
  await ask();
});

test.each([
  [400, 'Tool call id was call_3_0 but must be a-z, A-Z, 0-9, with a length of 9.'],
  [500, 'Tool call IDs should be alphanumeric strings with length 9!'],
  [400, "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40."],
  [400, "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"],
  [400, "Value at 'messages.2.content.1.toolUse.toolUseId' must have length less than or equal to 64"],
])('ids of calls go as nine letters and digits where an endpoint wants them so (%i)', async (status, message) => {
  const idsOf = ({ messages }: Body) =>
    messages.flatMap(({ tool_calls: calls = [], tool_call_id: id }) => [
      ...(calls as readonly { readonly id: string }[]).map((each) => each.id),
      ...(id === undefined ? [] : [String(id)]),
    ]);
  const refuses = (body: Body) =>
    idsOf(body).every((id) => /^[a-zA-Z0-9]{9}$/.test(id)) ? null : error(message, {}, status);
  const ids = ['call_3_0', 'D681PevKs', 'call_3_1'];
  const toolCalls = ids.map((id) => ({ id, name: 'look', arguments: {} }));
  const result = (callId: string, step: number) =>
    ({ role: 'tool', step, callId, name: 'look', content: 'Red.', isError: false }) as const;
  const own = { role: 'agent' as const, step: 3, content: null, toolCalls };
  const messages = [
    { role: 'user' as const, step: 2, content: 'Hello' },
    own,
    ...ids.map((id, at) => result(id, 4 + at)),
  ];
  const { ask, bodies } = await asked({}, refuses, { ...modelView(), messages });
  expect((await ask()).call.adapted).toEqual(['with ids of calls of nine letters and digits']);
  const [first, kept, other, ...results] = idsOf(bodies.at(-1) as Body);
  expect([first, kept, other]).toEqual(results);
  expect(new Set(results).size).toBe(3);
  expect(kept).toBe('D681PevKs');
});

test('a server that takes no null as content gets an empty text', async () => {
  const message =
    "1 validation error: {'type': 'string_type', 'loc': ('body', 'messages', 1, 'ChatCompletionRequestAssistantMessage', 'content'), 'msg': 'Input should be a valid string', 'input': None}";
  const refuses = ({ messages }: Body) =>
    messages.some(({ role, content }) => role === 'assistant' && content === null)
      ? { status: 500, body: { error: { message, type: 'internal_server_error' } }, headers: askedAtOnce }
      : null;
  const own = { role: 'agent' as const, step: 3, content: null, toolCalls: [{ id: 'c', name: 'look', arguments: {} }] };
  const result = { role: 'tool' as const, step: 4, callId: 'c', name: 'look', content: 'Red.', isError: false };
  const messages = [{ role: 'user' as const, step: 2, content: 'Hello' }, own, result];
  const { ask, bodies, retries } = await asked({}, refuses, { ...modelView(), messages });
  expect((await ask()).call.adapted).toEqual(['with content in every message']);
  expect(bodies.at(-1)?.messages.at(-2)).toMatchObject({ role: 'assistant', content: '' });
  expect(retries).toHaveLength(1);
  expect(bodies).toHaveLength(2);
});

test('an endpoint that refuses every id of a call is asked no more than twice', async () => {
  const own = { role: 'agent' as const, step: 3, content: null, toolCalls: [{ id: 'c', name: 'look', arguments: {} }] };
  const message = 'Tool call id was c but must be a-z, A-Z, 0-9, with a length of 9.';
  const { ask, bodies } = await asked({}, () => error(message), { ...modelView(), messages: [own] });
  await expect(ask()).rejects.toMatchObject({ failure: { code: 'model/refused' } });
  expect(bodies).toHaveLength(2);
});

test('a field of messages that only the parameter names does not go back', async () => {
  const own = { role: 'agent' as const, step: 3, content: 'Red.', toolCalls: [] };
  const { ask, bodies, seat } = await asked(
    {},
    ({ messages }) =>
      messages.some((each) => 'mark' in each) ? error('Unsupported.', { param: 'messages[1].mark' }) : null,
    { ...modelView(), messages: [{ role: 'user', step: 2, content: 'Hello' }, own] },
  );
  Object.assign(own, { providerFields: { from: `m@${new URL(seat.baseUrl).origin}`, message: { mark: 1 } } });
  expect((await ask()).reply.content).toBe('Yes.');
  expect(bodies).toHaveLength(2);
});

test.each([
  ['a value that is too large', { maxTokens: 9 }, 'max_tokens is too large: this model supports at most 5 tokens'],
  [
    'a field that is missing',
    {},
    'The reasoning_content in the thinking mode must be passed back to the API. Unknown error',
  ],
  ['tools', {}, 'tools is not supported'],
  ['a field of other letters', { extraBody: { __: 1, 数: 2 } }, 'Unsupported request'],
  ['nothing by name', { temperature: 1 }, 'Unsupported request'],
  [
    'a form of answers that is one of several fields',
    { extraBody: { response_format: jsonSchema, seed: 1 } },
    'Bad value of seed or response_format',
  ],
  ['a stream that is refused', { extraBody: { stream: true } }, 'Only streaming is supported, stream must be true'],
])('%s is not left out', async (_, settings, message) => {
  const { ask, bodies } = await asked(settings, () => error(message));
  await expect(ask()).rejects.toMatchObject({ failure: { code: 'model/refused' } });
  expect(bodies).toHaveLength(1);
});

test('a server that fails is not asked without a field', async () => {
  const body = { error: { message: 'temperature is not supported', type: 'server_error' } };
  const refuses = () => ({ status: 500, body, headers: { 'retry-after-ms': '1' } });
  const { ask, bodies } = await asked({ temperature: 1 }, refuses);
  await expect(ask()).rejects.toMatchObject({ failure: { code: 'model/error' } });
  expect(bodies.every((each) => 'temperature' in each)).toBe(true);
});

test('a request that an agent of the user wrote stays as it is', async () => {
  const refuses = (body: Body) => ('seed' in body ? error('Unknown parameter: seed') : null);
  const { seat, bodies } = await asked({}, refuses);
  const lent = new LentModel(
    seat,
    (make) => make('', () => undefined),
    () => undefined,
  );
  const messages = [{ role: 'user', content: 'Hi' }];
  expect(await lent.answer({ messages, seed: 1 }, never)).toMatchObject({ status: 400 });
  expect(bodies).toHaveLength(1);
});
