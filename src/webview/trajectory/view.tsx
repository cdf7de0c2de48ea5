import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Bridge } from '../bridge.ts';
import { Button, ProgressRing } from '../controls.ts';
import { type Heading, headingOf, type StepEntry, stepEntry } from '../models/trajectory.ts';
import type { Numbered, ToWebview } from '../protocol.ts';
import { Step } from './step.tsx';
import './view.css';

type Opened = {
  readonly name: string;
  readonly total: number;
  readonly problem: string | null;
  readonly events: readonly Numbered[];
};

function received(opened: Opened | null, message: ToWebview): Opened | null {
  if (message.type === 'recordingOpened') {
    const { name, total, problem } = message;
    return { name, total, problem, events: [] };
  }
  if (message.type === 'recordingRead' && opened) return { ...opened, events: [...opened.events, ...message.events] };
  return opened;
}

/** A recording, step by step; read-only. */
export function TrajectoryView({ bridge }: { readonly bridge: Bridge }): JSX.Element {
  const [opened, setOpened] = useState<Opened | null>(null);
  useEffect(() => {
    const end = bridge.receive((message) => setOpened((before) => received(before, message)));
    bridge.post({ type: 'ready' });
    return end;
  }, [bridge]);
  const events = opened?.events;
  const heading = useMemo(() => headingOf(events ?? []), [events]);
  if (opened === null) {
    return (
      <main class="loading">
        <ProgressRing label="Reading the recording" />
      </main>
    );
  }
  return (
    <main class="trajectory">
      <Top opened={opened} heading={heading} post={bridge.post} />
      {opened.problem !== null && (
        <p class="warning-box" role="alert">
          {opened.problem}
        </p>
      )}
      <PagedSteps events={opened.events} />
    </main>
  );
}

function Top({
  opened,
  heading,
  post,
}: {
  readonly opened: Opened;
  readonly heading: Heading | null;
  readonly post: Bridge['post'];
}): JSX.Element {
  return (
    <header class="top">
      <div class="title-row">
        <h1>{heading?.task ?? opened.name}</h1>
        <span class="muted">{opened.total} steps</span>
        <span class="spacer" />
        <Button primary onPress={() => post({ type: 'debugRecording' })}>
          Debug This Recording
        </Button>
        <Button onPress={() => post({ type: 'openAsText' })}>Open as Text</Button>
      </div>
      {heading && <p class="muted">{heading.facts.join(' · ')}</p>}
      {heading?.forkOf && <p class="muted">{heading.forkOf}</p>}
      {heading?.reward && (
        <p class={heading.reward.value === 1 ? 'verdict-box good' : 'verdict-box bad'}>
          <strong>
            Reward {heading.reward.value ?? 'none'} ({heading.reward.basis})
          </strong>{' '}
          {heading.reward.reason}
        </p>
      )}
    </header>
  );
}

/** A long recording is shown a page at a time: thousands of steps would make every key press slow. */
const stepsPerPage = 300;

function PagedSteps({ events }: { readonly events: readonly Numbered[] }): JSX.Element {
  const [page, setPage] = useState(0);
  const pages = Math.max(1, Math.ceil(events.length / stepsPerPage));
  const first = Math.min(page, pages - 1) * stepsPerPage;
  const steps = useMemo(() => events.slice(first, first + stepsPerPage).map(stepEntry), [events, first]);
  const pager = pages > 1 && (
    <nav class="pager" aria-label="Pages of steps">
      <Button disabled={first === 0} onPress={() => setPage(page - 1)}>
        Earlier
      </Button>
      <span class="muted">
        Steps {first} to {first + steps.length - 1} of {events.length}
      </span>
      <Button disabled={first + stepsPerPage >= events.length} onPress={() => setPage(page + 1)}>
        Later
      </Button>
      <Button disabled={first + stepsPerPage >= events.length} onPress={() => setPage(pages - 1)}>
        Last
      </Button>
    </nav>
  );
  return (
    <>
      {pager}
      <Steps key={first} steps={steps} />
      {pager}
    </>
  );
}

/** The list of steps. One step is in the tab order; the arrow keys move between them. */
function Steps({ steps }: { readonly steps: readonly StepEntry[] }): JSX.Element {
  const [current, setCurrent] = useState(0);
  const list = useRef<HTMLOListElement>(null);
  const focus = (index: number): void => {
    const next = Math.max(0, Math.min(steps.length - 1, index));
    setCurrent(next);
    (list.current?.children[next] as HTMLElement | undefined)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!(event.target as HTMLElement).matches('li')) return;
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: current + 1,
      ArrowUp: current - 1,
      Home: 0,
      End: steps.length - 1,
    };
    const next = moves[event.key];
    if (next === undefined) return;
    event.preventDefault();
    focus(next);
  };
  return (
    <ol class="steps" ref={list} onKeyDown={onKeyDown} aria-label="Steps of the recording">
      {steps.map((step, index) => (
        <Step key={step.n} step={step} inTabOrder={index === current} onFocus={() => setCurrent(index)} />
      ))}
    </ol>
  );
}
