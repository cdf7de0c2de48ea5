import { expect, test } from 'vitest';
import { shown } from '../../support/conversationLines.ts';
import { lines as jsonl, readLog as read } from '../../support/readLog.ts';

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
])('%s are all read, and each is announced', (_, values, formats, expected) => {
  const found = read(jsonl(...values));
  expect([found.problems, found.notes]).toEqual([[], []]);
  expect(found.formats.map(({ format }) => format)).toEqual(formats);
  expect(found.conversations.map(shown)).toEqual(expected);
});

test.each(['sharegpt', 'claude-code'])(
  'values that are not of the format %s, which was named, are problems',
  (name) => {
    const { problems, notes, conversations } = read(jsonl(chat), name);
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
  ['texts with a number', ['row 3', 'row 2', 'row 1'], 'abc'],
])('rows with %s are in order', (_, dates, expected) => {
  const rows = dates.map((date, index) => row('abc'[index] ?? '', { date }));
  const [found] = read(jsonl(...rows)).conversations;
  expect(found?.messages.map(({ content }) => content).join('')).toBe(expected);
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
])('an answer beside the messages as %j is read', (more) => {
  const [found] = read(jsonl({ ...asks, ...more })).conversations;
  expect([found && shown(found), found?.lost]).toEqual([whole, []]);
  const [repeated] = read(jsonl({ ...chat, ...more })).conversations;
  expect(repeated?.messages).toHaveLength(2);
});

test.each([
  [{ error: { message: 'No credit' } }, 'error: the request has no answer: No credit'],
  [{ response: { error: 'No credit' } }, 'error: the request has no answer: No credit'],
  [{ response: { score: 1 } }, 'response: is not a readable answer (its fields are score)'],
  [{ response: 'data: {"choices": []}\n\ndata: [DONE]' }, 'response: is not a readable answer'],
  [{ ...chat, answer: 'Tomorrow.' }, 'answer: is a second answer; it is left out'],
])('what is beside the messages and no answer is named: %j', (more, message) => {
  expect(read(jsonl({ ...asks, ...more })).conversations[0]?.lost).toMatchObject([{ line: 1, message }]);
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
])('a request of a batch %s', (_, request, answer, said, notes) => {
  const found = read(jsonl(request, { custom_id: 'r1', ...answer }));
  expect(found.conversations.map((each) => [each.id, ...shown(each)])).toEqual([['r1', 's Be brief.', ...said]]);
  const not = notes.map((cause) => `the request "r1" of a batch was not answered: ${cause}`);
  expect([found.problems, found.notes.map(({ message }) => message)]).toEqual([[], not]);
  if (request === ofResponses) expect(found.conversations[0]?.tools).toMatchObject([{ name: 'get_order' }]);
});

test('of the lines of a proxy with one session, the longest history is the conversation', () => {
  const more = [user, closing, { role: 'user', content: 'Thanks.' }];
  const line = (messages: readonly object[], session_id: string) => ({ session_id, messages, response: closing });
  const found = read(jsonl(line([user], 's1'), line(more, 's1'), line([user], 's2'), line([user], 's2')));
  expect(found.conversations.map((each) => [each.id, ...shown(each)])).toEqual([
    ['s1', ...whole, 'u Thanks.', answered],
    ['s2', ...whole],
    ['s2', ...whole],
  ]);
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
])('%s in one file', (_, values, ids) => {
  const { conversations } = read(jsonl(...values));
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
])('%s', (_, value, expected, lost) => {
  const found = read(jsonl(value));
  expect(found.conversations.flatMap(shown)).toEqual(expected);
  expect(
    [...found.problems, ...found.conversations.flatMap((each) => each.lost)].map(({ message }) => message),
  ).toEqual(lost);
});
