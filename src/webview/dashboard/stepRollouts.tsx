import type { JSX } from 'preact';
import { endReasonText } from '../../engine/core/events/displayText.ts';
import type { Rollout } from '../messages/protocol.ts';
import type { OpenedStep } from '../models/dashboard.ts';
import { Button, DataGrid, ProgressRing } from '../parts/controls.ts';

export type StepRolloutsProps = {
  readonly opened: OpenedStep | null;
  /** A description of what is opened. */
  readonly title: string;
  readonly onOpen: (file: string) => void;
  /** Compares a recording with one of the same task at another optimizer step. */
  readonly onCompare: (file: string) => void;
};

/** The rollouts behind the point that was chosen; each opens its recording. */
export function StepRollouts(props: StepRolloutsProps): JSX.Element {
  const { opened, title } = props;
  return (
    <section class="card rollouts" aria-labelledby="rollouts-title">
      <div class="card-title">
        <h2 id="rollouts-title">{title}</h2>
        {opened?.rollouts && <span class="readout muted">{countOf(opened.rollouts)}</span>}
      </div>
      <div aria-live="polite" class="rollouts-body">
        <Body {...props} />
      </div>
    </section>
  );
}

function Body({ opened, title, onOpen, onCompare }: StepRolloutsProps): JSX.Element {
  if (opened === null)
    return <p class="muted placeholder">Select a point on a curve to list the rollouts behind it.</p>;
  if (opened.problem !== null) return <p class="warning-box">{opened.problem}</p>;
  if (opened.rollouts === null) return <ProgressRing label="Loading the rollouts" />;
  if (opened.rollouts.length === 0) return <p class="muted placeholder">No rollouts belong to this point.</p>;
  const rows = opened.rollouts.map((rollout, index) => ({
    key: String(index),
    opens: rollout.file !== null,
    cells: [
      rollout.member === null ? rollout.task : `${rollout.task} · ${rollout.member}`,
      rewardOf(rollout),
      turnsOf(rollout),
      endOf(rollout),
      compareOf(rollout, onCompare),
    ],
  }));
  const open = (key: string): void => {
    const file = opened.rollouts?.[Number(key)]?.file;
    if (file) onOpen(file);
  };
  return (
    <DataGrid
      label={title}
      columns={columns}
      rows={rows}
      template="minmax(140px, 2fr) 86px 72px minmax(80px, 1fr) 124px"
      onOpen={open}
    />
  );
}

const columns = [
  { key: 'task', label: 'Task', title: 'Task and member of its group; Enter opens the recording' },
  { key: 'reward', label: 'Reward' },
  { key: 'turns', label: 'Turns' },
  { key: 'end', label: 'End' },
  { key: 'compare', label: 'Compare', title: 'With the same task at another optimizer step' },
];

function rewardOf({ reward }: Rollout): JSX.Element {
  if (reward === null) return <span class="reward unscored">not scored</span>;
  const mark = reward >= 1 ? '✓' : reward > 0 ? '◐' : '✕';
  return (
    <span class={`reward ${reward >= 1 ? 'won' : reward > 0 ? 'partial' : 'lost'}`}>
      <span aria-hidden="true">{mark}</span> {Number.isInteger(reward) ? reward : reward.toFixed(2)}
    </span>
  );
}

function turnsOf({ turns }: Rollout): string {
  return turns === null ? '–' : String(turns);
}

function endOf({ endReason, failure, file }: Rollout): JSX.Element {
  const text = failure ?? (endReason === null ? '–' : endReasonText(endReason));
  return (
    <span class="end muted" title={text}>
      {file === null ? `${text} (no recording was kept)` : text}
    </span>
  );
}

function compareOf({ file, task, member }: Rollout, onCompare: (file: string) => void): JSX.Element | string {
  if (file === null) return '';
  const label = `Compare ${task}${member === null ? '' : `, member ${member},`} with another optimizer step`;
  return (
    <Button quiet label={label} onPress={() => onCompare(file)}>
      Compare…
    </Button>
  );
}

function countOf(rollouts: readonly Rollout[]): string {
  const won = rollouts.filter(({ reward }) => reward !== null && reward >= 1).length;
  return `${won} of ${rollouts.length} with reward 1`;
}
