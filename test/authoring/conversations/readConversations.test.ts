import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { JsonValues } from '../../../src/authoring/conversations/jsonValues.ts';
import { formatNames, readConversations } from '../../../src/authoring/conversations/readConversations.ts';
import { shown } from '../../support/conversationLines.ts';
import { lines as jsonl, readLog as read } from '../../support/readLog.ts';
import { temporaryFolder } from '../../support/temporary.ts';

type Content = string | Buffer;

const asked = 'u Where is W1?';
const called = 'a> get_order{"order_id":"W1"}';
const returned = 't< get_order{"order_id":"W1"} shipped';
const answered = 'a It has shipped.';
const whole = [asked, called, returned, answered];
const withSystem = ['s Be brief.', ...whole];

const text = JSON.stringify({ order_id: 'W1' });
const user = { role: 'user', content: 'Where is W1?' };
const calling = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get_order', arguments: text } }],
};
const result = { role: 'tool', tool_call_id: 'c1', content: 'shipped' };
const closing = { role: 'assistant', content: 'It has shipped.' };
const system = { role: 'system', content: 'Be brief.' };
const chat = [user, calling, result, closing];

const anthropic = {
  system: [{ type: 'text', text: 'Be brief.' }],
  messages: [
    { role: 'user', content: 'Where is W1?' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'tu', name: 'get_order', input: { order_id: 'W1' } }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'tu', content: [{ type: 'text', text: 'shipped' }] }],
    },
  ],
  response: { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'It has shipped.' }] },
};

const responses = {
  instructions: 'Be brief.',
  input: [
    { role: 'user', content: [{ type: 'input_text', text: 'Where is W1?' }] },
    { type: 'function_call', call_id: 'c1', name: 'get_order', arguments: text },
    { type: 'function_call_output', call_id: 'c1', output: 'shipped' },
  ],
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It has shipped.' }] }],
};

const ui = {
  id: 'm2',
  role: 'assistant',
  content: '',
  parts: [
    { type: 'step-start' },
    {
      type: 'tool-get_order',
      toolCallId: 'c1',
      state: 'output-available',
      input: { order_id: 'W1' },
      output: 'shipped',
    },
    { type: 'step-start' },
    { type: 'text', text: 'It has shipped.' },
  ],
};

const claude = (uuid: string, parentUuid: string | null, role: string, content: unknown, more: object = {}) => ({
  ...{ type: role, sessionId: 's1', uuid, parentUuid, isSidechain: false, timestamp: '2026-01-01T00:00:00Z' },
  message: { role, content },
  ...more,
});
const item = (payload: object) => ({ timestamp: '2026-01-01T00:00:00Z', type: 'response_item', payload });
const execItem = (state: string, item: object) => ({ type: `item.${state}`, item: { status: 'completed', ...item } });
const execCall = {
  ...{ id: 'item_1', type: 'mcp_tool_call', server: 'shop', tool: 'get_order' },
  arguments: { order_id: 'W1' },
};
const node = (id: string, parent: string | null, role: string, words: string, more: object = {}) => ({
  [id]: {
    ...{ id, parent, children: [] },
    message: { author: { role }, content: { content_type: 'text', parts: [words] }, recipient: 'all', ...more },
  },
});

const csv = [
  'Conversation ID,Sender,Message,Created At',
  '7,agent,"It has shipped.',
  'Anything else?",2026-01-01T10:05:00Z',
  '7,customer,"Where is ""W1""?",2026-01-01T10:00:00Z',
].join('\r\n');

const formats: readonly (readonly [string, string, Content, readonly string[]])[] = [
  ['OpenAI chat completions', 'messages', jsonl({ messages: chat }), whole],
  [
    'OpenAI chat completions',
    'request and answer',
    jsonl({ request: { messages: chat.slice(0, 3) }, response: { choices: [{ message: closing }] } }),
    whole,
  ],
  ['OpenAI chat completions', 'a list of messages', JSON.stringify(chat), whole],
  ['OpenAI Responses', 'a request', jsonl(responses), withSystem],
  ['Anthropic Messages', 'a request', jsonl(anthropic), withSystem],
  [
    'ShareGPT',
    'calls as JSON text',
    jsonl({
      system: 'Be brief.',
      conversations: [
        { from: 'human', value: 'Where is W1?' },
        { from: 'function_call', value: JSON.stringify({ name: 'get_order', arguments: { order_id: 'W1' } }) },
        { from: 'observation', value: 'shipped' },
        { from: 'gpt', value: 'It has shipped.' },
      ],
    }),
    withSystem,
  ],
  ['Alpaca', 'a row', jsonl({ instruction: 'Where is W1?', input: '', output: 'It has shipped.' }), [asked, answered]],
  [
    'Alpaca',
    'an input and earlier turns',
    jsonl({
      ...{ system: 'Be brief.', history: [['Where is W1?', 'It has shipped.']] },
      ...{ instruction: 'Translate.', input: 'Danke', output: 'Thank you' },
    }),
    ['s Be brief.', asked, answered, 'u Translate.\n\nDanke', 'a Thank you'],
  ],
  [
    'OpenAI chat completions',
    'a batch and its results',
    jsonl(
      { custom_id: 'r1', method: 'POST', url: '/v1/chat/completions', body: { messages: chat.slice(0, 3) } },
      { id: 'b1', custom_id: 'r1', response: { status_code: 200, body: { choices: [{ message: closing }] } } },
    ),
    whole,
  ],
  [
    'Anthropic Messages',
    'a batch and its results',
    jsonl(
      {
        custom_id: 'r1',
        result: { type: 'succeeded', message: anthropic.response },
      },
      { custom_id: 'r1', params: { system: anthropic.system, messages: anthropic.messages } },
    ),
    withSystem,
  ],
  [
    'Vercel UI messages',
    'parts',
    jsonl({ messages: [{ ...user, content: undefined, parts: [{ type: 'text', text: 'Where is W1?' }] }, ui] }),
    whole,
  ],
  [
    'Vercel UI messages',
    'tool invocations',
    jsonl({
      messages: [
        user,
        {
          role: 'assistant',
          content: '',
          toolInvocations: [
            { toolCallId: 'a', toolName: 'get_order', args: { order_id: 'W1' }, state: 'result', result: 'shipped' },
          ],
        },
        closing,
      ],
    }),
    whole,
  ],
  [
    'prompt and completion',
    'texts',
    jsonl({ prompt: 'Where is W1?', completion: 'It has shipped.' }),
    [asked, answered],
  ],
  ['prompt and completion', 'messages', jsonl({ prompt: [system, user], completion: chat.slice(1) }), withSystem],
  [
    'verifiers results',
    'a row',
    jsonl({ example_id: 3, prompt: [system, user], completion: chat.slice(1), reward: 1, task: 'default' }),
    withSystem,
  ],
  [
    'inspect_ai log',
    'a sample',
    JSON.stringify({
      version: 2,
      eval: {},
      samples: [
        {
          id: 1,
          epoch: 1,
          input: 'x',
          messages: [
            user,
            {
              role: 'assistant',
              content: [{ type: 'text', text: '' }],
              tool_calls: [{ id: 'c1', function: 'get_order', arguments: { order_id: 'W1' } }],
            },
            { ...result, function: 'get_order' },
            {
              role: 'assistant',
              content: [
                { type: 'reasoning', reasoning: 'Easy.' },
                { type: 'text', text: 'It has shipped.' },
              ],
            },
          ],
        },
      ],
    }),
    [...whole.slice(0, 3), 'a~ Easy.', answered],
  ],
  [
    'tau2 results',
    'simulations',
    JSON.stringify({
      info: {},
      tasks: [],
      simulations: [
        {
          id: 'x',
          task_id: '4',
          trial: 0,
          messages: [
            { role: 'user', content: 'Where is W1?', tool_calls: null },
            {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: 'c1', name: 'get_order', arguments: { order_id: 'W1' }, requestor: 'assistant' }],
            },
            { role: 'tool', id: 'c1', content: 'shipped', requestor: 'assistant', error: false },
            closing,
          ],
        },
      ],
    }),
    whole,
  ],
  [
    'Claude Code session',
    'a session with an edited prompt',
    jsonl(
      { type: 'summary', summary: 'W1', leafUuid: 'e' },
      claude('a', null, 'user', 'Where is X?'),
      claude('b', null, 'user', 'Where is W1?'),
      claude('c', 'b', 'assistant', [{ type: 'tool_use', id: 'tu', name: 'get_order', input: { order_id: 'W1' } }]),
      claude('s', 'c', 'user', 'Look.', { isSidechain: true }),
      claude('d', 'c', 'user', [{ type: 'tool_result', tool_use_id: 'tu', content: 'shipped' }]),
      claude('e', 'd', 'assistant', [{ type: 'text', text: 'It has shipped.' }]),
    ),
    whole,
  ],
  [
    'Codex session',
    'a session',
    jsonl(
      { timestamp: 't', type: 'session_meta', payload: { id: 'x', instructions: 'Be brief.' } },
      item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Where is W1?' }] }),
      { timestamp: 't', type: 'event_msg', payload: { type: 'user_message', message: 'Where is W1?' } },
      item({ type: 'function_call', call_id: 'c1', name: 'get_order', arguments: text }),
      item({ type: 'function_call_output', call_id: 'c1', output: 'shipped' }),
      item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It has shipped.' }] }),
    ),
    withSystem,
  ],
  [
    'Codex session',
    'the events of codex exec',
    jsonl(
      { type: 'thread.started', thread_id: 'x' },
      { type: 'turn.started' },
      execItem('completed', { id: 'item_0', type: 'reasoning', text: '**Looking up W1**' }),
      execItem('started', { ...execCall, status: 'in_progress' }),
      execItem('completed', { ...execCall, result: { content: [{ type: 'text', text: 'shipped' }] } }),
      execItem('completed', { id: 'item_2', type: 'agent_message', text: 'It has shipped.' }),
      { type: 'turn.completed', usage: { input_tokens: 9, cached_input_tokens: 0, output_tokens: 9 } },
    ),
    ['a~ **Looking up W1**', called, returned, answered],
  ],
  [
    'ChatGPT export',
    'the branch that is shown',
    JSON.stringify([
      {
        title: 'W1',
        current_node: 'd',
        mapping: {
          root: { id: 'root', parent: null, children: ['a'], message: null },
          ...node('a', 'root', 'user', 'Where is W1?'),
          ...node('b', 'a', 'assistant', 'I do not know.'),
          ...node('c', 'a', 'assistant', text, { recipient: 'get_order' }),
          ...node('t', 'c', 'tool', 'shipped', { author: { role: 'tool', name: 'get_order' } }),
          ...node('d', 't', 'assistant', 'It has shipped.'),
        },
      },
    ]),
    whole,
  ],
  [
    'Slack export',
    'a thread, the newest first',
    JSON.stringify([
      { type: 'message', user: 'U2', text: 'It has shipped.', ts: '1700000002.000100', thread_ts: '1700000001.000100' },
      { type: 'message', user: 'U1', text: 'Where is W1?', ts: '1700000001.000100', thread_ts: '1700000001.000100' },
    ]),
    [asked, answered],
  ],
  [
    'Intercom export',
    'a conversation',
    jsonl({
      type: 'conversation',
      id: '9',
      source: { body: '<p>Where is <b>W1</b>?</p>', author: { type: 'user' } },
      conversation_parts: {
        conversation_parts: [
          { part_type: 'note', body: 'VIP', author: { type: 'admin' } },
          { part_type: 'assignment', body: null, author: { type: 'admin' } },
          { part_type: 'comment', body: '<p>It has shipped.</p>', author: { type: 'bot' } },
        ],
      },
    }),
    [asked, answered],
  ],
  [
    'Zendesk export',
    'a ticket in a list of tickets',
    JSON.stringify({
      tickets: [
        {
          id: 4,
          requester_id: 11,
          comments: [
            { author_id: 11, plain_body: 'Where is W1?', public: true },
            { author_id: 12, body: 'Ask the carrier', public: false },
            { author_id: 12, html_body: 'It has shipped&period;', public: true },
          ],
        },
      ],
    }),
    [asked, answered],
  ],
  ['CSV rows', 'the newest first', csv, ['u Where is "W1"?', 'a It has shipped.\nAnything else?']],
  [
    'CSV rows',
    'questions and answers, with semicolons',
    'Question;Answer\nWhere is W1?;It has shipped.\n',
    [asked, answered],
  ],
  [
    'CSV rows',
    'with the numbers of rows, and an empty line',
    ',role,content,\n0,user,Where is W1?,\n\n1,assistant,It has shipped.\n',
    [asked, answered],
  ],
  ['OpenAI chat completions', 'gzip', gzipSync(jsonl({ messages: chat })), whole],
  ['OpenAI chat completions', 'UTF-16', Buffer.from(`\uFEFF${jsonl({ messages: chat })}`, 'utf16le'), whole],
];

const other = 'a> get_order{"order_id":"W2"}';
const use = (id: string, order: string) => ({ type: 'tool_use', id, name: 'get_order', input: { order_id: order } });
const outcome = (id: string, content: string) => [{ type: 'tool_result', tool_use_id: id, content }];
const streamed = (type: string, content: unknown, more: object = {}) => ({
  ...{ type, session_id: 's1', message: { role: type, content } },
  ...more,
});
const rich = (...elements: readonly object[]) => [
  { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] },
];

/** Variants of formats that occur in practice. */
const variations: readonly (readonly [string, string, Content, readonly string[]])[] = [
  [
    'Claude Code session',
    'a line whose parent was never written, output of a command, and a summary of what is above',
    jsonl(
      claude('a', null, 'user', '<local-command-stdout>ok</local-command-stdout>'),
      claude('b', 'a', 'user', 'Where is W1?'),
      claude('c', 'phantom', 'assistant', [{ type: 'text', text: 'It has shipped.' }]),
      claude('d', 'c', 'user', 'The session continues: W1 is asked for.', { isCompactSummary: true }),
    ),
    [asked, answered],
  ],
  [
    'Codex session',
    'a result as parts, a copy of the files, and a turn that was aborted',
    jsonl(
      { timestamp: 't', type: 'session_meta', payload: { id: 'x', base_instructions: { text: 'Be brief.' } } },
      item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Where is W1?' }] }),
      item({ type: 'function_call', call_id: 'c1', name: 'get_order', arguments: text }),
      item({ type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'shipped' }] }),
      item({ type: 'ghost_snapshot', ghost_commit: { id: 'x' } }),
      item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It has shipped.' }] }),
      item({
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: '<turn_aborted>x</turn_aborted>' }],
      }),
    ),
    [...withSystem, 's <turn_aborted>x</turn_aborted>'],
  ],
  [
    'Claude Code session',
    'parallel calls, whose results name the line of their own call',
    jsonl(
      claude('a', null, 'user', 'Where is W1?'),
      claude('b', 'a', 'assistant', [use('1', 'W1')], { message: { id: 'm', content: [use('1', 'W1')] } }),
      claude('c', 'b', 'user', outcome('1', 'shipped')),
      claude('d', 'b', 'assistant', [], { message: { id: 'm', content: [use('2', 'W2')] } }),
      claude('e', 'd', 'user', outcome('2', 'open')),
      claude('f', 'e', 'assistant', [{ type: 'text', text: 'It has shipped.' }]),
    ),
    [asked, called, other, returned, 't< get_order{"order_id":"W2"} open', answered],
  ],
  [
    'Claude Code session',
    'what stream-json prints, with a subagent',
    jsonl(
      { type: 'system', subtype: 'init', session_id: 's1', tools: ['get_order'] },
      streamed('user', [{ type: 'text', text: 'Where is W1?' }]),
      streamed('assistant', [use('1', 'W1')]),
      streamed('assistant', [{ type: 'text', text: 'I look.' }], { parent_tool_use_id: '1' }),
      streamed('user', outcome('1', 'shipped')),
      streamed('assistant', [{ type: 'text', text: 'It has shipped.' }]),
      { type: 'result', subtype: 'success', session_id: 's1', result: 'It has shipped.' },
    ),
    whole,
  ],
  [
    'Claude Code session',
    'a request that failed, and a prompt that was typed meanwhile',
    jsonl(
      claude('a', null, 'user', 'Where is W1?'),
      claude('x', 'a', 'assistant', [{ type: 'text', text: 'API Error: 529' }], { isApiErrorMessage: true }),
      claude('b', 'a', 'assistant', [{ type: 'text', text: 'It has shipped.' }]),
      { type: 'attachment', sessionId: 's1', uuid: 'c', parentUuid: 'b', attachment: { prompt: 'Thanks.' } },
    ),
    [asked, answered, 'u Thanks.'],
  ],
  [
    'ShareGPT',
    'roles and contents',
    jsonl({ conversations: [{ role: 'user', content: 'Where is W1?' }, closing] }),
    [asked, answered],
  ],
  [
    'ShareGPT',
    'calls and results in tags',
    jsonl({
      conversations: [
        { from: 'human', value: 'Where is W1?' },
        {
          from: 'gpt',
          value: `Let me see.\n<tool_call>\n{'name': 'get_order', 'arguments': {'order_id': 'W1'}}\n</tool_call>\n<tool_call>\n{"name": "get_order", "arguments": {"order_id": "W2"}}\n</tool_call>`,
        },
        {
          from: 'tool',
          value: `<tool_response>\n{"name": "get_order", "content": "shipped"}\n</tool_response>\n<tool_response>\n{"status": "open"}\n</tool_response>`,
        },
        { from: 'gpt', value: 'It has shipped.' },
      ],
    }),
    [...[asked, 'a Let me see.', called, other, returned], 't< get_order{"order_id":"W2"} {"status":"open"}', answered],
  ],
  [
    'OpenAI Responses',
    'requests that name the answer before them',
    jsonl(
      { input: 'Where is W1?', output: [responses.input[1]], id: 'r1', instructions: 'Be brief.' },
      { request: { input: [responses.input[2]], previous_response_id: 'r1' }, response: { id: 'r2', ...responses } },
    ),
    [...withSystem],
  ],
  [
    'OpenAI Responses',
    'the batch API',
    jsonl({ request: { input: 'Where is W1?' }, response: { status_code: 200, body: { output: responses.output } } }),
    [asked, answered],
  ],
  [
    'Slack export',
    'a bot with blocks, and a message of a channel that joined',
    JSON.stringify([
      { type: 'message', subtype: 'channel_join', user: 'U1', text: 'joined', ts: '1700000000.000100' },
      {
        ...{ type: 'message', user: 'U1', text: '', ts: '1700000001.000100' },
        blocks: rich({ type: 'text', text: 'Where ' }, { type: 'text', text: 'is W1?', style: { bold: true } }),
      },
      {
        ...{ type: 'message', bot_id: 'B1', text: '', ts: '1700000002.000100' },
        blocks: [
          { type: 'section', text: { type: 'mrkdwn', text: 'It has' }, fields: [{ type: 'mrkdwn', text: 'shipped.' }] },
        ],
        attachments: [{ fallback: 'Card', fields: [{ title: 'Date', value: 'Monday', short: true }] }],
      },
    ]),
    [asked, 'a It has\nshipped.\nDate: Monday'],
  ],
  [
    'Zendesk export',
    'a comment by another end user',
    jsonl({
      ...{
        id: 4,
        requester_id: 11,
        users: [
          { id: 13, role: 'end-user' },
          { id: 12, role: 'agent' },
        ],
      },
      comments: [
        { author_id: 11, body: 'Where is W1?' },
        { author_id: 12, body: 'It has shipped.' },
        { author_id: 13, body: 'Thanks, from us both.' },
      ],
    }),
    [asked, answered, 'u Thanks, from us both.'],
  ],
  [
    'Slack export',
    'links and mentions with words and without',
    JSON.stringify([
      { type: 'message', user: 'U1', text: 'Call <tel:+46704837261|+46 70 483 72 61>', ts: '1700000001.000100' },
      { type: 'message', user: 'U2', text: 'See <slack://open|here>, <https://a.test>', ts: '1700000002.000100' },
      { type: 'message', user: 'U1', text: '<@U2>, <#C1|help> <!here|@here>', ts: '1700000003.000100' },
    ]),
    ['u Call +46 70 483 72 61', 'a See here, https://a.test', 'u @U2, #help @here'],
  ],
  [
    'Zendesk export',
    'a ticket beside its comments',
    jsonl({
      ticket: { id: 4, requester_id: 11 },
      comments: [
        { author_id: 12, body: 'It has shipped.' },
        { author_id: 11, body: 'Where is W1?' },
      ],
    }),
    [answered, asked],
  ],
  [
    'ChatGPT export',
    'a result whose tool has another name than its call',
    JSON.stringify({
      current_node: 'd',
      mapping: {
        ...node('a', null, 'user', 'Where is W1?'),
        ...node('c', 'a', 'assistant', text, { recipient: 'web' }),
        ...node('t', 'c', 'tool', 'shipped', { author: { role: 'tool', name: 'web.run' } }),
        ...node('d', 't', 'assistant', 'It has shipped.'),
      },
    }),
    [asked, 'a> web{"order_id":"W1"}', 't< web{"order_id":"W1"} shipped', answered],
  ],
  [
    'ChatGPT export',
    'a spoken message, a failure of the program, and citations',
    JSON.stringify({
      current_node: 'd',
      mapping: {
        ...node('a', null, 'user', '', {
          content: {
            content_type: 'multimodal_text',
            parts: [{ content_type: 'audio_transcription', text: 'Where is W1?' }, ''],
          },
        }),
        ...node('b', 'a', 'assistant', '', { content: { content_type: 'system_error', text: 'Timeout' } }),
        ...node('d', 'b', 'assistant', 'It has shipped. \uE200cite\uE202turn0search1\uE201'),
      },
    }),
    [asked, answered],
  ],
  [
    'Vercel UI messages',
    'rows of a table, with parts as JSON text',
    jsonl(
      { id: 'm2', chatId: 'c', role: 'assistant', parts: JSON.stringify(ui.parts), createdAt: '2026-01-01T00:00:01Z' },
      {
        ...{ id: 'm1', chatId: 'c', role: 'user', createdAt: '2026-01-01T00:00:00Z' },
        parts: JSON.stringify([{ type: 'text', text: 'Where is W1?' }]),
      },
    ),
    whole,
  ],
  [
    'Vercel UI messages',
    'parts, and tool invocations that repeat them',
    jsonl({
      messages: [
        { ...user, parts: [{ type: 'text', text: 'Where is W1?' }] },
        { ...ui, toolInvocations: [{ state: 'result', toolCallId: 'c1', toolName: 'get_order', result: 'shipped' }] },
      ],
    }),
    whole,
  ],
  [
    'Vercel UI messages',
    'a call that the user denied',
    jsonl({
      messages: [
        user,
        {
          role: 'assistant',
          parts: [
            {
              ...{ type: 'tool-get_order', toolCallId: 'c1', state: 'output-denied', input: { order_id: 'W1' } },
              approval: { id: 'p', approved: false, reason: 'Do not.' },
            },
            { type: 'text', text: 'It has shipped.' },
          ],
        },
      ],
    }),
    [asked, called, 't< get_order{"order_id":"W1"} !Do not.', answered],
  ],
  [
    'Anthropic Messages',
    'an answer that continues the words of the request',
    jsonl({
      ...anthropic,
      messages: [...anthropic.messages, { role: 'assistant', content: 'It has' }],
      response: { type: 'message', role: 'assistant', content: [{ type: 'text', text: ' shipped.' }] },
    }),
    withSystem,
  ],
  [
    'inspect_ai log',
    'a sample with NaN, and a tool of the server of the model',
    jsonl({
      ...{ id: 'q1', epoch: 1, input: 'Where is W1?', score: 0.5 },
      messages: [
        { role: 'user', content: 'Where is W1?' },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', tool_type: 'mcp', id: 'c1', name: 'get_order', arguments: text, result: 'shipped' },
            { type: 'text', text: 'It has shipped.' },
          ],
        },
      ],
    }).replace('0.5', 'NaN'),
    whole,
  ],
  [
    'OpenAI chat completions',
    'a request of Gemini',
    JSON.stringify({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Where is W1?' }] },
        { role: 'model', parts: [{ functionCall: { name: 'get_order', args: { order_id: 'W1' } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'get_order', response: { result: 'shipped' } } }] },
        { role: 'model', parts: [{ text: 'It has shipped.' }] },
      ],
    }),
    ['s Be brief.', asked, called, `t< get_order${text} {"result":"shipped"}`, answered],
  ],
  [
    'OpenAI Responses',
    'a list of items without ids, as the whole file',
    JSON.stringify([
      { role: 'user', content: 'Where is W1?' },
      { type: 'function_call', name: 'get_order', arguments: text },
      { type: 'function_call_output', output: 'shipped' },
      { role: 'assistant', content: 'It has shipped.' },
    ]),
    whole,
  ],
  [
    'OpenAI Responses',
    'the items of a conversation, the newest first',
    JSON.stringify({
      object: 'list',
      data: [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It has shipped.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Where is W1?' }] },
      ],
    }),
    [asked, answered],
  ],
  [
    'CSV rows',
    'of Excel, with the delimiter, and parts as JSON',
    `sep=;\r\nchat_id;role;parts\r\n1;visitor;"[{""type"":""text"",""text"":""Where is W1?""}]"\r\n1;operator;"It has shipped."\r\n`,
    [asked, answered],
  ],
];

test.each([...formats, ...variations])('%s: %s', async (label, _, content, expected) => {
  const found = await read(content);
  expect(found.problems).toEqual([]);
  expect(found.formats).toMatchObject([{ format: label }]);
  expect(found.conversations.flatMap(shown)).toEqual(expected);
});

test.each([
  ['a text', 'shipped', 'shipped'],
  [
    'parts',
    [
      { type: 'text', text: 'shipped' },
      { type: 'image', source: {} },
    ],
    'shipped\n[image]',
  ],
  ['a picture', [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } }], '[image]'],
  ['a picture of Responses', [{ type: 'input_image', image_url: 'data:image/png;base64,iVBO' }], '[input_image]'],
  ['a picture of MCP', [{ type: 'image', data: 'iVBO', mimeType: 'image/png' }], '[image]'],
  ['a picture of Bedrock', [{ image: { format: 'png', source: { bytes: 'iVBO' } } }], '[image]'],
  ['one picture', { type: 'image_url', image_url: { url: 'data:' } }, '[image_url]'],
  ['a picture as JSON text', '[{"type":"input_image","image_url":"data:"}]', '[input_image]'],
  ['data about a picture', [{ type: 'image', file: 'a.png' }], '[{"type":"image","file":"a.png"}]'],
  ['data', ['W1', 'W2'], '["W1","W2"]'],
  ['rows', [{ text: 'x', id: 1 }], '[{"text":"x","id":1}]'],
  ['an object', { status: 'shipped' }, '{"status":"shipped"}'],
])('a result that is %s', async (_, content, expected) => {
  const blocks = [{ type: 'tool_result', tool_use_id: 'tu', content }];
  const messages = [...anthropic.messages.slice(0, 2), { role: 'user', content: blocks }];
  const [found] = (await read(jsonl({ messages }))).conversations;
  expect(found?.messages.at(-1)).toMatchObject({ role: 'tool', content: expected });
});

const parallel = (...ids: readonly (string | undefined)[]) => ({
  role: 'assistant',
  tool_calls: ['W1', 'W2'].map((order, index) => ({
    id: ids[index],
    function: { name: 'get_order', arguments: { order_id: order } },
  })),
});
const second = 't< get_order{"order_id":"W2"} open';
const both = [called, 'a> get_order{"order_id":"W2"}'];

const shapes: readonly (readonly [string, unknown, readonly string[]])[] = [
  [
    'parallel calls without ids',
    {
      messages: [
        parallel(),
        { role: 'tool', name: 'get_order', content: 'shipped' },
        { role: 'tool', name: 'get_order', content: 'open' },
      ],
    },
    [...both, returned, second],
  ],
  [
    'parallel calls with one id',
    {
      messages: [
        parallel('a', 'a'),
        { role: 'tool', tool_call_id: 'a', content: 'shipped' },
        { role: 'tool', tool_call_id: 'a', content: 'open' },
      ],
    },
    [...both, returned, second],
  ],
  [
    'parallel calls of which one has an id, whose result comes last',
    {
      messages: [
        parallel('a', undefined),
        { role: 'tool', name: 'get_order', content: 'open' },
        { role: 'tool', tool_call_id: 'a', content: 'shipped' },
      ],
    },
    [...both, second, returned],
  ],
  [
    'a later call with the id of an earlier one, whose result has none',
    {
      messages: [
        { role: 'assistant', tool_calls: parallel('a').tool_calls.slice(0, 1) },
        { role: 'tool', content: 'shipped' },
        { role: 'assistant', tool_calls: parallel('a', 'a').tool_calls.slice(1) },
        { role: 'tool', tool_call_id: 'a', content: 'open' },
      ],
    },
    [called, returned, 'a> get_order{"order_id":"W2"}', second],
  ],
  [
    'results in another order, by name',
    {
      messages: [
        {
          role: 'assistant',
          tool_calls: [{ function: { name: 'a', arguments: '{}' } }, { function: { name: 'b', arguments: '{}' } }],
        },
        { role: 'tool', name: 'b', content: '2' },
        { role: 'tool', name: 'a', content: '1' },
      ],
    },
    ['a> a{}', 'a> b{}', 't< b{} 2', 't< a{} 1'],
  ],
  [
    'a call that was never answered, and one that was',
    {
      messages: [
        parallel('x'),
        user,
        { ...calling, tool_calls: [{ function: { name: 'get_order', arguments: text } }] },
        { role: 'tool', content: 'shipped' },
      ],
    },
    [...both, asked, called, returned],
  ],
  [
    'null in place of what is absent',
    {
      id: null,
      task: null,
      tools: null,
      messages: [
        { ...user, name: null, tool_calls: null, tool_call_id: null },
        { ...calling, name: null, tool_call_id: null, function_call: null },
        { ...result, name: null, tool_calls: null },
      ],
    },
    whole.slice(0, 3),
  ],
  ['rows with a text', { session_id: 'a', role: 'user', text: 'Where is W1?' }, [asked]],
  [
    'messages with the newest first',
    {
      messages: [
        { ...closing, timestamp: 2 },
        { ...user, timestamp: 1 },
      ],
    },
    [asked, answered],
  ],
  ['messages as JSON text', { messages: JSON.stringify(chat) }, whole],
  [
    'parts as JSON text',
    { messages: [{ ...user, content: '[{"type":"input_text","text":"Where is W1?"}]' }, ...chat.slice(1)] },
    whole,
  ],
  [
    'a result in the field response',
    { messages: [user, calling, { role: 'tool', tool_call_id: 'c1', response: { status: 'shipped' } }] },
    [asked, called, 't< get_order{"order_id":"W1"} {"status":"shipped"}'],
  ],
  [
    'calls as JSON text in rows of verifiers, in the old form and the new one',
    {
      prompt: [user],
      completion: [
        {
          role: 'assistant',
          content: '',
          tool_calls: [
            JSON.stringify({ id: 'c1', type: 'function', function: { name: 'get_order', arguments: text } }),
            JSON.stringify({ id: 'c2', name: 'get_order', arguments: '{"order_id":"W2"}' }),
          ],
        },
        { ...result, tool_call_id: 'c2', content: 'lost' },
        result,
      ],
      reward: 1,
    },
    [
      asked,
      called,
      'a> get_order{"order_id":"W2"}',
      't< get_order{"order_id":"W2"} lost',
      't< get_order{"order_id":"W1"} shipped',
    ],
  ],
  [
    'calls of a custom tool, whose input is a text',
    {
      messages: [
        user,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'run_sql', input: 'SELECT *' } }],
        },
        result,
      ],
    },
    [asked, 'a> run_sql"SELECT *"', 't< run_sql"SELECT *" shipped'],
  ],
  ['each message as JSON text', { messages: chat.map((each) => JSON.stringify(each)) }, whole],
];

test.each(shapes)('%s', async (_, value, expected) => {
  const found = await read(jsonl(value));
  expect([found.problems, found.conversations.flatMap(({ lost }) => lost)]).toEqual([[], []]);
  expect(found.conversations.flatMap(shown)).toEqual(expected);
});

const parameters = { type: 'object', properties: { order_id: { type: 'string' } } };
test.each([
  [
    'null where a table has other tools',
    [
      {
        type: 'function',
        function: {
          name: 'get_order',
          description: null,
          strict: null,
          parameters: { ...parameters, properties: { ...parameters.properties, reason: null } },
        },
      },
    ],
  ],
  ['JSON text', JSON.stringify([{ type: 'function', function: { name: 'get_order', parameters } }])],
  [
    'properties as JSON text',
    [{ name: 'get_order', parameters: { ...parameters, properties: JSON.stringify(parameters.properties) } }],
  ],
  ['flat', [{ name: 'get_order', parameters }]],
  ['flat with an input schema', [{ name: 'get_order', input_schema: parameters }]],
  ['custom ones of Anthropic', [{ type: 'custom', name: 'get_order', input_schema: parameters }]],
  ['a map', { get_order: { description: '', inputSchema: parameters } }],
])('tools that are %s', async (_, tools) => {
  const call = { function: { name: 'get_order', arguments: { order_id: 'W1', reason: null } } };
  const [found] = (await read(jsonl({ tools, messages: [user, { role: 'assistant', tool_calls: [call] }] })))
    .conversations;
  expect(found?.tools).toEqual([{ name: 'get_order', description: '', parameters }]);
  expect(found && shown(found)).toEqual([asked, called]);
});

const grammar = { syntax: 'lark', definition: 'start: "SELECT" /.+/' };
test.each([
  ['of chat completions', { type: 'custom', custom: { name: 'run_sql', description: 'Reads.' } }, undefined],
  [
    'of chat completions with a grammar',
    { type: 'custom', custom: { name: 'run_sql', description: 'Reads.', format: { type: 'grammar', grammar } } },
    'In this lark grammar:\nstart: "SELECT" /.+/',
  ],
  [
    'of responses with a grammar',
    { type: 'custom', name: 'run_sql', description: 'Reads.', format: { type: 'grammar', ...grammar } },
    'In this lark grammar:\nstart: "SELECT" /.+/',
  ],
])('a custom tool %s takes a text', async (_, tool, description) => {
  const [found] = (await read(jsonl({ tools: [tool], messages: [user] }))).conversations;
  const text = { type: 'string', ...(description === undefined ? {} : { description }) };
  expect(found?.tools).toEqual([
    {
      name: 'run_sql',
      description: 'Reads.',
      parameters: { type: 'object', properties: { arguments: text }, required: ['arguments'] },
    },
  ]);
});

test('a conversation without messages is left out with a note', async () => {
  const other = { conversations: [{ from: 'human', value: 'Where is W1?' }] };
  const note = { line: 2, message: 'a conversation without messages is left out' };
  expect((await read(jsonl(other, { conversations: [] }), 'sharegpt')).notes).toMatchObject([note]);
});

test('results of a batch are joined with the requests of another file, and the others are named', async () => {
  const folder = temporaryFolder('batches');
  const written = (name: string, ...values: readonly object[]) => {
    writeFileSync(join(folder, name), jsonl(...values));
    return join(folder, name);
  };
  const request = (custom_id: string) => ({ custom_id, body: { messages: [user] } });
  const answer = (custom_id: string) => ({ custom_id, response: { body: { choices: [{ message: closing }] } } });
  const refused = { custom_id: 'refused', response: null, error: { message: 'expired' } };
  const { conversations, problems } = await readConversations(
    [
      written('results.jsonl', answer('a'), answer('unknown'), answer('lost'), answer('twice'), refused),
      written('requests.jsonl', request('a'), request('twice'), request('twice'), request('refused')),
    ],
    'chats',
  );
  expect(conversations.map((each) => [each.id, ...shown(each)])).toEqual([
    ['a', asked, answered],
    ...['twice', 'twice', 'refused'].map((id) => [id, asked]),
  ]);
  expect(problems.map(({ line, message }) => `${line}: ${message}`)).toEqual([
    '4: the answer "twice" of a batch has the same custom_id as another one. Import one batch at a time',
    '2: the answer "unknown" of a batch (2 in the file) has no request. Import the file of the requests together with it',
  ]);
});

test('a thread of Slack over several days of a channel is one conversation', async () => {
  const folder = temporaryFolder('slack');
  const day = (name: string, message: object) => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify([{ type: 'message', thread_ts: '1700000001.0001', ...message }]));
    return path;
  };
  const files = [
    day('2026-01-01.json', { user: 'U1', text: 'Where is W1?', ts: '1700000001.0001' }),
    day('2026-01-02.json', { user: 'U2', text: 'It has shipped.', ts: '1700090001.0001' }),
  ];
  const { conversations } = await readConversations(files, 'chats');
  expect(conversations.map(shown)).toEqual([[asked, answered]]);
});

const textPart = (text: string, more: object = {}) => ({ type: 'text', text, ...more });

test.each([
  ['a user', { role: 'user', content: [textPart('Order W1'), textPart('2 broken')] }, 'u Order W1\n2 broken'],
  ['the system', { role: 'system', content: [textPart('Be brief.'), textPart('Ask.')] }, 's Be brief.\nAsk.'],
  ['the agent', { role: 'assistant', content: [textPart('For Ann Lee'), textPart('Done')] }, 'a For Ann Lee\nDone'],
  [
    'the agent that cites, which are pieces of a sentence',
    { role: 'assistant', content: [textPart('It is '), textPart('blue', { citations: [{}] }), textPart('.')] },
    'a It is blue.',
  ],
])('parts of %s are joined so that no word becomes another one', async (_, message, expected) => {
  const [found] = (await read(jsonl({ messages: [message] }))).conversations;
  expect(found && shown(found)).toEqual([expected]);
});

test('a picture that a tool of ChatGPT returned, and state of Codex, are named only where something is lost', async () => {
  const picture = { content_type: 'multimodal_text', parts: [{ content_type: 'image_asset_pointer' }] };
  const mapping = {
    ...node('a', null, 'assistant', text, { recipient: 'draw' }),
    ...node('b', 'a', 'tool', '', { content: picture }),
  };
  const chatGpt = await read(JSON.stringify([{ current_node: 'b', mapping }]));
  expect(chatGpt.conversations.flatMap(({ lost }) => lost.map(({ message }) => message))).toEqual([
    'message 2: has parts that are not text (a picture, a file); they are left out',
  ]);
  const codex = await read(jsonl(item({ type: 'ghost_snapshot' }), item({ type: 'message', ...user })));
  expect(codex.conversations.flatMap(({ lost }) => lost)).toEqual([]);
});

test('a thread that codex exec resumed is one conversation, in which parallel items keep the order that they began in', async () => {
  const shell = { id: 'item_0', type: 'command_execution', command: 'ls', aggregated_output: '', exit_code: null };
  const { conversations, problems, notes } = await read(
    jsonl(
      { type: 'thread.started', thread_id: 'x' },
      execItem('started', { ...shell, status: 'in_progress' }),
      execItem('started', { ...execCall, status: 'in_progress' }),
      execItem('updated', { id: 'item_9', type: 'todo_list', items: [{ text: 'Look', completed: true }] }),
      execItem('completed', { ...execCall, error: { message: 'no such order' }, status: 'failed' }),
      execItem('completed', { ...shell, aggregated_output: 'README.md', exit_code: 0 }),
      execItem('completed', { id: 'item_2', type: 'error', message: 'a slow network' }),
      { type: 'turn.failed', error: { message: 'no quota' } },
      { type: 'thread.started', thread_id: 'x' },
      { type: 'turn.started' },
      execItem('completed', { id: 'item_0', type: 'file_change', changes: [{ path: 'a', kind: 'add' }] }),
      execItem('completed', { id: 'item_1', type: 'agent_message', text: 'It has shipped.' }),
      { type: 'thread.started', thread_id: 'y' },
      execItem('completed', { id: 'item_0', type: 'agent_message', text: 'It has shipped.' }),
    ),
  );
  expect(conversations.map((each) => [each.id, ...shown(each)])).toEqual([
    [
      'x',
      ...['a> command_execution{"command":"ls"}', called],
      't< get_order{"order_id":"W1"} !no such order',
      't< command_execution{"command":"ls"} README.md',
      'a> file_change{"changes":[{"path":"a","kind":"add"}]}',
      't< file_change{"changes":[{"path":"a","kind":"add"}]} completed',
      answered,
    ],
    ['y', answered],
  ]);
  const prompts = 'codex exec does not print the prompts, so the conversation has no words of the user';
  expect(problems).toEqual([]);
  expect(notes.map(({ line, message }) => `${line} ${message}`)).toEqual([
    `1 ${prompts}`,
    '7 an error: a slow network',
    '8 the turn failed: no quota',
    `13 ${prompts}`,
  ]);
});

test('a message without content that can be read is reported, and never an empty turn', async () => {
  const empty = [
    { role: 'user', content: '' },
    { role: 'assistant', content: null },
    { role: 'assistant', answer: 'x' },
    { role: 'user', content: ' \n\t' },
    { role: 'assistant', content: [{ type: 'text', text: '\n' }] },
    { role: 'user', content: [{ type: 'image_url', image_url: {} }] },
  ];
  const [found] = (await read(jsonl({ messages: [user, ...empty] }))).conversations;
  expect(found && shown(found)).toEqual([asked]);
  expect(found?.lost.map(({ message }) => message)).toEqual([
    'messages.1: is empty; it is left out',
    'messages.2: has no content that can be read (its fields are role); it is left out',
    'messages.3: has no content that can be read (its fields are role, answer); it is left out',
    'messages.4: is empty; it is left out',
    'messages.5: is empty; it is left out',
    'messages.6: has parts that are not text (a picture, a file): a part of type "image_url" is left out',
  ]);
});

test('a tool call without a name is reported, and the other calls of its message stay', async () => {
  const calls = [{ id: 'c0', type: 'unknown', unknown: {} }, 'not JSON', ...calling.tool_calls];
  const inPart = [{ type: 'tool_use', id: 'c3', input: {} }];
  const messages = [user, { ...calling, tool_calls: calls }, result, { role: 'assistant', content: inPart }];
  const [found] = (await read(jsonl({ messages }))).conversations;
  expect(found && shown(found)).toEqual([asked, called, returned]);
  expect(found?.lost.map(({ message }) => message)).toEqual([
    'messages.1: has a tool call without a name (its fields are id, type, unknown); it is left out',
    'messages.1: has a tool call without a name (it has no fields); it is left out',
    'messages.3: has a tool call without a name (its fields are type, id, input); it is left out',
  ]);
});

test('of two times of a row, the one that differs between the rows decides', async () => {
  const row = (content: string, chat_id: number, timestamp: string) => {
    return { chat_id, role: 'user', content, created_at: `0${chat_id}/01/2026`, timestamp: `13/01/2026 ${timestamp}` };
  };
  const rows = [row('b', 1, '10:05'), row('a', 1, '10:00'), row('d', 2, '12:00'), row('c', 2, '11:00')];
  expect((await read(jsonl(...rows))).conversations.map(shown)).toEqual([
    ['u a', 'u b'],
    ['u c', 'u d'],
  ]);
});

test('rows are sorted by time, and those without the id of a conversation are one', async () => {
  const rows = ['c', 'b', 'a'].map((content, index) => ({
    role: 'user',
    content,
    created_at: `2026-01-01T00:00:0${2 - index}Z`,
  }));
  expect((await read(jsonl(...rows))).conversations.map(shown)).toEqual([['u a', 'u b', 'u c']]);
  const tied = ['c', 'b', 'a'].map((content, index) => ({ chatId: 1, role: 'user', content, ts: [5, 5, 4][index] }));
  expect((await read(JSON.stringify(tied))).conversations.map(shown)).toEqual([['u a', 'u b', 'u c']]);
});

const plain = '1: is neither JSON nor a table: expected one JSON value per line, a list of them, or CSV with a heading';

test.each<readonly [string, Content, string, number]>([
  [
    'a list that was cut off',
    JSON.stringify([{ messages: chat }, { messages: chat }]).slice(0, -20),
    '1: the file ends within this value: it was cut off',
    1,
  ],
  [
    'a line that was cut off',
    jsonl({ messages: chat }, { messages: chat }).slice(0, -20),
    '2: is not JSON; one value is expected on each line',
    1,
  ],
  [
    'one value that was cut off',
    JSON.stringify({ messages: chat }, null, 2).slice(0, -20),
    '1: the file ends within this value: it was cut off',
    0,
  ],
  [
    'a gzip file that was cut off',
    gzipSync(jsonl({ messages: chat })).subarray(0, 60),
    '1: cannot be unpacked with gzip (unexpected end of file). Check that the file is complete',
    0,
  ],
  [
    'mixed encodings',
    Buffer.concat([Buffer.from(jsonl({ messages: chat })), Buffer.from('{"messages": "\xe9"}\n', 'latin1')]),
    '2: is not a text in UTF-8. Save the file with the encoding UTF-8',
    0,
  ],
  ['an archive', Buffer.from('PK\x03\x04'), '1: is a zip archive. Unpack it, and import the files in it', 0],
  ['nothing', ' \n', '1: is empty', 0],
  ['plain text', 'Hello, I am here.\nGood, what is it?\nMy order\n\nBye\n', plain, 0],
  ['plain text with a comma a line', 'Dear all, hello\nYour order has been sent\nYours\nAnna, the shop\n', plain, 0],
  [
    'a row with a separator that is not in quotes',
    'id,role,content\n1,user,Where is W1?\n2,assistant,It has shipped, I think.\n',
    '3: has 4 cells, and the heading has 3; it is left out. Put a text with a separator in quotes',
    1,
  ],
  [
    'a quote that is not closed',
    'id,role,content\n1,user,Where is W1?\n2,assistant,"It has shipped.\n',
    '3: has a quote that is not closed, or one within a cell',
    1,
  ],
])('%s gives one message', async (_, content, message, kept) => {
  const found = await read(content);
  expect(found.problems.map((each) => `${each.line}: ${each.message}`)).toEqual([message]);
  expect(found.conversations).toHaveLength(kept);
});

test('each line that is not JSON is named, also where the file has no whole value', async () => {
  const cut = JSON.stringify({ messages: chat }).slice(0, -20);
  const found = await read(`${cut}\nthis is not JSON\n${cut}`);
  expect(found.problems.map(({ line }) => line)).toEqual([1, 2, 3]);
  expect(found.conversations).toEqual([]);
});

test('several values over many lines are read', async () => {
  const one = JSON.stringify({ messages: chat }, null, 2);
  expect((await read(`${one}\n${one}\n`)).conversations.map(shown)).toEqual([whole, whole]);
});

const rows = Array.from({ length: 6000 }, (_, row) => ({
  chat_id: `c${row}`,
  role: 'user',
  content: `Größe\n"${row}"`,
}));
const quoted = rows.map(({ chat_id, role, content }) => `${chat_id},${role},"${content.replaceAll('"', '""')}"\r\n`);

test.each<readonly [string, string]>([
  ['a table', `chat_id,role,content\r\n${quoted.join('')}`],
  ['lines', jsonl(...rows)],
  ['a list', JSON.stringify(rows, null, 1)],
])('%s that comes in pieces is read as a whole', async (_, content) => {
  const long = content.padEnd(1_100_000);
  for (const bytes of [Buffer.from(long), gzipSync(long), Buffer.from(`\uFEFF${long}`, 'utf16le')]) {
    const { problems, conversations } = await read(bytes);
    expect(problems).toEqual([]);
    expect(conversations.map(shown)).toEqual(rows.map((each) => [`u ${each.content}`]));
  }
});

test('values are the same whatever the pieces that their text comes in', () => {
  const values = (text: string, length: number) => {
    const found = new JsonValues();
    for (let at = 0; at < text.length; at += length) found.add(text.slice(at, at + length));
    return found.end();
  };
  const objects = [{ a: '"\\}' }, { b: [1, { c: ']\n' }] }];
  for (const text of [
    jsonl(...objects),
    ` \n${JSON.stringify(objects)}`,
    '[1]\n[2, 3]\n',
    '{\n"a": 1\n}\n{"b": 2}',
    '{"a":\n',
  ])
    for (const length of [1, 2, 5]) expect(values(text, length)).toEqual(values(text, text.length));
});

test('a file of no known format says what was found, what is supported and what is nearest', async () => {
  const [found] = (await read(jsonl({ conversation: 'x', lang: 'en' }))).problems;
  expect(found?.message).toMatch(
    /^the format is not known: the file has objects with conversation, lang\. Supported are .*Anthropic Messages \(anthropic-messages\).*\. The nearest is ShareGPT, which has conversations\. Name the format with --format$/,
  );
});

test('a format that is named is taken, and one of the other source is not', async () => {
  expect(formatNames('chats')).toContain('openai-chat');
  expect((await read(jsonl(anthropic), 'openai-chat')).formats).toMatchObject([{ format: 'OpenAI chat completions' }]);
  expect((await read(jsonl({ resourceSpans: [] }))).problems).toMatchObject([
    { message: 'holds OpenTelemetry spans. Import it as spans, not as chats' },
  ]);
});
