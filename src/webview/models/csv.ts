import { type DrawnRun, metricNames } from './charts.ts';

/** Everything that was measured of some runs, a line an optimizer step, as RFC 4180 has it. */
export function csvOf(runs: readonly DrawnRun[]): string {
  const names = [...new Set(runs.flatMap(({ series }) => [...metricNames(series)]))].sort();
  const lines = runs.flatMap(({ run, series }) =>
    series.map(({ step, time, metrics, superseded }) => [
      run,
      step,
      time === null ? '' : new Date(time).toISOString(),
      superseded ? 'true' : 'false',
      ...names.map((name) => metrics[name] ?? ''),
    ]),
  );
  return [['run', 'step', 'time', 'superseded', ...names], ...lines]
    .map((line) => `${line.map(cell).join(',')}\r\n`)
    .join('');
}

/** A spreadsheet runs a text that begins with one of these as a formula (OWASP, CSV injection), in both widths. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

/** A number stays a number. A text that a spreadsheet would run is marked as a text with an apostrophe. */
function cell(value: string | number): string {
  const text = typeof value === 'string' && formula.test(value) ? `'${value}` : String(value);
  // In many countries a spreadsheet also splits a line at its semicolons.
  return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
