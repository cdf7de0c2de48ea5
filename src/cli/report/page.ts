import { passHatTasks, type RunMetrics } from '../../engine/core/evaluation/metrics.ts';
import type { ChangedRows } from '../../engine/core/events/changedRows.ts';
import { capitalized } from '../../engine/core/text/capitalized.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { excerpt } from '../../engine/core/text/excerpt.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import type { FinishedRollout, RunRecord } from '../../engine/shell/records/runRecord.ts';
import type { Speaker } from '../terminal/transcript.ts';
import { type FailedTask, failedTask, type SpokenStep, scoredFailuresOf, unscoredReasons } from './failures.ts';
import { goldLines } from './goldLines.ts';
import { escaped } from './markup.ts';
import { failedTasksText, notRunLines } from './notRun.ts';
import { callPlot, endPlot, type Plot, successPlot, taskPlot, turnPlot } from './plots.ts';
import { importedSectionsOf, type Section, sectionsOf } from './sections.ts';
import { headline, withoutReward } from './text.ts';

/**
 * A run as one page with nothing outside of it. Each plot is a figure whose caption says in words what it shows, and
 * whose table follows it; a screen reader gets the caption and the table, never the drawing.
 * @param domain that the run names, as its files are now; null where it is not there
 */
export function pageText(record: RunRecord, metrics: RunMetrics, domain: LoadedDomain | null): string {
  const { file, rollouts, problems, unfinished } = record;
  const plots: Readonly<Record<string, Plot>> = {
    success: successPlot(metrics),
    tasks: taskPlot(record),
    calls: callPlot(metrics),
    conversation: turnPlot(rollouts),
    ends: endPlot(metrics),
  };
  const isImported = file.imported !== undefined;
  const sections = isImported ? importedSectionsOf(metrics) : sectionsOf(metrics, rollouts);
  const notes = [
    ...problems,
    ...goldLines(rollouts, domain, domain?.folder ?? ''),
    ...(unfinished.length > 0 ? [`${counted(unfinished.length, 'rollout')} started and not finished.`] : []),
    ...notRunLines(record).map((line) => (line.endsWith('.') ? line : `${line}.`)),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(`${file.domain}: rehearsal report`)}</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>${escaped(file.domain)}</h1>
<p>${escaped([headline(record), startText(record)].filter(Boolean).join('. '))}</p>
</header>
<main>
<dl class="numbers">
${(isImported ? importedNumbers(metrics) : numbers(metrics)).map(numberText).join('\n')}
</dl>
${notes.map((note) => `<p class="note">${escaped(note)}</p>`).join('\n')}
${isImported ? '' : unscoredText(rollouts)}
${isImported ? '' : failuresText(record, domain)}
${sections.map((section) => sectionText(section, plots[section.id])).join('\n')}
</main>
<footer><p>${isImported ? `${capitalized(withoutReward)}.` : "Intervals are Wilson's, 95 %, by task. Rollouts that failed because of infrastructure have no reward and are counted separately."}</p></footer>
</body>
</html>
`;
}

/** Returns when the first rollout of a run started; empty if that is not recorded. */
function startText({ file, rollouts }: RunRecord): string {
  const [first = ''] = rollouts.flatMap(({ startedAt }) => startedAt ?? []).toSorted();
  const time = new Date(first);
  if (file.imported || Number.isNaN(time.getTime())) return '';
  const text = time.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return `Started on ${text} UTC`;
}

/** Conversations that the page has. More make it slow, and the table of tasks has all of them. */
const shownTasks = 40;
const openTasks = 3;
const longestText = 2000;

/** Why trials have no reward. */
function unscoredText(rollouts: readonly FinishedRollout[]): string {
  const reasons = unscoredReasons(rollouts);
  if (reasons.length === 0) return '';
  return `<section aria-labelledby="no-reward">
<h2 id="no-reward">What has no reward</h2>
<p>These trials say nothing about the agent.</p>
<ul class="reasons">
${reasons.map((reason) => `<li>${escaped(reason)}</li>`).join('\n')}
</ul>
</section>`;
}

/** Each failed task with its reasons, the data that differs, and the conversation. */
function failuresText(record: RunRecord, domain: LoadedDomain | null): string {
  const { rollouts } = record;
  const failed = [...scoredFailuresOf(rollouts)];
  if (failed.length === 0) return '';
  const shown = failed
    .slice(0, shownTasks)
    .map(([task, trials]) => failedTask(trials, rollouts.filter((each) => each.task === task).length, domain));
  const more = failed.length - shown.length;
  const rest = more > 0 ? `<p>${counted(more, 'more task')} failed. The table of tasks below has all of them.</p>` : '';
  return `<section aria-labelledby="what-failed">
<h2 id="what-failed">What failed</h2>
<p>${escaped(failedTasksText(record, failed.length))}</p>
${shown.map(failedTaskText).join('\n')}
${rest}
</section>`;
}

function failedTaskText(failed: FailedTask, at: number): string {
  const { task, about, trials, trial, reasons, rows, pointer, conversation } = failed;
  const marked = conversation.find(({ isFailing }) => isFailing);
  const link =
    marked === undefined || pointer === null
      ? ''
      : `<p>The failing step: <a href="#task-${at}-step-${marked.step}">${escaped(pointer.label)}</a></p>`;
  const count =
    trials === 1 ? 'Its only trial failed.' : `${failed.failed} of ${trials} trials failed. This is trial ${trial}.`;
  return `<article class="failed" aria-labelledby="task-${at}">
<h3 id="task-${at}">${escaped(task)}</h3>
${about?.description ? `<p>${escaped(about.description)}</p>` : ''}
${about ? `<p><b>What the user wanted:</b> ${escaped(about.goal)}</p>` : ''}
<p class="soft">${escaped(count)}</p>
<ul class="reasons">
${reasons.map((reason) => `<li>${escaped(reason)}</li>`).join('\n')}
</ul>
${rows === null ? '' : rowsText(rows)}
${link}
<details${at < openTasks ? ' open' : ''}>
<summary>The conversation</summary>
<ol class="conversation">
${conversation.map((step) => stepText(step, at)).join('\n')}
</ol>
</details>
</article>`;
}

function rowsText({ expected, actual }: ChangedRows): string {
  const side = (title: string, text: string) =>
    `<div><h4>${title}</h4><pre tabindex="0" role="group" aria-label="${title}">${escaped(cut(text))}</pre></div>`;
  return `<div class="rows">${side('The data should be', expected)}${side('The data is', actual)}</div>`;
}

/** A step can be reached by its address. Labels are words, so that no colour has to be seen. */
function stepText({ step, isFailing, lines }: SpokenStep, at: number): string {
  const said = lines
    .map(
      ({ speaker, text }, index) =>
        `<div class="line by-${speaker}"><span>${labels[speaker]}${index === 0 || speaker === 'violation' ? ` <small>${step}</small>` : ''}</span><p dir="auto">${escaped(cut(text))}</p></div>`,
    )
    .join('');
  const mark = isFailing ? '<p class="mark-failing">The failing step</p>' : '';
  return `<li id="task-${at}-step-${step}"${isFailing ? ' class="failing"' : ''}>${mark}${said}</li>`;
}

const cut = (text: string) => excerpt(text, longestText, '…');

const labels: Readonly<Record<Speaker, string>> = {
  user: 'User',
  refused: 'Refused',
  agent: 'Agent',
  call: 'Call',
  result: 'Result',
  error: 'Error',
  rule: 'Rule',
  violation: 'Rule broken',
  database: 'Data',
  note: 'Note',
  reward: 'Reward',
};

type Shown = readonly [name: string, value: string];

function importedNumbers({ rollouts, turns, callsPerRollout }: RunMetrics): readonly Shown[] {
  return [
    ['Conversations', String(rollouts)],
    ['Turns of a conversation', turns.mean.toFixed(1)],
    ['Calls of a conversation', callsPerRollout.toFixed(1)],
  ];
}

function numbers({ meanReward, scored, planned, passHat, scoredTasks, violationRate }: RunMetrics): readonly Shown[] {
  const last = passHat.at(-1);
  const tasks = scoredTasks.all + scoredTasks.some + scoredTasks.none;
  return [
    [
      scored < planned && meanReward !== null ? 'Mean reward of scored rollouts' : 'Mean reward',
      meanReward?.toFixed(3) ?? 'none',
    ],
    ...(last && last.k > 1
      ? [[`pass^${last.k}`, `${last.value.toFixed(3)}${passHatTasks(last, tasks)}`] as const]
      : []),
    ['Rollouts scored', `${scored} of ${planned}`],
    ['With a violated rule', violationRate === null || scored === 0 ? 'n/a' : `${(100 * violationRate).toFixed(1)} %`],
  ];
}

const numberText = ([name, value]: Shown): string => `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`;

function sectionText(section: Section, plot: Plot | undefined): string {
  const { id, title } = section;
  const head = `<section aria-labelledby="${id}">\n<h2 id="${id}">${escaped(title)}</h2>`;
  if (!plot) return `${head}\n${table(section)}\n</section>`;
  return `${head}
<figure>
${plot.svg}
<figcaption>${escaped(`${plot.title}. ${plot.description}`)}</figcaption>
</figure>
<details${section.rows.length <= 12 ? ' open' : ''}>
<summary>Table: ${escaped(title.toLowerCase())}</summary>
${table(section)}
</details>
</section>`;
}

/** A wide table scrolls by itself, also by keyboard. A shadow marks the side on which it continues. */
function table({ title, columns, rows }: Section): string {
  const cells = (row: readonly string[]) =>
    row.map((cell, at) => (at === 0 ? `<th scope="row">${escaped(cell)}</th>` : `<td>${escaped(cell)}</td>`)).join('');
  return `<div class="scroll" tabindex="0" role="group" aria-label="${escaped(`Table: ${title}`)}"><table>
<thead><tr>${columns.map((column) => `<th scope="col">${escaped(column)}</th>`).join('')}</tr></thead>
<tbody>
${rows.map((row) => `<tr>${cells(row)}</tr>`).join('\n')}
</tbody>
</table></div>`;
}

const style = `
:root { color-scheme: light dark; --page: #ffffff; --text: #1f2328; --soft: #57606a; --line: #d0d7de; --mark: #0a69b5; --bad: #b3401a; --shade: #00000026; }
@media (prefers-color-scheme: dark) { :root { --page: #1b1f24; --text: #e6edf3; --soft: #a5afba; --line: #3d444d; --mark: #58a6ff; --bad: #f0883e; --shade: #ffffff33; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.6rem; }
h2 { margin: 2rem 0 .5rem; font-size: 1.15rem; }
header p, footer p, figcaption, dt { color: var(--soft); }
.numbers { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; margin: 1.5rem 0; }
.numbers dd { margin: 0; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
.note { border-left: 4px solid var(--bad); padding-left: .75rem; }
figure { margin: 0; }
svg { display: block; width: 100%; max-width: 640px; height: auto; }
svg text { fill: var(--text); font: 13px system-ui, sans-serif; }
@media (max-width: 40rem) { svg text { font-size: 16px; } }
.grid { stroke: var(--line); }
.whisker { stroke: var(--mark); stroke-width: 2; }
.mark { fill: var(--mark); }
.bad { fill: var(--bad); }
summary { cursor: pointer; color: var(--soft); }
h3 { margin: 0 0 .5rem; font-size: 1.05rem; overflow-wrap: anywhere; }
h4 { margin: 0 0 .25rem; font-size: .85rem; color: var(--soft); }
a { color: var(--mark); }
.soft { color: var(--soft); }
.failed { border: 1px solid var(--line); border-radius: 6px; padding: 1rem 1.25rem; margin: 1rem 0; }
.failed p { margin: .4rem 0; }
.reasons { border-left: 4px solid var(--bad); margin: .75rem 0; padding: 0 0 0 1.75rem; overflow-wrap: anywhere; }
.rows { display: flex; flex-wrap: wrap; gap: 1rem; margin: .75rem 0; }
.rows > div { flex: 1 1 16rem; min-width: 0; }
pre { margin: 0; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: 4px; overflow-x: auto; font: 13px/1.45 ui-monospace, monospace; }
.conversation { list-style: none; margin: .5rem 0 0; padding: 0; }
.conversation li { padding: .1rem .5rem; }
.line { display: flex; gap: .75rem; }
.line > span { flex: 0 0 5.5rem; color: var(--soft); font-size: .85rem; padding-top: .1rem; }
.line > p { flex: 1; min-width: 0; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.by-call > p, .by-result > p, .by-error > p, .by-database > p { font: 13px/1.5 ui-monospace, monospace; }
.by-result > p, .by-note > p, .by-database > p { color: var(--soft); }
.by-violation > p, .by-error > p, .by-refused > p { color: var(--bad); }
.failing { border-left: 4px solid var(--bad); }
.mark-failing { color: var(--bad); font-weight: 600; }
@media (max-width: 40rem) { .line { display: block; } }
.scroll { overflow-x: auto; background: linear-gradient(to right, var(--page) 50%, transparent) 0 0 / 2rem 100% local, linear-gradient(to left, var(--page) 50%, transparent) 100% 0 / 2rem 100% local, linear-gradient(to right, var(--shade), transparent) 0 0 / .75rem 100%, linear-gradient(to left, var(--shade), transparent) 100% 0 / .75rem 100%; background-repeat: no-repeat; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top; }
thead th { color: var(--soft); font-weight: 600; }
tbody th { font-weight: 400; }
`;
