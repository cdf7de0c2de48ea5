import { expect, test } from 'vitest';
import { readAnswer } from '../../../../src/engine/shell/models/chatAnswer.ts';
import { completionIn, isStream } from '../../../../src/engine/shell/models/streamedAnswer.ts';
import { answerOf } from '../../../support/readAnswer.ts';

const delta = (given: object, more: object = {}) => ({ id: 'c', choices: [{ index: 0, delta: given, ...more }] });
const end = (finish_reason = 'stop') => delta({}, { finish_reason });
const call = (given: object, part: object = {}) => delta({ tool_calls: [{ index: 0, function: part, ...given }] });
const streamOf = (events: readonly (object | string)[]) =>
  events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');
const read = (events: readonly (object | string)[]) => {
  const completion = completionIn(streamOf(events));
  return completion && answerOf(completion);
};

const spoken = { content: 'It comes on Thursday.', toolCalls: [] };
const find = { name: 'find', arguments: { id: 'P1' } };

/** Events that servers stream, and the answers that are parsed from them. */
const streams: readonly (readonly [name: string, events: readonly (object | string)[], expected: object])[] = [
  [
    'a text in parts, with its counts at the end',
    [
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'It comes ' }),
      delta({ content: 'on Thursday.' }),
      end(),
      { id: 'c', choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } },
      '[DONE]',
    ],
    { ...spoken, usage: { input: 7, output: 3 }, note: { finishReason: 'stop' } },
  ],
  ['no [DONE]', [delta({ content: 'It comes on Thursday.' }), end()], spoken],
  ['no finish_reason', [delta({ content: 'It comes on Thursday.' }), '[DONE]'], spoken],
  [
    'thoughts before the text',
    [delta({ reasoning: 'Hm' }), delta({ reasoning: '.' }), delta({ content: 'Yes.' }), '[DONE]'],
    { content: 'Yes.', thoughts: 'Hm.' },
  ],
  ...['thinking', 'reasoning_text'].map(
    (field) =>
      [
        `${field} before the text`,
        [delta({ [field]: 'Hm' }), delta({ [field]: '.' }), delta({ content: 'Yes.' }), '[DONE]'],
        { content: 'Yes.', thoughts: 'Hm.' },
      ] as const,
  ),
  [
    'counts in the last choice',
    [
      delta({ content: 'It comes on Thursday.' }),
      delta({}, { finish_reason: 'stop', usage: { prompt_tokens: 7, completion_tokens: 3 } }),
    ],
    { ...spoken, usage: { input: 7, output: 3 } },
  ],
  [
    'pieces of a thought, and then a text',
    [
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'H' }] }] }),
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'm.' }] }] }),
      delta({ content: 'It ' }),
      delta({ content: 'is.' }),
      '[DONE]',
    ],
    { content: 'It is.', thoughts: 'Hm.' },
  ],
  [
    'a call in parts',
    [
      call({ id: 'a', type: 'function' }, { name: 'find', arguments: '' }),
      call({}, { arguments: '{"id": ' }),
      call({ id: '' }, { name: '', arguments: '"P1"}' }),
      end('tool_calls'),
    ],
    { content: null, toolCalls: [{ id: 'a', ...find }] },
  ],
  [
    'two calls, all with index 0',
    [
      call({ id: 'a' }, { name: 'find', arguments: '{"id": "P1"}' }),
      call({ id: 'b' }, { name: 'find', arguments: '{"id": ' }),
      call({ id: 'b' }, { arguments: '"P2"}' }),
      end(),
    ],
    {
      toolCalls: [
        { id: 'a', ...find },
        { id: 'b', name: 'find', arguments: { id: 'P2' } },
      ],
    },
  ],
  [
    'two calls, and parts without an index',
    [
      delta({ tool_calls: [{ id: 'a', function: { name: 'find', arguments: '{"id": "P1"}' } }] }),
      delta({ tool_calls: [{ id: 'b', function: { name: 'find', arguments: '{"id": ' } }] }),
      delta({ tool_calls: [{ function: { arguments: '"P1"}' } }] }),
      end(),
    ],
    {
      toolCalls: [
        { id: 'a', ...find },
        { id: 'b', ...find },
      ],
    },
  ],
  [
    'two calls, all with index 0 and without ids',
    [
      call({}, { name: 'find', arguments: '{"id": ' }),
      call({ id: '' }, { arguments: '"P1"}' }),
      call({}, { name: 'find', arguments: '{"id": "P2"}' }),
      end('tool_calls'),
    ],
    {
      toolCalls: [
        { id: '', ...find },
        { id: '', name: 'find', arguments: { id: 'P2' } },
      ],
    },
  ],
  [
    'a call in both forms',
    [
      delta({
        function_call: { name: 'find', arguments: '' },
        tool_calls: [{ index: 0, id: 'c', function: { name: 'find', arguments: '' } }],
      }),
      delta({
        function_call: { name: 'find', arguments: '{"id": "P1"}' },
        tool_calls: [{ index: 0, id: 'c', function: { name: 'find', arguments: '{"id": "P1"}' } }],
      }),
      end('tool_calls'),
    ],
    { toolCalls: [{ id: 'c', ...find }] },
  ],
  [
    'arguments that are an object, with exact numbers',
    [
      '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"pay","arguments":{"to":9007199254740993,"amount":5.0}}}]}}]}',
      end('tool_calls'),
    ],
    {
      toolCalls: [
        {
          id: 'a',
          name: 'pay',
          arguments: { to: '9007199254740993', amount: 5 },
          integers: ['/to'],
          floats: ['/amount'],
        },
      ],
    },
  ],
  [
    'arguments behind an empty object',
    [call({ id: 'a' }, { name: 'find', arguments: '{}' }), call({}, { arguments: '{"id": "P1"}' }), end('tool_calls')],
    { toolCalls: [{ id: 'a', ...find }] },
  ],
  [
    'a surrogate pair in two events',
    [delta({ content: 'Yes \ud83d' }), delta({ content: '\ude00' }), end()],
    { content: 'Yes \u{1f600}' },
  ],
  [
    'a number in place of a text, after a text',
    [
      '{"choices":[{"delta":{"reasoning":"Hm"}}]}',
      '{"choices":[{"delta":{"reasoning":9007199254740993}}]}',
      delta({ content: 'Yes.' }),
      end(),
    ],
    { content: 'Yes.' },
  ],
  [
    'results of a filter before the first choice',
    [
      { choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] },
      delta({ content: 'It comes on Thursday.' }),
      { choices: [{ index: 0, finish_reason: null, content_filter_offsets: { check_offset: 44 } }] },
      end(),
    ],
    spoken,
  ],
  [
    'a function_call in parts',
    [
      delta({ function_call: { name: 'find', arguments: '' } }),
      delta({ function_call: { arguments: '{"id": ' } }),
      delta({ function_call: { arguments: '"P1"}' } }),
      end('function_call'),
    ],
    { content: null, toolCalls: [{ id: '', ...find }] },
  ],
  [
    'events without choices',
    [
      {},
      delta({ content: 'It comes on Thursday.' }),
      end(),
      { id: 'c', usage: { prompt_tokens: 7, completion_tokens: 3 } },
      { id: 'c', choices: null },
      '[DONE]',
    ],
    { ...spoken, usage: { input: 7, output: 3 } },
  ],
  [
    'a name, and then arguments alone',
    [call({ id: 'a' }, { name: 'find' }), call({}, { arguments: '{"id": "P1"}' }), end()],
    { toolCalls: [{ id: 'a', ...find }] },
  ],
  [
    'a name in parts',
    [
      call({ id: 'a' }, { name: 'fi', arguments: '' }),
      call({}, { name: 'nd', arguments: '' }),
      call({}, { arguments: '{"id": "P1"}' }),
      end('tool_calls'),
    ],
    { toolCalls: [{ id: 'a', ...find }] },
  ],
  [
    'a name with each part',
    [
      call({ id: 'a' }, { name: 'find', arguments: '' }),
      call({}, { name: 'find', arguments: '{"id": ' }),
      call({}, { name: 'find', arguments: '"P1"}' }),
      end('tool_calls'),
    ],
    { toolCalls: [{ id: 'a', ...find }] },
  ],
  [
    'two calls, whose indices are texts',
    [
      {
        choices: [
          {
            index: '0',
            delta: { tool_calls: [{ index: '0', id: 'a', function: { name: 'find', arguments: '{"id": ' } }] },
          },
        ],
      },
      call({ index: '1', id: 'b' }, { name: 'find', arguments: '{"id": "P1"}' }),
      call({ index: '0' }, { arguments: '"P1"}' }),
      end(),
    ],
    {
      toolCalls: [
        { id: 'a', ...find },
        { id: 'b', ...find },
      ],
    },
  ],
  [
    'a second call that ends under another index',
    [
      call({ id: 'a' }, { name: 'find', arguments: '{"id": "P1"}' }),
      call({ id: 'b' }, { name: 'find', arguments: '' }),
      call({ index: 1 }, { arguments: '{"id": ' }),
      call({ index: 1, id: 'b' }, { arguments: '"P1"}' }),
      end(),
    ],
    {
      toolCalls: [
        { id: 'a', ...find },
        { id: 'b', ...find },
      ],
    },
  ],
  [
    'another id in each part of a call',
    [
      call({ id: 't1' }, { name: 'find', arguments: '{"id"' }),
      call({ id: 't2' }, { name: null, arguments: ': "P1"' }),
      call({ id: 't3', index: 1 }, { name: 'find', arguments: '' }),
      call({ id: 't4' }, { name: null, arguments: '}' }),
      call({ id: 't5', index: 1 }, { name: null, arguments: '{"id": "P1"}' }),
      call({ id: 't6', index: 1 }, { name: null, arguments: null }),
      end('tool_calls'),
    ],
    {
      toolCalls: [
        { id: 't1', ...find },
        { id: 't3', ...find },
      ],
    },
  ],
  [
    'two calls with one id',
    [
      call({ id: 'a' }, { name: 'find', arguments: '{"id": "P1"}' }),
      call({ index: 1, id: 'a' }, { name: 'find', arguments: '' }),
      call({ index: 1, id: 'a' }, { arguments: '{"id": "P1"}' }),
      end(),
    ],
    {
      toolCalls: [
        { id: 'a', ...find },
        { id: 'a', ...find },
      ],
    },
  ],
  [
    'null and flat calls',
    [
      delta({ tool_calls: [null] }),
      delta({ tool_calls: [{ index: 0, id: 'a', ...find }] }),
      delta({ function_call: {} }),
      end(),
    ],
    { toolCalls: [{ id: 'a', ...find }] },
  ],
  [
    'empty errors',
    [
      { ...delta({ content: 'It comes ', error: '' }), error: '' },
      { ...delta({ content: 'on Thursday.' }, { error: {} }), error: {} },
      { error: {}, message: '', detail: [] },
      { ...end(), error: { message: '' } },
      { choices: [], base_resp: { status_code: 0, status_msg: '' } },
    ],
    spoken,
  ],
  [
    'the text "null" as finish_reason',
    [delta({ content: 'It comes ' }, { finish_reason: 'null' }), delta({ content: 'on Thursday.' }), end()],
    { ...spoken, note: { finishReason: 'stop' } },
  ],
  [
    'a content of single parts that are not in lists',
    [
      delta({ content: { type: 'text', text: 'It comes ' } }),
      delta({ content: { type: 'text', text: 'on Thursday.' } }),
      end(),
    ],
    spoken,
  ],
  [
    'a call as a part of the content',
    [
      delta({ content: [{ type: 'text', text: 'It comes on Thursday.' }] }),
      delta({ content: [{ type: 'tool_use', id: 'a', name: 'find', input: { id: 'P1' } }] }),
      end('tool_calls'),
    ],
    { ...spoken, toolCalls: [{ id: 'a', ...find }] },
  ],
  [
    'a call with parameters',
    [call({ id: 'a' }, { name: 'find', parameters: { id: 'P1' } }), end('tool_calls')],
    { toolCalls: [{ id: 'a', ...find }] },
  ],
  [
    'a whole completion as one event',
    [{ choices: [{ message: { content: 'It comes on Thursday.' } }] }, '[DONE]'],
    spoken,
  ],
];

test.each(streams)('%s', (_, events, expected) => {
  expect(read(events)).toMatchObject(expected);
});

test('pieces of the details of a thought are one part, with their signature', () => {
  const thought = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 };
  const data = { type: 'reasoning.encrypted', data: 'x' };
  const details = [
    [{ ...thought, text: 'H' }],
    [
      { ...thought, text: 'm.', signature: null },
      { type: 'reasoning.summary', summary: 'S', index: 1 },
    ],
    [{ ...thought, signature: 's' }, data],
    [data, { type: 'reasoning.text', text: 'A' }, { type: 'reasoning.text', text: 'ha' }],
    [
      { ...data, id: 'a', index: 2 },
      { ...data, id: 'b', index: 2 },
    ],
  ];
  const call = { index: 0, id: 'c', function: { name: 'find', arguments: '{}' } };
  const events = details.map((reasoning_details) => delta({ reasoning_details }));
  expect(read([...events, delta({ tool_calls: [call] }), end('tool_calls')])).toMatchObject({
    cameWith: {
      message: {
        reasoning_details: [
          { ...thought, text: 'Hm.', signature: 's' },
          { type: 'reasoning.summary', summary: 'S', index: 1 },
          data,
          data,
          { type: 'reasoning.text', text: 'Aha' },
          { ...data, id: 'a', index: 2 },
          { ...data, id: 'b', index: 2 },
        ],
      },
    },
  });
});

const tooLong = { code: 400, message: 'the request exceeds the available context size', type: 'invalid_request_error' };

test.each([
  ['in a separate field', `error: ${JSON.stringify(tooLong)}\n\ndata: [DONE]\n\n`, tooLong.message, 400],
  ['in a separate field, as a text', 'error: the pool is empty\n\n', 'the pool is empty', 502],
  ['of this type', `event: error\ndata: ${JSON.stringify(tooLong)}\n\n`, tooLong.message, 400],
  ['of this type, with other fields', 'event: error\ndata: {"code": 429, "reason": "busy"}\n\n', 'busy', 429],
  ['of this type, as a text', 'event: error\ndata: the pool is empty\n\n', 'the pool is empty', 502],
  ['of this type, in OpenAI’s form', 'event: error\ndata: {"error": {"message": "no", "code": 503}}\n\n', 'no', 503],
])('an event with an error %s is an error, first or in the middle', (_, event, message, status) => {
  for (const stream of [event, streamOf([delta({ content: 'It ' })]) + event]) {
    expect(isStream(stream)).toBe(true);
    expect(readAnswer(completionIn(stream) ?? '')).toMatchObject({ type: 'error', error: { message, status } });
  }
});

test('comments are ignored, and carriage returns end lines', () => {
  const stream = `: at work\r\n\r\n${streamOf([delta({ content: 'Yes.' }), '[DONE]']).replaceAll('\n', '\r\n')}`;
  expect(answerOf(completionIn(stream) ?? '')).toMatchObject({ content: 'Yes.' });
});

test.each([
  ['an empty stream', []],
  ['a text that is cut', [delta({ content: 'It comes ' })]],
  ['a call that is cut', [call({ id: 'a' }, { name: 'find', arguments: '{"id": ' })]],
  ['a text that is cut, with an empty finish_reason', [delta({ content: 'It comes ' }, { finish_reason: '' })]],
  [
    'a text that is cut, with the text "null" as finish_reason',
    [delta({ content: 'It comes ' }, { finish_reason: 'null' })],
  ],
  ['an event that is cut', [delta({ content: 'It comes ' }), '{"choices": [{"del']],
])('%s is not an answer', (_, events) => {
  expect(completionIn(streamOf(events))).toBeNull();
});

test.each([
  ['a text', 'upstream is away'],
  ['a text in brackets', '[ERROR] upstream is away'],
  ['an event that is broken in the middle', '{"upstream is away"'],
])('%s in place of an event is quoted', (name, text) => {
  const events = [delta({ content: 'It comes ' }), text, ...(name.includes('middle') ? [end()] : [])];
  expect(readAnswer(completionIn(streamOf(events)) ?? '')).toMatchObject({
    type: 'unreadable',
    problem: expect.stringContaining('upstream is away'),
  });
});

test.each([
  ['id', { id: true, function: { name: 'find', arguments: '{}' } }],
  ['function.name', { id: 'a', function: { name: 5, arguments: '{}' } }],
])('the %s of a call that cannot be read is named as in a whole answer', (field, given) => {
  const events = [delta({ tool_calls: [{ index: 0, ...given }] }), end('tool_calls')];
  const whole = { choices: [{ message: { tool_calls: [given] }, finish_reason: 'tool_calls' }] };
  for (const body of [completionIn(streamOf(events)) ?? '', JSON.stringify(whole)])
    expect(readAnswer(body)).toMatchObject({
      type: 'unreadable',
      problem: expect.stringMatching(new RegExp(`^choices\\.0\\.message\\.tool_calls\\.0\\.${field}: `)),
    });
});

test('a text after the end of an answer is ignored', () => {
  expect(read([delta({ content: 'It comes on Thursday.' }), end(), 'bye'])).toMatchObject(spoken);
});

test('an event that cannot be read is not the answer', () => {
  const odd = { choices: [{ index: 0, delta: { content: 'Yes.', tool_calls: 'find' }, finish_reason: 'stop' }] };
  expect(readAnswer(completionIn(streamOf([delta({ content: 'No.' }), odd])) ?? '')).toMatchObject({
    type: 'unreadable',
    problem: expect.stringContaining('"tool_calls":"find"'),
  });
});

test.each([
  { error: { message: 'upstream is away', code: 502 } },
  { object: 'error', message: 'upstream is away', code: 502 },
  { detail: 'upstream is away' },
  { choices: null, base_resp: { status_code: 1000, status_msg: 'upstream is away' } },
  { choices: [{ index: 0, delta: {}, finish_reason: 'error' }], error: 'upstream is away' },
])('an error in the middle is in place of the answer: %j', (error) => {
  expect(completionIn(streamOf([delta({ content: 'It ' }), error, end(), '[DONE]']))).toBe(JSON.stringify(error));
});

test.each([
  ['carriage returns', (data: string) => `data: ${data}\r\r`],
  ['line feeds and carriage returns', (data: string) => `data: ${data}\r\n\r\n`],
  ['the type of the event and a comment', (data: string) => `: keep-alive\nevent: chunk\ndata:${data}\n\n`],
])('events are read according to the standard: %s', (_, event) => {
  const events = [delta({ content: 'It comes on ' }), delta({ content: 'Thursday.' }), end()];
  const stream = [...events.map((each) => JSON.stringify(each)), '[DONE]'].map(event).join('');
  for (const whole of [stream, stream.trimEnd()]) expect(answerOf(completionIn(whole))).toMatchObject(spoken);
});
