import { sum } from '../../engine/core/values/statistics.ts';
import type { FinishedRollout, RunRecord } from '../../engine/shell/records/runRecord.ts';
import { escaped } from './markup.ts';
import { headline } from './text.ts';

/** A run as JUnit XML: a suite for each task, a case for each trial. A rollout without a reward is an error. */
export function junitText(record: RunRecord): string {
  const { rollouts, file } = record;
  const suites = [...Map.groupBy(rollouts, ({ task }) => task)].map(([task, rows]) => suite(file.domain, task, rows));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escaped(headline(record))}" ${counts(rollouts)}>`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function suite(domain: string, task: string, rows: readonly FinishedRollout[]): string {
  return [
    `  <testsuite name="${escaped(`${domain}.${task}`)}" ${counts(rows)}>`,
    ...rows.map((row) => testCase(domain, row)),
    '  </testsuite>',
  ].join('\n');
}

function testCase(domain: string, rollout: FinishedRollout): string {
  const { task, trial, reward, reason, failure, failedBy, recording } = rollout;
  const open = `    <testcase classname="${escaped(`${domain}.${task}`)}" name="trial ${trial}" time="${secondsOf(rollout)}"`;
  if (reward === 1) return `${open}/>`;
  const tag = reward === null ? 'error' : 'failure';
  const message = failure?.message ?? reason;
  return [
    `${open}>`,
    `      <${tag} type="${escaped(failedBy ?? 'agent')}" message="${escaped(message)}">${escaped(reason)}</${tag}>`,
    `      <system-out>${escaped(recording)}</system-out>`,
    '    </testcase>',
  ].join('\n');
}

function counts(rows: readonly FinishedRollout[]): string {
  const errors = rows.filter(({ reward }) => reward === null).length;
  const failures = rows.filter(({ reward }) => reward !== null && reward !== 1).length;
  const time = sum(rows.map((row) => Number(secondsOf(row)))).toFixed(3);
  return `tests="${rows.length}" failures="${failures}" errors="${errors}" time="${time}"`;
}

function secondsOf({ latency }: FinishedRollout): string {
  return (sum([...latency.agent, ...latency.user, ...latency.tools]) / 1000).toFixed(3);
}
