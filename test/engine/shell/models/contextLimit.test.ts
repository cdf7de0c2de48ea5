import { expect, test } from 'vitest';
import { isContextRefusal } from '../../../../src/engine/shell/models/contextLimit.ts';

test.each([
  'Unable to submit request because the input token count is 40000 but model only supports up to 32768. Reduce the input token count and try again.',
  'length of prompt_tokens (66284) must be less than max_seq_len (65536).',
  'max_total_tokens (70000) must be less than or equal to max_seq_len (65536)',
  'prompt token count of 93854 exceeds the limit of 90000',
  'Prompt tokens (9000) exceeds context size (8192)',
  'Please reduce the length of the messages or completion.',
  'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.',
  "Your input exceeds the model's context window.",
  'Your input exceeds the context window of this model.',
  'Prompt too long: 5152 tokens exceeds max_seq_len 2048 (leave room for output tokens)',
  'tokens in request more than max tokens allowed',
  'input length and `max_tokens` exceed context limit: 170636 + 34048 > 200000',
  'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
  'prompt too long; exceeded max context length by 3 tokens',
  'Requested tokens (5000) exceed context window of 4096',
  'Request prompt has 5000 tokens in total, larger than the model input length limit 4096.',
  'The sum of prompt length (9000.0), query length (0) should not exceed max_num_tokens (8192)',
  'the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model',
  'Total tokens of image and text exceed max message tokens',
  'Input length 300000 exceeds the maximum length 131072',
  'Prompt 超长',
])('%s', (message) => {
  expect(isContextRefusal({ status: 400, message })).toBe(true);
});

test.each([
  [400, 'max_tokens is too large: 65536. This model supports at most 16384 completion tokens.'],
  [
    400,
    'The parameter `max_tokens` is not valid: integer above maximum value, expected a value <= 32768, but got 65536',
  ],
  [400, 'max_tokens must be less than or equal to 8192'],
  [400, 'stop exceeds the maximum number of sequences'],
  [400, "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40."],
  [400, 'The name of a tool exceeds the maximum length 64'],
  [400, "Invalid 'tools[0].function.description': string too long."],
  [
    413,
    'Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 8000, please reduce your message size and try again.',
  ],
  [429, 'Too many tokens: this request exceeds the limit of 30000 tokens per minute'],
  [500, 'context deadline exceeded'],
])('%i %s has another cause', (status, message) => {
  expect(isContextRefusal({ status, message })).toBe(false);
});
