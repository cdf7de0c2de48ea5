import { join } from 'node:path';
import { expect, test } from 'vitest';
import { completion, endpoint } from '../support/endpoint.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const budget = ['--budget-tokens', '1000'];
const cannotBeKept = 'the budget cannot be kept, since an answer did not say how many tokens it used';

test.each([
  { name: 'no usage', usage: undefined, options: budget, asked: 1, code: 2, err: cannotBeKept },
  { name: 'negative counts', usage: { total_tokens: -5 }, options: budget, asked: 1, code: 2, err: cannotBeKept },
  {
    name: 'no usage in its last answer',
    usage: undefined,
    options: [...budget, '--turn-cap', '1'],
    asked: 1,
    code: 0,
    err: `${cannotBeKept}. Let the endpoint report usage, or leave out the budget`,
  },
  { name: 'a total', usage: { total_tokens: 600 }, options: budget, asked: 2, code: 2, err: 'is spent (1200 tokens' },
  { name: 'a total as text', usage: { total_tokens: '600' }, options: budget, asked: 2, code: 2, err: '1200 tokens' },
  {
    name: 'no usage and no budget',
    usage: undefined,
    options: [],
    asked: 3,
    code: 0,
    err: '3 answers did not report tokens, so the number of tokens and the cost are too low',
  },
  {
    name: 'no usage, and a gate on it',
    usage: undefined,
    options: ['--gate', 'tokens<=10'],
    asked: 3,
    code: 1,
    err: '3 answers did not report tokens',
  },
])('an endpoint that sends $name is asked $asked times', async ({ usage, options, asked, code, err }) => {
  let requests = 0;
  const url = await endpoint(() => {
    requests += 1;
    const answer = completion({ content: 'Which parcel is it?' });
    return answer && { ...answer, body: { ...(answer.body as object), usage } };
  });
  const run = join(temporaryFolder('uncounted'), 'run');
  const seats = ['--agent', `openai:m@${url}`, '--turn-cap', '3', '--out', run];
  const ended = await rehearsal('eval', 'domains/parcel-desk', '--tasks', 'reschedule-P46', ...seats, ...options);
  expect(ended).toMatchObject({ code, err: expect.stringContaining(err) });
  expect(requests).toBe(asked);
});
