import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RolloutEvent } from '../../../src/engine/core/events/event.ts';
import { callOf, stepsText } from '../../../src/webview/models/entries.ts';
import { failed, numbered, trajectoryOf } from './recorded.ts';

/** Returns a line for each entry: speaker, turn, numbers of the steps, and the call. */
const listed = (events: Parameters<typeof trajectoryOf>[0]) =>
  trajectoryOf(events).entries.map((entry) => {
    const call = callOf(entry);
    const steps = entry.steps.map(({ n }) => n).join(' ');
    return `${entry.speaker} ${entry.turn}: ${steps}${call ? ` ${call.by} calls ${call.name}` : ''}`;
  });

it('a call has its rules, writes and result, and a message has the rules it was checked against', () => {
  expect(listed(failed)).toEqual([
    'user 0: 0',
    'tool 1: 1 2 3 4 agent calls get_order',
    'agent 2: 5',
    'tool 2: 6 7 8 9 agent calls cancel',
    'tool 2: 10 11 agent calls get_order',
    'agent 3: 12 13',
    'user 3: 14',
    'engine 3: 15',
    'engine 3: 16',
    'engine 3: 17',
  ]);
});

it('an entry names all of its steps, so that the step of a verdict is found in it', () => {
  const [, call, message] = trajectoryOf(failed).entries.map(stepsText);
  expect([call, message]).toEqual(['steps 1 to 4', 'step 5']);
});

it("the user's own calls, and the syncs after them, are distinguished from the agent's", () => {
  const call = { id: 'u1', name: 'restart', arguments: {} };
  const events: readonly RolloutEvent[] = [
    { type: 'worldPrepared', writes: [] },
    { type: 'worldSynced', writes: [] },
    { type: 'userReplied', content: '', stop: null, toolCalls: [call] },
    { type: 'toolCalled', call, by: 'user' },
    { type: 'toolReturned', callId: 'u1', content: 'up', isError: false, by: 'user' },
    { type: 'worldSynced', writes: [] },
    { type: 'worldEdited', writes: [] },
  ];
  expect(listed(numbered(...events))).toEqual([
    'engine 0: 0',
    'engine 0: 1',
    'tool 0: 2 3 4 5 user calls restart',
    'engine 0: 6',
  ]);
});

it('a call that has no result yet is shown as far as it got', () => {
  expect(listed(failed.slice(0, 2)).at(-1)).toBe('tool 1: 1 agent calls get_order');
  expect(listed(failed.slice(0, 4)).at(-1)).toBe('tool 1: 1 2 3 agent calls get_order');
});

it('an id that a later call takes again is another call', () => {
  const call = { id: 'c', name: 'find', arguments: {} };
  const once: readonly RolloutEvent[] = [
    { type: 'toolCalled', call },
    { type: 'toolReturned', callId: 'c', content: '{}', isError: false },
  ];
  expect(listed(numbered(...once, ...once))).toEqual(['tool 0: 0 1 agent calls find', 'tool 0: 2 3 agent calls find']);
});

it('however the events arrive, the entries are the same and hold every step once', () => {
  const type: fc.Arbitrary<RolloutEvent> = fc.constantFrom(...failed.map(({ event }) => event));
  fc.assert(
    fc.property(fc.array(type, { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (events, atOnce) => {
      const all = numbered(...events);
      const whole = trajectoryOf(all);
      expect(trajectoryOf(all, atOnce)).toEqual(whole);
      const steps = whole.entries.flatMap((entry) => entry.steps.map(({ n }) => n));
      expect(steps.toSorted((a, b) => a - b)).toEqual(all.map(({ n }) => n));
      for (const { n } of all)
        expect(whole.entries[whole.entryOf.get(n) ?? -1]?.steps.some((step) => step.n === n)).toBe(true);
    }),
  );
});
