import { type RunMetrics, shownPassHats } from '../../engine/core/evaluation/metrics.ts';
import { endReasonText } from '../../engine/core/events/displayText.ts';
import { capitalized } from '../../engine/core/text/capitalized.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { excerpt } from '../../engine/core/text/excerpt.ts';
import { type Estimate, mean } from '../../engine/core/values/statistics.ts';
import type { FinishedRollout, RunRecord } from '../../engine/shell/records/runRecord.ts';
import { escaped } from './markup.ts';
import { failedTasksText } from './notRun.ts';

/** A plot as inline SVG. Colours come from the page's variables, so that they follow its light or dark scheme. */
export type Plot = { readonly title: string; readonly description: string; readonly svg: string };

const width = 640;
const left = 264;
const right = 56;
const rowHeight = 24;
/** Characters that fit left of the bars, also in the larger type of a narrow page. */
const longestLabel = 31;
const scale = (value: number, most = 1) => left + (width - left - right) * (most === 0 ? 0 : value / most);

/** Reward and pass^k: a dot with the interval as a line through it. */
export function successPlot({ reward, passHat }: RunMetrics): Plot {
  const rows: readonly (Estimate & { readonly name: string })[] = [
    ...(reward ? [{ name: 'reward', ...reward }] : []),
    ...shownPassHats(passHat).map((each) => ({ name: `pass^${each.k}`, ...each })),
  ];
  const marks = rows.map(({ name, value, low, high }, at) => {
    const y = middle(at);
    return [
      label(y, name),
      `<line x1="${px(scale(low))}" x2="${px(scale(high))}" y1="${y}" y2="${y}" class="whisker"/>`,
      `<circle cx="${px(scale(value))}" cy="${y}" r="5" class="mark"/>`,
      text(width - right + 8, y, value.toFixed(2), 'start'),
    ].join('');
  });
  return {
    title: 'Reward and pass^k',
    description:
      rows.length === 0
        ? 'No rollout has a reward.'
        : `${rows.map(({ name, value }) => `${name} ${value.toFixed(2)}`).join(', ')}. Lines are 95 % intervals by task.`,
    svg: drawn(rows.length, [...axis(rows.length), ...marks]),
  };
}

/** Draws the mean reward of each task as a bar, the lowest first. */
export function taskPlot(record: Pick<RunRecord, 'notRun' | 'rollouts'>): Plot {
  const rows = [...Map.groupBy(record.rollouts, ({ task }) => task)]
    .map(([task, all]) => {
      const scored = all.filter(({ reward }) => reward !== null);
      return { task, value: mean(scored.map(({ reward }) => reward ?? 0)), trials: scored.length };
    })
    .sort((one, other) => one.value - other.value || (one.task < other.task ? -1 : 1));
  const failed = rows.filter(({ value, trials }) => trials > 0 && value < 1).length;
  return {
    title: 'Reward by task',
    description: `${failedTasksText(record, failed)} The lowest rewards come first.`,
    svg: drawn(rows.length, [
      ...axis(rows.length),
      ...rows.map(({ task, value, trials }, at) => {
        if (trials > 0) return bar(at, task, value, 1, value.toFixed(2));
        return `${label(middle(at), task)}${text(left + 8, middle(at), 'no reward', 'start')}`;
      }),
    ]),
  };
}

/** Returns how often each tool was called, and which part of that failed. */
export function callPlot({ calls }: RunMetrics): Plot {
  const most = Math.max(0, ...calls.map((each) => each.calls));
  return {
    title: 'Calls by tool',
    description: `${counted(calls.length, 'tool')} called. The second color shows failed calls.`,
    svg: drawn(
      calls.length,
      calls.map(
        ({ tool, calls: made, errors }, at) =>
          bar(at, tool, made, most, String(made)) +
          `<rect x="${left}" y="${middle(at) - 8}" width="${px(scale(errors, most) - left)}" height="16" class="bad"/>`,
      ),
    ),
  };
}

/** Returns how many rollouts took how many turns. */
export function turnPlot(rollouts: readonly FinishedRollout[]): Plot {
  const counts = Map.groupBy(rollouts, ({ turns }) => turns);
  const rows = [...counts.keys()].sort((one, other) => one - other);
  const most = Math.max(0, ...[...counts.values()].map((each) => each.length));
  return {
    title: 'Turns of a rollout',
    description: rows.length === 0 ? 'No rollouts.' : turnRange(rows[0] ?? 0, rows.at(-1) ?? 0),
    svg: drawn(
      rows.length,
      rows.map((turns, at) => {
        const count = counts.get(turns)?.length ?? 0;
        return bar(at, counted(turns, 'turn'), count, most, String(count));
      }),
    ),
  };
}

function turnRange(fewest: number, most: number): string {
  return fewest === most ? `Every rollout took ${counted(most, 'turn')}.` : `Rollouts took ${fewest} to ${most} turns.`;
}

/** Draws how rollouts ended. */
export function endPlot({ endReasons }: RunMetrics): Plot {
  const rows = Object.entries(endReasons).map(([reason, count]) => ({ name: endReasonText(reason), count }));
  const most = Math.max(0, ...rows.map(({ count }) => count));
  return {
    title: 'How rollouts ended',
    description: `${capitalized(rows.map(({ name, count }) => `${name}: ${count}`).join('; '))}.`,
    svg: drawn(
      rows.length,
      rows.map(({ name, count }, at) => bar(at, name, count, most, String(count))),
    ),
  };
}

function bar(at: number, name: string, value: number, most: number, shown: string): string {
  const y = middle(at);
  const end = scale(value, most);
  return [
    label(y, name),
    `<rect x="${left}" y="${y - 8}" width="${px(Math.max(end - left, 1))}" height="16" class="mark"><title>${escaped(`${name}: ${shown}`)}</title></rect>`,
    text(end + 8, y, shown, 'start'),
  ].join('');
}

function label(y: number, name: string): string {
  return text(left - 10, y, excerpt(name, longestLabel, '…'), 'end');
}

function axis(rows: number): readonly string[] {
  return [0, 0.25, 0.5, 0.75, 1].map((tick) => {
    const x = px(scale(tick));
    return `<line x1="${x}" x2="${x}" y1="4" y2="${rows * rowHeight + 4}" class="grid"/>${text(scale(tick), rows * rowHeight + 16, String(tick), 'middle')}`;
  });
}

function drawn(rows: number, parts: readonly string[]): string {
  return `<svg viewBox="0 0 ${width} ${rows * rowHeight + 28}" aria-hidden="true" focusable="false">${parts.join('')}</svg>`;
}

function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${px(x)}" y="${y}" text-anchor="${anchor}" dominant-baseline="central">${escaped(content)}</text>`;
}

const middle = (at: number) => at * rowHeight + rowHeight / 2 + 4;
const px = (value: number) => Number(value.toFixed(1));
