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

/** An allowed outcome of an affected rollout. `agent` is a reward of 0 whose reason names the cause. */
export type Outcome = 'unchanged' | 'unscored' | 'agent';

/** A request that a fault may be injected into. */
export type ChatRequest = {
  readonly response: ServerResponse;
  readonly body: ChatBody;
  /** The model's message without the fault. */
  readonly message: Message;
  /** The model's message to the seat's previous request, if there was one. */
  readonly before?: Message | undefined;
  /** The number of times that the fault was already injected into the rollout. */
  readonly times: number;
  /** The name of the case. */
  readonly name: string;
};
export type ChatBody = {
  readonly messages: readonly {
    readonly role: string;
    readonly content?: unknown;
    readonly tool_calls?: readonly SentCall[];
  }[];
  readonly stream?: boolean;
  readonly temperature?: number;
  readonly response_format?: unknown;
};
type SentCall = {
  readonly id: string;
  readonly extra_content?: unknown;
  readonly function?: { readonly name: string };
};

/** One fault of an endpoint. */
export type ChatFault = {
  readonly name: string;
  readonly seats: readonly Seat[];
  /** Whether it is injected into every request from the chosen one on, instead of that one alone. */
  readonly isLasting?: boolean;
  readonly inject: (request: ChatRequest) => void;
  /** The body that `inject` sends with status 200, if it is a chat completion or replaces one. */
  readonly answer?: (request: ChatRequest) => object;
  /** Whether it can be injected in place of a message; by default of every one. */
  readonly fits?: (message: Message) => boolean;
  /** Whether the rollout waits for a time limit. `npm test` leaves such a fault out. */
  readonly isSlow?: boolean;
  /** The allowed outcomes of the rollout, each with a pattern for its reason or failure. */
  readonly outcomes: Partial<Readonly<Record<Outcome, RegExp>>>;
};

export const everySeat: readonly Seat[] = ['agent', 'user', 'judge', 'tool'];
export const hasCalls = ({ tool_calls }: Message) => tool_calls !== undefined;
const hasText = ({ content }: Message) => content !== null;
const same = { unchanged: /./ };

/** A fault that answers with status 200. */
const answering = (
  fault: Omit<ChatFault, 'inject'> & { readonly answer: (request: ChatRequest) => object },
): ChatFault => ({
  ...fault,
  inject: (request) => sendJson(request.response, 200, fault.answer(request)),
});

/** A fault in the form of a message whose meaning is clear, so the rollout is as without it. */
const form = (
  name: string,
  change: (message: Message) => object,
  more: Pick<ChatFault, 'fits' | 'isLasting'> & { readonly seats?: readonly Seat[] } = {},
): ChatFault =>
  answering({
    seats: more.fits === hasCalls ? ['agent'] : everySeat,
    ...more,
    name,
    answer: ({ message }) => chatCompletion(change(message)),
    outcomes: same,
  });

/** A fault in the form of the calls of a message. */
const ofCalls = (name: string, change: (call: Call) => object, more: Pick<ChatFault, 'isLasting'> = {}): ChatFault =>
  form(name, (message) => ({ ...message, tool_calls: called(message, change) }), { ...more, fits: hasCalls });

/** A fault in the form of the text of a message. */
const ofText = (name: string, change: (text: string) => unknown, seats = everySeat): ChatFault =>
  form(name, (message) => ({ ...message, content: change(message.content ?? '') }), { fits: hasText, seats });

/** A fault in what is around a message. */
const whole = (name: string, change: (message: Message) => object): ChatFault =>
  answering({ name, seats: everySeat, answer: ({ message }) => change(message), outcomes: same });

/** A transient fault: the request is repeated. */
const passing = (name: string, inject: Inject, seats = everySeat): ChatFault => ({
  name: `${name}, once`,
  seats,
  inject,
  outcomes: same,
});

/** A permanent fault: the rollout, or its verification, has no result. */
const lasting = (name: string, inject: Inject, cause: RegExp, seats = everySeat): ChatFault => ({
  name: `${name}, always`,
  seats,
  isLasting: true,
  inject,
  outcomes: { unscored: cause },
});

/** A transient fault, and the same one as a permanent fault. */
const both = (name: string, inject: Inject, cause: RegExp): readonly ChatFault[] => [
  passing(name, inject),
  lasting(name, inject, cause),
];

/** An answer with status 200 that cannot be read. If it stays, the rollout has no result. */
const unreadable = (name: string, body: () => object, cause: RegExp): readonly ChatFault[] =>
  both(name, ({ response }) => sendJson(response, 200, body()), cause).map((fault) => ({ ...fault, answer: body }));

/** The model of a seat gives a wrong answer. CASE is replaced by the name of the case. */
const saying = (
  seat: Seat,
  name: string,
  content: string,
  outcomes: ChatFault['outcomes'],
  { finish_reason = 'stop', ...more }: { readonly finish_reason?: string; readonly refusal?: string } = {},
): ChatFault =>
  answering({
    name,
    seats: [seat],
    answer: ({ name: own }) =>
      chatCompletion({ role: 'assistant', content: content.replace('CASE', own), ...more }, { finish_reason }),
    outcomes,
  });

/** A fault that cuts an answer short. */
const cut = (name: string, seats: readonly Seat[], change: (message: Message) => object, more: Cut): ChatFault => {
  const { finish_reason = 'length', ...rest } = more;
  return answering({
    name,
    seats,
    answer: ({ message }) => chatCompletion(change(message), { finish_reason }),
    ...rest,
  });
};
type Cut = Pick<ChatFault, 'outcomes' | 'fits' | 'isLasting'> & { readonly finish_reason?: string };

type Inject = ChatFault['inject'];
const reset: Inject = ({ response }) => void response.destroy();
const hang: Inject = () => undefined;
const status =
  (code: number, message: string, more: object = {}, headers: Readonly<Record<string, string>> = {}): Inject =>
  ({ response }) =>
    sendJson(response, code, { error: { message, ...more } }, headers);
const page =
  (code: number, title: string): Inject =>
  ({ response }) =>
    sendJson(response, code, `<html><body><h1>${title}</h1></body></html>`, { 'content-type': 'text/html' });
const breaksOff: Inject = ({ response }) => breakOff(response);
const within200 = () => ({ error: { message: 'upstream is away', code: 502 } });
const linesOfOllama = '{"message":{"content":"It is"},"done":false}\n{"message":{"content":""},"done":true}\n';
const nothing = () =>
  chatCompletion({ role: 'assistant' }, {}, { usage: { prompt_tokens: 7, completion_tokens: 0, total_tokens: 7 } });
const noChoices = () => ({ ...chatCompletion({}), choices: [] });
const sendMessage = (response: ServerResponse, message: Message) => sendJson(response, 200, chatCompletion(message));

/** An endpoint refuses a field of the request. */
const refusing =
  (field: 'temperature' | 'response_format', message: string): Inject =>
  ({ body, response, message: own }) => {
    if (body[field] === undefined) sendMessage(response, own);
    else sendJson(response, 400, { error: { message, type: 'invalid_request_error', param: field } });
  };

/** A model that refuses calls which come back without the signature that it gave them, as Gemini does. */
const signs: Inject = ({ body, response, message }) => {
  const signature = { google: { thought_signature: 'c2lnbmVk' } };
  const calls = body.messages.flatMap(({ tool_calls = [] }) => tool_calls);
  const signed = calls.filter(({ id }) => id.startsWith('signed'));
  if (signed.some(({ extra_content }) => JSON.stringify(extra_content) !== JSON.stringify(signature)))
    sendJson(response, 400, { error: { message: 'a function call is missing its thought_signature', code: 400 } });
  else {
    const tool_calls = called(message, (call) => ({ ...call, id: `signed_${calls.length}`, extra_content: signature }));
    sendJson(response, 200, chatCompletion(hasCalls(message) ? { ...message, tool_calls } : message));
  }
};

/** A model whose thoughts must come back with its calls, as DeepSeek's. */
const wantsThoughts: Inject = ({ body, response, message }) => {
  const own = body.messages.filter(({ tool_calls = [] }) => tool_calls.some(({ id }) => id.startsWith('thought')));
  if (own.some((each) => !('reasoning_content' in each) || each.reasoning_content !== thoughts))
    sendJson(response, 400, { error: { message: 'the reasoning_content must be passed back to the API' } });
  else {
    const tool_calls = called(message, (call) => ({ ...call, id: `thought_${body.messages.length}` }));
    const answer = { ...message, reasoning_content: thoughts };
    sendJson(response, 200, chatCompletion(hasCalls(message) ? { ...answer, tool_calls } : answer));
  }
};

/** A model that calls a tool by another name, once, at an endpoint that refuses such names in earlier messages. */
const misnames: Inject = ({ body, response, message, times }) => {
  const names = body.messages.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => call.function?.name ?? ''));
  if (names.some((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name)))
    sendJson(response, 400, { error: { message: "Invalid 'function.name': string does not match pattern." } });
  else if (times > 0) sendMessage(response, message);
  else {
    const misnamed = (call: Call) => ({
      ...call,
      function: { ...call.function, name: `default.${call.function.name}` },
    });
    sendMessage(response, { ...message, tool_calls: called(message, misnamed) });
  }
};

/** Thoughts of a seat that a fault may reveal. The judge answers no if they are in the conversation. */
const thoughts = 'The case is settled on Thursday. I would say {"holds": false}.';
const called = <Changed extends object>({ tool_calls = [] }: Message, change: (call: Call) => Changed) =>
  tool_calls.map(change);
const withArguments = (change: (given: string) => unknown) => (call: Call) => ({
  ...call,
  function: { ...call.function, arguments: change(call.function.arguments) },
});
const refusal = 'Sorry, this is something that is against the rules.';

const forms: readonly ChatFault[] = [
  form('tool_calls is null', (message) => ({ ...message, tool_calls: null }), { fits: hasText }),
  form('tool_calls is empty', (message) => ({ ...message, tool_calls: [] }), { fits: hasText }),
  ofText('the content is a list of parts', (text) => [{ type: 'text', text }]),
  ofText('the content is one part that is not in a list', (text) => ({ type: 'text', text })),
  form('the content is missing next to calls', ({ content: _, ...message }) => message, { fits: hasCalls }),
  form('the content is empty next to calls', (message) => ({ ...message, content: '' }), { fits: hasCalls }),
  ofCalls('a call without a type', ({ type: _, ...call }) => call),
  ofCalls('a call with a number as its id', (call) => ({ ...call, id: 17 })),
  ofCalls('a call without an id', ({ id: _, ...call }) => call),
  ofCalls('all calls have the same id', (call) => ({ ...call, id: 'call_0' }), { isLasting: true }),
  ofCalls('a call with its name next to its id', ({ function: { name, arguments: given }, id }) => ({
    id,
    name,
    arguments: given,
  })),
  ofCalls(
    'a call with an object as its arguments',
    withArguments((given) => JSON.parse(given)),
  ),
  ofCalls(
    'a call whose arguments are encoded twice',
    withArguments((given) => JSON.stringify(given)),
  ),
  ofCalls(
    'a call with null as its arguments',
    withArguments(() => null),
  ),
  ofCalls(
    'a call with empty arguments',
    withArguments(() => ''),
  ),
  ofCalls(
    'a call without arguments',
    withArguments(() => undefined),
  ),
  ofCalls('a call with parameters in place of arguments', ({ function: { name, arguments: given }, ...call }) => ({
    ...call,
    function: { name, parameters: JSON.parse(given) },
  })),
  form(
    'a call as a part of the content',
    ({ role, tool_calls = [] }) => ({
      role,
      content: tool_calls.map(({ id, function: { name, arguments: given } }) => ({
        type: 'tool_use',
        id,
        name,
        input: JSON.parse(given),
      })),
    }),
    { fits: hasCalls },
  ),
  form(
    'a legacy function_call',
    ({ tool_calls = [], ...message }) => ({ ...message, function_call: tool_calls[0]?.function }),
    { fits: hasCalls },
  ),
  form('a call in both forms', (message) => ({ ...message, function_call: message.tool_calls?.[0]?.function }), {
    fits: hasCalls,
  }),
  ofText('thoughts in tags before the text', (text) => `<think>${thoughts}</think>${text}`),
  ofText('thoughts without an opening tag', (text) => `${thoughts}</think>\n\n${text}`),
  ofText('thoughts in tags of another family', (text) => `[THINK]${thoughts}[/THINK]${text}`),
  ofText(
    'thoughts in a channel of gpt-oss',
    (text) => `<|channel|>analysis<|message|>${thoughts}<|end|><|start|>assistant<|channel|>final<|message|>${text}`,
  ),
  ofText(
    'thoughts in a channel of gpt-oss that the prompt opened',
    (text) => `${thoughts}<|end|><|start|>assistant<|channel|>final<|message|>${text}`,
  ),
  ofText('thoughts in a tag with a space', (text) => `<think >${thoughts}</think >${text}`),
  ofText('thoughts that quote their closing tag', (text) => `<think>Not \`</think>\` yet. ${thoughts}</think>${text}`),
  ofText('thoughts in a part of the content', (text) => [
    { type: 'thinking', thinking: [{ type: 'text', text: thoughts }] },
    { type: 'text', text },
  ]),
  form('thoughts in tags before a call', (message) => ({ ...message, content: `<think>${thoughts}</think>` }), {
    fits: hasCalls,
  }),
  form('reasoning_content', (message) => ({ ...message, reasoning_content: thoughts })),
  form('reasoning', (message) => ({ ...message, reasoning: thoughts })),
  { ...lasting('reasoning_content that must be sent back', wantsThoughts, /./, ['agent']), outcomes: same },
  { ...lasting('a signature that must be sent back', signs, /./, ['agent']), outcomes: same },
  {
    ...lasting('a call of a tool by a name that must not be sent back', misnames, /./, ['agent']),
    fits: hasCalls,
    outcomes: same,
  },
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
  ofText('prose around the JSON', (text) => `Here you are:\n\`\`\`json\n${text}\n\`\`\`\nBye.`, ['judge', 'tool']),
  ofText(
    "a quoted answer before the seat's answer",
    (text) => `The agent wrote {"note": "it is done"}, which decides nothing. ${text}`,
    ['judge', 'tool'],
  ),
  whole('no usage', (message) => ({ ...chatCompletion(message), usage: undefined })),
  whole('usage is null', (message) => chatCompletion(message, {}, { usage: null })),
  whole('usage with only a total', (message) => chatCompletion(message, {}, { usage: { total_tokens: 10 } })),
  whole('usage without prompt tokens', (message) =>
    chatCompletion(message, {}, { usage: { prompt_tokens: 0, completion_tokens: 3 } }),
  ),
  whole('token counts as strings', (message) =>
    chatCompletion(message, {}, { usage: { prompt_tokens: '7', completion_tokens: '3' } }),
  ),
  whole('id, object, created and model are missing', (message) => ({ choices: [{ message }] })),
  whole('finish_reason is null', (message) => chatCompletion(message, { finish_reason: null })),
  whole('an unknown finish_reason', (message) => chatCompletion(message, { finish_reason: 'eos' })),
  whole('logprobs is null', (message) => chatCompletion(message, { logprobs: null })),
  whole('an empty error next to the answer', (message) => chatCompletion(message, {}, { error: {} })),
  {
    name: 'a delta in place of the message',
    seats: everySeat,
    inject: ({ message, response }) =>
      sendJson(response, 200, { choices: [{ index: 0, delta: message, finish_reason: 'stop' }] }),
    outcomes: same,
  },
  {
    name: 'the completion is nested in a field of the answer',
    seats: everySeat,
    inject: ({ message, response }) => sendJson(response, 200, { code: 0, data: chatCompletion(message) }),
    outcomes: same,
  },
  {
    name: 'blank lines before the answer, with the content type text/plain',
    seats: everySeat,
    inject: ({ message, response }) =>
      sendJson(response, 200, `\n\n\n${JSON.stringify(chatCompletion(message))}`, { 'content-type': 'text/plain' }),
    outcomes: same,
  },
];

const errors: readonly ChatFault[] = [
  {
    name: '429 without a retry time, once',
    seats: everySeat,
    inject: ({ response }) =>
      response.writeHead(429, { 'content-type': 'application/json' }).end('{"error": {"message": "slow down"}}'),
    outcomes: same,
  },
  passing('429 with a retry time', status(429, 'slow down', {}, { 'retry-after-ms': '20' })),
  passing(
    '429 with a reset time',
    status(429, 'slow down', {}, { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '20ms' }),
  ),
  passing('429 within an answer with status 200', status(200, 'slow down', { code: 429 })),
  passing('503', status(503, 'restarting')),
  passing('529', status(529, 'overloaded')),
  passing('JSON that is not an object', ({ response }) => sendJson(response, 502, '"bad gateway"')),
  passing('its temperature is refused', refusing('temperature', "'temperature' does not support 0 with this model"), [
    'judge',
    'tool',
  ]),
  passing('structured output is refused', refusing('response_format', 'response_format is not supported'), [
    'judge',
    'tool',
  ]),
  passing(
    'its own call is refused, as by Groq',
    status(400, 'Failed to call a function.', { code: 'tool_use_failed', failed_generation: '<function=look' }),
    ['agent'],
  ),
  { ...passing('no answer', hang), isSlow: true },
  ...both('500', status(500, 'boom'), /500/),
  ...both('an HTML page from a gateway', page(502, '502 Bad Gateway'), /502/),
  ...both('an HTML page with status 200', page(200, 'Sign in'), /the answer is not JSON/),
  ...both('lines of JSON, as Ollama writes them', ({ response }) => sendJson(response, 200, linesOfOllama), /Ollama/),
  ...both('an empty answer', ({ response }) => sendJson(response, 200, ''), /the answer is empty/),
  ...both('a connection that is reset', reset, /can't be reached/),
  ...both('an answer that is cut off', breaksOff, /broke off/),
  ...unreadable('a message without text and without tokens', nothing, /neither a text nor a token/),
  ...unreadable('no choices', noChoices, /the answer has no choices/),
  ...unreadable('an error with status 200', within200, /upstream is away/),
  ...unreadable(
    'an error in another format with status 200',
    () => ({ detail: 'upstream is away' }),
    /upstream is away/,
  ),
  lasting('a wrong key', status(401, 'Incorrect API key provided'), /requires a key \(401\)/),
  lasting('no quota', status(429, 'no credit', { code: 'insufficient_quota' }), /has no quota left/),
  lasting('an unknown model', status(404, 'The model m does not exist'), /The model m does not exist/),
  lasting('a redirect to another host', status(307, 'moved', {}, { location: 'http://elsewhere.invalid/' }), /307/),
  { ...lasting('no answer', hang, /did not answer within/), isSlow: true },
];

/** The errors with which servers refuse a conversation that is longer than the context of their model. */
const contextRefusals: Readonly<Record<string, object>> = {
  vLLM: {
    object: 'error',
    message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
    type: 'BadRequestError',
    code: 400,
  },
  OpenAI: { error: { message: 'Your input is too long.', code: 'context_length_exceeded', param: 'messages' } },
  'llama.cpp': {
    error: { code: 400, message: 'the request exceeds the available context size', type: 'exceed_context_size_error' },
  },
};

const contexts = Object.entries(contextRefusals).flatMap(([server, body]): readonly ChatFault[] => {
  const name = `the context is too long, as ${server} says it`;
  const inject: Inject = ({ response }) => sendJson(response, 400, body);
  return [
    {
      name,
      seats: ['agent'],
      isLasting: true,
      inject,
      // A first request that is too long is a matter of the settings.
      outcomes: { agent: /context/, unscored: /the first request does not fit into the context/ },
    },
    {
      name: `${name}, for another seat`,
      seats: ['user', 'judge', 'tool'],
      isLasting: true,
      inject,
      outcomes: { unscored: /context|input is too long/ },
    },
  ];
});

const cutOff = /cut off/;
const cuts: readonly ChatFault[] = [
  cut(
    'the text is cut off at the token limit',
    ['agent'],
    (message) => ({ ...message, content: message.content?.slice(0, 9) }),
    {
      fits: hasText,
      outcomes: { unchanged: cutOff },
    },
  ),
  // The name of the case is kept, so the agent can do its work.
  cut(
    'its message is cut off at the token limit',
    ['user'],
    (message) => ({ ...message, content: message.content?.slice(0, -9) }),
    {
      outcomes: { unchanged: cutOff },
    },
  ),
  cut(
    'the arguments of a call are cut off at the token limit',
    ['agent'],
    (message) => ({
      ...message,
      tool_calls: called(
        message,
        withArguments((given) => given.slice(0, 6)),
      ),
    }),
    { fits: hasCalls, outcomes: { unchanged: cutOff, agent: cutOff } },
  ),
  cut(
    'its thoughts are cut off at the token limit',
    ['agent'],
    (message) => ({ role: message.role, content: `<think>${thoughts}` }),
    {
      outcomes: { unchanged: cutOff },
    },
  ),
  cut(
    'its answer is cut off at the token limit, once',
    ['tool'],
    (message) => ({ ...message, content: message.content?.slice(0, 19) }),
    {
      outcomes: same,
    },
  ),
  cut(
    'its answer is cut off at the token limit, always',
    ['tool'],
    (message) => ({ ...message, content: message.content?.slice(0, 19) }),
    {
      isLasting: true,
      outcomes: { unscored: cutOff },
    },
  ),
  cut(
    'it is cut off before its decision',
    ['judge'],
    (message) => ({ ...message, content: message.content?.slice(0, 22) }),
    {
      isLasting: true,
      outcomes: { unscored: cutOff },
    },
  ),
  cut('its provider cannot parse its call', ['agent'], ({ role }) => ({ role, content: null }), {
    finish_reason: 'MALFORMED_FUNCTION_CALL',
    fits: hasCalls,
    outcomes: { unchanged: /ended by a call that cannot be read/ },
  }),
];

/** Answers that are refused, or withheld by a provider's filter. */
const refusals: readonly ChatFault[] = [
  ...(
    [
      ['it refuses', { refusal }, 'refused'],
      ['a filter blocks its answer', { finish_reason: 'content_filter' }, 'withheld by a filter'],
    ] as const
  ).flatMap(([name, more, words]) => {
    const named = new RegExp(words);
    const always = (seat: Seat): ChatFault => ({
      ...saying(seat, `${name}, always`, '', { unscored: named }, more),
      isLasting: true,
    });
    return [
      saying('agent', name, '', { unchanged: named }, more),
      saying('tool', `${name}, once`, '', same, more),
      saying('user', `${name}, once`, '', same, more),
      ...(['tool', 'user', 'judge'] as const).map(always),
    ];
  }),
];

const brokenResult = 'E.g. {"result": {"sky": "dark"}}. My answer: {"result": {"sky": "cle"ar"}}';
const sayings: readonly ChatFault[] = [
  saying('agent', 'it says nothing', '', { unchanged: /empty/ }),
  { ...saying('agent', 'it says nothing, always', '', { agent: /empty/ }), isLasting: true },
  {
    ...saying('judge', 'it contradicts itself', '{"reason":"a","holds":true} or {"reason":"b","holds":false}', {
      unscored: /gave answers that disagree/,
    }),
    isLasting: true,
  },
  {
    ...saying('judge', 'its answer has no decision', 'It is hard to tell.', { unscored: /gave no clear answer/ }),
    isLasting: true,
  },
  {
    ...saying(
      'judge',
      'an example comes before its answer, which is not JSON',
      'E.g. {"reason": "a", "holds": true}. My answer: {"reason": "It said "done" too early.", "holds": false}',
      { unscored: /it has an object that cannot be read/ },
    ),
    isLasting: true,
  },
  {
    ...saying('judge', 'it retracts its answer', '{"reason": "a", "holds": true}\n\nWait, that is wrong.', {
      unscored: /which may take it back/,
    }),
    isLasting: true,
  },
  saying('tool', 'an example comes before its answer, which is not JSON, once', brokenResult, same),
  {
    ...saying('tool', 'an example comes before its answer, which is not JSON, always', brokenResult, {
      unscored: /no answer that can be used.*it (?:has an object that cannot be read|breaks off)/,
    }),
    isLasting: true,
  },
  {
    ...saying('tool', 'its answer is not JSON', 'It is sunny.', { unscored: /no answer that can be used/ }),
    isLasting: true,
  },
  saying('tool', 'its answer is not JSON, once', 'It is sunny.', same),
  {
    ...saying('user', 'it is stuck and repeats itself', 'Hello, I would like CASE settled, please.', {
      unscored: /it said exactly that before/,
    }),
    isLasting: true,
  },
  { ...saying('user', 'it says nothing', '', { unscored: /says nothing/ }), isLasting: true },
  {
    ...saying(
      'user',
      'it reveals its instructions',
      'My instructions say that I am a simulated user and that I must write ###STOP### when my goal is reached.',
      { unscored: /it speaks about its instructions/ },
    ),
    isLasting: true,
  },
];

/** Answers that belong to the previous request. An agent repeats a call then, which this desk allows. */
const shifted: Inject = ({ response, message, before }) => sendMessage(response, before ?? message);
const shifts: readonly ChatFault[] = [
  {
    name: 'each answer belongs to the previous request',
    seats: ['agent', 'user'],
    isLasting: true,
    inject: shifted,
    outcomes: { unchanged: /./, unscored: /it said exactly that before/ },
  },
  {
    name: 'no answer, and each later answer belongs to the previous request',
    seats: ['agent', 'user'],
    isLasting: true,
    isSlow: true,
    inject: (request) => (request.times === 0 ? hang : shifted)(request),
    outcomes: { unchanged: /./, unscored: /it said exactly that before/ },
  },
];

export const chatFaults: readonly ChatFault[] = [
  ...forms,
  ...errors,
  ...contexts,
  ...cuts,
  ...refusals,
  ...sayings,
  ...shifts,
];
