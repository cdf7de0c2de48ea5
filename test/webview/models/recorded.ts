import type { RolloutEvent } from '../../../src/engine/core/events/event.ts';
import type { Note, Numbered } from '../../../src/webview/messages/protocol.ts';
import { appended, emptyTrajectory, type Trajectory } from '../../../src/webview/models/entries.ts';

const call = (id: string, name: string, given: Record<string, string> = {}) => ({ id, name, arguments: given });
const verdict = (rule: string, word: 'held' | 'violated', evidence: readonly number[]) => ({
  rule,
  check: 'confirmed' as const,
  gate: rule === 'confirm',
  verdict: word,
  reason: `${rule} ${word}`,
  evidence: [...evidence],
});

/** A rollout that fails: the second call is made without consent, and its tool returns an error. */
export const failed: readonly Numbered[] = numbered(
  { type: 'userReplied', content: 'Please cancel W1.', stop: null },
  { type: 'agentReplied', content: null, toolCalls: [call('c1', 'get_order', { id: 'W1' })] },
  { type: 'rulesChecked', callId: 'c1', verdicts: [verdict('own-data', 'held', [1])] },
  { type: 'toolCalled', call: call('c1', 'get_order', { id: 'W1' }) },
  { type: 'toolReturned', callId: 'c1', content: '{"status":"pending"}', isError: false },
  { type: 'agentReplied', content: 'One moment.', toolCalls: [call('c2', 'cancel'), call('c3', 'get_order')] },
  {
    type: 'rulesChecked',
    callId: 'c2',
    verdicts: [verdict('confirm', 'violated', [0, 5]), verdict('own-data', 'held', [1])],
  },
  { type: 'toolCalled', call: call('c2', 'cancel') },
  {
    type: 'databaseWritten',
    callId: 'c2',
    writes: [{ side: 'agent', patches: [{ op: 'replace', path: ['W1'], value: 2, old: 1 }] }],
  },
  { type: 'toolReturned', callId: 'c2', content: 'Error: too late', isError: true },
  { type: 'toolCalled', call: call('c3', 'get_order') },
  { type: 'toolReturned', callId: 'c3', content: '{}', isError: false },
  { type: 'agentReplied', content: 'It is done.', toolCalls: [] },
  { type: 'rulesChecked', callId: null, verdicts: [verdict('tone', 'held', [])] },
  { type: 'userReplied', content: 'Bye.', stop: 'done' },
  { type: 'rolloutEnded', reason: 'userStopped' },
  { type: 'verdictReached', verdict: { verifier: 'database', held: false, detail: 'W1 differs', evidence: [] } },
  {
    type: 'rewarded',
    basis: 'train',
    reward: 0,
    reason: 'W1 differs',
    failedBy: 'agent',
    card: [
      {
        layer: 'policy',
        verdict: 'violated',
        items: [{ name: 'confirm', verdict: 'violated', reason: 'no yes', evidence: [0, 5], line: 12 }],
      },
    ],
  },
);

/** Numbers events from 0. */
export function numbered(...events: readonly RolloutEvent[]): readonly Numbered[] {
  return events.map((event, n) => ({ n, event }));
}

/** Returns the trajectory of events that arrive in parts of this size. */
export function trajectoryOf(events: readonly Numbered[], atOnce = events.length): Trajectory {
  let trajectory = emptyTrajectory;
  for (let at = 0; at < events.length; at += atOnce) trajectory = appended(trajectory, events.slice(at, at + atOnce));
  return trajectory;
}

/** Notes by the numbers of their steps. */
export function notesOf(...notes: readonly Note[]): ReadonlyMap<number, Note> {
  return new Map(notes.map((note) => [note.n, note]));
}
