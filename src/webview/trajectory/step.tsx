import type { JSX } from 'preact';
import type { Change, StepEntry, VerdictLine } from '../models/trajectory.ts';

export type StepProps = { readonly step: StepEntry; readonly inTabOrder: boolean; readonly onFocus: () => void };

const speakers: Readonly<Record<StepEntry['speaker'], string>> = {
  agent: 'Agent',
  user: 'User',
  tool: 'Tool',
  engine: 'Engine',
};

/** One step of the recording. */
export function Step({ step, inTabOrder, onFocus }: StepProps): JSX.Element {
  const { n, speaker, title, tone, text, reasoning, code, changes, verdicts } = step;
  return (
    <li
      class={`step ${speaker} ${tone}`}
      tabIndex={inTabOrder ? 0 : -1}
      aria-label={`Step ${n}, ${title}`}
      onFocus={onFocus}
    >
      <div class="step-title">
        <span class="number muted">{n}</span>
        <span class="speaker">{title.startsWith(speakers[speaker]) ? '' : `${speakers[speaker]} ·`}</span>
        <span class="title">{title}</span>
      </div>
      {reasoning && (
        <details>
          <summary>Reasoning</summary>
          <p class="said muted">{reasoning}</p>
        </details>
      )}
      {text && <p class="said">{text}</p>}
      {code?.map(({ label, text: body }) => (
        <Code key={label} label={label} text={body} />
      ))}
      {changes && changes.length > 0 && <Changes changes={changes} />}
      {verdicts && <Verdicts verdicts={verdicts} />}
    </li>
  );
}

/** Short text stands open, long text is folded. */
function Code({ label, text }: { readonly label: string; readonly text: string }): JSX.Element {
  return (
    <details open={text.length < 400}>
      <summary>{label}</summary>
      <pre>{text}</pre>
    </details>
  );
}

function Changes({ changes }: { readonly changes: readonly Change[] }): JSX.Element {
  return (
    <ul class="changes" aria-label="Database changes">
      {changes.map(({ place, before, after }) => (
        <li key={place}>
          <span class="place">{place}</span>
          {before !== null && <del>{before}</del>}
          {after !== null && <ins>{after}</ins>}
        </li>
      ))}
    </ul>
  );
}

const marks: Readonly<Record<VerdictLine['verdict'], string>> = { held: '✓', violated: '✕', unknown: '?' };

function Verdicts({ verdicts }: { readonly verdicts: readonly VerdictLine[] }): JSX.Element {
  return (
    <ul class="verdicts" aria-label="Verdicts">
      {verdicts.map(({ name, verdict, detail }) => (
        <li key={name} class={verdict}>
          <strong>
            {marks[verdict]} {verdict} {name}
          </strong>{' '}
          <span class="muted">{detail}</span>
        </li>
      ))}
    </ul>
  );
}
