import type { JSX } from 'preact';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { usePalette } from '../charts/usePalette.ts';
import type { PlayedStep } from '../messages/protocol.ts';
import { chartsOf } from '../models/charts.ts';
import { type Dashboard, emptyDashboard, openedTitle, received, withStepOpened } from '../models/dashboard.ts';
import { counted } from '../models/series.ts';
import type { Zoom } from '../models/zoom.ts';
import type { Bridge } from '../parts/bridge.ts';
import { ProgressRing } from '../parts/controls.ts';
import { AlarmList } from './alarmList.tsx';
import { ChartCard } from './chartCard.tsx';
import { readChoices } from './choices.ts';
import { EmptyView } from './emptyView.tsx';
import { StepRollouts } from './stepRollouts.tsx';
import { StepTable } from './stepTable.tsx';
import { TopBar } from './topBar.tsx';
import './view.css';

/** The training dashboard: a run's alarms and charts, the rollouts behind a point, and the points as a table. */
export function DashboardView({ bridge }: { bridge: Bridge }): JSX.Element {
  const [initial] = useState(() => readChoices(bridge.loadState()));
  const [dashboard, setDashboard] = useState<Dashboard>(emptyDashboard);
  const [smoothing, setSmoothing] = useState(initial.smoothing);
  const [overlays, setOverlays] = useState<readonly string[]>(initial.overlays);
  const [isLog, setLog] = useState(initial.isLog);
  const [zoom, setZoom] = useState<Zoom>(null);
  const shown = dashboard.run?.id;
  const { opened } = dashboard;
  const chosen = useMemo(
    () => (opened === null ? undefined : { run: opened.run, step: opened.step, purpose: opened.purpose }),
    [opened?.run, opened?.step, opened?.purpose],
  );

  useEffect(() => {
    const end = bridge.receive((message) => setDashboard((before) => received(before, message)));
    const { run, overlays: drawn } = initial;
    bridge.post({ type: 'ready', ...(run !== undefined && { run }), ...(drawn.length > 0 && { overlays: drawn }) });
    return end;
  }, [bridge, initial]);
  useEffect(() => {
    if (shown !== undefined) bridge.saveState({ run: shown, smoothing, opened: chosen, overlays, isLog });
  }, [bridge, shown, smoothing, chosen, overlays, isLog]);
  useEffect(() => setZoom(null), [shown]);

  const openStep = useCallback(
    ({ run, step, purpose }: PlayedStep): void => {
      setDashboard((before) => withStepOpened(before, { run, step, purpose }));
      bridge.post({ type: 'openStep', run, step, purpose });
    },
    [bridge],
  );
  useEffect(() => {
    if (initial.opened !== undefined && shown !== undefined && shown === initial.run) openStep(initial.opened);
  }, [initial, shown, openStep]);
  const overlay = (runs: readonly string[]): void => {
    setOverlays(runs);
    bridge.post({ type: 'overlay', runs: [...runs] });
  };

  if (!dashboard.loaded) return <Loading />;
  if (dashboard.run === null) return <EmptyView onTrain={(kind) => bridge.post({ type: 'train', kind })} />;
  return (
    <main class="dashboard">
      <TopBar
        dashboard={dashboard}
        smoothing={smoothing}
        onSmoothing={setSmoothing}
        isLog={isLog}
        onLog={setLog}
        isZoomed={zoom !== null}
        onZoomReset={() => setZoom(null)}
        overlays={overlays.filter((run) => run !== shown)}
        onOverlays={overlay}
        post={bridge.post}
      />
      <AlarmList
        alarms={dashboard.alarms}
        onOpenStep={(step) => shown && openStep({ run: shown, step, purpose: 'training' })}
        onOpenRecording={(file) => shown && bridge.post({ type: 'openRollout', run: shown, file })}
      />
      <RunCharts
        dashboard={dashboard}
        smoothing={smoothing}
        isLog={isLog}
        zoom={zoom}
        onZoom={setZoom}
        openStep={openStep}
        bridge={bridge}
      />
      <StepTable
        series={dashboard.series}
        overlays={dashboard.overlays}
        shown={dashboard.run.id}
        opened={opened}
        {...(hasRollouts(dashboard) && { onOpen: openStep })}
      />
    </main>
  );
}

/** SFT learns from recordings that are there already; it plays rollouts where it is evaluated. */
function hasRollouts({ run, runs, series, overlays }: Dashboard): boolean {
  const drawn = [...(run ? [{ run: run.id, series }] : []), ...overlays];
  return drawn.some(
    (each) =>
      runs.some(({ id, kind }) => id === each.run && kind !== 'sft') ||
      each.series.some(({ metrics }) => Object.keys(metrics).some((name) => name.startsWith('evaluate/'))),
  );
}

function Loading(): JSX.Element {
  return (
    <main class="loading">
      <ProgressRing label="Loading the training runs" />
      <p>Loading the training runs…</p>
    </main>
  );
}

type RunChartsProps = {
  readonly dashboard: Dashboard;
  readonly smoothing: number;
  readonly isLog: boolean;
  readonly zoom: Zoom;
  readonly onZoom: (zoom: Zoom) => void;
  readonly openStep: (played: PlayedStep) => void;
  readonly bridge: Bridge;
};

function RunCharts({ dashboard, smoothing, isLog, zoom, onZoom, openStep, bridge }: RunChartsProps): JSX.Element {
  const palette = usePalette();
  const { run, series, opened, overlays, alarms } = dashboard;
  const charts = useMemo(
    () => chartsOf(run, series, smoothing, overlays, alarms),
    [run, series, smoothing, overlays, alarms],
  );
  const [lead, ...others] = charts;
  const plays = hasRollouts(dashboard);
  const common = {
    palette,
    isLog,
    zoom,
    onZoom,
    opened,
    onPicture: (name: string, content: string) =>
      content && bridge.post({ type: 'export', name: `${run?.id ?? 'training'}-${name}`, format: 'png', content }),
    ...(plays && { onOpen: openStep }),
  };
  return (
    <>
      <div class={plays ? 'lead' : 'lead alone'}>
        {lead && <ChartCard key={lead.kind.label} chart={lead} height={240} {...common} />}
        {plays && (
          <StepRollouts
            opened={opened}
            title={openedTitle(dashboard)}
            onOpen={(file) => opened && bridge.post({ type: 'openRollout', run: opened.run, file })}
            onCompare={(file) => opened && bridge.post({ type: 'compareStep', run: opened.run, file })}
          />
        )}
      </div>
      <p class="hint muted">
        Drag over a chart to zoom all of them.{plays && ' Select a point to list the rollouts behind it.'} With the
        keyboard: arrow keys and Enter, + and - zoom, 0 shows all.
        {[series, ...overlays.map((each) => each.series)].some((each) => counted(each).length < each.length) &&
          ' Hollow points on a dotted line are superseded: the run continued from an earlier checkpoint.'}
      </p>
      <div class="charts">
        {others.map((chart) => (
          <ChartCard key={chart.kind.label} chart={chart} height={160} {...common} />
        ))}
      </div>
    </>
  );
}
