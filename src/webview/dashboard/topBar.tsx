import type { JSX } from 'preact';
import { Button, Dropdown } from '../controls.ts';
import type { Dashboard } from '../models/dashboard.ts';
import { runLabel, statusOf } from '../models/summary.ts';
import type { ToExtension } from '../protocol.ts';
import { smoothings } from './choices.ts';

export type TopBarProps = {
  readonly dashboard: Dashboard;
  readonly smoothing: number;
  readonly onSmoothing: (window: number) => void;
  readonly post: (message: ToExtension) => void;
};

/** The run, its status and what can be done with it. */
export function TopBar({ dashboard, smoothing, onSmoothing, post }: TopBarProps): JSX.Element {
  const { run, runs, status } = dashboard;
  const stoppable = status.type === 'running' || status.type === 'waiting';
  return (
    <header class="top-bar">
      <div class="title-row">
        <h1>Training</h1>
        <Dropdown
          label="Training run"
          value={run?.id ?? ''}
          options={runs.map((one) => ({ value: one.id, label: runLabel(one) }))}
          onSelect={(id) => post({ type: 'selectRun', run: id })}
        />
        <Dropdown
          label="Smoothing of the curves"
          value={String(smoothing)}
          options={smoothings}
          onSelect={(window) => onSmoothing(Number(window))}
        />
        <span class="spacer" />
        {(stoppable || status.type === 'stopping') && (
          <Button disabled={!stoppable} onPress={() => run && post({ type: 'stop', run: run.id })}>
            Stop Training
          </Button>
        )}
      </div>
      <StatusLine dashboard={dashboard} />
      {dashboard.problems.map((problem) => (
        <p class="warning-box" role="status" key={problem}>
          {problem}
        </p>
      ))}
      <Failure dashboard={dashboard} showLog={() => post({ type: 'showLog' })} />
    </header>
  );
}

function StatusLine({ dashboard }: { readonly dashboard: Dashboard }): JSX.Element {
  const { label, mark, progress, done, duration } = statusOf(dashboard);
  const facts = [progress, duration, dashboard.run?.model, dashboard.run?.domain].filter(Boolean);
  return (
    <div class="status-line">
      <span class={`status ${dashboard.status.type}`} role="status">
        <span aria-hidden="true">{mark}</span> {label}
      </span>
      {done !== null && <progress value={done} max={1} aria-label="Optimizer steps done" />}
      {facts.map((fact) => (
        <span key={fact} class="muted">
          {fact}
        </span>
      ))}
    </div>
  );
}

function Failure({
  dashboard,
  showLog,
}: {
  readonly dashboard: Dashboard;
  readonly showLog: () => void;
}): JSX.Element | null {
  const { error } = statusOf(dashboard);
  if (error === null) return null;
  return (
    <div class="error-box" role="alert">
      <p>{error}</p>
      <Button onPress={showLog}>Show Log</Button>
    </div>
  );
}
