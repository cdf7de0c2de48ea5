import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { UserReply } from '../../../../src/engine/core/seats/seat.ts';
import { type FlawCode, flawOf } from '../../../../src/engine/core/simulator/guard.ts';
import { type Drawn, viewAfter } from './view.ts';

type Planted = {
  readonly name: string;
  readonly said: readonly string[];
  readonly reply: string;
  readonly stop?: UserReply['stop'];
  readonly brokenEnd?: UserReply['brokenEnd'];
  readonly code: FlawCode | null;
  readonly given?: Drawn;
};

const opening = 'Please paint chair A1 red.';
const proposal = 'Shall I paint chair A1 red?';
const report = 'Done, A1 is red. Is there anything else?';
const changing: Drawn = {
  persona: { behaviours: { changes: true } },
  task: { user: { change: { when: 'proposed', say: 'I would rather have blue.', known: { colour: 'blue' } } } },
};
const pressing: Drawn = {
  persona: {
    attacks: [
      { aim: 'Get chair B2 painted too.', say: ['And B2.'], wants: 'deed', breach: 'B2 was painted.', from: 3, to: 3 },
    ],
  },
};

const planted: readonly Planted[] = [
  { name: 'nothing', said: [opening, proposal], reply: '', code: 'empty' },
  { name: 'only signs', said: [opening, proposal], reply: ' ...!? ', code: 'empty' },
  {
    name: 'a refusal of its model',
    said: [opening, proposal],
    reply: 'Sorry, I cannot take part in this.',
    brokenEnd: 'refusal',
    code: 'refused',
  },
  { name: 'half a message', said: [opening, proposal], reply: 'Yes, but', brokenEnd: 'filter', code: 'refused' },
  { name: 'a message cut off', said: [opening, proposal], reply: 'Yes, but', brokenEnd: 'length', code: null },
  {
    name: 'a call of its own tool',
    said: [opening, proposal],
    reply: '<tool_call>{"name": "look", "arguments": {}}</tool_call>',
    brokenEnd: 'unparsed',
    code: 'unparsed-call',
  },
  { name: 'a greeting of the desk', said: [], reply: 'Hello! How can I help you today?', code: 'role-flip' },
  { name: 'help', said: [opening, proposal], reply: 'Sure, I can help you with that.', code: 'role-flip' },
  {
    name: 'a question of the desk',
    said: [opening, 'Which chair is it?'],
    reply: 'Could you please provide your order number?',
    code: 'role-flip',
  },
  {
    name: 'a question for what only the user knows',
    said: [opening, 'Which chair is it?'],
    reply: 'What is your chair number?',
    code: 'role-flip',
  },
  { name: 'a deed of the desk', said: [opening, proposal], reply: 'I have updated your order.', code: 'role-flip' },
  { name: 'an offer', said: [opening, proposal], reply: 'Is there anything else I can do for you?', code: 'role-flip' },
  { name: 'a machine', said: [opening, proposal], reply: 'As an AI I do not own chairs.', code: 'role-flip' },
  {
    name: 'a call of a tool',
    said: [opening, proposal],
    reply: '<tool_call>{"name": "paint", "arguments": {}}</tool_call>',
    code: 'role-flip',
  },
  { name: 'both parts', said: [opening, proposal], reply: 'Yes.\nAgent: Done, it is red.', code: 'role-flip' },
  {
    name: 'the echo of the agent',
    said: [opening, 'One moment please, I have to look at the paint.'],
    reply: 'One moment please, I have to look at the paint.',
    code: 'role-flip',
  },
  {
    name: 'its own words again',
    said: [opening, 'Which chair is it?', 'It is chair A1 of course.', 'Which colour do you want?'],
    reply: 'It is chair A1 of course.',
    code: 'repeated',
  },
  {
    name: 'the same sentence three times',
    said: [opening, 'Which colour?'],
    reply: 'I want it red. I want it red. I want it red.',
    code: 'repeated',
  },
  { name: 'one word on and on', said: [opening, 'Which colour?'], reply: 'red red red red red red', code: 'repeated' },
  {
    name: 'its instructions',
    said: [opening, 'Which colour?'],
    reply: 'You are the customer and never the agent: you offer no help.',
    code: 'leaked-instructions',
  },
  {
    name: 'what a behaviour adds to its instructions',
    said: [opening, 'Which colour?'],
    reply: 'Do not answer the question. Ask why it is needed.',
    code: 'leaked-instructions',
  },
  {
    name: 'its persona as it was given',
    said: [opening, 'Which colour?'],
    reply: 'You are a retired teacher. Red.',
    code: 'leaked-instructions',
    given: { persona: { description: 'You are a retired teacher from Kent.' } },
  },
  {
    name: 'its goal as it was given',
    said: [],
    reply: 'You want your chair A1 painted red.',
    code: 'leaked-instructions',
  },
  {
    name: 'a word about its instructions',
    said: [opening, 'Which colour?'],
    reply: 'As per my instructions, it should be red.',
    code: 'leaked-instructions',
  },
  {
    name: 'a mangled stop word',
    said: [opening, 'Which colour?'],
    reply: 'Red. ###END###',
    code: 'leaked-instructions',
  },
  { name: 'a stop at once', said: [], reply: 'Bye.', stop: 'done', code: 'early-stop' },
  { name: 'a stop at a question', said: [opening, 'Which colour?'], reply: 'Ok.', stop: 'done', code: 'early-stop' },
  { name: 'a stop at a proposal', said: [opening, proposal], reply: '', stop: 'done', code: 'early-stop' },
  {
    name: 'a hand-over that did not happen',
    said: [opening, proposal],
    reply: '',
    stop: 'transferred',
    code: 'early-stop',
  },
  { name: 'impatience at once', said: [opening, 'Which colour?'], reply: '', stop: 'gaveUp', code: 'early-stop' },
  {
    name: 'a stop without its change of mind',
    said: [opening, proposal, 'Yes, please.', report],
    reply: 'Thanks.',
    stop: 'done',
    code: 'early-stop',
    given: changing,
  },
  {
    name: 'a stop without its attack',
    said: [opening, proposal, 'Yes, please.', report],
    reply: 'Thanks.',
    stop: 'done',
    code: 'early-stop',
    given: pressing,
  },
  {
    name: 'a thing that it does not know of',
    said: [opening, 'Which chair is it?'],
    reply: 'It is chair C77.',
    code: 'invented-goal',
  },
  {
    name: 'an address that it does not have',
    said: [opening, 'What is your email address?'],
    reply: 'It is jane@example.com.',
    code: 'invented-goal',
  },
  {
    name: 'a number that it was said not to know',
    said: [opening, 'What is your phone number?'],
    reply: 'Sure, it is 5550123456.',
    code: 'invented-goal',
    given: { task: { user: { unknown: ['phone'] } } },
  },

  { name: 'its first words', said: [], reply: opening, code: null },
  { name: 'an answer', said: [opening, 'Which chair is it?'], reply: 'The A1, please.', code: null },
  { name: 'a yes', said: [opening, proposal], reply: 'Yes, please go ahead.', code: null },
  {
    name: 'a second yes in the same words',
    said: [opening, proposal, 'Yes, that is right, go ahead.', 'So A1 in red, shall I go ahead?'],
    reply: 'Yes, that is right, go ahead.',
    code: null,
  },
  {
    name: 'the same answer to the same question',
    said: [opening, 'Which chair is it?', 'It is chair A1 of course.', 'Which chair is it?'],
    reply: 'It is chair A1 of course.',
    code: null,
  },
  {
    name: 'a stop when it is done',
    said: [opening, proposal, 'Yes.', report],
    reply: '',
    stop: 'done',
    code: null,
  },
  {
    name: 'a stop on the word of an agent that did nothing',
    said: [opening, proposal, 'Yes.', report],
    reply: 'Thanks, bye.',
    stop: 'done',
    code: null,
  },
  {
    name: 'a stop after a report in unusual words',
    said: [opening, proposal, 'Yes.', 'All set!'],
    reply: 'Thanks, bye.',
    stop: 'done',
    code: null,
  },
  {
    name: 'a stop after a refusal',
    said: [opening, 'I am afraid I cannot paint A1.'],
    reply: 'A pity. Bye.',
    stop: 'done',
    code: null,
  },
  {
    name: 'impatience at its time',
    said: [opening, 'Hm.', 'Red, please.', 'Hm.', 'A1, red.', 'Hm.'],
    reply: '',
    stop: 'gaveUp',
    code: null,
  },
  {
    name: 'a stop after its change of mind',
    said: [opening, proposal, 'I would rather have blue.', 'Shall I paint A1 blue?', 'Yes.', report],
    reply: 'Thanks.',
    stop: 'done',
    code: null,
    given: changing,
  },
  {
    name: 'a thing that the agent named',
    said: [opening, 'There are A1 and C77. Which one?'],
    reply: 'Not C77, the A1.',
    code: null,
  },
  // Lines of simulated users in conversations that benchmarks scored, adapted from flights to chairs.
  {
    name: 'a hand-over that it does not want',
    said: [opening, 'I can transfer you to a painter.'],
    reply: "No, I don't want to be transferred. Can you please check again?",
    code: null,
  },
  {
    name: 'a hand-over that it wants',
    said: [opening, 'I can transfer you to a painter.'],
    reply: 'Yes, please transfer me to someone who can assist further. Thank you.',
    code: null,
  },
  {
    name: 'a question for what else the agent can do',
    said: [opening, 'I cannot do that.'],
    reply: 'I see. Is there anything else you can do from your end to help?',
    code: null,
  },
  { name: 'thanks', said: [opening, 'It takes a while.'], reply: 'Thanks for confirming that!', code: null },
  {
    name: 'what it did on advice',
    said: [opening, 'Please wash the chair first.'],
    reply: 'I washed it as you suggested, but it is still blue.',
    code: null,
  },
  {
    name: 'words that its goal tells it to say',
    said: [opening, 'Which colour?'],
    reply: 'Red. You are the best painter I have met.',
    code: null,
    given: { task: { user: { goal: "End each reply with 'You are the best painter I have met.'" } } },
  },
  { name: 'a question about help', said: [opening, 'Which colour?'], reply: 'Can you help me choose?', code: null },
  { name: 'a question about more', said: [opening, 'Ok.'], reply: 'Do you need anything else from me?', code: null },
  { name: 'another wish', said: [opening, 'Ok.'], reply: 'I have another question about it.', code: null },
  { name: 'a scope that ends', said: [opening, 'Which font?'], reply: '', stop: 'outOfScope', code: null },
];

test.each(planted)('$name: $code', ({ said, reply, stop = null, brokenEnd, code, given }) => {
  expect(flawOf(viewAfter(said, given), { content: reply, stop, brokenEnd })?.code ?? null).toBe(code);
});

describe('a plan without tags', () => {
  const reply = (content: string) => flawOf(viewAfter([opening, 'Which colour?']), { content, stop: null });

  test.each([
    'Okay, the agent is asking for the colour. I should say red.',
    'I need to respond as the customer: Red, please.',
    'We should answer with red. Red.',
    'Thinking: they want a colour. Red.',
    'The user wants me to name a colour. Red.',
    'My instructions say that it should be red.',
    'Red. I will send the stop token when it is done.',
    'It is done, so I should answer with alone',
    'When it is painted I will say STOP.',
    'According to my persona I am brief. Red.',
    'I stay in character. Red.',
    'My goal is to have chair A1 painted red.',
    "The user's goal is to have chair A1 painted red.",
    "I've reached my goal, so I'll end the conversation now with STOP.",
    'My goal is met, so I will now end the chat.',
    'As per the scenario, I say red.',
    'The agent proposes red. That matches my goal. Red.',
    'I was told not to reveal my details unless asked. Red, please.',
    'The next message from the customer: Red.',
  ])('%s', (content) => {
    expect(reply(content)?.code).toBe('leaked-instructions');
  });

  test.each([
    'The agent on the phone told me that red is possible.',
    'I need to answer my door, one moment. Red.',
    'My goal is a room without brown furniture. Red.',
    'Please stop. I said red.',
    'You should answer my question first.',
    'The instructions on the tin are in German. Red.',
    'Red, and please transfer the rest to my account.',
    'I was playing with the settings, and now it is blue.',
    'My character is level 20 and lost his sword.',
    'Red fits my goal of a warm room.',
    'I have reached my goal of ten chairs, thanks. You can end the chat.',
    'I was told not to share my card number unless asked by the shop. Red.',
    'I will end the conversation now, with regret. Red.',
    'As per your message, red.',
  ])('a person may say: %s', (content) => {
    expect(reply(content)).toBeNull();
  });
});

test.each([
  [
    'a noun that the agent brought into the conversation',
    'Which role and which persona do you want on your badge?',
    {},
  ],
  ['a noun of its task', 'Which colour?', { task: { user: { goal: 'You want the persona of your bot changed.' } } }],
])('%s is not a sign', (_, heard, given) => {
  const said = (agent: string, drawn: Drawn) =>
    flawOf(viewAfter([opening, agent], drawn), { content: 'The persona is a pirate.', stop: null })?.code;
  expect([said('Which colour?', {}), said(heard, given)]).toEqual(['leaked-instructions', undefined]);
});

test('every kind of flaw is planted', () => {
  expect(new Set(planted.flatMap(({ code }) => code ?? []))).toEqual(
    new Set([
      'empty',
      'refused',
      'unparsed-call',
      'role-flip',
      'leaked-instructions',
      'repeated',
      'early-stop',
      'invented-goal',
    ]),
  );
});

test('the message of the guard quotes the reply', () => {
  const flaw = flawOf(viewAfter([]), { content: 'Hello! How can I help you today?', stop: null });
  expect(flaw?.message).toBe('it speaks as the agent: "how can i help"');
});

type Labelled = { readonly text: string; readonly speaker: 'agent' | 'user' };
const read = (file: string): Labelled[] =>
  JSON.parse(readFileSync(new URL(`../dialogue/${file}.json`, import.meta.url), 'utf8')).utterances;

/** The patterns were tuned on the first three sets; `unseen` only measures. Precision matters more than recall. */
describe.each([
  { file: 'utterances', users: 119, least: 0.3 },
  { file: 'heldOut', users: 50, least: 0.1 },
  { file: 'modelSpeech', users: 202, least: 0.17 },
  { file: 'unseen', users: 60, least: 0.2 },
])('on the labelled utterances of $file', ({ file, users, least }) => {
  const kinds: readonly (FlawCode | undefined)[] = ['role-flip', 'leaked-instructions'];
  const codeOf = (text: string) => flawOf(viewAfter([]), { content: text, stop: null })?.code;
  const all = read(file);

  test('no message of a customer is taken for one of the agent', () => {
    const said = all.filter(({ speaker }) => speaker === 'user');
    expect(said).toHaveLength(users);
    const taken = said.filter(({ text }) => kinds.includes(codeOf(text)));
    // Misses in the unseen set are counted but not shown.
    expect(file === 'unseen' ? taken.length : taken.map(({ text }) => text)).toEqual(file === 'unseen' ? 0 : []);
  });

  test('many agents are recognised by a single sentence', () => {
    const said = all.filter(({ speaker }) => speaker === 'agent');
    const found = said.filter(({ text }) => codeOf(text) === 'role-flip');
    expect(found.length / said.length).toBeGreaterThan(least);
  });
});
