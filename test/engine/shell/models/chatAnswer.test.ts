import { describe, expect, test } from 'vitest';
import { readAnswer } from '../../../../src/engine/shell/models/chatAnswer.ts';
import { nameCalls } from '../../../../src/engine/shell/models/chatCalls.ts';
import { answerOf } from '../../../support/readAnswer.ts';

const answered = (message: object, usage?: unknown) => answerOf({ choices: [{ message }], usage });
const spoken = { content: 'It is on its way.', thoughts: null, toolCalls: [] };
const call = { id: '', name: 'find_parcel', arguments: {} };

/** Messages of real servers, and the answers that are parsed from them. */
const shapes: readonly (readonly [name: string, message: object, expected: object])[] = [
  ['null in place of calls', { content: 'It is on its way.', tool_calls: null, function_call: null }, spoken],
  ['no role and no calls', { content: 'It is on its way.' }, spoken],
  ['null arguments', { tool_calls: [{ function: { name: 'find_parcel', arguments: null } }] }, { toolCalls: [call] }],
  ...['null', '[]', ' null '].map(
    (given) =>
      [
        `arguments that are the text ${JSON.stringify(given)}`,
        { tool_calls: [{ function: { name: 'find_parcel', arguments: given } }] },
        { toolCalls: [call] },
      ] as const,
  ),
  [
    'a name with a special token of gpt-oss',
    { tool_calls: [{ function: { name: 'find_parcel<|channel|>commentary', arguments: '{}' } }] },
    { toolCalls: [call] },
  ],
  ['thoughts as thinking', { content: 'It is on its way.', thinking: 'Hm.' }, { ...spoken, thoughts: 'Hm.' }],
  ['thoughts as reasoning_text', { content: 'It is on its way.', reasoning_text: 'Hm.' }, { thoughts: 'Hm.' }],
  ['no arguments', { tool_calls: [{ function: { name: 'find_parcel' } }] }, { toolCalls: [call] }],
  ['empty arguments', { tool_calls: [{ function: { name: 'find_parcel', arguments: '' } }] }, { toolCalls: [call] }],
  [
    'arguments that are an object already',
    { tool_calls: [{ function: { name: 'find_parcel', arguments: { parcel: 'P46' } } }] },
    { toolCalls: [{ ...call, arguments: { parcel: 'P46' } }] },
  ],
  [
    'arguments that are a list',
    { tool_calls: [{ function: { name: 'find_parcel', arguments: ['P46'] } }] },
    { toolCalls: [{ ...call, arguments: '["P46"]' }] },
  ],
  [
    'arguments that are cut off',
    { tool_calls: [{ id: 'c', function: { name: 'find_parcel', arguments: '{"parcel": ' } }] },
    { content: null, toolCalls: [{ ...call, id: 'c', arguments: '{"parcel": ' }] },
  ],
  ...[
    ['behind an empty object', '{}{"parcel": "P46"}'],
    ['that are repeated', '{"parcel": "P46"} {"parcel": "P46"}'],
  ].map(
    ([how, given]) =>
      [
        `arguments ${how}`,
        { tool_calls: [{ function: { name: 'find_parcel', arguments: given } }] },
        { toolCalls: [{ ...call, arguments: { parcel: 'P46' } }] },
      ] as const,
  ),
  ...['{"parcel": "P46"}{"parcel": "P47"}', '{} and {"parcel": "P46"}', '{}{}'].map(
    (given) =>
      [
        `the arguments ${given}`,
        { tool_calls: [{ function: { name: 'find_parcel', arguments: given } }] },
        { toolCalls: [{ ...call, arguments: given }] },
      ] as const,
  ),
  ...(
    [
      ['a call of Anthropic', [{ id: 'c', type: 'tool_use', name: 'find_parcel', input: { parcel: 'P46' } }]],
      [
        'parameters in place of arguments',
        [{ id: 'c', function: { name: 'find_parcel', parameters: { parcel: 'P46' } } }],
      ],
      [
        'null arguments beside an input',
        [{ id: 'c', function: { name: 'find_parcel', arguments: null, input: '{"parcel": "P46"}' } }],
      ],
    ] as const
  ).map(
    ([name, calls]) =>
      [name, { tool_calls: calls }, { toolCalls: [{ ...call, id: 'c', arguments: { parcel: 'P46' } }] }] as const,
  ),
  [
    'a function call of old with parameters',
    { function_call: { name: 'find_parcel', parameters: { parcel: 'P46' } } },
    { toolCalls: [{ ...call, arguments: { parcel: 'P46' } }] },
  ],
  [
    'calls as parts of the content',
    {
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'c', name: 'find_parcel', input: { parcel: 'P46' } },
        { type: 'tool_use', id: 'd', name: 'find_parcel', input: {} },
      ],
    },
    {
      content: 'I look.',
      toolCalls: [
        { ...call, id: 'c', arguments: { parcel: 'P46' } },
        { ...call, id: 'd' },
      ],
      brokenEnd: null,
    },
  ],
  [
    'a call as the only part of the content',
    { content: [{ type: 'tool_use', id: 'c', name: 'find_parcel', input: {} }] },
    { content: null, toolCalls: [{ ...call, id: 'c' }] },
  ],
  [
    'a call in the content and in its own place',
    {
      content: [{ type: 'tool_use', id: 'c', name: 'find_parcel', input: {} }],
      tool_calls: [{ id: 'c', function: { name: 'find_parcel', arguments: '{}' } }],
    },
    { content: null, toolCalls: [{ ...call, id: 'c' }] },
  ],
  ['one part that is not in a list', { content: { type: 'text', text: 'It is on its way.' } }, spoken],
  [
    'halves of surrogate pairs',
    {
      content: 'On \ud83d its way \ude00.',
      reasoning: 'Hm\ud83d',
      tool_calls: [{ function: { name: 'find_parcel', arguments: '{"parcel": "\\ud83d \\ud83d\\ude00 \\\\ud83d"}' } }],
    },
    {
      content: 'On \ufffd its way \ufffd.',
      thoughts: 'Hm\ufffd',
      toolCalls: [{ ...call, arguments: { parcel: '\ufffd \u{1f600} \\ud83d' } }],
    },
  ],
  [
    'a call without a type, and a numeric id',
    { tool_calls: [{ id: 17, function: { name: 'find_parcel', arguments: '{}' } }] },
    { toolCalls: [{ ...call, id: '17' }] },
  ],
  [
    'the function call of old',
    { content: null, function_call: { name: 'find_parcel', arguments: '{}' } },
    { content: null, toolCalls: [call] },
  ],
  [
    'a call in both forms',
    {
      content: null,
      function_call: { name: 'find_parcel', arguments: '{}' },
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'find_parcel', arguments: '{}' } }],
    },
    { content: null, toolCalls: [{ ...call, id: 'c' }] },
  ],
  [
    'whole numbers that are floats',
    { tool_calls: [{ id: 'c', type: 'function', function: { name: 'pay', arguments: '{"amount": 5.0}' } }] },
    { toolCalls: [{ id: 'c', name: 'pay', arguments: { amount: 5 }, floats: ['/amount'] }] },
  ],
  [
    'a number that is too large, and a text of the same digits',
    {
      tool_calls: [
        {
          id: 'c',
          type: 'function',
          function: { name: 'pay', arguments: '{"to": 9007199254740993, "code": "9007199254740993"}' },
        },
      ],
    },
    {
      toolCalls: [
        {
          id: 'c',
          name: 'pay',
          arguments: { to: '9007199254740993', code: '9007199254740993' },
          integers: ['/to'],
        },
      ],
    },
  ],
  [
    'a text in parts',
    {
      content: [
        { type: 'text', text: 'It is ' },
        { type: 'text', text: 'on its way.' },
      ],
    },
    spoken,
  ],
  [
    'thoughts as a part',
    {
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
        { type: 'text', text: 'It is on its way.' },
      ],
    },
    { ...spoken, thoughts: 'Hm.' },
  ],
  ['thoughts as reasoning_content', { content: 'It is on its way.', reasoning_content: 'Hm.' }, { thoughts: 'Hm.' }],
  ['thoughts as reasoning', { content: 'It is on its way.', reasoning: 'Hm.' }, { ...spoken, thoughts: 'Hm.' }],
  [
    'thoughts in tags',
    { content: '<think>\nThursday\n</think>\n\nIt is on its way.' },
    { ...spoken, thoughts: 'Thursday' },
  ],
  [
    'thoughts that the prompt opened',
    { content: 'Thursday</think>It is on its way.' },
    { ...spoken, thoughts: 'Thursday' },
  ],
  [
    'thoughts in brackets',
    { content: '[THINK]Thursday[/THINK]It is on its way.' },
    { ...spoken, thoughts: 'Thursday' },
  ],
  [
    'thoughts that are cut off',
    { content: '<think>It comes on Thursday' },
    { content: '', thoughts: 'It comes on Thursday' },
  ],
  [
    'thoughts inside of a text',
    { content: 'Sure. <think>It comes on Thursday</think> It is on its way.' },
    { content: 'Sure. It is on its way.', thoughts: 'It comes on Thursday' },
  ],
  ...[
    ['<THINK>', '</THINK>'],
    ['<thoughts>', '</thoughts>'],
    ['<analysis>', '</analysis>'],
    ['<mm:think>', '</mm:think>'],
    ['<|begin_of_thought|>', '<|end_of_thought|>'],
    ['<|inner_prefix|>', '<|inner_suffix|>'],
    ['<|channel>thought\n', '<channel|>'],
    ['<unused94>thought\n', '<unused95>'],
    ['<scratchpad>', '</scratchpad>'],
    ['<reflection>', '</reflection>'],
    ['<antThinking>', '</antThinking>'],
    ['Here is my thought process:', 'Here is my response:'],
    ['<think>', '</think><response>'],
    ['<think >', '</think >'],
    ['<think time="3">', '</think>'],
    ['<think>', '</thinking>'],
    ['<thinking>', '</think>'],
    ['<reason>', '</reason>'],
    ['<o_think>', '</o_think>'],
    ['<thinking_process>', '</thinking_process>'],
    ['<|thinking|>', '<|/thinking|>'],
    ['<details type="reasoning" done="true" duration="3">', '</details>\n'],
    ['<|begin_of_thought|>', '<|end_of_thought|>\n\n<|begin_of_solution|>'],
    ['', '<|end|><|start|>assistant<|channel|>final<|message|>'],
    ['analysis<|message|>', '<|end|><|start|>assistant<|channel|>final<|message|>'],
    ['**Thinking:** ', '\n\n**Answer:** '],
    ['<|START_THINKING|>', '<|END_THINKING|><|START_RESPONSE|>'],
  ].map(
    ([open, close]) =>
      [
        `thoughts in ${open}`,
        { content: `${open}Thursday${close}It is on its way.` },
        { ...spoken, thoughts: 'Thursday' },
      ] as const,
  ),
  [
    'nested thoughts',
    { content: '<think>Hm. <think>Thursday</think> Hm.</think>It is on its way.' },
    { ...spoken, thoughts: 'Hm. Thursday Hm.' },
  ],
  ['thoughts of Kimi', { content: '◁think▷Thursday◁/think▷It is on its way.' }, { ...spoken, thoughts: 'Thursday' }],
  [
    'the channels of gpt-oss',
    {
      content:
        '<|channel|>analysis<|message|>Thursday<|end|><|start|>assistant<|channel|>final<|message|>It is on its way.<|return|>',
    },
    { ...spoken, thoughts: 'Thursday' },
  ],
  [
    'a call of gpt-oss that its server did not read',
    { content: '<|channel|>commentary to=functions.find <|constrain|>json<|message|>{"parcel":"P46"}<|call|>' },
    { content: '', thoughts: '{"parcel":"P46"}' },
  ],
  [
    'the channels of gpt-oss without their tokens',
    { content: 'analysisThursdayassistantfinalIt is on its way.' },
    { ...spoken, thoughts: 'Thursday' },
  ],
  [
    'a call of gpt-oss without its tokens',
    { content: 'analysisIt is clear.assistantcommentary to=functions.find_parcel json{"parcel":"P46"}' },
    { content: '', thoughts: 'It is clear.\n\njson{"parcel":"P46"}' },
  ],
  ['a solution of OpenThinker', { content: '<|begin_of_solution|>It is on its way.<|end_of_solution|>' }, spoken],
  [
    'reasoning as parts',
    {
      content: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
        { type: 'reasoning', text: 'Thursday' },
        { type: 'text', text: 'It is on its way.' },
      ],
    },
    { ...spoken, thoughts: 'Hm.\n\nThursday' },
  ],
  [
    'an empty reasoning_content beside reasoning',
    { content: 'It is on its way.', reasoning_content: '', reasoning: 'Hm.' },
    { ...spoken, thoughts: 'Hm.' },
  ],
  [
    'thoughts inside of a text that are cut off',
    { content: 'Hello. <think>It comes on `Thursday' },
    { content: 'Hello.', thoughts: 'It comes on `Thursday' },
  ],
  [
    'thoughts in the middle of a sentence that are cut off',
    { content: 'Hello <think>It comes on Thursday' },
    { content: 'Hello', thoughts: 'It comes on Thursday' },
  ],
  ...['`</think>`', '"</think>"', '`a </think> b`'].map(
    (quoted) =>
      [
        `a thought that speaks of ${quoted}`,
        { content: `<think>If I wrote ${quoted}, Thursday.</think>It is on its way.` },
        { ...spoken, thoughts: expect.stringMatching(/^If I wrote .*, Thursday\.$/) },
      ] as const,
  ),
  [
    'a backtick in a thought and one behind it',
    { content: '<think>Hm `</think>It is `on` its way. <think>Hm.</think>' },
    { content: 'It is `on` its way.', thoughts: 'Hm `\n\nHm.' },
  ],
  ...(
    [
      [
        'a second closing tag',
        '<think>Hm.</think> I know it comes on Thursday. </think>',
        'Hm. I know it comes on Thursday.',
      ],
      ['a second closing tag of a thought that the prompt opened', 'Hm.</think> Thursday </think>', 'Hm. Thursday'],
      ['a second closing tag that is misspelt', '<think>Hm.</think> Thursday </thinking>', 'Hm. Thursday'],
      ['a doubled opening tag', '<think>\n<think>\nThursday\n</think>\n\n', 'Thursday'],
      [
        'an opening tag that a thought speaks of',
        '<think>\nIt expects <think> first.\n</think>\n\n',
        'It expects  first.',
      ],
      [
        'a pair of tags that a thought speaks of',
        'It reads <think>x</think> pairs. Thursday.</think>',
        'It reads x pairs. Thursday.',
      ],
      ['several thoughts in a thought', '<think>a <think>b</think> c <think>d</think> e</think>', 'a b c d e'],
    ] as const
  ).map(
    ([name, thought, thoughts]) => [name, { content: `${thought}It is on its way.` }, { ...spoken, thoughts }] as const,
  ),
  [
    'a thought that speaks of its tag, and a later thought',
    { content: '<think>It expects <think> first.</think>It is <think>Hm.</think>on its way.' },
    { ...spoken, thoughts: 'It expects  first.\n\nHm.' },
  ],
  [
    'a closing tag behind the answer',
    { content: '<think>Thursday</think>It is on its way.\n</think>' },
    { ...spoken, thoughts: 'Thursday' },
  ],
  [
    'a closing tag of another family',
    { content: '<think>Thursday</think>It is</analysis> on its way.' },
    { ...spoken, thoughts: 'Thursday' },
  ],
  ...[
    'The field <analysis> is empty, and {"a": 1} is not.',
    '{"note": "It wrote </think> and <think>"}',
    'I <think of it> so.',
    '<details><summary>More</summary>Thursday</details>',
    'It ends with `a<|end|><|start|>assistant<|channel|>final<|message|>`.',
    '{"note": "a<|end|><|start|>assistant<|channel|>final<|message|>"}',
    'Thinking: it comes on Thursday.\n\nIt is on its way.',
  ].map((content) => [`a tag in ${content}`, { content }, { content, thoughts: null }] as const),
  [
    'a tag in JSON after a thought',
    { content: '<think>Hm.</think>Here: {"note": "It wrote </think> and <analysis>"}' },
    { content: 'Here: {"note": "It wrote </think> and <analysis>"}', thoughts: 'Hm.' },
  ],
  [
    'a common tag in the middle of a text that is closed',
    { content: 'Sure. <analysis>Thursday</analysis> It is on its way.' },
    { content: 'Sure. It is on its way.', thoughts: 'Thursday' },
  ],
  ['a common tag that is cut off', { content: '<analysis>It comes' }, { content: '', thoughts: 'It comes' }],
  [
    'a thought after a common tag that is not closed',
    { content: 'Fill <analysis> in. <think>Thursday</think> Bye.' },
    { content: 'Fill <analysis> in. Bye.', thoughts: 'Thursday' },
  ],
  ['an answer in the tokens of Cohere', { content: '<|START_TEXT|>It is on its way.<|END_TEXT|>' }, spoken],
  ['empty thoughts', { content: '<think>\n\n</think>\n\nIt is on its way.' }, spoken],
  [
    'a tag that is spoken of',
    { content: 'Write `<think>`, "</think>" or `a <think>b` before a thought.' },
    { content: 'Write `<think>`, "</think>" or `a <think>b` before a thought.', thoughts: null },
  ],
];

test.each(shapes)('%s', (_, message, expected) => {
  expect(answered(message)).toMatchObject(expected);
});

test.each([
  '{"content":[{"type":"tool_use","id":"c","name":"pay","input":GIVEN}]}',
  '{"tool_calls":[{"id":"c","name":"pay","parameters":GIVEN}]}',
])('the numbers of %s keep their form', (message) => {
  const given = '{"to":9007199254740993,"amount":5.0}';
  expect(answerOf(`{"choices":[{"message":${message.replace('GIVEN', given)}}]}`).toolCalls).toMatchObject([
    { arguments: { to: '9007199254740993', amount: 5 }, integers: ['/to'], floats: ['/amount'] },
  ]);
});

test('a hostile answer is read in time: a million thoughts, and arguments nested a million times', () => {
  expect(answered({ content: `${'[THINK][/THINK]'.repeat(1_000_000)}Yes.` })).toMatchObject({ content: 'Yes.' });
  expect(answered({ content: `Yes.${'[THINK][/THINK]'.repeat(1_000_000)}` })).toMatchObject({ content: 'Yes.' });
  expect(answered({ content: `${'a</think>'.repeat(300_000)}Yes.` })).toMatchObject({ content: 'Yes.' });
  expect(answered({ content: `${'<think>'.repeat(300_000)}</think>Yes.` })).toMatchObject({ content: 'Yes.' });
  expect(answered({ content: `<|channel|>${'a'.repeat(1_000_000)}` })).toMatchObject({ content: '' });
  const deep = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`;
  const call = `{"function":{"name":"find_parcel","arguments":${deep}}}`;
  const calls = answerOf(`{"choices":[{"message":{"tool_calls":[${call}]}}]}`);
  expect(calls).toMatchObject({ toolCalls: [{ arguments: expect.any(String) }] });
});

test('calls in another choice belong to a first one that ended with calls', () => {
  const choices = [
    { message: { content: 'I look.' }, finish_reason: 'tool_calls' },
    { message: { tool_calls: [{ id: 'a', function: { name: 'find_parcel', arguments: '{}' } }] } },
  ];
  expect(answerOf({ choices })).toMatchObject({ content: 'I look.', toolCalls: [{ ...call, id: 'a' }] });
  const alternatives = choices.map((each) => ({ ...each, finish_reason: 'stop' }));
  expect(answerOf({ choices: alternatives })).toMatchObject({ content: 'I look.', toolCalls: [] });
});

test('a choice without a message is an answer only where a filter withheld it', () => {
  expect(answerOf({ choices: [{ finish_reason: 'content_filter: PROHIBITED_CONTENT' }] })).toMatchObject({
    content: '',
    brokenEnd: 'filter',
  });
  expect(readAnswer('{"choices":[{"finish_reason":"stop"}]}')).toMatchObject({ type: 'unreadable' });
});

test.each([
  ['in the choice', { choices: [{ message: { content: 'Yes.' }, usage: { prompt_tokens: 7, completion_tokens: 3 } }] }],
  [
    'in x_groq',
    { choices: [{ message: { content: 'Yes.' } }], x_groq: { usage: { prompt_tokens: 7, completion_tokens: 3 } } },
  ],
])('tokens are counted %s', (_, completion) => {
  expect(answerOf(completion)).toMatchObject({ usage: { input: 7, output: 3 } });
});

test('NaN and Infinity of a server in Python are null', () => {
  const logprobs = '{"content": [{"logprob": -Infinity}, {"logprob": NaN}]}';
  expect(answerOf(`{"choices": [{"message": {"content": "NaN"}, "logprobs": ${logprobs}}]}`)).toMatchObject({
    content: 'NaN',
  });
});

test('a call without an id gets one, and a repeated id is made unique', () => {
  const ids = ['', 'c', '0', '0', 'old'].map((id) => ({ ...call, id }));
  expect(nameCalls(ids, 'call_3', ['old', '0']).map(({ id }) => id)).toEqual(['call_3_0', 'c', '0_2', '0_3', 'old_2']);
});

describe('tokens', () => {
  test.each([
    [
      { prompt_tokens: 7, completion_tokens: 3 },
      { input: 7, output: 3 },
    ],
    [
      { prompt_tokens: '10', completion_tokens: '10' },
      { input: 10, output: 10 },
    ],
    [
      { prompt_tokens: 7, total_tokens: 10 },
      { input: 7, output: 3 },
    ],
    [
      { completion_tokens: 3, total_tokens: 10 },
      { input: 7, output: 3 },
    ],
    [
      { input_tokens: 7, output_tokens: 3 },
      { input: 7, output: 3 },
    ],
    [{ total_tokens: 10 }, { input: 10, output: 0 }],
    // xAI counts thoughts beside the completion, OpenAI in it.
    [
      {
        prompt_tokens: 20,
        completion_tokens: 5,
        total_tokens: 1025,
        completion_tokens_details: { reasoning_tokens: 1000 },
      },
      { input: 20, output: 1005 },
    ],
    [
      {
        prompt_tokens: 20,
        completion_tokens: 1005,
        total_tokens: 1025,
        completion_tokens_details: { reasoning_tokens: 1000 },
      },
      { input: 20, output: 1005 },
    ],
    [{ prompt_tokens: null, completion_tokens: null }, null],
    [{ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, null],
    [{ prompt_tokens: 0, completion_tokens: 4, total_tokens: 0 }, null],
    [{ prompt_tokens: 'many' }, null],
    [null, null],
    [undefined, null],
  ])('%j counts as %j', (usage, expected) => {
    expect(answered({ content: 'Yes.' }, usage)).toMatchObject({ usage: expected });
  });
});

test.each([
  [{ hello: 1 }, 'the answer has no choices: {"hello":1}'],
  ['text', 'the answer has no choices: "text"'],
  [{ choices: [{ message: { content: 7 } }] }, /^the content of the message is neither a text nor a list of parts: /],
  [{ choices: [{ message: { tool_calls: [{ id: 'c' }] } }] }, /^choices\.0\.message\.tool_calls\.0\.function: /],
])('%j is not an answer', (completion, problem) => {
  expect(readAnswer(JSON.stringify(completion))).toEqual({
    type: 'unreadable',
    problem: typeof problem === 'string' ? problem : expect.stringMatching(problem),
  });
});
