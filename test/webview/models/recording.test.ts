import { expect, it } from 'vitest';
import type { ToWebview } from '../../../src/webview/messages/protocol.ts';
import { type Recording, received } from '../../../src/webview/models/recording.ts';
import { failed } from './recorded.ts';

const after = (...messages: readonly ToWebview[]) => messages.reduce<Recording | null>(received, null);
const opened: ToWebview = { type: 'recordingOpened', name: 'a.traj.jsonl', total: 4, problem: null };

it('a recording that grows keeps what it had', () => {
  const grown = after(
    opened,
    { type: 'recordingRead', events: failed.slice(0, 4) as never },
    { type: 'recordingNoted', notes: [{ n: 0, ms: 1, refused: [] }] },
    { type: 'recordingGrew', total: 5, problem: 'a torn line' },
    { type: 'recordingRead', events: failed.slice(4, 5) as never },
  );
  expect(grown).toMatchObject({ name: 'a.traj.jsonl', total: 5, problem: 'a torn line' });
  expect(grown?.trajectory.entries.map(({ n }) => n)).toEqual([0, 1]);
  expect(grown?.notes.get(0)?.ms).toBe(1);
});

it('a restarted one has nothing of the previous one', () => {
  const anew = after(opened, { type: 'recordingRead', events: failed as never }, { ...opened, total: 0 });
  expect(anew).toMatchObject({ total: 0, trajectory: { entries: [], turns: 0 } });
});

it('nothing comes before it was opened', () => {
  expect(after({ type: 'recordingRead', events: failed as never })).toBeNull();
});

it('it knows the step that it was opened at, and begins at the first where none was named', () => {
  expect([after(opened)?.step, after({ ...opened, step: 16 })?.step]).toEqual([null, 16]);
});
