import type { ServerResponse } from 'node:http';
import { breakOff, chatCompletion, sendJson } from '../support/chatResponse.ts';

/** The seats that a model takes. */
export type Seat = 'agent' | 'user' | 'judge' | 'tool';

/** A message of a model, as its endpoint sends it. */
export type Message = {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly tool_calls?: readonly Call[];
};
type Call = {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
};

/** What may become of an affected rollout. `agent` is a reward of 0 whose reason names the cause. */
export type Outcome = 'unchanged' | 'unscored' | 'agent';

/** One fault of an endpoint. */
export type ChatFault = {
  readonly name: string;
  readonly seats: readonly Seat[];
  /** Whether it is injected into every request from the chosen one on, and not that one alone. */
  readonly isLasting?: boolean;
  /** How it answers where the model would send this message in the case of this name. */
  readonly inject: (message: Message, response: ServerResponse, name: string) => void;
  /** Whether it can be injected in place of a message; by default of every one. */
  readonly fits?: (message: Message) => boolean;
  /** Whether the rollout waits for a time limit. `npm test` leaves such a fault out. */
  readonly isSlow?: boolean;
  /** What may become of the rollout, with what its reason or failure says. */
  readonly outcomes: Partial<Readonly<Record<Outcome, RegExp>>>;
};

const everySeat: readonly Seat[] = ['agent', 'user', 'judge', 'tool'];
const hasCalls = ({ tool_calls }: Message) => tool_calls !== undefined;
const hasText = ({ content }: Message) => content !== null;

/** A fault in the form of a message: what it means is clear, so the rollout is as without it. */
const form = (
  name: string,
  change: (message: Message) => object,
  more: Pick<ChatFault, 'fits'> & { readonly seats?: readonly Seat[] } = {},
): ChatFault => ({
  seats: more.fits === hasCalls ? ['agent'] : everySeat,
  ...more,
  name,
  inject: (message, response) => sendJson(response, 200, chatCompletion(change(message))),
  outcomes: { unchanged: /./ },
});

/** A fault in what is around a message. */
const whole = (name: string, change: (message: Message) => object, seats = everySeat): ChatFault => ({
  name,
  seats,
  inject: (message, response) => sendJson(response, 200, change(message)),
  outcomes: { unchanged: /./ },
});

/** A fault that passes: the request is made again. */
const passing = (name: string, inject: (response: ServerResponse) => void): ChatFault => ({
  name: `${name}, once`,
  seats: everySeat,
  inject: (_, response) => inject(response),
  outcomes: { unchanged: /./ },
});

/** A fault that stays: the rollout, or its verification, has no result. */
const lasting = (name: string, inject: (response: ServerResponse) => void, cause: RegExp): ChatFault => ({
  name: `${name}, always`,
  seats: everySeat,
  isLasting: true,
  inject: (_, response) => inject(response),
  outcomes: { unscored: cause },
});

/** The model of a seat gives a wrong answer. CASE is replaced by the name of the case. */
const saying = (
  seat: Seat,
  name: string,
  content: string,
  outcomes: ChatFault['outcomes'],
  finish_reason = 'stop',
): ChatFault => ({
  name,
  seats: [seat],
  inject: (_, response, own) => {
    const message = { role: 'assistant', content: content.replace('CASE', own) };
    sendJson(response, 200, chatCompletion(message, { finish_reason }));
  },
  outcomes,
});

const reset = (response: ServerResponse) => void response.destroy();
const hang = () => undefined;
const status =
  (code: number, message: string, more: object = {}) =>
  (response: ServerResponse) =>
    sendJson(response, code, { error: { message, ...more } });
const page = (response: ServerResponse) =>
  sendJson(response, 502, '<html><body><h1>502 Bad Gateway</h1></body></html>', { 'content-type': 'text/html' });
const within200 = (response: ServerResponse) =>
  sendJson(response, 200, { error: { message: 'upstream is away', code: 502 } });
const noChoices = (response: ServerResponse) => sendJson(response, 200, { ...chatCompletion({}), choices: [] });

/** What a seat thinks where a fault lets it. The judge says no to a conversation in which this is said. */
const thoughts = 'The case is settled on Thursday. I would say {"holds": false}.';
const called = ({ tool_calls = [] }: Message, change: (call: Call) => object) => tool_calls.map(change);

export const chatFaults: readonly ChatFault[] = [
  form('tool_calls is null', (message) => ({ ...message, tool_calls: null }), { fits: hasText }),
  form('tool_calls is empty', (message) => ({ ...message, tool_calls: [] }), { fits: hasText }),
  form(
    'the content is a list of parts',
    (message) => ({ ...message, content: [{ type: 'text', text: message.content }] }),
    {
      fits: hasText,
    },
  ),
  form('the content is missing beside calls', ({ content: _, ...message }) => message, { fits: hasCalls }),
  form('the content is empty beside calls', (message) => ({ ...message, content: '' }), { fits: hasCalls }),
  form(
    'a call without a type',
    (message) => ({ ...message, tool_calls: called(message, ({ type: _, ...call }) => call) }),
    { fits: hasCalls },
  ),
  form(
    'a call with a number as its id',
    (message) => ({ ...message, tool_calls: called(message, (call) => ({ ...call, id: 17 })) }),
    {
      fits: hasCalls,
    },
  ),
  form(
    'a call without an id',
    (message) => ({ ...message, tool_calls: called(message, ({ id: _, ...call }) => call) }),
    {
      fits: hasCalls,
    },
  ),
  form(
    'a call with an object as its arguments',
    (message) => ({
      ...message,
      tool_calls: called(message, (call) => ({
        ...call,
        function: { ...call.function, arguments: JSON.parse(call.function.arguments) },
      })),
    }),
    { fits: hasCalls },
  ),
  form(
    'a legacy function_call',
    ({ tool_calls = [], ...message }) => ({ ...message, function_call: tool_calls[0]?.function }),
    { fits: hasCalls },
  ),
  form(
    'thoughts in tags before the text',
    (message) => ({ ...message, content: `<think>${thoughts}</think>${message.content}` }),
    {
      fits: hasText,
    },
  ),
  form('thoughts in tags before a call', (message) => ({ ...message, content: `<think>${thoughts}</think>` }), {
    fits: hasCalls,
  }),
  form('reasoning_content', (message) => ({ ...message, reasoning_content: thoughts })),
  form('reasoning', (message) => ({ ...message, reasoning: thoughts })),
  form('unknown fields', (message) => ({
    ...message,
    annotations: [],
    audio: null,
    refusal: null,
    provider: { a: [1] },
  })),
  form('a null in place of each absent field', (message) => ({
    ...message,
    name: null,
    refusal: null,
    function_call: null,
    reasoning_content: null,
  })),
  form(
    'prose around the JSON',
    (message) => ({ ...message, content: `Here you are:\n\`\`\`json\n${message.content}\n\`\`\`\nBye.` }),
    {
      fits: hasText,
      seats: ['judge', 'tool'],
    },
  ),
  form(
    'a quoted answer before the own one',
    ({ content, ...message }) => ({
      ...message,
      content: `The agent wrote {"note": "it is done"}, which decides nothing. ${content}`,
    }),
    { fits: hasText, seats: ['judge', 'tool'] },
  ),
  whole('no usage', (message) => ({ ...chatCompletion(message), usage: undefined })),
  whole('usage is null', (message) => chatCompletion(message, {}, { usage: null })),
  whole('usage with a total alone', (message) => chatCompletion(message, {}, { usage: { total_tokens: 10 } })),
  whole('counts as texts', (message) =>
    chatCompletion(message, {}, { usage: { prompt_tokens: '7', completion_tokens: '3' } }),
  ),
  whole('no id, object, created and model', (message) => ({ choices: [{ message }] })),
  whole('finish_reason is null', (message) => chatCompletion(message, { finish_reason: null })),
  whole('an unknown finish_reason', (message) => chatCompletion(message, { finish_reason: 'eos' })),
  whole('logprobs is null', (message) => chatCompletion(message, { logprobs: null })),
  passing('429 without a wait', status(429, 'slow down')),
  passing('429 with a wait', (response) =>
    sendJson(response, 429, { error: { message: 'slow down' } }, { 'retry-after-ms': '20' }),
  ),
  passing('500', status(500, 'boom')),
  passing('503', status(503, 'restarting')),
  passing('529', status(529, 'overloaded')),
  passing('a page of a gateway', page),
  passing('a connection that is reset', reset),
  passing('an answer that breaks off', breakOff),
  passing('no choices', noChoices),
  passing('an error with status 200', within200),
  passing('a JSON text that is not an object', (response) => sendJson(response, 502, '"bad gateway"')),
  { ...passing('no answer', hang), isSlow: true },
  lasting('500', status(500, 'boom'), /500/),
  lasting('a page of a gateway', page, /502/),
  lasting('a connection that is reset', reset, /can't be reached/),
  lasting('an answer that breaks off', breakOff, /broke off/),
  lasting('no choices', noChoices, /the answer has no choices/),
  lasting('an error with status 200', within200, /upstream is away/),
  lasting('a wrong key', status(401, 'Incorrect API key provided'), /wants a key \(401\)/),
  lasting('an unknown model', status(404, 'The model m does not exist'), /The model m does not exist/),
  { ...lasting('no answer', hang, /did not answer within/), isSlow: true },
  {
    name: 'the context is too long, as vLLM says it',
    seats: ['agent'],
    isLasting: true,
    inject: (_, response) =>
      sendJson(response, 400, {
        object: 'error',
        message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
        type: 'BadRequestError',
        code: 400,
      }),
    outcomes: { agent: /context/ },
  },
  {
    name: 'the text is cut at the limit of tokens',
    seats: ['agent'],
    fits: hasText,
    inject: (message, response) =>
      sendJson(
        response,
        200,
        chatCompletion({ ...message, content: (message.content ?? '').slice(0, 9) }, { finish_reason: 'length' }),
      ),
    outcomes: { unchanged: /cut off/, agent: /cut off/, unscored: /cut off/ },
  },
  {
    name: 'the arguments of a call are cut at the limit of tokens',
    seats: ['agent'],
    fits: hasCalls,
    inject: (message, response) => {
      const cut = called(message, (call) => ({
        ...call,
        function: { ...call.function, arguments: call.function.arguments.slice(0, 6) },
      }));
      sendJson(response, 200, chatCompletion({ ...message, tool_calls: cut }, { finish_reason: 'length' }));
    },
    outcomes: { unchanged: /cut off/, agent: /cut off/ },
  },
  {
    ...saying('judge', 'it is cut before it decides', '{"reason": "The agent', { unscored: /cut off/ }, 'length'),
    isLasting: true,
  },
  {
    ...saying('judge', 'it contradicts itself', '{"reason":"a","holds":true} or {"reason":"b","holds":false}', {
      unscored: /gave answers that disagree/,
    }),
    isLasting: true,
  },
  {
    ...saying('judge', 'it gives no decision', 'It is hard to tell.', { unscored: /gave no clear answer/ }),
    isLasting: true,
  },
  {
    ...saying('tool', 'it gives no JSON', 'It is sunny.', { unscored: /no answer that can be used/ }),
    isLasting: true,
  },
  saying('tool', 'it gives no JSON, once', 'It is sunny.', { unchanged: /./ }),
  {
    ...saying('user', 'it is wedged and repeats itself', 'Hello, I would like CASE settled, please.', {
      unscored: /it said exactly that before/,
    }),
    isLasting: true,
  },
  { ...saying('user', 'it says nothing', '', { unscored: /says nothing/ }), isLasting: true },
  {
    ...saying(
      'user',
      'it says its instructions',
      'My instructions say that I am a simulated user and that I must write ###STOP### when my goal is reached.',
      { unscored: /it speaks about its instructions/ },
    ),
    isLasting: true,
  },
];
