import type { JSX } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { choicesOf, type Filter, matching, noFilter } from '../models/filter.ts';
import { evidenceOf, findingsOf } from '../models/findings.ts';
import { type Recording, received } from '../models/recording.ts';
import { timelineOf } from '../models/timeline.ts';
import type { Bridge } from '../parts/bridge.ts';
import { Button, ProgressRing } from '../parts/controls.ts';
import type { Actions } from './actions.ts';
import { readChoices } from './choices.ts';
import { EntryList, type ListHandle } from './entryList.tsx';
import { FilterBar } from './filterBar.tsx';
import { focusSearch, useFindKey } from './findKey.ts';
import { ReportCardPart } from './reportCard.tsx';
import { Timeline } from './timeline.tsx';
import { Top } from './top.tsx';
import './view.css';

/** Bars that can be distinguished, and rows of the table beside them. */
const mostSpans = 120;

/** A recording as a conversation; read-only. */
export function TrajectoryView({ bridge }: { readonly bridge: Bridge }): JSX.Element {
  const [recording, setRecording] = useState<Recording | null>(null);
  useEffect(() => {
    const end = bridge.receive((message) => setRecording((before) => received(before, message)));
    bridge.post({ type: 'ready' });
    return end;
  }, [bridge]);
  if (recording === null) {
    return (
      <main class="loading">
        <ProgressRing label="Loading the recording" />
      </main>
    );
  }
  return <OpenedRecording recording={recording} bridge={bridge} />;
}

function OpenedRecording({
  recording,
  bridge,
}: {
  readonly recording: Recording;
  readonly bridge: Bridge;
}): JSX.Element {
  const { trajectory, notes, total, step } = recording;
  const { entries } = trajectory;
  const [initial] = useState(() => readChoices(bridge.loadState()));
  const [filter, setFilter] = useState<Filter>(initial.filter);
  const [current, setCurrent] = useState<number | null>(initial.current ?? step);
  const [open, setOpen] = useState<ReadonlySet<number>>(() => new Set(initial.open));
  useEffect(() => bridge.saveState({ filter, current, open: [...open] }), [bridge, filter, current, open]);

  const findings = useMemo(() => findingsOf(trajectory, notes), [trajectory, notes]);
  const evidence = useMemo(() => evidenceOf(trajectory), [trajectory]);
  const choices = useMemo(() => choicesOf(entries, findings), [entries, findings]);
  const spans = useMemo(() => timelineOf(trajectory, notes, findings, mostSpans), [trajectory, notes, findings]);
  const shown = useMemo(
    () => matching(entries, findings, filter).flatMap((index) => entries[index] ?? []),
    [entries, findings, filter],
  );

  const list = useRef<ListHandle>(null);
  const bar = useRef<HTMLElement>(null);
  useFindKey(bar);
  const [wanted, setWanted] = useState<number | null>(null);
  const wantedEntry = wanted === null ? undefined : entries[trajectory.entryOf.get(wanted) ?? -1];
  useLayoutEffect(() => {
    if (!wantedEntry) return;
    setWanted(null);
    list.current?.focus(shown.indexOf(wantedEntry), 'center');
  }, [wantedEntry, shown]);
  const first = initial.current ?? step;
  const restored = first === null ? undefined : entries[trajectory.entryOf.get(first) ?? -1];
  const place = restored ? shown.indexOf(restored) : -1;
  const isRestored = useRef(false);
  useLayoutEffect(() => {
    if (isRestored.current || place < 0) return;
    isRestored.current = true;
    list.current?.show(place);
  }, [place]);

  const actions: Actions = useMemo(
    () => ({
      debug: (step) => bridge.post({ type: 'debugRecording', step }),
      openPlace: (kind, name) => bridge.post({ type: 'openPlace', kind, name }),
      goTo: (step) => {
        const entry = trajectory.entries[trajectory.entryOf.get(step) ?? -1];
        if (entry && !shown.includes(entry)) setFilter(noFilter);
        setWanted(step);
      },
    }),
    [bridge, trajectory, shown],
  );
  const toggle = useCallback(
    (n: number): void =>
      setOpen((before) => new Set(before.has(n) ? [...before].filter((each) => each !== n) : [...before, n])),
    [],
  );
  return (
    <main class="trajectory">
      <Top recording={recording} post={bridge.post} actions={actions} />
      <Timeline
        spans={spans}
        isOpenAtFirst={recording.isTimelineOpen}
        goTo={actions.goTo}
        onToggle={(isOpen) => bridge.post({ type: 'timelineToggled', isOpen })}
      />
      <FilterBar
        filter={filter}
        choices={choices}
        shown={shown.length}
        of={entries.length}
        bar={bar}
        onFilter={setFilter}
        onLeave={() =>
          list.current?.focus(
            Math.max(
              0,
              shown.findIndex(({ n }) => n === current),
            ),
            'auto',
          )
        }
      />
      <div class="columns">
        {shown.length === 0 && entries.length > 0 ? (
          <Nothing
            onClear={() => {
              setFilter(noFilter);
              focusSearch(bar);
            }}
          />
        ) : (
          <EntryList
            entries={shown}
            handle={list}
            current={current}
            open={open}
            notes={notes}
            evidence={evidence}
            actions={actions}
            isBusy={trajectory.entryOf.size < total}
            onCurrent={setCurrent}
            onToggle={toggle}
          />
        )}
        <aside>
          <ReportCardPart trajectory={trajectory} isWritten={recording.isWritten} actions={actions} />
        </aside>
      </div>
    </main>
  );
}

function Nothing({ onClear }: { readonly onClear: () => void }): JSX.Element {
  return (
    <div class="nothing">
      <p>Nothing in this recording matches the filters.</p>
      <Button onPress={onClear}>Show Everything</Button>
    </div>
  );
}
