import { describe, expect, it } from 'vitest';
import { outcomeOf } from '../../../../src/engine/core/evaluation/outcome.ts';
import type { EventOf, RolloutEvent } from '../../../../src/engine/core/events/event.ts';
import { type Line, played, steps } from '../../../support/desk.ts';

const eventsOf = async (agent: readonly Line[], user: readonly string[]): Promise<readonly RolloutEvent[]> =>
  (await steps(played(agent, user))).map(({ event }) => event);
const look: Line = { look: { chair: 'A1' } };
const ask = 'Shall I paint A1 red?';
const paint: Line = { paint: { chair: 'A1', colour: 'red' } };

describe('the outcome of a rollout', () => {
  it('a rollout with the reward passed and has no pointers', async () => {
    const outcome = outcomeOf(await eventsOf([look, ask, paint, 'Done.'], ['My chair A1 should be red.', 'Yes.']), 2);
    expect(outcome).toMatchObject({ task: 'repaint', trial: 0, result: 'passed', reward: 1, failedBy: null });
    expect([outcome.rows, outcome.pointers, outcome.seconds]).toEqual([null, [], 2]);
  });

  it('a violated gate comes first, with its step, its turn and its rule', async () => {
    const events = await eventsOf([look, paint, 'Done.'], ['My chair A1 should be red.']);
    const { result, failedBy, pointers, message, rows } = outcomeOf(events);
    const step = events.findIndex(
      (event) => event.type === 'rulesChecked' && event.verdicts.some(({ verdict }) => verdict === 'violated'),
    );
    expect([result, failedBy, rows]).toEqual(['failed', 'agent', null]);
    expect(pointers[0]).toEqual({ step, label: `turn 2, step ${step}: paint violated ask-first`, rule: 'ask-first' });
    expect(message.split('\n')[0]).toMatch(/^Reward 0, the agent failed: rule ask-first was violated at step/);
  });

  it("a person in the user's seat who leaves before the work is done is named, and a violation stays the agent's", async () => {
    const messageOf = async (agent: readonly Line[]) => {
      const events = await eventsOf(agent, ['My chair A1 should be red.']);
      const played = events.map(
        (event): RolloutEvent =>
          event.type === 'rolloutStarted' ? { ...event, seats: { ...event.seats, user: 'human' } } : event,
      );
      return outcomeOf(played).message;
    };
    expect(await messageOf([look, 'One moment.'])).toMatch(
      /^Reward 0, the person in the user's seat ended the conversation, and the work was not done: database: /,
    );
    expect(await messageOf([look, paint, 'Done.'])).toMatch(/^Reward 0, the agent failed: rule ask-first/);
  });

  it('a wrong database names its rows, and the call that wrote them', async () => {
    const green: Line = { paint: { chair: 'A1', colour: 'green' } };
    const events = await eventsOf([look, 'Shall I paint A1 green?', green, 'Done.'], ['My chair A1, please.', 'Yes.']);
    const { rows, pointers } = outcomeOf(events);
    expect(rows).toEqual({ expected: 'chairs.A1\n  colour: "red"', actual: 'chairs.A1\n  colour: "green"' });
    const step = events.findIndex(({ type }) => type === 'databaseWritten');
    expect(pointers).toContainEqual({ step, label: expect.stringMatching(/: paint wrote chairs\.A1\.colour$/) });
  });

  it('if nothing was written, a pointer names the call that failed', async () => {
    const wrong: Line = { paint: { chair: 'Z9', colour: 'red' } };
    const events = await eventsOf([look, 'Shall I paint Z9 red?', wrong, 'Done.'], ['My chair A1.', 'Yes.']);
    const labels = outcomeOf(events).pointers.map(({ label }) => label);
    expect(labels.at(-2)).toMatch(/: paint failed: Error: no such chair$/);
    expect(labels.at(-1)).toMatch(/: the user ended the conversation$/);
  });

  it.each([
    ['infrastructure', 'infrastructureFailed', null, 'errored'],
    ['simulator', 'userFailed', null, 'errored'],
    ['environment', 'toolErrorCap', 0, 'errored'],
    ['agent', 'turnCap', 0, 'failed'],
  ] as const)('what the %s did (%s) is %s and %s', async (failedBy, reason, reward, result) => {
    const events = (await eventsOf([look, 'Hm.'], ['Hi.'])).map((event): RolloutEvent => {
      if (event.type === 'rolloutEnded') return { type: 'rolloutEnded', reason };
      if (event.type !== 'rewarded') return event;
      return { ...event, reward, failedBy, reason: 'not scored: the endpoint is gone' } satisfies EventOf<'rewarded'>;
    });
    const outcome = outcomeOf(events);
    expect([outcome.result, outcome.failedBy]).toEqual([result, failedBy]);
    expect(outcome.message).toContain(`the ${failedBy} failed: the endpoint is gone`);
  });
});
