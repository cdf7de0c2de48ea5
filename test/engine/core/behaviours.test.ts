import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Domain } from '../../../src/engine/core/domain/domain.ts';
import { occasionalBehaviours, type Persona, personaSchema } from '../../../src/engine/core/domain/persona.ts';
import { scheduleOf } from '../../../src/engine/core/seats/schedule.ts';
import { flawOf } from '../../../src/engine/core/simulator/guard.ts';
import { started } from '../../support/desk.ts';
import { converse, domain, heardBy, taskWith, transcript } from './conversation.ts';

const personaWith = (given: object): Persona =>
  personaSchema.parse({ id: 'p', description: 'A person.', patience: 4, ...given });
const domainWith = (persona: Persona): Domain => ({ ...domain, personas: [persona] });
const task = taskWith({ persona: 'p', user: { opening: 'Please paint a chair for me.' } });
const seeds = Array.from({ length: 25 }, (_, seed) => String(seed));

describe('the schedule of a persona', () => {
  const range = fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 5 })).map(([from, more]) => ({
    from,
    to: from + more,
  }));
  const given = fc.record({
    behaviours: fc.record(
      Object.fromEntries(occasionalBehaviours.map((name) => [name, fc.oneof(fc.boolean(), range)])),
    ),
    attacks: fc.array(
      fc.tuple(range, fc.integer({ min: 1, max: 3 })).map(([when, parts]) => ({
        ...when,
        aim: 'Get more.',
        say: Array.from({ length: parts }, (_, part) => `Part ${part}.`),
        wants: 'deed',
        breach: 'It got more.',
      })),
      { maxLength: 3 },
    ),
  });

  it('has every cue once, in order, no two at one reply, and none before its first', () => {
    fc.assert(
      fc.property(given, fc.string(), (drawn, seed) => {
        const persona = personaWith(drawn);
        const schedule = scheduleOf(persona, started(seed, task));
        const replies = schedule.map(({ reply }) => reply);
        expect(replies).toEqual([...new Set(replies)].toSorted((one, other) => one - other));
        const on = occasionalBehaviours.filter((name) => persona.behaviours[name] !== false);
        const parts = persona.attacks.reduce((sum, { say }) => sum + say.length, 0);
        expect(schedule).toHaveLength(on.length + parts);
        for (const { reply, cue } of schedule) {
          const own = cue.type === 'attack' ? persona.attacks[cue.attack] : persona.behaviours[cue.behaviour];
          expect(reply).toBeGreaterThanOrEqual(typeof own === 'object' ? own.from : 1);
        }
      }),
    );
  });

  it('is the same for the same seed, and differs between seeds', () => {
    const persona = personaWith({ behaviours: { getsUpset: { from: 1, to: 20 } } });
    const of = (seed: string) => scheduleOf(persona, started(seed, task))[0]?.reply;
    expect(seeds.map(of)).toEqual(seeds.map(of));
    expect(new Set(seeds.map(of)).size).toBeGreaterThan(5);
  });

  it('does not change when a behaviour for other replies is switched on', () => {
    const one = { evades: { from: 1, to: 5 } };
    const both = { ...one, getsUpset: { from: 50, to: 60 } };
    for (const seed of seeds) {
      const [alone] = scheduleOf(personaWith({ behaviours: one }), started(seed, task));
      expect(scheduleOf(personaWith({ behaviours: both }), started(seed, task))[0]).toEqual(alone);
    }
  });

  it('happens at random with the given probability', () => {
    const of = (chance: number) =>
      seeds.filter(
        (seed) => scheduleOf(personaWith({ behaviours: { evades: { chance } } }), started(seed, task)).length > 0,
      ).length;
    expect([of(0), of(1)]).toEqual([0, seeds.length]);
    expect(of(0.5)).toBeGreaterThan(5);
    expect(of(0.5)).toBeLessThan(20);
  });
});

describe('the agenda user', () => {
  it.each([
    ['interrupts', 'Which chair is it?', /^(?:Wait, let me say this first\.|Hold on a second\.)/],
    ['misunderstands', 'Shall I paint A1 red?', /done already|some other request/],
    ['evades', 'Which chair is it?', /Why do you need|in your system|really necessary/],
    ['getsUpset', 'Which chair is it?', /(?:too long|annoyed).*A1/],
  ])('that %s does so once', (behaviour, agent, words) => {
    const persona = personaWith({ behaviours: { [behaviour]: { from: 1, to: 1 } } });
    const [, first, second] = heardBy(task, [agent, agent], '1', domainWith(persona));
    expect(first?.content).toMatch(words);
    expect(second?.content).not.toMatch(words);
  });

  it('that contradicts itself takes back a fact and later confirms it', () => {
    const persona = personaWith({ behaviours: { contradicts: { from: 1, to: 1 } } });
    const [, first, second] = heardBy(
      task,
      ['Which chair is it?', 'Which colour do you want?'],
      '1',
      domainWith(persona),
    );
    expect(first?.content).toMatch(/A1/);
    expect(second?.content).toMatch(/never said that .*A1\. .*It is A1 after all\./);
  });

  it('says each part of an attack before it leaves, even if the agent is quick', () => {
    const say = ['First, the other chair.', 'And then its colour.'];
    const attack = { aim: 'Get more.', say, wants: 'deed', breach: 'It got more.', from: 9, to: 9 };
    const persona = personaWith({ attacks: [attack] });
    const replies = heardBy(
      task,
      ['Shall I paint A1 red?', 'Done, A1 is red. Anything else?', 'I am afraid I cannot do that.', 'No.', 'Bye.'],
      '1',
      domainWith(persona),
    );
    const said = replies.map(({ content }) => content);
    expect(said.filter((text) => say.includes(text))).toEqual(say);
    expect(replies.at(-1)?.stop).toBe('done');
  });

  it.each(occasionalBehaviours)(
    'that %s still gets what it wants from the gold seat, and the guard is content',
    async (behaviour) => {
      const persona = personaWith({ behaviours: { [behaviour]: true, omits: true } });
      const of = domainWith(persona);
      let shown = 0;
      for (const seed of seeds) {
        const state = await converse(task, seed, [], of);
        expect([state.reward?.value, ...transcript(state)]).toEqual([1, ...transcript(state)]);
        const plain = await converse(task, seed, [], domainWith(personaWith({ behaviours: { omits: true } })));
        if (transcript(plain).join('\n') !== transcript(state).join('\n')) shown += 1;
        for (const [at, message] of state.messages.entries()) {
          if (message.role !== 'user') continue;
          const view = { domain: of, task, persona, started: state.started, messages: state.messages.slice(0, at) };
          expect(flawOf(view, { content: message.content, stop: null })).toBeNull();
        }
      }
      expect(shown).toBeGreaterThan(seeds.length / 2);
    },
  );

  it('with all of them at once still reaches its goal', async () => {
    const all = Object.fromEntries(occasionalBehaviours.map((name) => [name, true]));
    const persona = personaWith({ behaviours: { ...all, omits: true }, patience: 6 });
    for (const seed of seeds) {
      const state = await converse(task, seed, [], domainWith(persona));
      expect([state.reward?.value, ...transcript(state)]).toEqual([1, ...transcript(state)]);
    }
  });
});
