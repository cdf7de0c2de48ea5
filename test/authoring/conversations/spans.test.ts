import { expect, test } from 'vitest';
import { shown } from '../../support/conversationLines.ts';
import { lines, readLog } from '../../support/readLog.ts';

type Attributes = Readonly<Record<string, unknown>>;
type Given = {
  readonly id: string;
  readonly parent?: string;
  readonly trace?: string;
  readonly at?: number;
  readonly name?: string;
  readonly isError?: boolean;
  readonly links?: readonly string[];
  readonly attributes?: Attributes;
  readonly events?: readonly (readonly [string, Attributes])[];
};

const listed = (attributes: Attributes = {}) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: { stringValue: typeof value === 'string' ? value : JSON.stringify(value) },
  }));

/** Spans as an OTLP export. */
const exported = (...spans: readonly Given[]) => ({
  resourceSpans: [
    {
      scopeSpans: [
        {
          spans: spans.map(
            ({ id, parent = '', trace = 't1', at = 0, name = '', isError, links = [], attributes, events }) => ({
              ...{ traceId: trace, spanId: id, parentSpanId: parent, name, attributes: listed(attributes) },
              startTimeUnixNano: `${1_700_000_000_000_000_000n + BigInt(at)}`,
              links: links.map((traceId) => ({ traceId, spanId: 'x' })),
              ...(isError ? { status: { code: 2 } } : {}),
              events: (events ?? []).map(([event, own], index) => ({
                name: event,
                timeUnixNano: `${index}`,
                attributes: listed(own),
              })),
            }),
          ),
        },
      ],
    },
  ],
});

const words = (role: string, content: string) => ({ role, parts: [{ type: 'text', content }] });
const order = { order_id: 'W1' };
const user = words('user', 'Where is W1?');
const calling = { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'get_order', arguments: order }] };
const result = { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'shipped' }] };
const closing = words('assistant', 'It has shipped.');
const brief = [{ type: 'text', content: 'Be brief.' }];

const chat = (id: string, input: readonly object[], output: object | null, more: Partial<Given> = {}): Given => ({
  id,
  name: 'chat m',
  ...more,
  attributes: {
    'gen_ai.operation.name': 'chat',
    'gen_ai.system_instructions': brief,
    'gen_ai.input.messages': input,
    ...(output ? { 'gen_ai.output.messages': [output] } : {}),
    ...more.attributes,
  },
});
const agent = (id: string, more: Partial<Given> = {}): Given => ({
  id,
  name: 'invoke_agent desk',
  ...more,
  attributes: { 'gen_ai.operation.name': 'invoke_agent', ...more.attributes },
});

const whole = [
  's Be brief.',
  'u Where is W1?',
  'a> get_order{"order_id":"W1"}',
  't< get_order{"order_id":"W1"} shipped',
  'a It has shipped.',
];
const first = chat('a', [user], calling, { at: 1, parent: 'r' });
const last = chat('b', [user, calling, result], closing, { at: 9, parent: 'r' });
const followUp = words('user', 'Thanks.');
const bye = words('assistant', 'Bye.');

const answered = ['s Be brief.', 'u Where is W1?', 'a It has shipped.'];
const named = { 'gen_ai.conversation.id': 'cv1' };
const callOf = (id: string) => ({ type: 'tool_call', name: 'get_order', arguments: { order_id: id } });
const executed = (id: string, orderId: string, result: string, at: number): Given => ({
  ...{ id, at, name: 'execute_tool get_order' },
  attributes: {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'get_order',
    'gen_ai.tool.call.arguments': `{"order_id": "${orderId}"}`,
    'gen_ai.tool.call.result': result,
  },
});

const trees: readonly (readonly [string, readonly Given[], readonly (readonly string[])[], readonly RegExp[]])[] = [
  [
    'the span of an agent tells nothing twice',
    [agent('r', { attributes: { 'gen_ai.input.messages': [user], 'gen_ai.output.messages': [closing] } }), last, first],
    [whole],
    [],
  ],
  [
    'a call without tools and instructions that failed, before calls of which the first has tools',
    [
      agent('r'),
      chat('f', [user], null, { at: 1, parent: 'r', isError: true, attributes: { 'gen_ai.system_instructions': '' } }),
      { ...first, attributes: { ...first.attributes, 'gen_ai.tool.definitions': [{ name: 'get_order' }] } },
      last,
    ],
    [whole],
    [/attempt that failed/],
  ],
  [
    'text that is added to the last message of the user of one call',
    [
      chat('a', [words('user', 'Where is W1?\n<time>10:00</time>')], closing, { at: 1, attributes: named }),
      chat('b', [user, closing, words('user', '<found>None</found>\nThanks.')], bye, { at: 2, attributes: named }),
      chat('c', [user, closing, followUp, bye, user], closing, { at: 3, attributes: named }),
    ],
    [[...answered, 'u Thanks.', 'a Bye.', ...answered.slice(1)]],
    [],
  ],
  [
    'runs of an agent of one conversation in one trace, whose calls have only what is new',
    [
      agent('r', { attributes: named }),
      chat('a', [user], closing, { at: 1, parent: 'r', attributes: named }),
      agent('q', { at: 2, attributes: named }),
      chat('b', [followUp], bye, { at: 3, parent: 'q', attributes: named }),
    ],
    [[...answered, 'u Thanks.', 'a Bye.']],
    [],
  ],
  [
    'calls of one conversation in one trace, which have only what is new, without an agent',
    [
      chat('a', [user], closing, { at: 1, attributes: { ...named, 'gen_ai.system_instructions': '' } }),
      chat('b', [followUp], bye, { at: 3, attributes: { ...named, 'gen_ai.system_instructions': '' } }),
    ],
    [[...answered.slice(1), 'u Thanks.', 'a Bye.']],
    [],
  ],
  ['spans that were exported twice', [first, last, first, last], [whole], []],
  [
    'parallel calls without ids, whose tools end in another order',
    [
      chat('a', [user], { role: 'assistant', parts: [callOf('W1'), callOf('W10')] }, { at: 1 }),
      executed('x', 'W10', 'open', 2),
      executed('y', 'W1', 'shipped', 3),
    ],
    [
      [
        ...whole.slice(0, 3),
        'a> get_order{"order_id":"W10"}',
        't< get_order{"order_id":"W1"} shipped',
        't< get_order{"order_id":"W10"} open',
      ],
    ],
    [],
  ],
  [
    'a call that writes a title',
    [
      agent('r'),
      first,
      last,
      chat('x', [words('user', 'Write a title: Where is W1?')], words('assistant', 'Order W1'), {
        at: 5,
        attributes: { 'gen_ai.system_instructions': [{ type: 'text', content: 'You write titles.' }] },
      }),
    ],
    [whole],
    [/^span x \(chat m\) is a call of the model beside the conversation; it is left out$/],
  ],
  [
    'a call that writes a title of the first message, without an agent',
    [
      { ...first, parent: '' },
      { ...last, parent: '' },
      chat('x', [user], words('assistant', 'Order W1'), {
        at: 20,
        attributes: { 'gen_ai.system_instructions': [{ type: 'text', content: 'You write titles.' }] },
      }),
    ],
    [whole],
    [/^span x /],
  ],
  [
    'a call that writes a title before all others, in the same agent',
    [
      agent('r'),
      chat('x', [user], words('assistant', 'Order W1'), {
        ...{ at: 0, parent: 'r' },
        attributes: { 'gen_ai.system_instructions': [{ type: 'text', content: 'You write titles.' }] },
      }),
      first,
      last,
    ],
    [whole],
    [/^span x \(chat m\) is a call of the model beside the conversation; it is left out$/],
  ],
  [
    'an attempt that failed, and one that was abandoned',
    [
      agent('r'),
      first,
      chat('e', [user, calling, result], null, { at: 3, parent: 'r', isError: true }),
      chat('f', [user, calling, result], words('assistant', 'It'), { at: 4, parent: 'r' }),
      last,
      chat('g', [user, calling, result, closing, followUp], bye, { at: 20, parent: 'r' }),
    ],
    [[...whole, 'u Thanks.', 'a Bye.']],
    [
      /^span e \(chat m\) is an attempt that failed, without an answer; it is left out$/,
      /^span f \(chat m\) is an attempt that was abandoned; it is left out$/,
    ],
  ],
  [
    'attempts without any output: of a call, of a call without messages, and of an agent',
    [
      agent('q', { isError: true, attributes: { 'gen_ai.input.messages': [user] } }),
      agent('r', { at: 1 }),
      chat('e', [user], null, { at: 2, parent: 'r' }),
      chat('h', [], null, { at: 3, parent: 'r', isError: true, attributes: { 'gen_ai.system_instructions': '' } }),
      { ...first, at: 4 },
      last,
    ],
    [whole],
    [
      /^span e \(chat m\) is an attempt that was abandoned, without an answer; it is left out$/,
      /^span h \(chat m\) is an attempt that failed, without an answer; it is left out$/,
      /^span q \(invoke_agent desk\) is an attempt that failed, without an answer; it is left out$/,
    ],
  ],
  [
    'the work of an agent inside of a tool',
    [
      agent('r'),
      first,
      {
        id: 'tool',
        parent: 'r',
        at: 2,
        attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'get_order' },
      },
      agent('inner', { parent: 'tool' }),
      chat('x', [words('user', 'Look up W1')], words('assistant', 'shipped'), { at: 3, parent: 'inner' }),
      last,
    ],
    [whole],
    [/^span x \(chat m\) is a call of the model inside of the tool get_order; it is left out$/],
  ],
  [
    'turns that are traces with links, each with its own messages',
    [
      agent('r'),
      first,
      last,
      agent('r2', { trace: 't2', at: 30, links: ['t1'] }),
      chat('c', [user, calling, result, closing, followUp], bye, { trace: 't2', parent: 'r2', at: 31 }),
    ],
    [[...whole, 'u Thanks.', 'a Bye.']],
    [],
  ],
  [
    'turns of one id that tell no history',
    [
      chat('a', [user], closing, { attributes: { 'gen_ai.conversation.id': 'k' } }),
      chat('b', [followUp], bye, { trace: 't2', at: 9, attributes: { 'gen_ai.conversation.id': 'k' } }),
    ],
    [['s Be brief.', 'u Where is W1?', 'a It has shipped.', 'u Thanks.', 'a Bye.']],
    [],
  ],
  [
    'turns of one id that tell no history, of which one says what an earlier one said and one failed first',
    [
      chat('a', [user], closing, { attributes: named }),
      chat('b', [followUp], bye, { trace: 't2', at: 9, attributes: named }),
      chat('c', [user], null, { trace: 't3', at: 19, isError: true, attributes: named }),
      chat('d', [user], closing, { trace: 't4', at: 29, attributes: named }),
    ],
    [[...answered, 'u Thanks.', 'a Bye.', ...answered.slice(1)]],
    [/^span c \(chat m\) is an attempt that failed, without an answer; it is left out$/],
  ],
  [
    'a turn that is tried again in its own trace, and a first message that is sent again with the history kept',
    [
      chat('a', [user], words('assistant', 'It'), { attributes: named }),
      chat('b', [user], closing, { at: 1, attributes: named }),
      chat('c', [user, closing, followUp], bye, { trace: 't2', at: 9, attributes: named }),
      chat('d', [user], words('assistant', 'Where?'), { trace: 't3', at: 19, attributes: named }),
    ],
    [[...answered, 'u Thanks.', 'a Bye.']],
    [
      /^span a .* an attempt that was abandoned; it is left out$/,
      /^span d .* an attempt that was abandoned; it is left out$/,
    ],
  ],
  [
    'a history that slides',
    [
      chat('a', [user], closing),
      chat('b', [user, closing, followUp], bye, { at: 1 }),
      chat('c', [followUp, bye, words('user', 'Wait.')], words('assistant', 'Yes?'), { at: 2 }),
    ],
    [['s Be brief.', 'u Where is W1?', 'a It has shipped.', 'u Thanks.', 'a Bye.', 'u Wait.', 'a Yes?']],
    [],
  ],
  [
    'two agents of one trace without an id',
    [
      { id: 'root', attributes: {} },
      agent('r', { parent: 'root' }),
      first,
      last,
      agent('r2', { parent: 'root' }),
      chat('z', [words('user', 'Hi')], words('assistant', 'Hello'), { parent: 'r2', at: 40 }),
    ],
    [whole, ['s Be brief.', 'u Hi', 'a Hello']],
    [],
  ],
];

test.each(trees)('the tree of spans decides: %s', async (_, spans, expected, notes) => {
  const found = await readLog(lines(exported(...spans)), undefined, 'spans');
  expect(found.problems).toEqual([]);
  expect(found.conversations.map(shown)).toEqual(expected);
  expect(found.notes.map(({ message }) => message)).toEqual(notes.map((each) => expect.stringMatching(each)));
});

const asked = { role: 'user', content: 'Where is W1?' };
const calls = [{ id: 'c1', type: 'function', function: { name: 'get_order', arguments: JSON.stringify(order) } }];
const spoken = { role: 'assistant', content: 'It has shipped.' };
const told = [
  { role: 'system', content: 'Be brief.' },
  asked,
  { role: 'assistant', content: null, tool_calls: calls },
  { role: 'tool', tool_call_id: 'c1', content: 'shipped' },
];
const event = (role: string, own: Attributes) => [`gen_ai.${role}.message`, own] as const;
const one = (attributes: Attributes, events: Given['events'] = []) => exported({ id: 'a', attributes, events });
const flat = (prefix: string, messages: readonly Attributes[], wrap: (key: string) => string) =>
  Object.fromEntries(
    messages.flatMap((message, index) =>
      Object.entries(message).map(([key, value]) => [`${prefix}.${index}.${wrap(key)}`, value]),
    ),
  );
const flatCall = (path: string, name: string) => ({
  [`${path}0.${name}id`]: 'c1',
  [`${path}0.${name}${name ? 'function.' : ''}name`]: 'get_order',
  [`${path}0.${name}${name ? 'function.' : ''}arguments`]: JSON.stringify(order),
});
const bedrock = [
  event('user', { content: JSON.stringify([{ text: 'Where is W1?' }]) }),
  event('assistant', { content: JSON.stringify([{ toolUse: { toolUseId: 'c1', name: 'get_order', input: order } }]) }),
  event('tool', {
    content: JSON.stringify([{ toolResult: { toolUseId: 'c1', status: 'success', content: [{ text: 'shipped' }] } }]),
  }),
  ['gen_ai.choice', { message: JSON.stringify([{ text: 'It has shipped.' }]), finish_reason: 'end_turn' }],
] as const;
const langChain = (name: string, kwargs: object) => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain', 'schema', name],
  kwargs,
});

const ofRun = { id: 'a', trace_id: 't', run_type: 'llm', start_time: '2026-01-01T00:00:00' };

const dialects: readonly (readonly [string, unknown, (readonly string[])?])[] = [
  [
    'messages as JSON text',
    one({
      'gen_ai.operation.name': 'chat',
      'gen_ai.system_instructions': brief,
      'gen_ai.input.messages': [user, calling, result],
      'gen_ai.output.messages': [closing],
    }),
  ],
  [
    'the event of the details',
    one({ 'gen_ai.operation.name': 'chat' }, [
      [
        'gen_ai.client.inference.operation.details',
        {
          'gen_ai.system_instructions': brief,
          'gen_ai.input.messages': [user, calling, result],
          'gen_ai.output.messages': [closing],
        },
      ],
    ]),
  ],
  [
    'a log record of the details',
    {
      resourceLogs: [
        {
          scopeLogs: [
            {
              logRecords: [
                {
                  ...{ traceId: 't1', spanId: 'a', timeUnixNano: '1' },
                  eventName: 'gen_ai.client.inference.operation.details',
                  attributes: listed({
                    'gen_ai.system_instructions': brief,
                    'gen_ai.input.messages': [user, calling, result],
                    'gen_ai.output.messages': [closing],
                  }),
                },
              ],
            },
          ],
        },
      ],
    },
  ],
  [
    'an event for each message',
    one({ 'gen_ai.operation.name': 'chat' }, [
      event('system', { content: 'Be brief.' }),
      event('user', asked),
      event('assistant', { tool_calls: calls }),
      event('tool', { id: 'c1', content: 'shipped' }),
      ['gen_ai.choice', { index: '0', message: spoken }],
    ]),
  ],
  [
    'events with their content as JSON text',
    one({ 'gen_ai.system': 'az.ai.inference' }, [
      ...told.map((message) =>
        event(message.role, {
          'gen_ai.event.content': JSON.stringify(message.role === 'tool' ? { ...message, id: 'c1' } : message),
        }),
      ),
      [
        'gen_ai.choice',
        {
          'gen_ai.event.content': JSON.stringify({
            index: 0,
            finish_reason: 'stop',
            message: { content: 'It has shipped.' },
          }),
        },
      ],
    ]),
  ],
  [
    'events in an attribute, as Logfire writes them',
    one({
      'gen_ai.operation.name': 'chat',
      events: JSON.stringify([
        ...told.map((message) => ({
          'event.name': `gen_ai.${message.role}.message`,
          ...message,
          ...(message.role === 'tool' ? { id: 'c1' } : {}),
        })),
        { 'event.name': 'gen_ai.choice', index: 0, message: spoken },
      ]),
    }),
  ],
  [
    'the events of content',
    one({ 'gen_ai.system': 'openai' }, [
      ['gen_ai.content.prompt', { 'gen_ai.prompt': JSON.stringify(told) }],
      ['gen_ai.content.completion', { 'gen_ai.completion': JSON.stringify([spoken]) }],
    ]),
  ],
  ['blocks of Bedrock as Strands writes them', one({ 'gen_ai.operation.name': 'chat' }, bedrock), whole.slice(1)],
  [
    'OpenInference',
    one({
      'openinference.span.kind': 'LLM',
      ...flat(
        'llm.input_messages',
        [told[0] ?? {}, asked, { role: 'assistant', ...flatCall('tool_calls.', 'tool_call.') }, told[3] ?? {}],
        (key) => `message.${key}`,
      ),
      ...flat(
        'llm.output_messages',
        [
          {
            role: 'assistant',
            'contents.0.message_content.type': 'text',
            'contents.0.message_content.text': 'It has shipped.',
          },
        ],
        (key) => `message.${key}`,
      ),
    }),
  ],
  [
    'Traceloop',
    one({
      'traceloop.workflow.name': 'desk',
      ...flat(
        'gen_ai.prompt',
        [told[0] ?? {}, asked, { role: 'assistant', ...flatCall('tool_calls.', '') }, told[3] ?? {}],
        (key) => key,
      ),
      ...flat('gen_ai.completion', [spoken], (key) => key),
    }),
  ],
  [
    'the AI SDK of Vercel',
    exported(
      {
        id: 'r',
        attributes: {
          'ai.operationId': 'ai.generateText',
          'ai.prompt': JSON.stringify({ system: 'Be brief.', messages: [asked] }),
          'ai.response.text': 'It has shipped.',
        },
      },
      {
        id: 'a',
        parent: 'r',
        at: 1,
        attributes: {
          'ai.operationId': 'ai.generateText.doGenerate',
          'gen_ai.system': 'openai',
          'ai.prompt.messages': JSON.stringify([
            told[0],
            { role: 'user', content: [{ type: 'text', text: 'Where is W1?' }] },
          ]),
          'ai.response.toolCalls': JSON.stringify([
            { toolCallType: 'function', toolCallId: 'c1', toolName: 'get_order', args: JSON.stringify(order) },
          ]),
        },
      },
      {
        id: 'tool',
        parent: 'r',
        at: 2,
        attributes: {
          'ai.operationId': 'ai.toolCall',
          'ai.toolCall.name': 'get_order',
          'ai.toolCall.id': 'c1',
          'ai.toolCall.result': '"shipped"',
        },
      },
      {
        id: 'b',
        parent: 'r',
        at: 3,
        attributes: {
          'ai.operationId': 'ai.generateText.doGenerate',
          'ai.prompt.messages': JSON.stringify([
            told[0],
            { role: 'user', content: [{ type: 'text', text: 'Where is W1?' }] },
            {
              role: 'assistant',
              content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'get_order', input: order }],
            },
            {
              role: 'tool',
              content: [
                {
                  type: 'tool-result',
                  toolCallId: 'c1',
                  toolName: 'get_order',
                  output: { type: 'text', value: 'shipped' },
                },
              ],
            },
          ]),
          'ai.response.text': 'It has shipped.',
        },
      },
    ),
  ],
  [
    'spans as the SDK prints them',
    {
      name: 'chat m',
      context: { trace_id: '0x1', span_id: '0x2' },
      parent_id: null,
      start_time: '2026-01-01T00:00:00.000001Z',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.system_instructions': JSON.stringify(brief),
        'gen_ai.input.messages': JSON.stringify([user, calling, result]),
        'gen_ai.output.messages': JSON.stringify([closing]),
      },
      events: [],
    },
  ],
  [
    'a trace of Langfuse',
    {
      trace: { id: 't', sessionId: 's' },
      observations: [
        {
          id: 'a',
          traceId: 't',
          type: 'GENERATION',
          startTime: '2026-01-01T00:00:00Z',
          input: { messages: told.slice(0, 2) },
          output: told[2],
        },
        {
          id: 'b',
          traceId: 't',
          type: 'GENERATION',
          startTime: '2026-01-01T00:00:01Z',
          input: JSON.stringify(told),
          output: spoken,
        },
      ],
    },
  ],
  [
    'the Agent Development Kit of Google',
    one({
      'gen_ai.system': 'gcp.vertex.agent',
      'gcp.vertex.agent.llm_request': {
        config: { system_instruction: 'Be brief.', tools: [{ function_declarations: [{ name: 'get_order' }] }] },
        contents: [
          { role: 'user', parts: [{ text: 'Where is W1?' }] },
          { role: 'model', parts: [{ function_call: { name: 'get_order', args: order } }] },
          { role: 'user', parts: [{ function_response: { name: 'get_order', response: { result: 'shipped' } } }] },
        ],
      },
      'gcp.vertex.agent.llm_response': {
        content: { role: 'model', parts: [{ text: 'Easy.', thought: true }, { text: 'It has shipped.' }] },
      },
    }),
    [
      ...['s Be brief.', 'u Where is W1?', 'a> get_order{"order_id":"W1"}'],
      't< get_order{"order_id":"W1"} {"result":"shipped"}',
      ...['a~ Easy.', 'a It has shipped.'],
    ],
  ],
  [
    'a list of traces of Langfuse, which has ids in place of the observations',
    {
      data: [{ id: 't', timestamp: '2026-01-01T00:00:00Z', input: told, output: spoken, observations: ['a', 'b'] }],
      meta: { page: 1 },
    },
  ],
  [
    'a result of LangChain that Langfuse has as a message of its own observation',
    {
      trace: { id: 't' },
      observations: [
        {
          ...{ id: 'a', traceId: 't', type: 'GENERATION', startTime: '2026-01-01T00:00:00Z' },
          ...{ input: told.slice(0, 2), output: told[2] },
        },
        {
          ...{ id: 'b', traceId: 't', type: 'TOOL', name: 'get_order', startTime: '2026-01-01T00:00:01Z' },
          ...{ input: order, output: { type: 'tool', content: 'shipped', tool_call_id: 'c1', status: 'success' } },
        },
      ],
    },
    whole.slice(0, 4),
  ],
  [
    'a run of LangSmith of the Responses API',
    { ...ofRun, inputs: { instructions: 'Be brief.', input: [asked] }, outputs: { output: [spoken] } },
    answered,
  ],
  [
    'a run of LangSmith of Anthropic, with the system as parts',
    {
      ...ofRun,
      inputs: { system: [{ type: 'text', text: 'Be brief.' }], messages: [asked] },
      outputs: { message: { ...spoken, content: [{ type: 'text', text: spoken.content }] } },
    },
    answered,
  ],
  [
    'runs of LangSmith',
    {
      id: 'a',
      trace_id: 't',
      run_type: 'llm',
      start_time: '2026-01-01T00:00:00',
      inputs: {
        messages: [
          [
            langChain('SystemMessage', { content: 'Be brief.' }),
            langChain('HumanMessage', { content: 'Where is W1?' }),
            langChain('AIMessage', {
              content: '',
              tool_calls: [{ id: 'c1', name: 'get_order', args: order, type: 'tool_call' }],
            }),
            langChain('ToolMessage', { content: 'shipped', tool_call_id: 'c1', status: 'success' }),
          ],
        ],
      },
      outputs: {
        generations: [[{ text: 'It has shipped.', message: langChain('AIMessage', { content: 'It has shipped.' }) }]],
      },
    },
  ],
];

test.each(dialects)('a dialect of spans: %s', async (_, value, expected = whole) => {
  const found = await readLog(lines(value), undefined, 'spans');
  expect([found.problems, found.conversations.flatMap(({ lost }) => lost), found.notes]).toEqual([[], [], []]);
  expect(found.conversations.map(shown)).toEqual([expected]);
});

test.each([
  [
    'which is not read',
    { 'gen_ai.operation.name': 'chat', 'acme.llm_request': JSON.stringify({ contents: [{ role: 'user' }] }) },
    /^the spans of t1 have messages in attributes that are not read \(acme\.llm_request\)\. Read are .*OpenInference/,
  ],
  [
    'without messages',
    { 'gen_ai.operation.name': 'chat' },
    /^the spans of t1 hold no messages; let the agent record them/,
  ],
])('a dialect %s is named', async (_, attributes, message) => {
  const found = await readLog(lines(one(attributes)), undefined, 'spans');
  expect(found.problems.map((each) => each.message)).toEqual([expect.stringMatching(message)]);
});

test('a result without an id in the span of its tool is paired by name', async () => {
  const tool = (id: string, at: number, status: string): Given => ({
    id,
    at,
    parent: 'r',
    attributes: { 'openinference.span.kind': 'TOOL', 'tool.name': 'get_order', 'output.value': status },
  });
  const both = {
    role: 'assistant',
    parts: [1, 2].map((number) => ({ type: 'tool_call', name: 'get_order', arguments: { number } })),
  };
  const found = await readLog(
    lines(
      exported(
        agent('r'),
        chat('a', [user], both, { parent: 'r', at: 1 }),
        tool('x', 2, 'shipped'),
        tool('y', 3, 'open'),
      ),
    ),
    undefined,
    'spans',
  );
  expect(found.conversations.flatMap(shown).slice(4)).toEqual([
    't< get_order{"number":1} shipped',
    't< get_order{"number":2} open',
  ]);
});

test.each([
  ['Python', (trace_id: string) => ({ context: { trace_id, span_id: '0x1' } })],
  ['Node', (traceId: string) => ({ context: { traceId, spanId: '1' }, attributes: {} })],
])('links of spans as the SDK of %s prints them join their traces', async (_, linkTo) => {
  const printed = (trace: string, at: number, input: readonly object[], output: object, links: readonly object[]) => ({
    ...{ name: 'chat m', context: { trace_id: trace, span_id: `0x${at}` }, parent_id: null, links },
    start_time: `2026-01-01T00:00:0${at}.000000Z`,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.tool.definitions': JSON.stringify([{ name: 'get_order' }]),
      'gen_ai.input.messages': JSON.stringify(input),
      'gen_ai.output.messages': JSON.stringify([output]),
    },
  });
  const spans = [printed('0xa', 1, [user], closing, []), printed('0xb', 2, [followUp], bye, [linkTo('0xa')])];
  const { conversations } = await readLog(lines(...spans), undefined, 'spans');
  expect(conversations.map(shown)).toEqual([[...answered.slice(1), 'u Thanks.', 'a Bye.']]);
});
