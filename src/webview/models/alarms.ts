import type { Alarm } from '../messages/protocol.ts';
import { formatMetric, metricNamed } from './metrics.ts';

/** An alarm as a person reads it. */
export type AlarmSummary = {
  readonly key: string;
  readonly title: string;
  readonly message: string;
  /** Each number with its name. */
  readonly evidence: readonly (readonly [name: string, value: string])[];
  readonly recordings: readonly { readonly file: string; readonly name: string }[];
  readonly advice: string;
  readonly step: number;
  readonly hasPaused: boolean;
};

const words: Readonly<Record<string, string>> = { limit: 'limit', before: 'before', steps: 'optimizer steps' };

/** The alarms of a run, newest first. */
export function alarmSummaries(alarms: readonly Alarm[]): readonly AlarmSummary[] {
  return alarms
    .map(({ name, step, message, evidence, recordings, advice, pauses }) => ({
      key: `${name}/${step}`,
      title: `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`.replace(/^Kl\b/, 'KL'),
      message: `${message.charAt(0).toUpperCase()}${message.slice(1)}.`,
      evidence: Object.entries(evidence).map(evidenceOf),
      recordings: recordings.map((file) => ({
        file,
        name: file.split('/').at(-1)?.replace('.traj.jsonl', '') ?? file,
      })),
      advice,
      step,
      hasPaused: pauses,
    }))
    .reverse();
}

/** With four significant digits, whatever the metric is rounded to elsewhere: here a number meets its limit. */
function evidenceOf([name, value]: readonly [string, number]): readonly [string, string] {
  return [words[name] ?? metricNamed(name).label, formatMetric({ decimals: null }, value)];
}
