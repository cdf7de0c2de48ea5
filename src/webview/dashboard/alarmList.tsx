import type { JSX } from 'preact';
import type { Alarm } from '../messages/protocol.ts';
import { type AlarmSummary, alarmSummaries } from '../models/alarms.ts';
import { Button } from '../parts/controls.ts';

export type AlarmListProps = {
  readonly alarms: readonly Alarm[];
  /** Lists the rollouts of an optimizer step. */
  readonly onOpenStep: (step: number) => void;
  readonly onOpenRecording: (file: string) => void;
};

/** Shows what went wrong in the run, newest first: since when, by which numbers, and what to do. */
export function AlarmList({ alarms, onOpenStep, onOpenRecording }: AlarmListProps): JSX.Element | null {
  if (alarms.length === 0) return null;
  return (
    <section class="card alarms" aria-labelledby="alarms-title">
      <h2 id="alarms-title">{alarms.length === 1 ? '1 alarm' : `${alarms.length} alarms`}</h2>
      <ul>
        {alarmSummaries(alarms).map((alarm) => (
          <li key={alarm.key}>
            <AlarmItem alarm={alarm} onOpenStep={onOpenStep} onOpenRecording={onOpenRecording} />
          </li>
        ))}
      </ul>
    </section>
  );
}

type AlarmItemProps = Omit<AlarmListProps, 'alarms'> & { readonly alarm: AlarmSummary };

function AlarmItem({ alarm, onOpenStep, onOpenRecording }: AlarmItemProps): JSX.Element {
  const { title, step, message, evidence, advice, recordings, hasPaused } = alarm;
  return (
    <>
      <h3>
        <span aria-hidden="true">▼</span> {title}{' '}
        <span class="muted">
          from optimizer step {step} on{hasPaused ? '; it paused the run' : ''}
        </span>
      </h3>
      <p>{message}</p>
      <p>{advice}</p>
      <dl class="evidence">
        {evidence.map(([name, value]) => (
          <div key={name}>
            <dt class="muted">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div class="alarm-actions">
        <Button label={`Rollouts of Optimizer Step ${step}: ${title}`} onPress={() => onOpenStep(step)}>
          Rollouts of Optimizer Step {step}
        </Button>
        {recordings.map(({ file, name }) => (
          <Button quiet key={file} label={`Open the recording ${name}`} onPress={() => onOpenRecording(file)}>
            {name}
          </Button>
        ))}
      </div>
    </>
  );
}
