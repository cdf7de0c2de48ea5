import type { JSX } from 'preact';
import type { ToExtension } from '../messages/protocol.ts';
import { csvOf } from '../models/csv.ts';
import type { Dashboard } from '../models/dashboard.ts';
import { runLabel, statusOf } from '../models/summary.ts';
import { Button, Dropdown } from '../parts/controls.ts';
import { smoothings } from './choices.ts';
import { RunPicker } from './runPicker.tsx';

export type TopBarProps = {
  readonly dashboard: Dashboard;
  readonly smoothing: number;
  readonly onSmoothing: (window: number) => void;
  readonly isLog: boolean;
  readonly onLog: (isLog: boolean) => void;
  readonly isZoomed: boolean;
  readonly onZoomReset: () => void;
  readonly overlays: readonly string[];
  readonly onOverlays: (runs: readonly string[]) => void;
  readonly post: (message: ToExtension) => void;
};

/** The run, its status and what can be done with it. */
export function TopBar(props: TopBarProps): JSX.Element {
  const { dashboard, smoothing, onSmoothing, isLog, onLog, isZoomed, onZoomReset, overlays, onOverlays, post } = props;
  const { run, runs, status, series } = dashboard;
  const save = (): void => {
    const drawn = [{ run: run?.id ?? '', series }, ...dashboard.overlays];
    post({ type: 'export', name: `${run?.id ?? 'training'}-metrics`, format: 'csv', content: csvOf(drawn) });
  };
  const stoppable = status.type === 'running' || status.type === 'waiting';
  const isOver = status.type === 'stopped' || status.type === 'paused' || status.type === 'failed';
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
        <label class="log-scale">
          <input type="checkbox" checked={isLog} onChange={() => onLog(!isLog)} />
          Log scale
        </label>
        {isZoomed && <Button onPress={onZoomReset}>Reset Zoom</Button>}
        <span class="spacer" />
        <Button disabled={series.length === 0} onPress={save}>
          Save as CSV
        </Button>
        {(stoppable || status.type === 'stopping') && (
          <Button disabled={!stoppable} onPress={() => run && post({ type: 'stop', run: run.id })}>
            Stop Training
          </Button>
        )}
        {isOver && <Button onPress={() => run && post({ type: 'resume', run: run.id })}>Resume Training</Button>}
      </div>
      <StatusLine dashboard={dashboard} />
      {dashboard.data !== null && <p class="muted run-data">{dashboard.data}</p>}
      <RunPicker runs={runs.filter(({ id }) => id !== run?.id)} chosen={overlays} onChoose={onOverlays} />
      {dashboard.problems.map((problem) => (
        <p class="warning-box" role="status" key={problem}>
          {problem}
        </p>
      ))}
      <Pause dashboard={dashboard} />
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

/** Shows why a run is paused. It has a checkpoint, so it can be resumed after following the alarm's advice. */
function Pause({ dashboard }: { readonly dashboard: Dashboard }): JSX.Element | null {
  const { pause } = statusOf(dashboard);
  if (pause === null) return null;
  const folder = `.rehearsal/training/${dashboard.run?.id}`;
  return (
    <p class="warning-box" role="status">
      An alarm paused this run: {pause}. Resume Training continues from its checkpoint unchanged. To change a
      hyper-parameter first, as the alarm advises: <code>npx rehearsal train resume {folder} --set KEY=VALUE</code>
    </p>
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
