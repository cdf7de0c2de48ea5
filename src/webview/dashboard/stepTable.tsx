import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { PlayedStep } from '../messages/protocol.ts';
import type { DrawnRun } from '../models/charts.ts';
import type { Series } from '../models/series.ts';
import { tableOf } from '../models/summary.ts';
import { Button, DataGrid, Dropdown } from '../parts/controls.ts';

export type StepTableProps = {
  readonly series: Series;
  /** The runs that are drawn over it: their points have a table, too. */
  readonly overlays: readonly DrawnRun[];
  /** The name of the run that is shown. */
  readonly shown: string;
  readonly opened: PlayedStep | null;
  /** Makes a row of a run that plays rollouts open them. */
  readonly onOpen?: (played: PlayedStep) => void;
};

/** Every measured point in words and numbers: what the charts show, and the metrics that have no chart. */
export function StepTable({ series, overlays, shown, opened, onOpen }: StepTableProps): JSX.Element | null {
  const [page, setPage] = useState(0);
  const [chosen, setChosen] = useState(shown);
  const other = overlays.find(({ run }) => run === chosen);
  const points = other?.series ?? series;
  const table = useMemo(() => tableOf(points, page), [points, page]);
  if (points.length === 0) return null;
  const columns = [
    { key: 'step', label: 'Optimizer step' },
    ...table.columns.map(({ name, label, about }) => ({ key: name, label, title: about })),
  ];
  const run = other?.run ?? shown;
  const open = (key: string): void => {
    const row = table.rows.find(({ step }) => String(step) === key);
    if (row) onOpen?.({ run, step: row.step, purpose: row.purpose });
  };
  const rows = table.rows.map(({ step, name, cells }) => ({
    key: String(step),
    cells: [name, ...cells],
    selected: opened?.run === run && step === opened.step,
  }));
  return (
    <section class="card table-card" aria-labelledby="table-title">
      <div class="card-title">
        <h2 id="table-title">Optimizer steps, newest first</h2>
        {overlays.length > 0 && (
          <Dropdown
            label="Run of the table"
            value={run}
            options={[shown, ...overlays.map(({ run }) => run)].map((run) => ({ value: run, label: run }))}
            onSelect={setChosen}
          />
        )}
        {table.pages > 1 && (
          <span class="pager">
            <Button disabled={table.page === 0} onPress={() => setPage(table.page - 1)}>
              Newer
            </Button>
            <span class="muted">
              {table.page + 1} of {table.pages}
            </span>
            <Button disabled={table.page === table.pages - 1} onPress={() => setPage(table.page + 1)}>
              Older
            </Button>
          </span>
        )}
      </div>
      <div class="table-scroll">
        <DataGrid
          label="Metrics of every optimizer step"
          columns={columns}
          rows={rows}
          template={`112px repeat(${table.columns.length}, minmax(84px, 1fr))`}
          {...(onOpen && { onOpen: open })}
        />
      </div>
    </section>
  );
}
