import type { ExperimentResult } from '../../engine/core/evaluation/experiment.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { tableLines } from '../../engine/core/text/tableText.ts';
import { estimateText } from '../compare/text.ts';

const percent = (share: number) => (100 * share).toFixed(1);

/** The table of an experiment: a row for each arm with its interval and its seeds, and a line for each comparison. */
export function resultText({ arms, comparisons }: ExperimentResult): string {
  const rows = arms.map(({ arm, reward: { value, low, high }, tasks, bySeed, routes, notScored }) => [
    arm,
    percent(value),
    `${percent(low)} to ${percent(high)}`,
    bySeed.map(({ seed, reward }) => `${seed}: ${percent(reward)}`).join(', '),
    String(tasks),
    String(bySeed.reduce((sum, { rollouts }) => sum + rollouts, 0)),
    routes.toFixed(1),
    String(notScored),
  ]);
  const columns = ['arm', 'reward %', '95 %', 'by seed', 'tasks', 'rollouts', 'routes a task', 'not scored'];
  const lines = [
    ...tableLines({ columns, rows }),
    '',
    ...comparisons.map(
      ({ from, to, tasks, difference, better, worse, p }) =>
        `${to} against ${from}: ${estimateText(difference, tasks.length)}, better on ${better} and worse on ${worse} of ${counted(tasks.length, 'task')}; p = ${p.toFixed(4)}`,
    ),
    'Reward: mean over tasks of the mean reward of a task; 95 %: Wilson over tasks. Differences: paired by task,',
    '95 % by bootstrap over tasks; p: exact permutation test, two-sided.',
  ];
  return `${lines.join('\n')}\n`;
}
