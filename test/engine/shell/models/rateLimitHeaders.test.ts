import { expect, test } from 'vitest';
import { requestedWait } from '../../../../src/engine/shell/models/rateLimitHeaders.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const inBody = (error: object) => JSON.stringify({ error });

const answers: readonly (readonly [
  name: string,
  headers: Record<string, string>,
  wait: number | null,
  body?: string,
])[] = [
  ['seconds', { 'retry-after': '65' }, 65_000],
  ['a date', { 'Retry-After': 'Sun, 01 Mar 2026 12:00:30 GMT' }, 30_000],
  ['a date in the past', { 'retry-after': 'Sun, 01 Mar 2026 11:00:00 GMT' }, null],
  ['milliseconds before seconds', { 'retry-after-ms': '250', 'retry-after': '1' }, 250],
  ['nonsense', { 'retry-after': 'soon' }, null],
  ['nothing', {}, null],
  [
    "OpenAI's reset of the limit that is used up",
    {
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-reset-requests': '1s',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '6m0.5s',
    },
    360_500,
  ],
  [
    'the soonest reset where no limit is used up',
    { 'x-ratelimit-reset-requests': '2m59.56s', 'x-ratelimit-reset-tokens': '120ms' },
    120,
  ],
  [
    "Anthropic's date",
    { 'anthropic-ratelimit-tokens-remaining': '0', 'anthropic-ratelimit-tokens-reset': '2026-03-01T12:00:07Z' },
    7000,
  ],
  ["OpenRouter's milliseconds since 1970", { 'X-RateLimit-Reset': String(now + 9000) }, 9000],
  ['seconds since 1970', { 'x-ratelimit-reset': String(now / 1000 + 9) }, 9000],
  ['a number of seconds', { 'ratelimit-reset': '12' }, 12_000],
  [
    "OpenRouter's headers in the body",
    {},
    8000,
    inBody({ message: 'm', metadata: { headers: { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': now + 8000 } } }),
  ],
  ["Google's delay in the body", {}, 34_000, inBody({ details: [{ '@type': 'x' }, { retryDelay: '34s' }] })],
];

test.each(answers.map(([name, headers, wait, body = '']) => ({ name, headers, wait, body })))('$name', (answer) => {
  const { headers, wait, body } = answer;
  expect(requestedWait(new Headers(headers), body, now)).toBe(wait);
});
