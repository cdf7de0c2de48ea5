import type { JSX } from 'preact';
import { mostRuns, type Run } from '../messages/protocol.ts';
import { runLabel } from '../models/summary.ts';

export type RunPickerProps = {
  readonly runs: readonly Run[];
  /** The names of the folders of the runs that are drawn over the one that is shown. */
  readonly chosen: readonly string[];
  readonly onChoose: (runs: readonly string[]) => void;
};

/** Chooses the runs that are drawn over the one that is shown. */
export function RunPicker({ runs, chosen, onChoose }: RunPickerProps): JSX.Element | null {
  if (runs.length === 0) return null;
  const toggle = (run: string): void =>
    onChoose(chosen.includes(run) ? chosen.filter((each) => each !== run) : [...chosen, run]);
  return (
    <details class="run-picker" open={chosen.length > 0}>
      <summary>{chosen.length === 0 ? 'Overlay other runs' : `${chosen.length} overlaid`}</summary>
      <ul>
        {runs.map((run) => (
          <li key={run.id}>
            <label>
              <input
                type="checkbox"
                checked={chosen.includes(run.id)}
                disabled={!chosen.includes(run.id) && chosen.length >= mostRuns}
                onChange={() => toggle(run.id)}
              />
              {runLabel(run)}
            </label>
          </li>
        ))}
      </ul>
    </details>
  );
}
