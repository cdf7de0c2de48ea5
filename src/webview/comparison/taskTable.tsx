import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { RunsCompared } from '../messages/compared.ts';
import { kindWords, letterOf, nameOf, type TaskFilter, taskFilters, taskPage, taskRows } from '../models/comparison.ts';
import { Button, DataGrid, Dropdown } from '../parts/controls.ts';
import type { Choices } from './choices.ts';

export type TaskTableProps = {
  readonly runs: RunsCompared;
  readonly other: number;
  readonly choices: Choices;
  readonly choose: (part: Partial<Choices>) => void;
  readonly openTask: (task: string) => void;
};

/** The tasks, what changed first; each opens its rollouts side by side. */
export function TaskTable({ runs, other, choices, choose, openTask }: TaskTableProps): JSX.Element {
  const [page, setPage] = useState(0);
  const all = useMemo(() => taskRows(runs, other), [runs, other]);
  const shown = taskPage(all, choices.filter, page);
  const columns = [
    { key: 'kind', label: `From A to ${letterOf(other)}` },
    { key: 'task', label: 'Task' },
    ...runs.runs.map(({ folder }, index) => ({
      key: `run-${index}`,
      label: letterOf(index),
      title: `Scored trials with reward 1 in ${nameOf(folder)}`,
    })),
    { key: 'parting', label: 'First divergence' },
  ];
  const rows = shown.rows.map(({ task, kind, cells, parting }) => {
    const [mark, label] = kindWords[kind];
    return {
      key: task,
      selected: task === choices.task,
      cells: [
        <span key="kind" class={`kind ${kind}`}>
          <span aria-hidden="true">{mark}</span> {label}
        </span>,
        task,
        ...cells,
        <span key="parting" class="muted">
          {parting}
        </span>,
      ],
    };
  });
  return (
    <section class="card" aria-labelledby="tasks-title">
      <div class="title-row">
        <h2 id="tasks-title">Tasks</h2>
        <Dropdown
          label="Which tasks"
          value={choices.filter}
          options={taskFilters}
          onSelect={(value) => {
            setPage(0);
            choose({ filter: value as TaskFilter });
          }}
        />
        <span class="muted" role="status">
          {shown.total} of {all.length}
        </span>
        {shown.pages > 1 && (
          <span class="pager">
            <Button disabled={shown.page === 0} onPress={() => setPage(shown.page - 1)}>
              Earlier
            </Button>
            <span class="muted">
              {shown.page + 1} of {shown.pages}
            </span>
            <Button disabled={shown.page === shown.pages - 1} onPress={() => setPage(shown.page + 1)}>
              Later
            </Button>
          </span>
        )}
      </div>
      {rows.length === 0 ? (
        <p class="muted">No task matches.</p>
      ) : (
        <div class="table-scroll">
          <DataGrid
            label="Tasks of the runs. Press Enter to show the rollouts of a task side by side."
            columns={columns}
            rows={rows}
            template={`minmax(140px, 1fr) minmax(140px, 1.4fr) repeat(${runs.runs.length}, minmax(70px, 0.6fr)) minmax(160px, 1.4fr)`}
            onOpen={openTask}
          />
        </div>
      )}
    </section>
  );
}
