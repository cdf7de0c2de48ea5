import { describe, expect, test } from 'vitest';
import type { ModelSeat } from '../../../../src/engine/core/domain/seatSpec.ts';
import { describeSimulated, simulatedToolSchema } from '../../../../src/engine/core/domain/simulatedTool.ts';
import { Fault } from '../../../../src/engine/shell/files/fault.ts';
import { askJudgeModel } from '../../../../src/engine/shell/models/judge.ts';
import { streamed } from '../../../../src/engine/shell/models/lentModel.ts';
import { askAgentModel } from '../../../../src/engine/shell/models/openai.ts';
import { askUserModel } from '../../../../src/engine/shell/models/simulatedUser.ts';
import { askToolModel } from '../../../../src/engine/shell/models/toolSimulator.ts';
import { askedAtOnce, endpoint } from '../../../support/endpoint.ts';
import { modelView } from '../../../support/modelView.ts';
import { viewAfter } from '../../core/simulator/view.ts';

type Who = 'agent' | 'user' | 'judge' | 'tool';

/** The outcome of a question. `said` is null if the answer of a judge or a tool cannot be used. */
type Outcome = {
  readonly said?: string | null;
  readonly problem?: string;
  readonly calls?: readonly object[];
  readonly reasoning?: string | undefined;
  readonly brokenEnd?: string | undefined;
  readonly usage?: object | undefined;
  readonly adapted?: readonly string[] | undefined;
  readonly fault?: { readonly who: string; readonly message: string };
  readonly requests: number;
};

const never = new AbortController().signal;
const look = { name: 'look', description: 'Looks.', parameters: { type: 'object' } };
const hours = describeSimulated(
  simulatedToolSchema.parse({ name: 'hours', description: 'Hours.', behaviour: 'Answer.', result: { type: 'object' } }),
);

/** The answer that each seat takes. */
const texts: Readonly<Record<Who, string>> = {
  agent: 'It comes on Thursday.',
  user: 'Yes, please.',
  judge: '{"reason": "It was.", "holds": true}',
  tool: '{"result": {"open": true}}',
};

async function ask(who: Who, seat: ModelSeat): Promise<Omit<Outcome, 'requests' | 'fault'>> {
  switch (who) {
    case 'agent': {
      const { reply, call } = await askAgentModel(seat, '', modelView(), never);
      const { content, toolCalls: calls, reasoning, brokenEnd } = reply;
      return { said: content, calls, reasoning, brokenEnd, usage: call.usage, adapted: call.adapted };
    }
    case 'user': {
      const view = viewAfter(['Please paint chair A1 red.', 'Shall I paint chair A1 red?']);
      const withTool = { ...view, started: { ...view.started, userTools: [look] } };
      const { reply, call } = await askUserModel(seat, '', withTool, never);
      const { content, toolCalls: calls = [], reasoning, brokenEnd } = reply;
      return { said: content, calls, reasoning, brokenEnd, usage: call?.usage, adapted: call?.adapted };
    }
    case 'judge': {
      const subject = { type: 'rule' as const, rule: 'polite' };
      const transcript = 'agent: Good day.';
      const question = { subject, question: 'Was it?', instructions: 'You judge.', transcript };
      const { reply, call } = await askJudgeModel(seat, '', question, never);
      const { usage, adapted } = call ?? {};
      return { said: reply.holds === true ? texts.judge : null, problem: reply.reason, usage, adapted };
    }
    case 'tool': {
      const asked = {
        type: 'simulated',
        name: 'hours',
        step: 1,
        arguments: {},
        problem: null,
        now: '',
        visible: {},
      } as const;
      const { reply, call } = await askToolModel(seat, '', hours, asked, never);
      const { usage, adapted } = call ?? {};
      if ('problem' in reply) return { said: null, problem: reply.problem, usage, adapted };
      return { said: `{"result": ${reply.content.replace(':', ': ')}}`, usage, adapted };
    }
  }
}

type Body = Readonly<Record<string, unknown>>;
type Sent = { readonly status?: number; readonly body: Body | string };

/** Asks a seat at an endpoint with these answers, of which the last one is repeated. */
async function asked(who: Who, answers: readonly Sent[], isStreamed: boolean, refuses: (body: Body) => Sent | null) {
  let requests = 0;
  const baseUrl = await endpoint((nth, text) => {
    requests += 1;
    const sent = refuses(JSON.parse(text) as Body) ?? answers[Math.min(nth, answers.length - 1)];
    const { status = 200, body = {} } = sent ?? {};
    const isEvents = isStreamed && status === 200;
    return { status, body: isEvents ? eventsOf(body) : body, headers: askedAtOnce };
  });
  const seat = { type: 'openai' as const, model: 'm', baseUrl, keyName: null, temperature: 0.5, maxTokens: 64 };
  const outcome = await ask(who, { ...seat, extraBody: { top_p: 0.9 } }).catch((error: unknown) => {
    if (!(error instanceof Fault)) throw error;
    return { fault: error.failure };
  });
  return { ...outcome, requests } as Outcome;
}

/** Returns a body as a stream. A body that is not a completion becomes an event in the middle. */
function eventsOf(body: Body | string): string {
  if (typeof body === 'string') return `data: ${body.replace('"message"', '"delta"')}\n\n`;
  if (Array.isArray(body['choices']) && body['choices'].length > 0) return streamed(body as never);
  const begin = { choices: [{ index: 0, delta: { content: 'It ' } }] };
  return `${[begin, body].map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}`;
}

const whole = (message: object, choice: object = {}, more: object = {}): Sent => ({
  body: { choices: [{ finish_reason: 'stop', message: { role: 'assistant', ...message }, ...choice }], ...more },
});
const error = (fields: object, status = 200): Sent => ({ status, body: { error: fields } });
const calling = (call: object, more: object = {}) =>
  whole({ content: null, tool_calls: [call], ...more }, { finish_reason: 'tool_calls' });

type Row = {
  readonly name: string;
  readonly seats?: readonly Who[];
  readonly sends: (text: string) => readonly Sent[];
  readonly refuses?: (body: Body) => Sent | null;
  readonly becomes: (text: string, who: Who) => object;
};

const seats = ['agent', 'user', 'judge', 'tool'] as const;
const speakers = ['agent', 'user'] as const;
const isSpeaker = (who: Who) => who === 'agent' || who === 'user';
const taken = (said: string) => ({ said });
const once = (said: string) => ({ said, requests: 2 });
const thought = (said: string, who: Who) => ({ said, ...(isSpeaker(who) ? { reasoning: 'Hm.' } : {}) });
/** An incomplete answer: agent and user keep it and name the cause, judge and tool reject it. */
const broken = (brokenEnd: string, said: string, words: RegExp) => (_: string, who: Who) =>
  isSpeaker(who) ? { said, brokenEnd } : { said: null, problem: expect.stringMatching(words) };
const faultOf = (who: string, words: RegExp, requests = 1) => ({
  fault: { who, message: expect.stringMatching(words) },
  requests,
});
const refusal = (said: string, who: Who) =>
  who === 'user'
    ? { fault: { who: 'simulator', code: 'simulator/refused', message: expect.stringMatching(/was refused/) } }
    : broken('refusal', 'No.', /refused/)(said, who);
const unparsed = (_: string, who: Who) =>
  who === 'user'
    ? faultOf('simulator', /its text.*Asked once more.* Is the server's tool-call parser switched on\?$/, 2)
    : { calls: [], brokenEnd: 'unparsed' };
const madeCall = { name: 'look', arguments: { chair: 'A1' } };
const called =
  (call: object = madeCall) =>
  () => ({ calls: [call] });
const tooLong = (_: string, who: Who) =>
  who === 'agent' ? faultOf('agent', /no longer fits/) : faultOf('infrastructure', /answered 200 with an error: /);

const rows: readonly Row[] = [
  {
    name: 'null in place of calls',
    sends: (content) => [whole({ content, tool_calls: null, function_call: null, refusal: null })],
    becomes: taken,
  },
  { name: 'parts', sends: (text) => [whole({ content: [{ type: 'text', text }] })], becomes: taken },
  {
    name: 'a thought with a second closing tag',
    sends: (text) => [whole({ content: `<think>Hm.</think> {"reason": "no", "holds": false} </think>${text}` })],
    becomes: taken,
  },
  {
    name: 'a doubled opening tag of a thought',
    sends: (text) => [whole({ content: `<think>\n<think>\nHm.\n</think>\n${text}` })],
    becomes: thought,
  },
  { name: 'thoughts in tags', sends: (text) => [whole({ content: `<think>Hm.</think>${text}` })], becomes: thought },
  {
    name: 'thoughts without the first tag',
    sends: (text) => [whole({ content: `Hm.</think>${text}` })],
    becomes: thought,
  },
  {
    name: 'thoughts with an answer in them',
    sends: (text) => [whole({ content: `<think>{"reason": "no", "holds": false}</think>${text}` })],
    becomes: taken,
  },
  { name: 'reasoning', sends: (content) => [whole({ content, reasoning: 'Hm.' })], becomes: thought },
  { name: 'reasoning_content', sends: (content) => [whole({ content, reasoning_content: 'Hm.' })], becomes: thought },
  {
    name: 'tokens of Cohere',
    sends: (text) => [
      whole({ content: `<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>${text}<|END_RESPONSE|>` }),
    ],
    becomes: thought,
  },
  {
    name: 'an answer that is cut off',
    sends: (text) => [whole({ content: text.slice(0, 8) }, { finish_reason: 'length' })],
    becomes: (text, who) => broken('length', text.slice(0, 8), /cut off at the token limit/)(text, who),
  },
  {
    name: 'an answer that a filter withheld',
    sends: () => [whole({ content: null }, { finish_reason: 'content_filter' })],
    seats: ['agent', 'judge', 'tool'],
    becomes: broken('filter', '', /withheld by a filter/),
  },
  {
    name: 'a refusal',
    sends: () => [whole({ content: null, refusal: 'No.' })],
    becomes: refusal,
  },
  {
    name: 'a refusal as a part, beside empty errors',
    sends: () => [whole({ content: [{ type: 'refusal', refusal: 'No.' }] }, { error: {} }, { error: '' })],
    becomes: refusal,
  },
  {
    name: 'an answer among the thoughts',
    seats: ['judge', 'tool'],
    sends: (text) => [whole({ content: '', reasoning_content: text })],
    becomes: taken,
  },
  {
    name: 'an answer in a block of code among the thoughts',
    seats: ['judge', 'tool'],
    sends: (text) => [whole({ content: null, reasoning_content: `\`\`\`json\n${text}\n\`\`\`` })],
    becomes: taken,
  },
  {
    name: 'thoughts that are cut off behind an object',
    seats: ['judge', 'tool'],
    sends: (text) => [whole({ content: null, reasoning_content: text }, { finish_reason: 'length' })],
    becomes: () => ({ said: null, problem: expect.stringMatching(/cut off at the token limit/) }),
  },
  {
    name: 'thoughts that end with an example of an answer',
    seats: ['judge', 'tool'],
    sends: (text) => [whole({ content: null, reasoning_content: `I answer in this form. A yes is ${text}` })],
    becomes: (_, who) => ({
      said: null,
      problem: who === 'judge' ? 'the judge gave no clear answer' : expect.stringMatching(/^it is not JSON/),
    }),
  },
  { name: 'no choices once', sends: (content) => [{ body: { choices: [] } }, whole({ content })], becomes: once },
  {
    name: 'an error in a 200 once',
    sends: (content) => [error({ message: 'upstream is away' }), whole({ content })],
    becomes: once,
  },
  {
    name: 'a lasting error in a 200',
    sends: () => [error({ message: 'upstream is away' })],
    becomes: () => faultOf('infrastructure', /answered 200 with an error: upstream is away$/, 4),
  },
  ...[
    { type: 'rate_limit_error', message: 'Slow down.' },
    { code: 'rate_limit_exceeded', message: 'Slow down.' },
    { type: 'overloaded_error', message: 'Slow down.' },
    { status: 'RESOURCE_EXHAUSTED', message: 'Slow down.' },
    { message: 'You reached your rate limit.' },
    { message: 'Too many requests, slow down.', type: 'invalid_request_error' },
    { http_status_code: 429, message: 'Slow down.' },
  ].map(
    (fields): Row => ({
      name: `a limit in a 200: ${JSON.stringify(fields)}`,
      // A rate limit is retried more often than other failures.
      sends: (content) => [...Array.from({ length: 5 }, () => error(fields)), whole({ content })],
      becomes: (said) => ({ said, requests: 6 }),
    }),
  ),
  {
    name: 'an account without money in a 200',
    sends: () => [{ body: { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } } }],
    becomes: () => faultOf('infrastructure', /no quota left for this key: insufficient balance/),
  },
  {
    name: 'a refused key in a 200',
    sends: () => [error({ type: 'authentication_error', message: 'invalid x-api-key' })],
    becomes: () => faultOf('infrastructure', /requires a key \(200 with an error\)/),
  },
  ...[
    { code: 'context_length_exceeded', message: 'Please shorten it.' },
    { type: 'exceed_context_size_error', message: 'Please shorten it.' },
    { message: "This model's maximum context length is 4096 tokens." },
    { type: 'server_error', message: 'Context size has been exceeded.' },
  ].map(
    (fields): Row => ({
      name: `no room, in a 200: ${JSON.stringify(fields)}`,
      sends: () => [error(fields)],
      becomes: tooLong,
    }),
  ),
  {
    name: 'a part of the counts',
    sends: (content) => [whole({ content }, {}, { usage: { prompt_tokens: '7', total_tokens: 10 } })],
    becomes: (said) => ({ said, usage: { input: 7, output: 3 } }),
  },
  ...(
    [
      [
        'only temperature 1',
        'temperature',
        "'temperature' does not support 0.5. Only the default (1) is supported.",
        'without temperature',
      ],
      [
        'no max_tokens',
        'max_tokens',
        "'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
        'with max_completion_tokens in place of max_tokens',
      ],
      [
        'temperature or top_p',
        'top_p',
        '`temperature` and `top_p` cannot both be specified for this model.',
        'without top_p beside temperature',
      ],
      [
        'top_p or temperature',
        'top_p',
        '`top_p` and `temperature` cannot both be specified. Use only one.',
        'without top_p beside temperature',
      ],
    ] as const
  ).map(
    ([name, field, message, how]): Row => ({
      name: `a model that takes ${name}`,
      refuses: (body) => (field in body ? error({ message, type: 'invalid_request_error' }, 400) : null),
      sends: (content) => [whole({ content })],
      becomes: (said) => ({ said, requests: 2, adapted: [how] }),
    }),
  ),
  {
    name: 'null arguments',
    seats: speakers,
    sends: () => [calling({ id: 'c', type: 'function', function: { name: 'look', arguments: null } })],
    becomes: called({ name: 'look', arguments: {} }),
  },
  {
    name: 'arguments that are an object, with exact numbers',
    seats: speakers,
    sends: () => [
      {
        body: '{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[{"id":9007199254740993,"function":{"name":"look","arguments":{"to":9007199254740993,"code":"9007199254740993","amount":5.0}}}]}}]}',
      },
    ],
    becomes: called({
      id: '9007199254740993',
      arguments: { to: '9007199254740993', code: '9007199254740993', amount: 5 },
      integers: ['/to'],
      floats: ['/amount'],
    }),
  },
  {
    name: 'a call without a type, with a numeric id',
    seats: speakers,
    sends: () => [calling({ id: 7, function: { name: 'look', arguments: '{"chair": "A1"}' } })],
    becomes: called({ id: '7', ...madeCall }),
  },
  {
    name: 'a function_call',
    seats: speakers,
    sends: () => [whole({ content: null, function_call: { name: 'look', arguments: '{"chair": "A1"}' } })],
    becomes: called(),
  },
  {
    name: 'a call in both forms',
    seats: speakers,
    sends: () => [
      calling(
        { id: 'c', function: { name: 'look', arguments: '{"chair": "A1"}' } },
        { function_call: { name: 'look', arguments: '{"chair": "A1"}' } },
      ),
    ],
    becomes: called({ id: 'c', ...madeCall }),
  },
  {
    name: 'a call in the text',
    seats: speakers,
    sends: () => [whole({ content: '<tool_call>{"name": "look", "arguments": {"chair": "A1"}}</tool_call>' })],
    becomes: unparsed,
  },
  ...[
    '<|channel|>commentary to=functions.look <|constrain|>json<|message|>{"at":1}<|call|>',
    '<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.look<|message|>{}<|call|>',
    'analysisI look.assistantcommentary to=functions.look json{"at":1}',
  ].map(
    (content): Row => ({
      name: `a call in the channels of gpt-oss: ${content}`,
      seats: speakers,
      sends: () => [whole({ content })],
      becomes: unparsed,
    }),
  ),
  {
    name: 'braces in the reason',
    seats: ['judge'],
    sends: () => [
      whole({ content: '{"holds": true, "reason": "The call find_parcel {\\"parcel\\":\\"P46\\"} came first."}' }),
    ],
    becomes: taken,
  },
  {
    name: 'an object of the conversation, and then its own',
    seats: ['judge'],
    sends: () => [whole({ content: 'It says {"holds": true}. {"holds": false, "reason": "it wrote {holds} itself"}' })],
    becomes: () => ({ said: null, problem: 'it wrote {holds} itself' }),
  },
  {
    name: 'a brace behind the answer',
    seats: ['judge'],
    sends: (text) => [whole({ content: `${text} The brace { is open.` })],
    becomes: taken,
  },
  {
    name: 'two answers that differ',
    seats: ['tool'],
    sends: (text) => [whole({ content: `${text} or {"result": {"open": false}}` })],
    becomes: () => ({ said: null, problem: 'it has several answers that differ' }),
  },
  ...(
    [
      ['Schema {"result": {"open": "boolean"}} => {"result": {"open": true},}', 'has an object that cannot be read'],
      ['E.g. {"result": {"open": false}}. Answer: {"result": {"open": "ye"s}}', 'has an object that cannot be read'],
      ['E.g. {"result": {"open": false}}\n\n{"result": {"open": tr', 'breaks off'],
      ['{"result": {"open": false}} {"result": []}', 'has another object after its answer'],
      ['{"result": {"open": false}}\n\nWait, it is open.', 'says more after its object, which may take it back'],
    ] as const
  ).map(
    ([content, why]): Row => ({
      name: `an example before an answer that ${why}: ${content}`,
      seats: ['tool'],
      sends: () => [whole({ content })],
      becomes: () => ({ said: null, problem: `it ${why}` }),
    }),
  ),
];

const cases = rows.flatMap((row) => [false, true].map((isStreamed) => ({ ...row, isStreamed })));

describe('every seat takes what endpoints answer', () => {
  test.each(cases)('$name (streamed: $isStreamed)', async (row) => {
    const outcomes = (row.seats ?? seats).map(async (who) => {
      const sent = row.sends(texts[who]);
      const outcome = await asked(who, sent, row.isStreamed, row.refuses ?? (() => null));
      return { who, ...outcome };
    });
    expect(await Promise.all(outcomes)).toMatchObject(
      (row.seats ?? seats).map((who) => ({ who, ...row.becomes(texts[who], who) })),
    );
  });
});
