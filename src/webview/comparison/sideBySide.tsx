import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { rewardText } from '../../engine/core/events/displayText.ts';
import type { AlignedRow, RecordingsCompared, Said } from '../messages/compared.ts';
import type { ToExtension } from '../messages/protocol.ts';
import {
  comparisonRows,
  firstStart,
  lastNote,
  namesOf,
  partingText,
  rowsPerPage,
  runOf,
  stoppedText,
  type VerdictCell,
  verdictPairs,
  windowOf,
} from '../models/sideBySide.ts';
import { Breakable } from '../parts/breakable.tsx';
import { Button, DataGrid } from '../parts/controls.ts';

export type SideBySideProps = {
  readonly compared: RecordingsCompared;
  readonly post: (message: ToExtension) => void;
  /** The labels of the two recordings: those of their runs, or A and B. */
  readonly letters?: readonly [string, string];
};

/** Two recordings side by side: where they part, what each did then, and what came of it. */
export function SideBySide({ compared, post, letters = ['A', 'B'] }: SideBySideProps): JSX.Element {
  const { recordings, settings, divergence } = compared;
  const steps = divergence?.steps ?? [];
  const names = namesOf([recordings[0].path, recordings[1].path]);
  const stopped = stoppedText(compared, letters);
  return (
    <div class="side-by-side">
      <div class="sides">
        {recordings.map(({ path, measure, problems }, index) => (
          <section key={letters[index]} class="side" aria-label={`Recording ${letters[index]}`}>
            <div class="title-row">
              <strong class="file" title={path}>
                <span class="letter">{letters[index]}</span> {names[index]}
              </strong>
              <Reward value={measure.reward} />
              <span class="spacer" />
              <span class="buttons">
                <Button
                  label={`Open recording ${letters[index]}`}
                  onPress={() => post({ type: 'openCompared', recording: path, debug: false })}
                >
                  Open
                </Button>
                <Button
                  label={`Debug recording ${letters[index]}`}
                  onPress={() => post({ type: 'openCompared', recording: path, debug: true, ...from(steps[index]) })}
                >
                  Debug
                </Button>
              </span>
            </div>
            <span class="muted">{runOf(path)}</span>
            {problems.map((problem) => (
              <p class="warning-box" key={problem}>
                {problem}
              </p>
            ))}
          </section>
        ))}
      </div>
      <p class="parting" role="status">
        {partingText(compared, letters)}
      </p>
      {stopped !== null && <p>{stopped}</p>}
      {settings.length > 0 && (
        <p class="muted">
          {`Different settings (${letters.join(' → ')}): `}
          {settings.join('; ')}
        </p>
      )}
      <Conversation compared={compared} letters={letters} />
      <EndStates compared={compared} letters={letters} />
      <Verdicts compared={compared} letters={letters} />
      <Facts compared={compared} letters={letters} />
    </div>
  );
}

function Reward({ value }: { readonly value: number | null }): JSX.Element {
  const [kind, mark] = value === null ? ['muted', '○'] : value === 1 ? ['won', '✓'] : ['lost', '✕'];
  return (
    <span class={`reward ${kind}`}>
      <span aria-hidden="true">{mark}</span> {rewardText(value)}
    </span>
  );
}

/** A recording is debugged from where the two part. */
function from(step: number | null | undefined): { readonly step?: number } {
  return step === null || step === undefined ? {} : { step };
}

type Lettered = { readonly letters: readonly [string, string] };

/** The conversation, from a little before the first difference on. */
function Conversation({ compared, letters }: Lettered & { readonly compared: RecordingsCompared }): JSX.Element {
  const { rows, recordings } = compared;
  const ends = (['first', 'second'] as const).map((side, index) => {
    const note = lastNote(recordings[index === 0 ? 0 : 1]);
    return { note, at: rows.findLastIndex((row) => row[side] !== null) };
  });
  const [start, setStart] = useState(() => firstStart(rows));
  useEffect(() => setStart(firstStart(rows)), [rows]);
  const shown = windowOf(rows, start);
  return (
    <section aria-labelledby="conversation-title">
      <div class="title-row">
        <h3 id="conversation-title">Conversation</h3>
        {shown.before > 0 && (
          <Button onPress={() => setStart(Math.max(0, shown.start - rowsPerPage))}>
            {`Show ${Math.min(rowsPerPage, shown.before)} earlier`}
          </Button>
        )}
        {shown.after > 0 && (
          <Button onPress={() => setStart(shown.start + rowsPerPage)}>
            {`Show ${Math.min(rowsPerPage, shown.after)} later`}
          </Button>
        )}
        <span class="muted">
          {rows.length === 0
            ? 'No messages'
            : `Rows ${shown.start + 1} to ${shown.start + shown.rows.length} of ${rows.length}`}
        </span>
      </div>
      <table class="aligned">
        <caption class="hidden-text">Both conversations, aligned step by step</caption>
        <thead>
          <tr>
            <th scope="col">
              <span class="hidden-text">Identical</span>
            </th>
            <th scope="col">{letters[0]}</th>
            <th scope="col">{letters[1]}</th>
          </tr>
        </thead>
        <tbody>
          {shown.rows.map((row, index) => (
            <Row
              key={shown.start + index}
              row={row}
              isParting={shown.start + index === shown.parting}
              place={shown.start + index}
              notes={ends.map(({ note, at }) => (at === shown.start + index ? note : null))}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}

type RowProps = { readonly row: AlignedRow; readonly isParting: boolean };

type PlacedRowProps = RowProps & { readonly place: number; readonly notes: readonly (string | null)[] };

function Row({ row, isParting, place, notes: [first = null, second = null] }: PlacedRowProps): JSX.Element {
  const mark = row.isAlike ? '=' : isParting ? 'They diverge here' : '≠';
  return (
    <tr class={`${row.isAlike ? 'alike' : 'differs'}${isParting ? ' parts' : ''}`} data-place={place}>
      <td class="mark">
        <span aria-hidden="true">{row.isAlike ? '=' : '≠'}</span>
        <span class="hidden-text">{row.isAlike ? 'alike' : mark}</span>
      </td>
      <SaidCell said={row.first} row={row} isParting={isParting} note={first} />
      <SaidCell said={row.second} row={row} isParting={isParting} note={second} />
    </tr>
  );
}

const speakers: Readonly<Record<Said['what'], string>> = {
  user: 'User',
  agent: 'Agent',
  result: 'Tool returned',
  end: 'Ended',
};

/** Longer texts are folded; what both did alike is there for its context only. */
const longText = 600;
const longAlike = 120;

type SaidProps = RowProps & { readonly said: Said | null; readonly note: string | null };

function SaidCell({ said, row, isParting, note }: SaidProps): JSX.Element {
  if (!said) return <td class="none muted">{isParting ? '(nothing more)' : ''}</td>;
  const { n, what, text, isError } = said;
  const most = row.isAlike ? longAlike : longText;
  return (
    <td class={`${what}${isError ? ' bad' : ''}`}>
      <span class="who muted">
        {n} {speakers[what]}
        {isError ? ', an error' : ''}
      </span>
      {text.length > most ? (
        <details>
          <summary>
            <Breakable text={`${text.slice(0, most)}…`} />
          </summary>
          <p class="said">
            <Breakable text={text} />
          </p>
        </details>
      ) : (
        <p class="said">
          <Breakable text={text} />
        </p>
      )}
      {note !== null && <p class="muted">{note}</p>}
    </td>
  );
}

function EndStates({ compared, letters }: Lettered & { readonly compared: RecordingsCompared }): JSX.Element {
  const { differences, more, problem } = compared.database;
  return (
    <section aria-labelledby="ends-title">
      <h3 id="ends-title">Databases at the end</h3>
      {problem !== null && <p class="warning-box">{problem}</p>}
      {problem === null && differences.length === 0 && <p class="muted">Both rollouts ended with the same database.</p>}
      {differences.length > 0 && (
        <div class="table-scroll">
          <DataGrid
            label="Paths at which the two databases differ"
            columns={[
              { key: 'place', label: 'Place' },
              { key: 'a', label: letters[0] },
              { key: 'b', label: letters[1] },
            ]}
            rows={differences.map(({ place, first, second }) => ({
              key: place,
              cells: [
                <code key="place">
                  <Breakable text={place} />
                </code>,
                endValue(first),
                endValue(second),
              ],
            }))}
            template={pairTemplate}
          />
        </div>
      )}
      {more > 0 && <p class="muted">And {more} more paths.</p>}
    </section>
  );
}

function endValue(text: string | null): JSX.Element {
  return text === null ? (
    <span class="muted">absent</span>
  ) : (
    <code>
      <Breakable text={text} />
    </code>
  );
}

const marks: Readonly<Record<VerdictCell['verdict'], string>> = { held: '✓', violated: '✕', unknown: '?' };

function Verdicts({ compared, letters }: Lettered & { readonly compared: RecordingsCompared }): JSX.Element | null {
  const pairs = useMemo(() => verdictPairs(compared), [compared]);
  if (pairs.length === 0) return null;
  const cell = (verdict: VerdictCell | null): JSX.Element =>
    verdict === null ? (
      <span class="muted">no verdict</span>
    ) : (
      <span>
        <strong class={verdict.verdict}>
          <span aria-hidden="true">{marks[verdict.verdict]}</span> {verdict.verdict}
        </strong>{' '}
        <span class="muted">
          <Breakable text={verdict.detail} />
        </span>
      </span>
    );
  const rows = pairs.map(({ name, cells }) => ({ key: name, cells: [name, cell(cells[0]), cell(cells[1])] }));
  return <PairTable title="Verdicts" label="Verdicts of both" of="Verifier or rule" letters={letters} rows={rows} />;
}

function Facts({ compared, letters }: Lettered & { readonly compared: RecordingsCompared }): JSX.Element {
  const facts = useMemo(() => comparisonRows(compared), [compared]);
  const rows = facts.map(({ label, cells }) => ({ key: label, cells: [label, ...cells] }));
  const label = 'Reward, end, calls, time and tokens of both';
  return <PairTable title="Rollouts" label={label} of="Fact" letters={letters} rows={rows} />;
}

/** Both recordings are in view at every width. */
const pairTemplate = 'minmax(0, 0.6fr) minmax(0, 1fr) minmax(0, 1fr)';

/** Something of both recordings in a table: what it is, then each side's. */
function PairTable({
  title,
  label,
  of,
  letters,
  rows,
}: Lettered & {
  readonly title: string;
  readonly label: string;
  readonly of: string;
  readonly rows: Parameters<typeof DataGrid>[0]['rows'];
}): JSX.Element {
  const id = `${title.toLowerCase()}-title`;
  return (
    <section aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <div class="table-scroll">
        <DataGrid
          label={label}
          columns={[
            { key: 'name', label: of },
            { key: 'a', label: letters[0] },
            { key: 'b', label: letters[1] },
          ]}
          rows={rows}
          template={pairTemplate}
        />
      </div>
    </section>
  );
}
