import type { RunMetrics } from '../../engine/core/metrics.ts';
import type { RunRecord } from '../../engine/shell/runRecord.ts';
import { escaped } from './markup.ts';
import { callPlot, endPlot, type Plot, successPlot, taskPlot, turnPlot } from './plots.ts';
import { type Section, sectionsOf } from './sections.ts';
import { headline } from './text.ts';

/**
 * A run as one page with nothing outside of it. Each plot is a figure whose caption says in words what it shows, and
 * whose table follows it; a screen reader gets the caption and the table, never the drawing.
 */
export function pageText(record: RunRecord, metrics: RunMetrics): string {
  const { file, rollouts, problems, unfinished } = record;
  const plots: Readonly<Record<string, Plot>> = {
    success: successPlot(metrics),
    tasks: taskPlot(rollouts),
    calls: callPlot(metrics),
    conversation: turnPlot(rollouts),
    ends: endPlot(metrics),
  };
  const notes = [
    ...problems,
    ...(unfinished.length > 0 ? [`${unfinished.length} rollouts were begun and not finished.`] : []),
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
<p>${escaped(headline(record))}</p>
</header>
<main>
<dl class="numbers">
${numbers(metrics)}
</dl>
${notes.map((note) => `<p class="note">${escaped(note)}</p>`).join('\n')}
${sectionsOf(metrics, rollouts)
  .map((section) => sectionText(section, plots[section.id]))
  .join('\n')}
</main>
<footer><p>Intervals are Wilson's, 95 %, by task. Rollouts that infrastructure failed have no reward and count apart.</p></footer>
</body>
</html>
`;
}

function numbers({ meanReward, scored, rollouts, passHat, violationRate }: RunMetrics): string {
  const last = passHat.at(-1);
  const shown = [
    ['Mean reward', meanReward?.toFixed(3) ?? 'none'],
    ...(last && last.k > 1 ? [[`pass^${last.k}`, last.value.toFixed(3)]] : []),
    ['Rollouts scored', `${scored} of ${rollouts}`],
    ['With a violated rule', violationRate === null ? 'none' : `${(100 * violationRate).toFixed(1)} %`],
  ];
  return shown
    .map(([name = '', value = '']) => `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`)
    .join('\n');
}

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

/** A wide table scrolls by itself, also by keyboard. */
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
:root { color-scheme: light dark; --page: #ffffff; --text: #1f2328; --soft: #57606a; --line: #d0d7de; --mark: #0a69b5; --bad: #b3401a; }
@media (prefers-color-scheme: dark) { :root { --page: #1b1f24; --text: #e6edf3; --soft: #a5afba; --line: #3d444d; --mark: #58a6ff; --bad: #f0883e; } }
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
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top; }
thead th { color: var(--soft); font-weight: 600; }
tbody th { font-weight: 400; }
`;
