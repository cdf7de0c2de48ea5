import { Component, type ComponentChildren, type JSX } from 'preact';
import type { Note } from '../messages/protocol.ts';
import { duration } from '../models/duration.ts';
import { callOf, type Entry, stepsText } from '../models/entries.ts';
import { namesFor } from '../models/findings.ts';
import { type StepEntry, stepEntry } from '../models/trajectory.ts';
import { Changes } from '../parts/changes.tsx';
import { Code } from '../parts/code.tsx';
import { Link } from '../parts/link.tsx';
import type { Actions } from './actions.ts';
import { Verdicts } from './verdicts.tsx';

export type EntryRowProps = {
  readonly entry: Entry;
  /** Place among the entries that are listed, from 1, and their number. */
  readonly position: number;
  readonly of: number;
  readonly notes: ReadonlyMap<number, Note>;
  /** Names of violated rules and verifiers, by the steps that are their evidence. */
  readonly evidence: ReadonlyMap<number, readonly string[]>;
  readonly isCurrent: boolean;
  readonly isOpen: boolean;
  readonly actions: Actions;
  readonly onCurrent: (n: number) => void;
  readonly onToggle: (n: number) => void;
};

const signs = { agent: 'A', user: 'U', tool: 'ƒ', engine: '·' } as const;

/** An entry that is drawn again only when it changed: while the list scrolls, most of its rows stay as they are. */
export class KeptEntryRow extends Component<EntryRowProps> {
  override shouldComponentUpdate(next: EntryRowProps): boolean {
    return (Object.keys(next) as (keyof EntryRowProps)[]).some((key) => next[key] !== this.props[key]);
  }

  override render(): JSX.Element {
    return <EntryRow {...this.props} />;
  }
}

/**
 * One entry of the conversation: its speaker, content and result. Its parts are in the tab order while it has the
 * focus.
 */
function EntryRow(props: EntryRowProps): JSX.Element {
  const { entry, position, of, notes, isCurrent, isOpen, actions } = props;
  const evidence = namesFor(entry, props.evidence);
  const steps = entry.steps.map(stepEntry);
  const { title, tone } = headOf(entry, steps);
  const wrong = evidence.length > 0 ? `, evidence of ${evidence.join(', ')}` : '';
  return (
    <article
      class={`entry ${entry.speaker} ${tone}`}
      tabIndex={isCurrent ? 0 : -1}
      aria-posinset={position}
      aria-setsize={of}
      aria-label={`Step ${entry.n}, ${title}${tone === 'bad' ? ', something went wrong' : ''}${wrong}`}
      onFocus={() => props.onCurrent(entry.n)}
    >
      <span class="sign" aria-hidden="true">
        {signs[entry.speaker]}
      </span>
      <div class="content">
        <Head entry={entry} title={title} notes={notes} isCurrent={isCurrent} actions={actions}>
          <Link
            label={`${isOpen ? 'Fewer details' : 'Details'} of step ${entry.n}`}
            onPress={() => props.onToggle(entry.n)}
            inTabOrder={isCurrent}
          >
            {isOpen ? 'Fewer details' : 'Details'}
          </Link>
        </Head>
        <Body entry={entry} steps={steps} isOpen={isOpen} actions={actions} inTabOrder={isCurrent} />
        <Refused entry={entry} notes={notes} />
        <Mismatches entry={entry} notes={notes} />
        {evidence.length > 0 && (
          <p class="evidence">
            <span aria-hidden="true">⚑</span> Evidence of {evidence.join(', ')}
          </p>
        )}
        {isOpen && <StepList steps={steps} notes={notes} actions={actions} inTabOrder={isCurrent} />}
      </div>
    </article>
  );
}

function headOf(
  entry: Entry,
  steps: readonly StepEntry[],
): { readonly title: string; readonly tone: StepEntry['tone'] } {
  const call = callOf(entry);
  const tone = steps.some((step) => step.tone === 'bad')
    ? 'bad'
    : (steps.find((step) => step.tone === 'good')?.tone ?? 'plain');
  if (call) return { title: `${call.by === 'user' ? 'User' : 'Agent'} calls ${call.name}`, tone };
  return { title: steps[0]?.title ?? '', tone };
}

function Head({
  entry,
  title,
  notes,
  isCurrent,
  actions,
  children,
}: Pick<EntryRowProps, 'entry' | 'notes' | 'isCurrent' | 'actions'> & {
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  const call = callOf(entry);
  const facts = [
    ...(entry.speaker === 'agent' || entry.speaker === 'tool' ? [`turn ${entry.turn}`] : []),
    ...measured(entry, notes),
  ];
  return (
    <div class="head">
      <span class="title">
        {call ? (
          <>
            {call.by === 'user' ? 'User' : 'Agent'} calls{' '}
            <Link
              label={`Open tool ${call.name}`}
              onPress={() => actions.openPlace('tool', call.name)}
              inTabOrder={isCurrent}
            >
              {call.name}
            </Link>
          </>
        ) : (
          title
        )}
      </span>
      <span class="facts muted">{[stepsText(entry), ...facts].join(' · ')}</span>
      <span class="spacer" />
      <span class="tools">
        {children}
        <Link label={`Debug from here, step ${entry.n}`} onPress={() => actions.debug(entry.n)} inTabOrder={isCurrent}>
          Debug from here
        </Link>
      </span>
    </div>
  );
}

function measured({ steps }: Entry, notes: ReadonlyMap<number, Note>): readonly string[] {
  const own = steps.flatMap(({ n }) => notes.get(n) ?? []);
  const ms = own.reduce((sum, note) => sum + (note.ms ?? 0), 0);
  const tokens = own.reduce((sum, { input = 0, output = 0 }) => sum + input + output, 0);
  return [...(ms >= 0.1 ? [duration(ms)] : []), ...(tokens > 0 ? [`${tokens} tokens`] : [])];
}

type BodyProps = {
  readonly entry: Entry;
  readonly steps: readonly StepEntry[];
  readonly isOpen: boolean;
  readonly actions: Actions;
  readonly inTabOrder: boolean;
};

function Body({ entry, steps, isOpen, actions, inTabOrder }: BodyProps): JSX.Element {
  const isCalled = entry.steps.some(({ event }) => event.type === 'toolCalled');
  return (
    <>
      {steps.map(({ n, text, reasoning, code, pictures, changes, verdicts }, index) => {
        // The call itself is below with its arguments.
        const isBegun = index === 0 && isCalled && entry.steps[0]?.event.type !== 'toolCalled';
        return (
          <div key={n} class="part">
            {reasoning && (
              <div class="reasoning">
                <span class="label muted">Reasoning</span>
                <Said text={isOpen || reasoning.length <= 240 ? reasoning : `${reasoning.slice(0, 240)} …`} whole />
              </div>
            )}
            {text && <Said text={text} whole={isOpen} />}
            {!isBegun && isSpoken(entry) && !isOpen && code && (
              <p class="muted">
                {code
                  .map(({ label }) => label)
                  .join(', ')
                  .replaceAll(', Calls', ',')}
              </p>
            )}
            {!isBegun &&
              (isOpen || !isSpoken(entry)) &&
              code?.map(({ label, text: body }) => (
                <Code key={label} label={label} text={body} whole={isOpen} {...foldOf(entry)} />
              ))}
            {pictures?.map(({ source, text: words }, at) => (
              <img key={at} class="picture" src={source} alt={words} />
            ))}
            {changes && changes.length > 0 && <Changes changes={changes} whole={isOpen} />}
            {verdicts && <Verdicts verdicts={verdicts} all={isOpen} actions={actions} inTabOrder={inTabOrder} />}
          </div>
        );
      })}
    </>
  );
}

/** Folds the long first entry of the engine to one line, so that the conversation below it is visible. */
function foldOf({ speaker }: Entry): { readonly lines?: number } {
  return speaker === 'engine' ? { lines: 1 } : {};
}

/** Whether an entry is a message. The calls of such a response are below it, each in its own entry. */
function isSpoken({ speaker }: Entry): boolean {
  return speaker === 'agent' || speaker === 'user';
}

function Refused({ entry, notes }: Pick<EntryRowProps, 'entry' | 'notes'>): JSX.Element | null {
  const refused = entry.steps.flatMap(({ n }) => notes.get(n)?.refused ?? []);
  if (refused.length === 0) return null;
  return (
    <ul class="refused" aria-label="Refused by the guard">
      {refused.map(({ content, reason }, index) => (
        <li key={index}>
          <strong>Refused by the guard</strong> <span class="muted">{reason}:</span> {content}
        </li>
      ))}
    </ul>
  );
}

function Mismatches({ entry, notes }: Pick<EntryRowProps, 'entry' | 'notes'>): JSX.Element[] {
  return entry.steps.flatMap(({ n }) => {
    const mismatch = notes.get(n)?.mismatch;
    return mismatch === undefined
      ? []
      : [
          <p key={n} class="evidence">
            Output schema: {mismatch}
          </p>,
        ];
  });
}

/** The steps behind an entry; the debugger can be at each of them. */
function StepList({
  steps,
  notes,
  actions,
  inTabOrder,
}: Pick<EntryRowProps, 'notes' | 'actions'> & Omit<BodyProps, 'entry' | 'isOpen'>): JSX.Element {
  return (
    <ol class="step-list" aria-label="Steps of this entry">
      {steps.map(({ n, title }) => (
        <li key={n}>
          <span class="number muted">{n}</span> {title}{' '}
          <span class="muted">{notes.get(n)?.ms === undefined ? '' : duration(notes.get(n)?.ms ?? 0)}</span>{' '}
          <Link label={`Debug from here, step ${n}`} onPress={() => actions.debug(n)} inTabOrder={inTabOrder}>
            Debug from here
          </Link>
        </li>
      ))}
    </ol>
  );
}

/** Shows the text of a message. */
function Said({ text, whole }: { readonly text: string; readonly whole: boolean }): JSX.Element {
  const cut = whole || text.length <= 2000 ? text : text.slice(0, 2000);
  return (
    <p class="said">
      {cut}
      {cut.length < text.length && <span class="muted"> … (Enter shows all of it)</span>}
    </p>
  );
}
