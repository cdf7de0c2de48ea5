import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { RunsCompared } from '../messages/compared.ts';
import type { ToExtension } from '../messages/protocol.ts';
import {
  type Comparison,
  callRows,
  letterOf,
  type MetricRow,
  metricRows,
  nameOf,
  passCurveOf,
  runFacts,
  trialPairs,
  verdictText,
} from '../models/comparison.ts';
import { Button, DataGrid, Dropdown } from '../parts/controls.ts';
import type { Choices } from './choices.ts';
import { PassChart } from './passChart.tsx';
import { SideBySide } from './sideBySide.tsx';
import { TaskTable } from './taskTable.tsx';

export type PartProps = {
  readonly comparison: Comparison;
  readonly choices: Choices;
  readonly choose: (part: Partial<Choices>) => void;
  readonly post: (message: ToExtension) => void;
};

export type RunsPartProps = PartProps & { readonly runs: RunsCompared; readonly openTask: (task: string) => void };

/** Two runs or more: what they are, their metrics, their tasks, and one pair of rollouts side by side. */
export function RunsPart(props: RunsPartProps): JSX.Element {
  const { runs, choices, choose, post, openTask } = props;
  const metrics = useMemo(() => metricRows(runs), [runs]);
  const calls = useMemo(() => callRows(runs), [runs]);
  const curve = useMemo(() => passCurveOf(runs), [runs]);
  const other = Math.min(choices.other, runs.pairs.length);
  const { advice = [] } = runs.pairs[other - 1] ?? {};
  return (
    <>
      <header class="top">
        <div class="title-row">
          <h1>{runs.runs.length} runs</h1>
          <span class="spacer" />
          <Button onPress={() => post({ type: 'compareAgain' })}>Compare Again</Button>
        </div>
        <RunList runs={runs} />
        <Differences runs={runs} other={other} />
        <p class="verdict">{verdictText(runs, other)}</p>
        {advice.length > 0 && <p class="muted">{advice.join(' ')}</p>}
        {runs.runs.length > 2 && (
          <div class="title-row">
            <span id="pair">Tasks and texts compare A with</span>
            <Dropdown
              label="The run that A is compared with"
              value={String(other)}
              options={runs.pairs.map((_, index) => ({
                value: String(index + 1),
                label: `${letterOf(index + 1)} ${nameOf(runs.runs[index + 1]?.folder ?? '')}`,
              }))}
              onSelect={(value) => choose({ other: Number(value), task: undefined, trial: undefined })}
            />
          </div>
        )}
      </header>
      <TaskTable runs={runs} other={other} choices={choices} choose={choose} openTask={openTask} />
      <ChosenTask {...props} other={other} />
      <div class="pair">
        <Table title="Metrics" rows={metrics} runs={runs} what="Metric" />
        <div class="stack">
          {curve.ks.length > 0 && <PassChart curve={curve} names={runs.runs.map(({ folder }) => nameOf(folder))} />}
          {calls.length > 0 && <Table title="Tool calls" rows={calls} runs={runs} what="Tool" />}
        </div>
      </div>
    </>
  );
}

function RunList({ runs: { runs } }: { readonly runs: RunsCompared }): JSX.Element {
  return (
    <ul class="runs">
      {runs.map((run, index) => (
        <li key={run.folder + String(index)}>
          <strong>
            <span class="letter">{letterOf(index)}</span> {nameOf(run.folder)}
          </strong>{' '}
          <span class="muted">{runFacts(run).join(' · ')}</span>
          {run.problems.map((problem) => (
            <p class="warning-box" key={problem}>
              {problem}. It is excluded from the numbers.
            </p>
          ))}
        </li>
      ))}
    </ul>
  );
}

/**
 * Shows how two runs differ besides what they did: numbers of different policies or domains should not pass for a
 * result.
 */
function Differences({ runs, other }: { readonly runs: RunsCompared; readonly other: number }): JSX.Element | null {
  const pair = runs.pairs[other - 1];
  if (!pair || pair.settings.length === 0) return null;
  return (
    <p class="differences">
      <strong>{`Different settings (A → ${letterOf(other)}):`}</strong> {pair.settings.join('; ')}
    </p>
  );
}

function Table({
  title,
  rows,
  runs,
  what,
}: {
  readonly title: string;
  readonly rows: readonly MetricRow[];
  readonly runs: RunsCompared;
  readonly what: string;
}): JSX.Element {
  const columns = [
    { key: 'name', label: what },
    ...runs.runs.map(({ folder }, index) => ({ key: String(index), label: letterOf(index), title: nameOf(folder) })),
  ];
  return (
    <section class="card" aria-labelledby={`title-${what}`}>
      <h2 id={`title-${what}`}>{title}</h2>
      <div class="table-scroll">
        <DataGrid
          label={title}
          columns={columns}
          rows={rows.map(({ label, meaning, cells }) => ({
            key: label,
            cells: [
              <span key="name" title={meaning}>
                {label}
              </span>,
              ...cells,
            ],
          }))}
          template={`minmax(130px, 1.2fr) repeat(${runs.runs.length}, minmax(110px, 1fr))`}
        />
      </div>
    </section>
  );
}

/** The rollouts of the task that was chosen, side by side. */
function ChosenTask({
  comparison,
  runs,
  choices,
  choose,
  post,
  other,
}: RunsPartProps & { readonly other: number }): JSX.Element | null {
  const { task } = choices;
  if (task === undefined) return null;
  const trials = trialPairs(runs, task, other);
  const { recordings } = comparison;
  const chosen = trials.find(({ trial }) => trial === choices.trial);
  const isShown =
    recordings !== null && chosen?.recordings.every((path, index) => recordings.recordings[index]?.path === path);
  return (
    <section class="card chosen" aria-labelledby="chosen-title">
      <div class="title-row">
        <h2 id="chosen-title">{task}</h2>
        {trials.length > 1 && (
          <Dropdown
            label="Trial"
            value={String(choices.trial ?? '')}
            options={trials.map(({ trial, label }) => ({ value: String(trial), label }))}
            onSelect={(value) => {
              const picked = trials.find(({ trial }) => String(trial) === value);
              choose({ trial: picked?.trial });
              if (picked) post({ type: 'compareRecordings', recordings: [...picked.recordings] });
            }}
          />
        )}
        <span class="spacer" />
        <Button label="Close the side-by-side view" onPress={() => choose({ task: undefined, trial: undefined })}>
          Close
        </Button>
      </div>
      {trials.length === 0 && <p class="muted">The two runs have no trial of this task in common.</p>}
      {isShown && recordings && <SideBySide compared={recordings} post={post} letters={['A', letterOf(other)]} />}
    </section>
  );
}
