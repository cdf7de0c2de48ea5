import { jsonl } from './chatLog.ts';

/** Generated personal data: a name that a log declares as one, and an address that its form alone declares. */
export const [first, last, email] = ['Quillivane', 'Ostrobrand', 'kontakt.zw77@firma-zw.example.de'];
export const person = `${first} ${last} <${email}>`;

/** Finds any part of it. */
export const plantedPattern = new RegExp([first, last, 'zw77', 'firma-zw'].join('|'), 'i');

export const declaring = JSON.stringify({ customer: { name: `${first} ${last}`, email, [email]: [person] } });
const said = `My name is ${first} ${last}. ${person}`;
const args = { order_id: person, [first]: [person] };
const call = { id: email, name: `find_${first}`, input: args, arguments: args };
const tool = { name: `find_${first}`, description: person, input_schema: { type: 'object', title: person } };
const chat = [
  { role: 'user', content: said },
  { role: 'assistant', content: null, tool_calls: [{ ...call, function: { name: call.name, arguments: args } }] },
  { role: 'tool', tool_call_id: email, name: first, content: declaring },
  { role: person, content: person },
  { role: 'assistant', content: person, reasoning: person },
];
const line = (uuid: string, parentUuid: string | null, role: string, content: unknown) => ({
  ...{ type: role, sessionId: email, uuid, parentUuid, cwd: person, message: { role, content } },
});
const node = (id: string, parent: string | null, role: string, words: string, recipient = 'all') => ({
  [id]: {
    ...{ id, parent, children: [] },
    message: { author: { role, name: first }, content: { content_type: 'text', parts: [words] }, recipient },
  },
});
const observation = (id: string, type: string, more: object) => ({
  ...{ id, type, traceId: email, name: person, startTime: `2026-01-01T00:00:0${id}Z`, metadata: { name: person } },
  ...more,
});

/** Logs of each format with that in every field, also in those of what is left out, which notes name. */
export const plantedLogs: readonly (readonly [format: string, from: 'chats' | 'spans', log: string])[] = [
  ['openai-chat', 'chats', jsonl({ id: email, tools: [tool], user: person, messages: chat })],
  [
    'openai-responses',
    'chats',
    jsonl({
      ...{ id: email, instructions: said, user: person, tools: [tool] },
      input: [
        { role: 'user', content: [{ type: 'input_text', text: said }] },
        { type: 'function_call', call_id: email, name: call.name, arguments: JSON.stringify(args) },
        { type: 'function_call_output', call_id: email, output: declaring },
        { type: person, text: person },
      ],
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: person }] }],
    }),
  ],
  [
    'anthropic-messages',
    'chats',
    jsonl({
      ...{ id: email, system: said, metadata: { user_id: email }, tools: [tool] },
      messages: [
        { role: 'user', content: said },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: person },
            { type: 'tool_use', ...call },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: email, content: declaring }, { type: person }] },
      ],
    }),
  ],
  [
    'sharegpt',
    'chats',
    jsonl({
      ...{ id: email, system: said, tools: JSON.stringify([tool]) },
      conversations: [
        { from: 'human', value: said },
        { from: 'function_call', value: JSON.stringify(call) },
        { from: 'observation', value: declaring },
        { from: person, value: person },
      ],
    }),
  ],
  [
    'alpaca',
    'chats',
    jsonl({ id: email, system: said, history: [[said, person]], instruction: said, input: person, output: person }),
  ],
  [
    'vercel-ui',
    'chats',
    jsonl({
      id: email,
      messages: [
        { id: email, role: 'user', parts: [{ type: 'text', text: said }], metadata: { name: person } },
        {
          role: 'assistant',
          parts: [
            { type: 'file', url: person },
            { type: `tool-find_${first}`, toolCallId: email, input: args, output: JSON.parse(declaring) },
            { type: `tool-find_${first}`, toolCallId: `2${email}`, input: args, errorText: person },
          ],
        },
      ],
    }),
  ],
  [
    'preference',
    'chats',
    jsonl({
      id: email,
      system: said,
      prompt: said,
      chosen: [{ role: 'assistant', content: person }],
      rejected: person,
    }),
  ],
  ['prompt-completion', 'chats', jsonl({ id: email, task: person, prompt: said, completion: person })],
  ['verifiers', 'chats', jsonl({ example_id: email, task: person, prompt: chat, completion: chat, reward: 1 })],
  [
    'inspect-ai',
    'chats',
    JSON.stringify({
      eval: { task: person },
      samples: [{ id: email, epoch: 1, input: person, target: person, messages: chat, metadata: { name: person } }],
    }),
  ],
  [
    'tau2-results',
    'chats',
    JSON.stringify({
      info: { user: person },
      simulations: [
        { task_id: email, trial: 0, messages: [...chat, { role: 'tool', requestor: 'user', content: person }] },
      ],
    }),
  ],
  [
    'claude-code',
    'chats',
    jsonl(
      line('a', null, 'user', said),
      line('x', 'a', 'user', person),
      { ...line('s', 'a', 'user', person), isSidechain: true },
      line('b', 'a', 'assistant', [{ type: 'tool_use', ...call }]),
      line('c', 'b', 'user', [{ type: 'tool_result', tool_use_id: email, content: declaring }]),
    ),
  ],
  [
    'codex',
    'chats',
    jsonl(
      { timestamp: 't', type: 'session_meta', payload: { id: email, cwd: person, instructions: said } },
      ...[
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: said }] },
        { type: 'function_call', call_id: email, name: call.name, arguments: JSON.stringify(args) },
        { type: 'function_call_output', call_id: email, output: declaring },
        { type: person },
      ].map((payload) => ({ timestamp: 't', type: 'response_item', payload })),
    ),
  ],
  [
    'chatgpt',
    'chats',
    JSON.stringify([
      {
        ...{ id: email, title: person, current_node: 'd' },
        mapping: {
          ...node('a', null, 'user', said),
          ...node('b', 'a', 'assistant', person),
          ...node('c', 'a', 'assistant', JSON.stringify(args), `find_${first}`),
          ...node('d', 'c', 'tool', declaring),
        },
      },
    ]),
  ],
  [
    'slack',
    'chats',
    JSON.stringify([
      { type: 'message', user: email, text: said, ts: '1700000001.000100', user_profile: { name: person } },
      { type: 'message', user: person, text: '', files: [{ name: person }], ts: '1700000002.000100' },
    ]),
  ],
  [
    'intercom',
    'chats',
    jsonl({
      ...{ id: email, source: { body: `<p>${said}</p>`, author: { type: 'user', name: person, email } } },
      conversation_parts: [
        { part_type: 'note', body: person, author: { type: 'admin' } },
        { part_type: 'comment', body: '', attachments: [person], author: { type: 'admin', name: person } },
      ],
    }),
  ],
  [
    'zendesk',
    'chats',
    jsonl({
      ...{ id: email, subject: person, requester_id: email },
      comments: [
        { author_id: email, plain_body: said },
        { author_id: person, plain_body: person, public: false },
        { author_id: person, plain_body: '' },
      ],
    }),
  ],
  [
    'csv',
    'chats',
    `conversation_id,role,content,${first}\n${email},user,${said},${email}\n${email},${person},${said},${email}\n`,
  ],
  [
    'langfuse',
    'spans',
    jsonl(
      observation('1', 'GENERATION', { sessionId: email, input: chat.slice(0, 1), output: chat[1] }),
      observation('2', 'TOOL', { sessionId: email, input: args, output: declaring }),
      observation('3', 'GENERATION', { sessionId: email, input: chat, output: { role: 'assistant', content: person } }),
      observation('4', 'GENERATION', { sessionId: email, input: [{ role: 'user', content: person }], output: person }),
    ),
  ],
  [
    'langsmith',
    'spans',
    jsonl(
      ...[
        { run_type: 'llm', inputs: { messages: chat }, outputs: { output: person } },
        { run_type: 'llm', inputs: { messages: [{ role: 'user', content: person }] }, outputs: { output: person } },
      ].map((run, at) => ({
        ...run,
        id: `${at}`,
        trace_id: email,
        name: person,
        start_time: `2026-01-01T00:00:0${at}`,
      })),
    ),
  ],
];
