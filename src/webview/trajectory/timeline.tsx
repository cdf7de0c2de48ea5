import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { duration } from '../models/duration.ts';
import { fullHeight, parties, type Span, spanText, totalOf, turnsText } from '../models/timeline.ts';
import { DataGrid } from '../parts/controls.ts';
import type { Actions } from './actions.ts';

const columns = [
  { key: 'turn', label: 'Turn' },
  ...parties.map((party) => ({ key: party, label: `${party[0]?.toUpperCase()}${party.slice(1)}` })),
  { key: 'input', label: 'Tokens in' },
  { key: 'output', label: 'Tokens out' },
];

/** In a window lower than this, in pixels, the section is closed unless the user opened it before, so that the conversation has the height. */
const lowWindow = 600;

/** Latency by who took it and tokens, a bar a turn; a click, or Enter, goes to the turn's first step. */
export function Timeline({
  spans,
  isOpenAtFirst,
  goTo,
  onToggle,
}: {
  readonly spans: readonly Span[];
  /** Null: it depends on the height of the window. */
  readonly isOpenAtFirst: boolean | null;
  readonly goTo: Actions['goTo'];
  readonly onToggle: (isOpen: boolean) => void;
}): JSX.Element {
  const [chosen, setChosen] = useState(0);
  const [hovered, setHovered] = useState<number | null>(null);
  const [isOpen, setOpen] = useState(() => isOpenAtFirst ?? window.innerHeight >= lowWindow);
  const [isTable, setTable] = useState(false);
  const at = Math.min(hovered ?? chosen, spans.length - 1);
  const span = spans[at];
  if (!span) return <p class="muted timeline">This recording has no sidecar, so its times are unknown.</p>;
  const indexAt = ({ clientX, currentTarget }: MouseEvent): number => {
    const { left, width } = (currentTarget as HTMLElement).getBoundingClientRect();
    return Math.max(0, Math.min(spans.length - 1, Math.floor(((clientX - left) / width) * spans.length)));
  };
  // The event also fires when the section is drawn open, without a choice of the user.
  const toggle = (next: boolean): void => {
    if (next === isOpen) return;
    setOpen(next);
    onToggle(next);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const moves: Readonly<Record<string, number>> = {
      ArrowRight: chosen + 1,
      ArrowUp: chosen + 1,
      ArrowLeft: chosen - 1,
      ArrowDown: chosen - 1,
      PageUp: chosen + 10,
      PageDown: chosen - 10,
      Home: 0,
      End: spans.length - 1,
    };
    const next = moves[event.key];
    if (next !== undefined) setChosen(Math.max(0, Math.min(spans.length - 1, next)));
    else if (event.key === 'Enter') goTo((spans[chosen] as Span).step);
    else return;
    event.preventDefault();
  };
  return (
    <details class="timeline" open={isOpen} onToggle={({ currentTarget }) => toggle(currentTarget.open)}>
      <summary>
        <h2>Latency and tokens</h2>
      </summary>
      <div class="timeline-head">
        <span class="legend muted">
          {parties.map((party) => (
            <span key={party}>
              <span class={`swatch ${party}`} aria-hidden="true" />
              {party}
            </span>
          ))}
          {spans.some(({ input, output }) => input + output > 0) &&
            ['input', 'output'].map((kind) => (
              <span key={kind}>
                <span class={`swatch ${kind}`} aria-hidden="true" />
                {`${kind} tokens`}
              </span>
            ))}
        </span>
        <span class="muted reading">{spanText(span)}</span>
      </div>
      <div
        class="bars"
        role="slider"
        tabIndex={0}
        aria-label="Turn"
        aria-valuemin={0}
        aria-valuemax={spans.length - 1}
        aria-valuenow={at}
        aria-valuetext={spanText(span)}
        onKeyDown={onKeyDown}
        onMouseMove={(event) => setHovered(indexAt(event))}
        onMouseLeave={() => setHovered(null)}
        onClick={(event) => {
          const index = indexAt(event);
          setChosen(index);
          goTo((spans[index] as Span).step);
        }}
      >
        <Bars spans={spans} at={at} />
      </div>
      <details onToggle={({ currentTarget }) => setTable(currentTarget.open)}>
        <summary>As a table</summary>
        {isTable && (
          <div class="table-scroll">
            <DataGrid
              label="Latency and tokens of every turn"
              columns={columns}
              rows={spans.map(rowOf)}
              template={`minmax(120px, 2fr) repeat(${columns.length - 1}, minmax(84px, 1fr))`}
              onOpen={(key) => goTo(Number(key))}
            />
          </div>
        )}
      </details>
    </details>
  );
}

function rowOf({ firstTurn, lastTurn, step, ms, input, output }: Span) {
  const times = parties.map((party) => duration(ms[party]));
  return { key: String(step), cells: [turnsText(firstTurn, lastTurn), ...times, String(input), String(output)] };
}

/** Heights of the two pictures and of the marks between them, in the drawing's own units. */
const heights = { latency: 44, marks: 6, tokens: 22 } as const;

function Bars({ spans, at }: { readonly spans: readonly Span[]; readonly at: number }): JSX.Element {
  const longest = fullHeight(spans);
  const most = Math.max(...spans.map(({ input, output }) => input + output));
  const height = heights.latency + heights.marks + (most > 0 ? heights.tokens : 0);
  return (
    <svg
      class={most > 0 ? 'with-tokens' : ''}
      viewBox={`0 0 ${spans.length} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect class="here" x={at} y={0} width={1} height={height} />
      {spans.map((span, x) => (
        <g key={span.step}>
          <Latency span={span} x={x} longest={longest} />
          {span.failures > 0 && (
            <rect class="failed" x={x + 0.1} y={heights.latency + 1.5} width={0.8} height={heights.marks - 3} />
          )}
          {most > 0 && <Tokens span={span} x={x} most={most} />}
        </g>
      ))}
    </svg>
  );
}

function Latency({
  span,
  x,
  longest,
}: {
  readonly span: Span;
  readonly x: number;
  readonly longest: number;
}): JSX.Element {
  const total = totalOf(span);
  const isCut = total > longest;
  const unit = heights.latency / (isCut ? total : longest);
  let top: number = heights.latency;
  return (
    <>
      {parties.map((party) => {
        const height = span.ms[party] * unit;
        top -= height;
        return height > 0 && <rect key={party} class={party} x={x + 0.1} y={top} width={0.8} height={height} />;
      })}
      {isCut && <rect class="cut" x={x} y={4} width={1} height={2} />}
    </>
  );
}

function Tokens({ span, x, most }: { readonly span: Span; readonly x: number; readonly most: number }): JSX.Element {
  const base = heights.latency + heights.marks;
  const [input, output] = [span.input, span.output].map((tokens) => (tokens / most) * heights.tokens) as [
    number,
    number,
  ];
  return (
    <>
      <rect class="input" x={x + 0.1} y={base} width={0.8} height={input} />
      <rect class="output" x={x + 0.1} y={base + input} width={0.8} height={output} />
    </>
  );
}
