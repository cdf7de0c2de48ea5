import { sum } from '../../engine/core/values/statistics.ts';
import type { FinishedRollout, RunRecord } from '../../engine/shell/records/runRecord.ts';
import { escaped } from './markup.ts';
import { headline } from './text.ts';

/**
 * A run as JUnit XML: a suite for each task, a case for each trial. A rollout without a reward is an error; an imported
 * conversation, which nothing verifies, is skipped.
 */
export function junitText(record: RunRecord): string {
  const { rollouts, file } = record;
  const isScored = file.imported === undefined;
  const suites = [...Map.groupBy(rollouts, ({ task }) => task)].map(([task, rows]) =>
    suite(`${file.domain}.${task}`, rows, isScored),
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escaped(headline(record))}" ${counts(rollouts, isScored)}>`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function suite(name: string, rows: readonly FinishedRollout[], isScored: boolean): string {
  return [
    `  <testsuite name="${escaped(name)}" ${counts(rows, isScored)}>`,
    ...rows.map((row) => testCase(name, row, isScored)),
    '  </testsuite>',
  ].join('\n');
}

function testCase(suite: string, rollout: FinishedRollout, isScored: boolean): string {
  const { trial, reward, reason, failure, failedBy, recording } = rollout;
  const open = `    <testcase classname="${escaped(suite)}" name="trial ${trial}" time="${secondsOf(rollout)}"`;
  if (reward === 1) return `${open}/>`;
  const tag = reward === null ? 'error' : 'failure';
  const message = failure?.message ?? reason;
  return [
    `${open}>`,
    isScored
      ? `      <${tag} type="${escaped(failedBy ?? 'agent')}" message="${escaped(message)}">${escaped(reason)}</${tag}>`
      : `      <skipped message="${escaped(reason)}"/>`,
    `      <system-out>${escaped(recording)}</system-out>`,
    '    </testcase>',
  ].join('\n');
}

function counts(rows: readonly FinishedRollout[], isScored: boolean): string {
  const missing = rows.filter(({ reward }) => reward === null).length;
  const [errors, skipped] = isScored ? [missing, 0] : [0, missing];
  const failures = rows.filter(({ reward }) => reward !== null && reward !== 1).length;
  const time = sum(rows.map((row) => Number(secondsOf(row)))).toFixed(3);
  return `tests="${rows.length}" failures="${failures}" errors="${errors}" skipped="${skipped}" time="${time}"`;
}

function secondsOf({ latency }: FinishedRollout): string {
  return (sum([...latency.agent, ...latency.user, ...latency.tools]) / 1000).toFixed(3);
}
