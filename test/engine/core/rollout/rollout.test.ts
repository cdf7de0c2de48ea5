import { expect, test } from 'vitest';
import type { RolloutState } from '../../../../src/engine/core/events/state.ts';
import {
  advance,
  begin,
  effectsOf,
  follow,
  resumable,
  stateHash,
} from '../../../../src/engine/core/rollout/rollout.ts';
import { type Line, played, setting, started, steps } from '../../../support/desk.ts';
import { replay } from '../../../support/replay.ts';

// Tests the fold: how each event of one conversation changes the state, and which effect it requests next.
const look: Line = { look: { chair: 'A1' } };
const paint: Line = { paint: { chair: 'A1', colour: 'red' } };
const all = await steps(
  played([look, 'I will paint chair A1 red. Shall I go ahead?', paint, 'Done.'], ['Red please.', 'Yes.']),
);
const events = all.map(({ event }) => event);

test('each event asks for the effect that the next event records', () => {
  let state: RolloutState | null = null;
  const asked = events.map((event) => {
    const [next, effects] = state
      ? advance(setting, state, event)
      : begin(setting, event.type === 'rolloutStarted' ? event : started());
    expect(effects).toEqual(effectsOf(setting, next));
    state = next;
    return `${event.type} -> ${effects.map(({ type }) => type).join(', ')}`;
  });
  expect(asked).toMatchInlineSnapshot(`
    [
      "rolloutStarted -> prepareWorld",
      "worldPrepared -> askUser",
      "userReplied -> askAgent",
      "agentReplied -> callTool",
      "toolCalled -> finishCall",
      "toolReturned -> askAgent",
      "agentReplied -> askUser",
      "userReplied -> askAgent",
      "agentReplied -> noteRules",
      "rulesChecked -> callTool",
      "toolCalled -> finishCall",
      "databaseWritten -> finishCall",
      "toolReturned -> askAgent",
      "agentReplied -> askUser",
      "userReplied -> stop",
      "rolloutEnded -> verify",
      "verdictReached -> verify",
      "verdictReached -> verify",
      "rewarded -> ",
    ]
  `);
});

test('a write changes the state after it, but not the states before it', () => {
  const at = events.findIndex(({ type }) => type === 'databaseWritten');
  const before = replay(setting, events.slice(0, at));
  const hash = stateHash(before);
  expect(stateHash(advance(setting, before, events[at] as (typeof events)[number])[0])).not.toBe(hash);
  expect(stateHash(before)).toBe(hash);
});

test.each([
  ['a recording that does not start with the start', () => follow(setting, null, events[1] as never), /rolloutStarted/],
  ['a second start', () => follow(setting, replay(setting, events.slice(0, 2)), started()), /starts once/],
  [
    'an event of an unknown type',
    () => follow(setting, replay(setting, events.slice(0, 2)), { type: 'unheardOf' } as never),
    /unheardOf/,
  ],
])('%s is refused', (_, act, message) => {
  expect(act).toThrow(message);
});

test('a recording that was cut inside a call resumes before the call returned', () => {
  const written = events.findIndex(({ type }) => type === 'databaseWritten');
  const kept = resumable(events.slice(0, written + 1));
  expect(kept).toEqual(events.slice(0, written));
});
