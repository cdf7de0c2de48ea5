import { join } from 'node:path';
import { expect, test } from 'vitest';
import { modelServer } from '../support/modelServer.ts';
import { smallDomain } from '../support/smallDomain.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsalUntil } from '../support/terminal.ts';

const tasks = `- id: one
  persona: plain
  split: test
  user: { goal: You want it done. }
  judge: [It was kind., It was short.]
  evaluate: [database, judge]
  train: [database]
`;

test.each([
  { name: 'a budget', options: ['--budget-tokens', '5'], err: 'the budget is spent (10 tokens, 0.0000 money)' },
  { name: 'Ctrl+C', options: [], err: 'cancelled' },
])('$name stops a run at a question to its judge, which is asked it when the run is resumed', async (row) => {
  const stop = new AbortController();
  const holds = '{"reason": "It was.", "holds": true}';
  const judge = await modelServer((_, nth) => {
    if (row.name !== 'Ctrl+C' || nth !== 2) return holds;
    stop.abort();
    return null;
  });
  const run = join(temporaryFolder('stopped'), 'run');
  const seats = ['--agent', 'gold', '--judge', `openai:j@${judge.url}`, '--out', run, '--json'];
  const domain = smallDomain({ act: { effect: 'write', run: 'return 1;' } }, tasks);
  const { code, out, err } = await rehearsalUntil(stop.signal, 'eval', domain, ...seats, ...row.options);
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringContaining(
      `${row.err}: 0 of 1 rollout is finished. Resume with: npx rehearsal eval ${domain} ${seats.join(' ')}`,
    ),
  });
  expect(err).not.toContain('could not be run');
  expect(JSON.parse(out)).toMatchObject({ results: [], summary: { failedBy: { infrastructure: 0 } } });
  const before = judge.requests.length;
  const resumed = await rehearsalUntil(new AbortController().signal, 'eval', domain, ...seats);
  expect(JSON.parse(resumed.out)).toMatchObject({ stopped: null, results: [{ reward: 1 }] });
  expect(judge.requests).toHaveLength(before + 1);
});
