import type { JSX } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Bridge } from '../bridge.ts';
import { ProgressRing } from '../controls.ts';
import { type Dashboard, emptyDashboard, received, withStepOpened } from '../models/dashboard.ts';
import { chartsOf } from '../models/summary.ts';
import type { Run } from '../protocol.ts';
import { usePalette } from '../usePalette.ts';
import { ChartCard } from './chartCard.tsx';
import { readChoices } from './choices.ts';
import { EmptyView } from './emptyView.tsx';
import { StepRollouts } from './stepRollouts.tsx';
import { StepTable } from './stepTable.tsx';
import { TopBar } from './topBar.tsx';
import './view.css';

/** The training dashboard: a run's charts, the rollouts behind a point, and the same points as a table. */
export function DashboardView({ bridge }: { bridge: Bridge }): JSX.Element {
  const [initial] = useState(() => readChoices(bridge.loadState()));
  const [dashboard, setDashboard] = useState<Dashboard>(emptyDashboard);
  const [smoothing, setSmoothing] = useState(initial.smoothing);
  const shown = dashboard.run?.id;
  const opened = dashboard.opened?.step;

  useEffect(() => {
    const end = bridge.receive((message) => setDashboard((before) => received(before, message)));
    bridge.post(initial.run === undefined ? { type: 'ready' } : { type: 'ready', run: initial.run });
    return end;
  }, [bridge, initial]);
  useEffect(() => {
    if (shown !== undefined) bridge.saveState({ run: shown, smoothing, step: opened });
  }, [bridge, shown, smoothing, opened]);

  const openStep = useCallback(
    (step: number): void => {
      if (shown === undefined) return;
      setDashboard((before) => withStepOpened(before, step));
      bridge.post({ type: 'openStep', run: shown, step });
    },
    [bridge, shown],
  );
  useEffect(() => {
    if (initial.step !== undefined && shown !== undefined && shown === initial.run) openStep(initial.step);
  }, [initial, shown, openStep]);

  if (!dashboard.loaded) return <Loading />;
  if (dashboard.run === null) return <EmptyView onTrain={(kind) => bridge.post({ type: 'train', kind })} />;
  return (
    <main class="dashboard">
      <TopBar dashboard={dashboard} smoothing={smoothing} onSmoothing={setSmoothing} post={bridge.post} />
      <RunCharts dashboard={dashboard} smoothing={smoothing} openStep={openStep} bridge={bridge} />
      <StepTable
        series={dashboard.series}
        opened={opened ?? null}
        {...(hasRollouts(dashboard.run) && { onOpen: openStep })}
      />
    </main>
  );
}

/** SFT learns from recordings that are there already. */
function hasRollouts(run: Run | null): boolean {
  return run?.kind !== 'sft';
}

function Loading(): JSX.Element {
  return (
    <main class="loading">
      <ProgressRing label="Reading the training runs" />
      <p>Reading the training runs…</p>
    </main>
  );
}

type RunChartsProps = {
  readonly dashboard: Dashboard;
  readonly smoothing: number;
  readonly openStep: (step: number) => void;
  readonly bridge: Bridge;
};

function RunCharts({ dashboard, smoothing, openStep, bridge }: RunChartsProps): JSX.Element {
  const palette = usePalette();
  const { run, series, opened } = dashboard;
  const [lead, ...others] = chartsOf(run, series, smoothing);
  const plays = hasRollouts(run);
  return (
    <>
      <div class={plays ? 'lead' : 'lead alone'}>
        {lead && (
          <ChartCard
            chart={lead}
            palette={palette}
            height={240}
            opened={opened?.step ?? null}
            {...(plays && { onOpen: openStep })}
          />
        )}
        {plays && (
          <StepRollouts
            opened={opened}
            onOpen={(file) => run && bridge.post({ type: 'openRollout', run: run.id, file })}
          />
        )}
      </div>
      <div class="charts">
        {others.map((chart) => (
          <ChartCard
            key={chart.metric.name}
            chart={chart}
            palette={palette}
            height={160}
            opened={opened?.step ?? null}
          />
        ))}
      </div>
    </>
  );
}
