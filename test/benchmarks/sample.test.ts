import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** A conversation with its official verdict: `reward`, or `valid` if a benchmark only gives yes or no. */
type Judged = {
  readonly domain?: string;
  readonly part?: string;
  readonly task: string | number;
  readonly reward?: number | null;
  readonly valid?: boolean;
};

/** The conversations of each task, by the benchmark's part and the task's id. */
function sampleOf(benchmark: string): ReadonlyMap<string, readonly Judged[]> {
  const file = new URL(`../fixtures/${benchmark}/conversations.json`, import.meta.url);
  const told = JSON.parse(readFileSync(file, 'utf8')) as readonly Judged[];
  return Map.groupBy(told, ({ domain, part, task }) => `${domain ?? part ?? ''} ${task}`);
}

const isMet = ({ reward, valid }: Judged) => valid ?? reward === 1;
const samples = new Map(['tau2', 'tau1', 'bfcl', 'acebench'].map((name) => [name, sampleOf(name)]));

test('the sample of the benchmarks is large enough to tell when their semantics drift', () => {
  const tasks = [...samples.values()].flatMap((sample) => [...sample.values()]);
  expect(tasks.length).toBeGreaterThanOrEqual(80);
  // A gold replay and five mutations of it, not all with the same reward.
  const whole = tasks.filter((told) => told.length >= 6 && told.some(isMet) && !told.every(isMet));
  expect(whole.length).toBeGreaterThanOrEqual(60);
});

test.each([...samples])('%s is judged both ways', (_, sample) => {
  const told = [...sample.values()].flat();
  expect(told.filter(isMet).length).toBeGreaterThanOrEqual(8);
  expect(told.filter((each) => !isMet(each)).length).toBeGreaterThanOrEqual(8);
});
