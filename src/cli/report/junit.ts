import { sum } from '../../engine/core/values/statistics.ts';
import type { TrialNotRun } from '../../engine/shell/records/notRun.ts';
import type { FinishedRollout, RunRecord } from '../../engine/shell/records/runRecord.ts';
import { escaped } from './markup.ts';
import { notRunReason } from './notRun.ts';
import { headline } from './text.ts';

/**
 * A run as JUnit XML: a suite for each task, a case for each planned trial. A trial without a reward is an error, also
 * one that was not run; an imported conversation, which nothing verifies, is skipped.
 */
export function junitText(record: RunRecord): string {
  const { rollouts, notRun, file } = record;
  const isScored = file.imported === undefined;
  const missing = isScored ? notRun : [];
  const [run, left] = [Map.groupBy(rollouts, ({ task }) => task), Map.groupBy(missing, ({ task }) => task)];
  const suites = [...new Set([...run.keys(), ...left.keys()])].map((task) =>
    suite(`${file.domain}.${task}`, run.get(task) ?? [], left.get(task) ?? [], isScored),
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escaped(headline(record))}" ${counts(rollouts, missing, isScored)}>`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function suite(
  name: string,
  rows: readonly FinishedRollout[],
  missing: readonly TrialNotRun[],
  isScored: boolean,
): string {
  return [
    `  <testsuite name="${escaped(name)}" ${counts(rows, missing, isScored)}>`,
    ...rows.map((row) => testCase(name, row, isScored)),
    ...missing.map((each) => missingCase(name, each)),
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

function missingCase(suite: string, missing: TrialNotRun): string {
  const name = missing.trial === null ? 'the file of tasks' : `trial ${missing.trial}`;
  const reason = escaped(notRunReason(missing));
  return [
    `    <testcase classname="${escaped(suite)}" name="${name}" time="0">`,
    `      <error type="notRun" message="${reason}">${reason}</error>`,
    '    </testcase>',
  ].join('\n');
}

function counts(rows: readonly FinishedRollout[], missing: readonly TrialNotRun[], isScored: boolean): string {
  const unscored = rows.filter(({ reward }) => reward === null).length;
  const [errors, skipped] = isScored ? [unscored + missing.length, 0] : [0, unscored];
  const failures = rows.filter(({ reward }) => reward !== null && reward !== 1).length;
  const time = sum(rows.map((row) => Number(secondsOf(row)))).toFixed(3);
  return `tests="${rows.length + missing.length}" failures="${failures}" errors="${errors}" skipped="${skipped}" time="${time}"`;
}

function secondsOf({ latency }: FinishedRollout): string {
  return (sum([...latency.agent, ...latency.user, ...latency.tools]) / 1000).toFixed(3);
}
