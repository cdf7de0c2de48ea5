import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunLine } from '../../src/engine/shell/records/runLine.ts';
import { modelServer } from '../support/modelServer.ts';
import { sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

async function streamed(...options: readonly string[]): Promise<readonly RunLine[]> {
  const { url } = await modelServer(() => 'Which order is it about?', { prompt_tokens: 20, completion_tokens: 10 });
  const out = join(temporaryFolder('rehearsal'), 'run');
  const seats = ['--agent', `openai:m@${url}`, '--tasks', 'wrong-card', '--turn-cap', '3'];
  const printed = await rehearsal('eval', 'domains/order-desk', ...seats, '--out', out, '--json', ...options);
  return printed.out
    .trim()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as RunLine);
}

const priced: readonly (readonly [options: readonly string[], money: number | null])[] = [
  [['--price', '1000/2000'], 0.04],
  [[], null],
];

test.each(sampled(priced, 2))('a stream tells tokens and cost of each answer of a model: %j', async (prices, money) => {
  const lines = await streamed('--stream', ...prices);
  const answered = lines.filter(({ type }) => type === 'modelAnswered');
  expect(answered).toHaveLength(3);
  for (const line of answered)
    expect(line).toEqual({ type: 'modelAnswered', role: 'agent', input: 20, output: 10, money });
  expect(lines.at(-1)?.type).toBe('rolloutFinished');
});

test('without it only the result is printed', async () => {
  expect(await streamed()).toEqual([]);
});
