import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConversations } from '../../../src/authoring/conversations/readConversations.ts';
import { shown } from '../../support/conversationLines.ts';
import { lines as jsonl, readLog as read } from '../../support/readLog.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const user = { role: 'user', content: 'Where is W1?' };
const closing = { role: 'assistant', content: 'It has shipped.' };
const [asked, answered] = ['u Where is W1?', 'a It has shipped.'];
const whole = [asked, answered];
const chat = { messages: [user, closing] };
const anthropic = {
  ...{ system: 'Be brief.', messages: [user] },
  response: { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'It has shipped.' }] },
};
const shareGpt = { conversations: [{ from: 'human', value: 'Where is W1?' }] };
const row = (content: string, more: object = {}) => ({ session_id: 's', role: 'user', content, ...more });

test.each<readonly [string, readonly object[], readonly string[], readonly (readonly string[])[]]>([
  [
    'two formats in one file',
    [chat, shareGpt, shareGpt],
    ['ShareGPT', 'OpenAI chat completions'],
    [[asked], [asked], whole],
  ],
  [
    'two formats of which one has the keys of the other',
    [anthropic, chat, anthropic],
    ['Anthropic Messages', 'OpenAI chat completions'],
    [['s Be brief.', ...whole], ['s Be brief.', ...whole], whole],
  ],
  [
    'rows of a conversation with and without parts',
    [row('a'), { ...row('b'), parts: [{ type: 'text', text: 'b' }] }],
    ['Vercel UI messages'],
    [['u a', 'u b']],
  ],
])('%s are all read, and each is announced', async (_, values, formats, expected) => {
  const found = await read(jsonl(...values));
  expect([found.problems, found.notes]).toEqual([[], []]);
  expect(found.formats.map(({ format }) => format)).toEqual(formats);
  expect(found.conversations.map(shown)).toEqual(expected);
});

test('ids and arguments keep their digits where a number of JavaScript would lose them', async () => {
  const ids = ['9007199254740992', '9007199254740993'];
  const rows = ids.map((id) => `{"chat_id":${id},"role":"user","content":"${id}"}\n`).join('');
  const call = `{"name":"look","arguments":{"id":9007199254740993}}`;
  const chat = `{"messages":[{"role":"user","content":"?"},{"role":"assistant","content":null,"tool_calls":[${call}]}]}\n`;
  const found = [...(await read(rows)).conversations, ...(await read(chat)).conversations];
  expect(found.map(({ id }) => id)).toEqual([...ids, null]);
  expect(found.flatMap(shown)).toEqual([...ids.map((id) => `u ${id}`), 'u ?', 'a> look{"id":"9007199254740993"}']);
});

test.each(['sharegpt', 'claude-code'])(
  'values that are not of the format %s, which was named, are problems',
  async (name) => {
    const { problems, notes, conversations } = await read(jsonl(chat), name);
    expect(problems.map(({ message }) => message)).toMatchObject([
      expect.stringMatching(/^is not of the format .* \(objects with messages\); it is left out$/),
    ]);
    expect([notes, conversations]).toEqual([[], []]);
  },
);

test.each<readonly [string, readonly string[], string]>([
  ['dates that can be read in two ways', ['02/01/2026', '01/02/2026', '01/03/2026'], 'abc'],
  ['days first, newest first', ['13/01/2026 10:00', '12/01/2026 09:00', '11/12/2025'], 'cba'],
  ['months first, newest first', ['01/14/2026', '01/13/2026', '12/01/2025'], 'cba'],
  ['days first with dots', ['13.01.2026', '02.02.2026', '01.03.2026'], 'abc'],
  ['names of months', ['14 Jan 2026', 'Jan 13, 2026', 'Mon, 12 Jan 2026 10:00:00 GMT'], 'cba'],
  ['a date that is missing, newest first', ['2026-01-03', '', '2026-01-01'], 'cba'],
  ['a date that is missing, oldest first', ['2026-01-01', '', '2026-01-03'], 'abc'],
  ['texts with a number', ['row 3', 'row 2', 'row 1'], 'abc'],
])('rows with %s are in order', async (_, dates, expected) => {
  const rows = dates.map((date, index) => row('abc'[index] ?? '', { date }));
  const [found] = (await read(jsonl(...rows))).conversations;
  expect(found?.messages.map(({ content }) => content).join('')).toBe(expected);
});

test.each<readonly [readonly string[], string]>([
  [['10:32', '10:35', '10:35:20'], 'abc'],
  [['10:35 AM', '10:32 AM', '9:58 AM'], 'cba'],
  [['12:05 p.m.', '11:58 a.m.', '11:58 a.m.', '9:00 a.m.'], 'dcba'],
  [['23:58', '00:01', '00:02'], 'abc'],
  [['00:02', '23:59', '23:58', '23:57'], 'dcba'],
  [['10:35', '10:32'], 'ab?'],
  [['10:35', '10:32', '10:40'], 'abc?'],
])('rows with the times %j are in the order %s, and an unclear order is noted', async (times, expected) => {
  for (const log of [
    jsonl(...times.map((time, index) => row('abcd'[index] ?? '', { time }))),
    `session_id,role,content,time\n${times.map((time, index) => `s,user,${'abcd'[index]},${time}\n`).join('')}`,
  ]) {
    const { conversations, notes } = await read(log);
    const order = conversations[0]?.messages.map(({ content }) => content).join('');
    expect(`${order}${notes.some(({ message }) => message.includes('have no date')) ? '?' : ''}`).toBe(expected);
  }
});

test.each([
  ['2026-01-13', ['10:35', '10:32'], 'ba'],
  ['13/01/2026', ['10:35 AM', '10:32 AM'], 'ba'],
  ['2026-01-13T00:00:00Z', ['10:35', '10:32'], 'ab'],
])('a date %s and times %j in two columns are one time', async (date, times, expected) => {
  const found = await read(jsonl(...times.map((time, index) => row('ab'[index] ?? '', { date, time }))));
  expect(found.conversations[0]?.messages.map(({ content }) => content).join('')).toBe(expected);
});

const pair = ['u Where is W1?', 'a It has shipped.', 'a No.'];
const [good, bad] = [
  { role: 'assistant', content: 'It has shipped.' },
  { role: 'assistant', content: 'No.' },
];
const [human, gpt] = [{ from: 'human', value: 'Where is W1?' }, (value: string) => ({ from: 'gpt', value })];

test.each([
  { prompt: 'Where is W1?', chosen: 'It has shipped.', rejected: 'No.' },
  { messages: [user], chosen: [good], rejected: [bad] },
  { messages: [user, good], chosen: good, rejected: bad },
  { prompt: 'Where is W1?', messages: [user, good], chosen: [user, good], rejected: [user, bad] },
  { conversations: [human], chosen: gpt('It has shipped.'), rejected: gpt('No.') },
  { instruction: 'Where is W1?', chosen: 'It has shipped.', rejected: 'No.' },
  { input: { messages: [user] }, preferred_output: [good], non_preferred_output: [bad] },
  {
    chosen: '\n\nHuman: Where is W1?\n\nAssistant: It has shipped.',
    rejected: '\n\nHuman: Where is W1?\n\nAssistant: No.',
  },
])('the chosen and the rejected answer of %j are a conversation each', async (value) => {
  const found = await read(jsonl({ id: 'x', ...value }));
  expect([found.problems, found.notes, found.formats[0]?.format]).toEqual([[], [], 'preference data']);
  expect(found.conversations.map((each) => [each.id, ...shown(each)])).toEqual([
    ['x-chosen', pair[0], pair[1]],
    ['x-rejected', pair[0], pair[2]],
  ]);
});

const left = (keys: string, label: string, values = '') =>
  `messages under ${keys} are left out${values}: ${label} has its messages elsewhere`;

test.each<readonly [object, readonly string[], string?]>([
  [{ messages: [user], history: [['Hello', 'Hi']], prompt: 'x' }, [left('history, prompt', 'OpenAI chat completions')]],
  [{ messages: [user], conversations: [{ from: 'human', value: 'Hello' }] }, [left('messages', 'ShareGPT')]],
  [{ messages: [user, closing], prompt: 'Where is W1?', completion: 'It has shipped.' }, []],
  [{ messages: [user], chosen: 'It has shipped.' }, [left('chosen', 'OpenAI chat completions')]],
  [
    { conversations: [human], chosen: gpt('a'), rejected: gpt('b') },
    [left('chosen, rejected', 'ShareGPT')],
    'sharegpt',
  ],
  [{ messages: [user], history: 'x', prompt: { id: 'p' }, conversation: 'c1' }, []],
])('messages beside those of the format are noted, unless they are repeated: %j', async (value, notes, format) => {
  expect((await read(jsonl(value), format as string | undefined)).notes.map(({ message }) => message)).toEqual(notes);
});

test('values with the same messages left out are one note', async () => {
  const value = { messages: [user], history: [['Hello', 'Hi']] };
  expect((await read(jsonl(value, value))).notes).toMatchObject([
    { line: 1, message: left('history', 'OpenAI chat completions', ', in 2 values of the file') },
  ]);
});

const [asks, answers] = [{ messages: [user] }, 'It has shipped.'];

test.each([
  { response: answers },
  { answer: answers },
  { output: answers },
  { completion: answers },
  { response: closing },
  { response: { message: closing } },
  { response: { choices: [{ text: answers }] } },
  { response: { content: [{ type: 'text', text: answers }] } },
  { output: [closing] },
])('an answer beside the messages as %j is read', async (more) => {
  const [found] = (await read(jsonl({ ...asks, ...more }))).conversations;
  expect([found && shown(found), found?.lost]).toEqual([whole, []]);
  const [repeated] = (await read(jsonl({ ...chat, ...more }))).conversations;
  expect(repeated?.messages).toHaveLength(2);
});

test.each([
  [{ error: { message: 'No credit' } }, 'error: the request has no answer: No credit'],
  [{ response: { error: 'No credit' } }, 'error: the request has no answer: No credit'],
  [{ response: { score: 1 } }, 'response: is not a readable answer (its fields are score)'],
  [{ response: 'data: {"choices": []}\n\ndata: [DONE]' }, 'response: is not a readable answer'],
  [{ ...chat, answer: 'Tomorrow.' }, 'answer: is a second answer; it is left out'],
  [{ choices: [{ text: 'Yes.' }, { text: 'No.' }] }, 'answer: has 2 choices; only the first one is read'],
  [
    { response: { body: { choices: [{ text: 'Yes.' }, { text: 'No.' }] } } },
    'response: has 2 choices; only the first one is read',
  ],
])('what is beside the messages and no answer is named: %j', async (more, message) => {
  expect((await read(jsonl({ ...asks, ...more }))).conversations[0]?.lost).toMatchObject([{ line: 1, message }]);
});

const ofResponses = {
  ...{ custom_id: 'r1', method: 'POST', url: '/v1/responses' },
  body: { instructions: 'Be brief.', input: 'Where is W1?', tools: [{ type: 'function', name: 'get_order' }] },
};
const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It has shipped.' }] }];
const ofMessages = { custom_id: 'r1', params: { system: 'Be brief.', messages: [user] } };
const failed = { status_code: 400, body: { error: { message: 'Too long' } } };

test.each<readonly [string, object, object, readonly string[], readonly string[]]>([
  ['of responses', ofResponses, { id: 'b', response: { body: { id: 'x', output } } }, whole, []],
  ['that is refused', ofResponses, { id: 'b', response: failed }, [asked], ['Too long']],
  ['that expired', ofResponses, { response: null, error: { code: 'batch_expired' } }, [asked], ['batch_expired']],
  ['of Anthropic that expired', ofMessages, { result: { type: 'expired' } }, [asked], ['expired']],
  [
    'of Anthropic that failed',
    ofMessages,
    { result: { type: 'errored', error: { type: 'error', error: { type: 'x', message: 'Too long' } } } },
    [asked],
    ['Too long'],
  ],
])('a request of a batch %s', async (_, request, answer, said, notes) => {
  const found = await read(jsonl(request, { custom_id: 'r1', ...answer }));
  expect(found.conversations.map((each) => [each.id, ...shown(each)])).toEqual([['r1', 's Be brief.', ...said]]);
  const not = notes.map((cause) => `the request "r1" of a batch was not answered: ${cause}`);
  expect([found.problems, found.notes.map(({ message }) => message)]).toEqual([[], not]);
  if (request === ofResponses) expect(found.conversations[0]?.tools).toMatchObject([{ name: 'get_order' }]);
});

test('of the lines of a proxy with one session, the longest history is the conversation', async () => {
  const more = [user, closing, { role: 'user', content: 'Thanks.' }];
  const line = (messages: readonly object[], session_id: string) => ({ session_id, messages, response: closing });
  const found = await read(jsonl(line([user], 's1'), line(more, 's1'), line([user], 's2'), line([user], 's2')));
  expect(found.conversations.map((each) => [each.id, ...shown(each)])).toEqual([
    ['s1', ...whole, 'u Thanks.', answered],
    ['s2', ...whole],
    ['s2', ...whole],
  ]);
});

test.each<readonly [string, object]>([
  ['OpenAI', { response: { choices: [{ message: closing }] } }],
  ['Anthropic', { response: { type: 'message', role: 'assistant', content: [{ type: 'text', text: answers }] } }],
])('of requests to %s without an id, the longest history is the conversation', async (_, answer) => {
  const line = (...messages: readonly object[]) => ({ request: { messages }, ...answer });
  const thanks = { role: 'user', content: 'Thanks.' };
  const apart = [{ messages: [user, closing] }, { messages: [user, closing, thanks] }];
  const found = await read(jsonl(line(user), line(user, closing, thanks), line(thanks), ...apart));
  expect(found.conversations.map(shown)).toEqual([
    [...whole, 'u Thanks.', answered],
    ['u Thanks.', answered],
    whole,
    [...whole, 'u Thanks.'],
  ]);
});

test('a request to Anthropic keeps the id of its line', async () => {
  const response = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'text', text: answers }] };
  const { conversations } = await read(jsonl({ id: 'req-1', request: { system: 'Be brief.', ...asks }, response }));
  expect(conversations.map((each) => [each.id, ...shown(each)])).toEqual([['req-1', 's Be brief.', ...whole]]);
});

const codex = (id: string, more: object) => [
  { timestamp: 't', type: 'session_meta', payload: { id, ...more } },
  { timestamp: 't', type: 'response_item', payload: { type: 'message', ...user } },
];
const bare = (id: string) => [
  { id, timestamp: 't', instructions: null },
  { type: 'message', ...user },
];

test.each([
  ['two sessions of Codex', [...codex('x', {}), ...codex('y', {})], ['x', 'y']],
  ['two bare sessions of Codex', [...bare('x'), ...bare('y')], ['x', 'y']],
  ['a session of Codex that continues another', [codex('x', {})[0], ...codex('y', {})], ['x']],
])('%s in one file', async (_, values, ids) => {
  const { conversations } = await read(jsonl(...values));
  expect(conversations.map((each) => [each.id, ...shown(each)])).toEqual(ids.map((id) => [id, asked]));
});

const order = (id: string) => ({ name: 'get_order', arguments: { order_id: id } });
const spoken = { type: 'input_audio', transcript: 'Where is W1?' };

test.each<readonly [string, object, readonly string[], readonly string[]]>([
  [
    'a result whose call cannot be read',
    {
      conversations: [
        { from: 'function_call', value: JSON.stringify([order('W1'), order('W2')]) },
        { from: 'observation', value: 'shipped' },
        { from: 'function_call', value: '{"name": "get_' },
        { from: 'observation', value: 'failed' },
      ],
    },
    ['a> get_order{"order_id":"W1"}', 'a> get_order{"order_id":"W2"}', 't< get_order{"order_id":"W1"} shipped'],
    [
      'conversations.2: is not a call in JSON; it is left out',
      'conversations.3: is the result of a call that cannot be read; it is left out',
    ],
  ],
  [
    'tickets beside the people of a help desk, and plain text with signs of HTML',
    {
      tickets: [{ requester_id: 1, comments: [{ author_id: 1, plain_body: 'Is <b> &lt; 3?' }] }],
      users: [{ id: 1, role: 'end-user', name: 'A' }],
    },
    ['u Is <b> &lt; 3?'],
    [],
  ],
  [
    'what was spoken, and a refusal beside an empty text',
    {
      messages: [
        { role: 'user', content: [spoken] },
        { role: 'assistant', content: null, audio: { id: 'a', transcript: 'It has shipped.' } },
        { role: 'assistant', content: '', refusal: 'No.' },
      ],
    },
    [...whole, 'a No.'],
    [],
  ],
])('%s', async (_, value, expected, lost) => {
  const found = await read(jsonl(value));
  expect(found.conversations.flatMap(shown)).toEqual(expected);
  expect(
    [...found.problems, ...found.conversations.flatMap((each) => each.lost)].map(({ message }) => message),
  ).toEqual(lost);
});

const shipped = [{ type: 'text', text: 'It has shipped.' }];
const calling = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c', function: { name: 'look', arguments: '{}' } }],
};
const toolUse = { type: 'tool_use', id: 'c', name: 'look', input: {} };
const items = [
  { type: 'reasoning', summary: [{ text: 'Soon.' }] },
  { type: 'message', role: 'assistant', content: [{ ...shipped[0], type: 'output_text' }] },
];

test.each<readonly [string, object, readonly string[]]>([
  ['a text and a choice', { ...chat, choices: [{ message: closing }] }, whole],
  [
    'parts and a text',
    {
      messages: [user, { ...closing, content: [{ ...shipped[0], type: 'output_text' }] }],
      response: 'It has shipped. ',
    },
    whole,
  ],
  ['a call and the same message', { messages: [user, calling], response: calling }, [asked, 'a> look{}']],
  [
    'words with a call, and the words',
    { messages: [user, { ...calling, content: 'It has shipped.' }], response: 'It has shipped.' },
    [...whole, 'a> look{}'],
  ],
  [
    'the newest message first',
    {
      messages: [
        { ...closing, ts: 2 },
        { ...user, ts: 1 },
      ],
      output: closing,
    },
    whole,
  ],
  ['a prompt and a completion', { prompt: [user, closing], completion: 'It has shipped.' }, whole],
  ['a list that begins with the request', { messages: [user], output: [user, closing] }, whole],
  ['a text and a message of Anthropic', { ...anthropic, messages: [user, closing] }, ['s Be brief.', ...whole]],
  [
    'parts of Anthropic',
    {
      messages: [user, { role: 'assistant', content: [...shipped, toolUse] }],
      response: { type: 'message', role: 'assistant', content: [...shipped, toolUse] },
    },
    [...whole, 'a> look{}'],
  ],
  [
    'items of the Responses API',
    { input: [{ type: 'message', ...user }, ...items], output: items },
    [asked, 'a~ Soon.', answered],
  ],
])('an answer that a log has twice is read once: %s', async (_, value, expected) => {
  const found = await read(jsonl(value));
  expect([found.problems, found.conversations.flatMap(({ lost }) => lost)]).toEqual([[], []]);
  expect(found.conversations.map(shown)).toEqual([expected]);
});

const turn = (prompt: unknown, completion: string, more: object = {}) => ({
  session_id: 'K1',
  prompt,
  completion,
  ...more,
});

test.each<readonly [string, string, readonly (readonly (string | null)[])[]]>([
  [
    'questions with answers of a table',
    'conversation_id;turn;question;answer\nK1;2;b;B\nK1;1;a;A\nK2;1;c;C\n',
    [
      ['K1', 'u a', 'a A', 'u b', 'a B'],
      ['K2', 'u c', 'a C'],
    ],
  ],
  [
    'prompts with completions',
    jsonl(turn('a', 'A'), turn('a', 'A'), { ...turn('c', 'C'), session_id: 'K2' }),
    [
      ['K1', 'u a', 'a A', 'u a', 'a A'],
      ['K2', 'u c', 'a C'],
    ],
  ],
  [
    'prompts that have the turns before them',
    jsonl(
      turn('a', 'A', { system: 'Be brief.' }),
      turn([{ role: 'user', content: 'a' }, { role: 'assistant', content: 'A' }, user], 'B', { system: 'Be brief.' }),
    ),
    [['K1', 's Be brief.', 'u a', 'a A', asked, 'a B']],
  ],
  [
    'messages under the header session',
    'session,role,message\nS1,user,a\nS1,assistant,A\nS2,user,b\n',
    [
      ['S1', 'u a', 'a A'],
      ['S2', 'u b'],
    ],
  ],
])('rows of one id are one conversation: %s', async (_, content, expected) => {
  const found = await read(content);
  expect([found.problems, found.notes]).toEqual([[], []]);
  expect(found.conversations.map((each) => [each.id, ...shown(each)])).toEqual(expected);
});

const said = (id: string, content: string, at?: number) => ({
  chat_id: id,
  role: 'user',
  content,
  ...(at ? { ts: at } : {}),
});
const response = (id: string, content: string, before?: string) => ({
  ...{ id, input: content, output: items.slice(1) },
  ...(before === undefined ? {} : { previous_response_id: before }),
});

test.each<readonly [string, readonly object[], readonly object[], readonly (readonly string[])[], readonly string[]]>([
  [
    'rows',
    [said('C9', 'a'), said('C9', 'b')],
    [said('C9', 'b')],
    [['u a', 'u b', 'u b']],
    ['the rows of conversation C9 are in several files; they are joined'],
  ],
  [
    'rows with times, of which both files have some',
    [said('C9', 'b', 2), said('C9', 'a', 1), said('C8', 'd', 4)],
    [said('C9', 'b', 2), said('C9', 'c', 3), said('C8', 'e', 5)],
    [
      ['u a', 'u b', 'u c'],
      ['u d', 'u e'],
    ],
    ['the rows of conversation C9 and of 1 more are in several files; they are joined'],
  ],
  [
    'questions with answers',
    [turn('a', 'A')],
    [turn('b', 'B')],
    [['u a', 'a A', 'u b', 'a B']],
    ['the rows of conversation K1 are in several files; they are joined'],
  ],
  [
    'requests that continue an answer',
    [response('r1', 'Where is W1?')],
    [response('r2', 'And?', 'r1'), response('r3', 'And?', 'r0')],
    [
      [...whole, 'u And?', answered],
      ['u And?', answered],
    ],
    [
      'the conversation begins earlier: the answer r0 (previous_response_id) is not in the files. Import the file of it together with this one',
    ],
  ],
])('%s of a conversation in two files of a folder are joined', async (_, first, second, expected, notes) => {
  const folder = temporaryFolder('days');
  const files = [first, second].map((values, at) => {
    const path = join(folder, `day-${at}.jsonl`);
    writeFileSync(path, jsonl(...values));
    return path;
  });
  const found = await readConversations(files, 'chats');
  expect(found.conversations.map(shown)).toEqual(expected);
  expect(found.notes.map(({ message }) => message)).toEqual(notes);
  expect(found.problems).toEqual([]);
});

const told = { role: 'system', content: 'The user is verified.' };
const middle = [{ role: 'system', content: 'Be brief.' }, user, told, closing];
const moved = 'a system message after the first message of the conversation moved to its start';

test.each<readonly [string, object, readonly string[]]>([
  ['a chat', { id: 'd4', messages: middle }, [`d4: ${moved}`]],
  ['a developer', { messages: [user, { ...told, role: 'developer' }, closing] }, [`a conversation: ${moved}`]],
  [
    'two',
    { messages: [...middle, { ...told, content: 'And more.' }] },
    ['a conversation: 2 system messages after the first message of the conversation moved to its start'],
  ],
  ['items', { id: 'r', input: [user, { type: 'message', ...told }], output: items }, [`r: ${moved}`]],
  [
    'ShareGPT',
    { id: 's', conversations: middle.map(({ role, content }) => ({ from: role, value: content })) },
    [`s: ${moved}`],
  ],
  ['one that repeats the first', { messages: [middle[0], user, middle[0], closing] }, []],
])('a system message in the middle has a note: %s', async (_, value, expected) => {
  const { notes, conversations } = await read(jsonl(value));
  expect(notes.map(({ message }) => message)).toEqual(expected);
  expect(conversations).toHaveLength(1);
});
