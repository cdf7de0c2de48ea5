/** The aspects of a server's answers that are tested. */
export const behaviours = ['a call', 'a lost call', 'thoughts', 'a cut answer', 'no room', 'an error'] as const;

/** An answer of a family of servers, and its expected result. */
export type Shape = {
  readonly behaviour: (typeof behaviours)[number];
  /** The characteristics of the answer, for the table of the page. */
  readonly sends: string;
  readonly status?: number;
  readonly body: unknown;
  /** Fields of the expected reply; otherwise `failure` describes the expected failure. */
  readonly reply?: object;
  readonly failure?: { readonly who: 'agent' | 'infrastructure'; readonly words: RegExp };
};

export type Family = { readonly name: string; readonly shapes: readonly Shape[] };

const call = { type: 'function', function: { name: 'look', arguments: '{"chair": "A1"}' } };
const callReply = { content: null, toolCalls: [{ name: 'look', arguments: { chair: 'A1' } }] };
const thoughtReply = { content: 'It is red.', reasoning: 'Hm.' };
const cutReply = { content: 'It is', brokenEnd: 'length' };

/** A chat completion around a choice, with more fields of its server. */
const completion = (choice: object, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1764000000,
  model: 'm',
  choices: [{ index: 0, logprobs: null, ...choice }],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  ...more,
});
const message = (fields: object, finish_reason: string | null = 'stop', more: object = {}) =>
  completion({ message: { role: 'assistant', ...fields }, finish_reason, ...more });
const noRoom = { who: 'agent', words: /no longer fits into the context/ } as const;
const failed = (words: RegExp) => ({ who: 'infrastructure', words }) as const;

export const families: readonly Family[] = [
  {
    name: 'vLLM',
    shapes: [
      {
        behaviour: 'a call',
        sends: '`content`, `refusal`, `annotations` and others are null',
        body: message(
          {
            content: null,
            refusal: null,
            annotations: null,
            audio: null,
            function_call: null,
            reasoning: null,
            tool_calls: [{ id: 'chatcmpl-tool-9f', ...call }],
          },
          'tool_calls',
          { stop_reason: null, token_ids: null },
        ),
        reply: callReply,
      },
      {
        behaviour: 'a lost call',
        sends: '`tool_calls` is empty, and `finish_reason` names it',
        body: message({ content: '', reasoning: null, tool_calls: [] }, 'tool_calls'),
        reply: { content: '', brokenEnd: 'call' },
      },
      {
        behaviour: 'thoughts',
        sends: '`reasoning`, before 0.12 `reasoning_content`',
        body: message({ content: 'It is red.', reasoning: 'Hm.', reasoning_content: null, tool_calls: [] }),
        reply: thoughtReply,
      },
      {
        behaviour: 'a cut answer',
        sends: '`length`',
        body: message({ content: 'It is', tool_calls: [] }, 'length', { stop_reason: null }),
        reply: cutReply,
      },
      {
        behaviour: 'no room',
        sends: '400 with `code: 400`',
        status: 400,
        body: {
          error: {
            message:
              "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4488 in the messages, 512 in the completion).",
            type: 'BadRequestError',
            param: null,
            code: 400,
          },
        },
        failure: noRoom,
      },
      {
        behaviour: 'an error',
        sends: 'older versions: the fields of the error without `error` around them',
        status: 404,
        body: { object: 'error', message: 'The model `x` does not exist.', type: 'NotFoundError', code: 404 },
        failure: failed(/The model `x` does not exist/),
      },
    ],
  },
  {
    name: 'SGLang',
    shapes: [
      {
        behaviour: 'a call',
        sends: '`content` is empty',
        body: message(
          { content: '', reasoning_content: null, tool_calls: [{ id: 'call_1', index: -1, ...call }] },
          'tool_calls',
          { matched_stop: null },
        ),
        reply: { ...callReply, content: '' },
      },
      {
        behaviour: 'a lost call',
        sends: '`<tool_call>` in the text, without `--tool-call-parser`',
        body: message({ content: '<tool_call>\n{"name": "look", "arguments": {"chair": "A1"}}\n</tool_call>' }),
        reply: { toolCalls: [], brokenEnd: 'unparsed' },
      },
      {
        behaviour: 'thoughts',
        sends: '`reasoning_content`',
        body: message({ content: 'It is red.', reasoning_content: 'Hm.', tool_calls: null }),
        reply: thoughtReply,
      },
      {
        behaviour: 'no room',
        sends: '400 without `error`',
        status: 400,
        body: {
          object: 'error',
          message: "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
          type: 'BadRequestError',
          param: null,
          code: 400,
        },
        failure: noRoom,
      },
      {
        behaviour: 'an error',
        sends: '200 with `finish_reason: abort`',
        body: message({ content: '', tool_calls: null }, 'abort'),
        failure: failed(/finish_reason "abort"/),
      },
    ],
  },
  {
    name: 'Ollama',
    shapes: [
      {
        behaviour: 'a call',
        sends: '`content` is empty',
        body: message({ content: '', tool_calls: [{ id: 'call_k3', index: 0, ...call }] }, 'tool_calls'),
        reply: { ...callReply, content: '' },
      },
      {
        behaviour: 'thoughts',
        sends: '`reasoning`',
        body: message({ content: 'It is red.', reasoning: 'Hm.' }),
        reply: thoughtReply,
      },
      {
        behaviour: 'a cut answer',
        sends: '`length`',
        body: message({ content: 'It is' }, 'length'),
        reply: cutReply,
      },
      {
        behaviour: 'no room',
        sends: 'nothing: it drops the oldest messages. Set `num_ctx`',
        body: message({ content: 'It is red.' }),
        reply: { content: 'It is red.' },
      },
      {
        behaviour: 'an error',
        sends: '`error` with `type` alone',
        status: 400,
        body: { error: { message: 'm does not support tools', type: 'api_error', param: null, code: null } },
        failure: failed(/m does not support tools/),
      },
    ],
  },
  {
    name: 'llama.cpp',
    shapes: [
      {
        behaviour: 'a call',
        sends: 'an empty id in older versions',
        body: message({ content: null, tool_calls: [{ id: '', ...call }] }, 'tool_calls'),
        reply: callReply,
      },
      {
        behaviour: 'thoughts',
        sends: '`reasoning_content`',
        body: message({ content: 'It is red.', reasoning_content: 'Hm.' }),
        reply: thoughtReply,
      },
      {
        behaviour: 'a cut answer',
        sends: '`length`',
        body: message({ content: 'It is' }, 'length'),
        reply: cutReply,
      },
      {
        behaviour: 'no room',
        sends: '400 `exceed_context_size_error`, or 500 where the answer fills it',
        status: 500,
        body: { error: { code: 500, message: 'Context size has been exceeded.', type: 'server_error' } },
        failure: noRoom,
      },
      {
        behaviour: 'an error',
        sends: '503 while it loads the model',
        status: 503,
        body: { error: { message: 'Loading model', type: 'unavailable_error', code: 503 } },
        failure: failed(/answered 503: .*Loading model/),
      },
    ],
  },
  {
    name: 'OpenRouter',
    shapes: [
      {
        behaviour: 'a call',
        sends: '`native_finish_reason`, `provider`',
        body: {
          ...message({ content: '', refusal: null, tool_calls: [{ id: 'tool_0', index: 0, ...call }] }, 'tool_calls', {
            native_finish_reason: 'tool_use',
          }),
          provider: 'Together',
        },
        reply: { ...callReply, content: '' },
      },
      {
        behaviour: 'thoughts',
        sends: '`reasoning` and `reasoning_details`',
        body: message({
          content: 'It is red.',
          reasoning: 'Hm.',
          reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', format: 'unknown', index: 0 }],
        }),
        reply: thoughtReply,
      },
      {
        behaviour: 'no room',
        sends: '400 with the words of the provider in `metadata.raw`',
        status: 400,
        body: {
          error: {
            message: 'Provider returned error',
            code: 400,
            metadata: {
              raw: '{"error":{"message":"This model\'s maximum context length is 8192 tokens.","code":400}}',
              provider_name: 'Together',
            },
          },
        },
        failure: noRoom,
      },
      {
        behaviour: 'an error',
        sends: '200 with `error` in place of the answer, or in the choice',
        body: { error: { message: 'Provider returned error', code: 502, metadata: { raw: 'upstream' } } },
        failure: failed(/Provider returned error/),
      },
    ],
  },
  {
    name: 'Gemini',
    shapes: [
      {
        behaviour: 'a call',
        sends: '`finish_reason: stop`, and a signature that goes back',
        body: message({
          tool_calls: [{ id: 'function-call-1', extra_content: { google: { thought_signature: 'c2ln' } }, ...call }],
        }),
        reply: {
          ...callReply,
          providerFields: { calls: [{ extra_content: { google: { thought_signature: 'c2ln' } } }] },
        },
      },
      {
        behaviour: 'a lost call',
        sends: '`…: MALFORMED_FUNCTION_CALL`',
        body: completion({ finish_reason: 'function_call_filter: MALFORMED_FUNCTION_CALL' }),
        reply: { content: '', brokenEnd: 'call' },
      },
      {
        behaviour: 'a cut answer',
        sends: '`content_filter: …`, without a message',
        body: completion({ finish_reason: 'content_filter: PROHIBITED_CONTENT' }),
        reply: { content: '', brokenEnd: 'filter' },
      },
      {
        behaviour: 'no room',
        sends: '400 in a list',
        status: 400,
        body: [
          {
            error: {
              code: 400,
              message: 'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).',
              status: 'INVALID_ARGUMENT',
            },
          },
        ],
        failure: noRoom,
      },
      {
        behaviour: 'an error',
        sends: '429 in a list, with the wait in `retryDelay`',
        status: 429,
        body: [
          {
            error: {
              code: 429,
              message: 'You exceeded your current quota',
              status: 'RESOURCE_EXHAUSTED',
              details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' }],
            },
          },
        ],
        failure: failed(/limits the rate of requests \(429\)/),
      },
    ],
  },
  {
    name: 'DeepSeek',
    shapes: [
      {
        behaviour: 'a call',
        sends: '`content` is empty; the ids can repeat',
        body: message(
          {
            content: '',
            tool_calls: [
              { index: 0, id: 'call_0', ...call },
              { index: 1, id: 'call_0', ...call },
            ],
          },
          'tool_calls',
        ),
        reply: { content: '', toolCalls: [{ id: 'call_0' }, { id: 'call_0_2' }] },
      },
      {
        behaviour: 'thoughts',
        sends: '`reasoning_content`, which goes back with calls',
        body: message({ content: 'It is red.', reasoning_content: 'Hm.' }),
        reply: thoughtReply,
      },
      {
        behaviour: 'an error',
        sends: '402 without money',
        status: 402,
        body: {
          error: { message: 'Insufficient Balance', type: 'unknown_error', param: null, code: 'invalid_request_error' },
        },
        failure: failed(/has no quota left for this key: .*Insufficient Balance/),
      },
    ],
  },
  {
    name: 'Mistral',
    shapes: [
      {
        behaviour: 'a call',
        sends: 'ids of nine letters',
        body: message({ content: '', tool_calls: [{ id: 'D681PevKs', index: 0, ...call }] }, 'tool_calls'),
        reply: { ...callReply, content: '', toolCalls: [{ id: 'D681PevKs' }] },
      },
      {
        behaviour: 'thoughts',
        sends: 'parts of `content`',
        body: message({
          content: [
            { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
            { type: 'text', text: 'It is red.' },
          ],
        }),
        reply: thoughtReply,
      },
      {
        behaviour: 'a cut answer',
        sends: '`model_length`',
        body: message({ content: 'It is' }, 'model_length'),
        reply: cutReply,
      },
      {
        behaviour: 'an error',
        sends: '429 without `error`',
        status: 429,
        body: { object: 'error', message: 'Service tier capacity exceeded for this model.', code: '3505' },
        failure: failed(/limits the rate of requests \(429\).*capacity exceeded/),
      },
    ],
  },
  {
    name: 'OpenAI',
    shapes: [
      {
        behaviour: 'a call',
        sends: '`refusal` and `annotations` beside it',
        body: message(
          { content: null, refusal: null, annotations: [], tool_calls: [{ id: 'call_a', ...call }] },
          'tool_calls',
        ),
        reply: callReply,
      },
      {
        behaviour: 'a cut answer',
        sends: '`length`; a refusal is a separate field',
        body: message({ content: null, refusal: 'I cannot help with that.' }),
        reply: { content: 'I cannot help with that.', brokenEnd: 'refusal' },
      },
      {
        behaviour: 'no room',
        sends: '400 `context_length_exceeded`',
        status: 400,
        body: {
          error: {
            message: 'Your input exceeds it.',
            type: 'invalid_request_error',
            param: 'messages',
            code: 'context_length_exceeded',
          },
        },
        failure: noRoom,
      },
      {
        behaviour: 'an error',
        sends: '429 `insufficient_quota` is not asked again',
        status: 429,
        body: {
          error: { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' },
        },
        failure: failed(/has no quota left/),
      },
    ],
  },
  {
    name: 'Azure',
    shapes: [
      {
        behaviour: 'a cut answer',
        sends: '`content_filter`, with `content_filter_results`',
        body: message({}, 'content_filter', { content_filter_results: { violence: { filtered: true } } }),
        reply: { content: '', brokenEnd: 'filter' },
      },
      {
        behaviour: 'an error',
        sends: '400 `content_filter` for what the other side said',
        status: 400,
        body: {
          error: {
            message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
            type: null,
            param: 'prompt',
            code: 'content_filter',
            status: 400,
            innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: { hate: { filtered: true } } },
          },
        },
        failure: failed(/answered 400: The response was filtered/),
      },
    ],
  },
  {
    name: 'Together',
    shapes: [
      {
        behaviour: 'a call',
        sends: '`seed` beyond 2^53 in the choice',
        body: JSON.stringify(
          message({ content: null, tool_calls: [{ id: 'call_t1', index: 0, ...call }] }, 'tool_calls', { seed: 0 }),
        ).replace('"seed":0', '"seed":14862534216482394003'),
        reply: callReply,
      },
    ],
  },
  {
    name: 'mlx-lm',
    shapes: [
      {
        behaviour: 'a call',
        sends: '`finish_reason: tool_call` in older versions',
        body: message({ content: '', tool_calls: [{ id: 'c1', ...call }] }, 'tool_call'),
        reply: { ...callReply, content: '' },
      },
    ],
  },
  {
    name: 'Groq',
    shapes: [
      {
        behaviour: 'a lost call',
        sends: '400 `tool_use_failed` is asked again',
        status: 400,
        body: {
          error: {
            message: "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
            type: 'invalid_request_error',
            code: 'tool_use_failed',
            failed_generation: '<function=look{"chair"',
          },
        },
        failure: failed(/Failed to call a function/),
      },
    ],
  },
  {
    name: 'MiniMax',
    shapes: [
      {
        behaviour: 'an error',
        sends: '200 with `base_resp` and without choices',
        body: { id: '', choices: null, base_resp: { status_code: 1002, status_msg: 'rate limit exceeded' } },
        failure: failed(/rate limit exceeded/),
      },
    ],
  },
  {
    name: 'DashScope',
    shapes: [
      {
        behaviour: 'an error',
        sends: '400 where a model only streams: it is asked to stream',
        status: 400,
        body: {
          error: {
            code: 'invalid_parameter_error',
            param: null,
            message: 'This model only support stream mode, please enable the stream parameter to access the model. ',
            type: 'invalid_request_error',
          },
          id: 'chatcmpl-1',
        },
        failure: failed(/only support stream mode/),
      },
    ],
  },
  {
    name: 'LM Studio',
    shapes: [
      {
        behaviour: 'a lost call',
        sends: '`[TOOL_REQUEST]` in the text',
        body: message({ content: '[TOOL_REQUEST]{"name": "look", "arguments": {}}[END_TOOL_REQUEST]' }),
        reply: { toolCalls: [], brokenEnd: 'unparsed' },
      },
      {
        behaviour: 'no room',
        sends: '400 with `error` as a text',
        status: 400,
        body: {
          error: 'The number of tokens to keep from the initial prompt is greater than the context length.',
        },
        failure: noRoom,
      },
      {
        behaviour: 'an error',
        sends: '200 with `error` as a text, for an address that it does not have',
        body: { error: 'Unexpected endpoint or method. (POST /chat/completions)' },
        failure: failed(/answered 200 with an error: Unexpected endpoint or method/),
      },
    ],
  },
  {
    name: 'TGI',
    shapes: [
      {
        behaviour: 'a call',
        sends: '`arguments` as an object in older versions',
        body: message(
          { tool_calls: [{ id: 0, type: 'function', function: { name: 'look', arguments: { chair: 'A1' } } }] },
          'tool_calls',
        ),
        reply: callReply,
      },
      {
        behaviour: 'no room',
        sends: '422 with `error` as a text',
        status: 422,
        body: {
          error: 'Input validation error: `inputs` must have less than 1024 tokens. Given: 2000',
          error_type: 'validation',
        },
        failure: noRoom,
      },
      {
        behaviour: 'an error',
        sends: '429 with `error_type: overloaded`',
        status: 429,
        body: { error: 'Model is overloaded', error_type: 'overloaded' },
        failure: failed(/limits the rate of requests \(429\).*Model is overloaded/),
      },
    ],
  },
  {
    name: 'LiteLLM',
    shapes: [
      {
        behaviour: 'no room',
        sends: '400 with `code` as a text and the name of its own error',
        status: 400,
        body: {
          error: {
            message: 'litellm.ContextWindowExceededError: litellm.BadRequestError: it does not fit',
            type: null,
            param: null,
            code: '400',
          },
        },
        failure: noRoom,
      },
      {
        behaviour: 'an error',
        sends: 'an event with `error` in a stream',
        body: `data: ${JSON.stringify({ error: { message: 'Slow down.', type: 'rate_limit_error', code: '429' } })}\n\n`,
        failure: failed(/limits the rate of requests \(200 with an error\): Slow down/),
      },
    ],
  },
  {
    name: 'Anthropic',
    shapes: [
      {
        behaviour: 'no room',
        sends: '400 "prompt is too long"',
        status: 400,
        body: {
          type: 'error',
          error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
        },
        failure: noRoom,
      },
      {
        behaviour: 'an error',
        sends: '529 `overloaded_error`, also in a stream',
        body: `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })}\n\n`,
        failure: failed(/answered 200 with an error: Overloaded/),
      },
    ],
  },
  {
    name: 'Bedrock',
    shapes: [
      {
        behaviour: 'a cut answer',
        sends: '`max_tokens`; a filter is `guardrail_intervened`',
        body: message({ content: 'It is' }, 'max_tokens'),
        reply: cutReply,
      },
      {
        behaviour: 'no room',
        sends: '400 "Input is too long"',
        status: 400,
        body: { message: 'Input is too long for requested model.' },
        failure: noRoom,
      },
      {
        behaviour: 'an error',
        sends: '429 `ThrottlingException`',
        status: 429,
        body: { error: { message: 'Too many tokens, please wait before trying again.', type: 'ThrottlingException' } },
        failure: failed(/limits the rate of requests \(429\).*Too many tokens/),
      },
    ],
  },
  {
    name: 'GitHub Copilot',
    shapes: [
      {
        behaviour: 'a call',
        sends: 'the text in the first choice, the calls in the second',
        body: {
          ...completion({}),
          choices: [
            { finish_reason: 'tool_calls', message: { role: 'assistant', content: 'I look.' } },
            { finish_reason: 'tool_calls', message: { role: 'assistant', tool_calls: [{ id: 'a', ...call }] } },
          ],
        },
        reply: { ...callReply, content: 'I look.' },
      },
    ],
  },
];
