import type { JSX } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { RunsCompared } from '../messages/compared.ts';
import { type Comparison, comparisonAfter, emptyComparison, nameOf, trialPairs } from '../models/comparison.ts';
import { headingOf } from '../models/sideBySide.ts';
import type { Bridge } from '../parts/bridge.ts';
import { Button, ProgressRing } from '../parts/controls.ts';
import { type Choices, readChoices } from './choices.ts';
import { type PartProps, RunsPart } from './runsPart.tsx';
import { SideBySide } from './sideBySide.tsx';
import './view.css';

/** Runs aligned by task, or two recordings side by side. */
export function ComparisonView({ bridge }: { readonly bridge: Bridge }): JSX.Element {
  const [choices, setChoices] = useState(() => readChoices(bridge.loadState()));
  const [comparison, setComparison] = useState<Comparison>(emptyComparison);
  const { sources } = comparison;
  useEffect(() => {
    const end = bridge.receive((message) => setComparison((before) => comparisonAfter(before, message)));
    bridge.post({ type: 'ready' });
    return end;
  }, [bridge]);
  useEffect(() => {
    if (sources.length > 0) bridge.saveState({ ...choices, sources });
  }, [bridge, choices, sources]);
  const { runs } = comparison;
  useEffect(() => {
    // A page that is loaded again shows the task that it showed before.
    const recordings = runs && reopened(runs, choices);
    if (recordings) bridge.post({ type: 'compareRecordings', recordings });
  }, [runs]);
  const choose = useCallback((part: Partial<Choices>) => setChoices((before) => ({ ...before, ...part })), []);
  return (
    <main class="comparison">
      <Notice comparison={comparison} post={bridge.post} />
      <Content comparison={comparison} choices={choices} choose={choose} post={bridge.post} />
    </main>
  );
}

/** The rollouts of the task that was chosen before. */
function reopened(runs: RunsCompared, { task, trial, other }: Choices): [string, string] | null {
  if (task === undefined) return null;
  const pairs = trialPairs(runs, task, other);
  const pair = pairs.find((each) => each.trial === trial) ?? pairs[0];
  return pair ? [...pair.recordings] : null;
}

function Content({ comparison, choices, choose, post }: PartProps): JSX.Element | null {
  const { runs, recordings } = comparison;
  if (runs === null) {
    if (recordings === null) return null;
    return (
      <>
        <h1>{headingOf(recordings)}</h1>
        <h2 class="hidden-text">Side by side</h2>
        <SideBySide compared={recordings} post={post} />
      </>
    );
  }
  const openTask = (task: string): void => {
    const [first] = trialPairs(runs, task, choices.other);
    choose({ task, trial: first?.trial });
    if (first) post({ type: 'compareRecordings', recordings: [...first.recordings] });
  };
  return <RunsPart {...{ comparison, runs, choices, choose, post, openTask }} />;
}

/** Shows the progress or the error of a comparison. */
function Notice({ comparison, post }: Pick<PartProps, 'comparison' | 'post'>): JSX.Element | null {
  const { busy, problem, runs, recordings, sources } = comparison;
  const isEmpty = runs === null && recordings === null;
  if (problem)
    return (
      <>
        {isEmpty && <h1>Comparison</h1>}
        <div class="error-box" role="alert">
          <p>{problem.text}</p>
          <Button onPress={() => post({ type: 'compareAgain' })}>Compare Again</Button>
          <Button onPress={() => post({ type: 'showLog' })}>Show Log</Button>
        </div>
      </>
    );
  if (!busy) return isEmpty ? <Waiting text="Opening the comparison…" /> : null;
  const names = sources.map(nameOf).join(', ');
  const text = busy.what === 'runs' ? `Comparing ${names}` : 'Comparing two recordings';
  if (isEmpty)
    return (
      <Waiting text={`${text}${busy.note ? `: ${busy.note}` : '…'}`}>
        <Button onPress={() => post({ type: 'stopComparing' })}>Cancel</Button>
      </Waiting>
    );
  return (
    <div class="busy" role="status">
      <ProgressRing label={text} />
      <span>{text}</span>
      <Button onPress={() => post({ type: 'stopComparing' })}>Cancel</Button>
    </div>
  );
}

function Waiting({ text, children }: { readonly text: string; readonly children?: JSX.Element }): JSX.Element {
  return (
    <div class="loading">
      <h1>Comparison</h1>
      <ProgressRing label={text} />
      <p role="status">{text}</p>
      {children}
    </div>
  );
}
