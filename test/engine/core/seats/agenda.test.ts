import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isConfirmation } from '../../../../src/engine/core/dialogue/dialogue.ts';
import type { Message } from '../../../../src/engine/core/events/message.ts';
import { agendaUser } from '../../../../src/engine/core/seats/agenda.ts';
import { userGoalOf } from '../../../../src/engine/core/seats/userGoal.ts';
import { runs } from '../../../support/runs.ts';
import { domain, heardBy, personas, taskWith, viewOf } from '../conversation.ts';

const seeds = Array.from({ length: 25 }, (_, seed) => String(seed));
const change = { when: 'proposed', say: 'Sorry, I would rather have blue.', known: { colour: 'blue' } };

/** Returns the fields of a task whose user changes the day, or another fact of that name. */
const withDay = (before: unknown, after: unknown) => ({
  user: {
    known: { day: before },
    change: { when: 'proposed', say: 'Sorry, I made a mistake there.', known: { day: after } },
  },
  actions: [{ tool: 'paint', arguments: { day: after } }],
});

describe('the agenda user', () => {
  it('always ends, whatever the agent says', () => {
    const lines = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '',
        'Hello!',
        'What?',
        'Which chair?',
        'Shall I go ahead?',
        'Done.',
        'I cannot do that.',
        'Anything else?',
        'One moment.',
        'The chair is blue.',
      ),
      fc.lorem({ mode: 'sentences', maxCount: 2 }),
    );
    fc.assert(
      fc.property(
        fc.array(lines, { minLength: 40, maxLength: 40 }),
        fc.constantFrom(...personas),
        fc.nat(),
        (texts, persona, seed) => {
          const task = taskWith({ persona: persona.id, user: { change, insist: { say: 'I want it for free.' } } });
          const replies = heardBy(task, texts, String(seed));
          expect(replies.at(-1)?.stop).not.toBeNull();
          expect(replies.every(({ content }) => content !== '')).toBe(true);
        },
      ),
      { numRuns: runs(50) },
    );
  });

  it.each([
    ['Hello, greta@example.com here.', 'greta@example.com here.'],
    ['Hi, b12 is my booking.', 'b12 is my booking.'],
    ['Hi, gre_ta here.', 'gre_ta here.'],
    ['Hi, example.com is down.', 'example.com is down.'],
    ['Hi, please help.', 'Please help.'],
    ['Hello, über alles.', 'Über alles.'],
    ["Hi, i'd like a chair.", "I'd like a chair."],
  ])('repeats "%s" as "%s"', (opening, repeated) => {
    expect(userGoalOf(taskWith({ user: { opening } }), false)).toBe(repeated);
  });

  it.each([
    ['silence', ''],
    ['nonsense', 'blorp fizz wug'],
    ['small talk', 'I am happy to help.'],
  ])('loses patience with %s', (_, text) => {
    const replies = heardBy(
      taskWith(),
      Array.from({ length: 10 }, () => text),
    );
    expect([replies.length, replies.at(-1)?.stop]).toEqual([4, 'gaveUp']);
  });

  it.each([
    ['its greeting', ['How can I help you?']],
    ['its greeting in other words', ['How can I help you?', 'What can I do for you?']],
    ['a choice', ['Would you like the red one or the blue one?']],
    ['an offer after the work', ['Done, A1 is red.', 'Is there anything else?']],
    ['a refusal', ['I cannot do that.']],
    ['a proposal', ['Shall I paint A1 red?']],
  ])('loses patience with an agent that repeats %s', (_, texts) => {
    const task = taskWith({
      persona: 'plain-insists',
      user: { opening: 'Please paint something.', insist: { say: 'I want it for free.' } },
      actions: [
        { tool: 'paint', arguments: { chair: 'A1', colour: 'red' } },
        { tool: 'paint', arguments: { chair: 'B2', colour: 'blue' } },
      ],
    });
    const replies = heardBy(
      task,
      Array.from({ length: 40 }, (_, turn) => texts[turn % texts.length] as string),
    );
    expect(replies.at(-1)?.stop).not.toBeNull();
    expect(replies.length).toBeLessThan(14);
  });

  it('states its request once after a greeting, and gives up if the agent only greets', () => {
    const replies = heardBy(
      taskWith(),
      Array.from({ length: 9 }, () => 'How can I help you?'),
    );
    expect([replies.length, replies.at(-1)?.stop]).toEqual([5, 'gaveUp']);
  });

  it('replies to a longer view as if it had not seen the shorter one, even if a message was changed', () => {
    const lines = fc.array(
      fc.constantFrom('Which chair is it?', 'How can I help you?', 'Shall I paint A1 red?', 'Done.'),
      {
        minLength: 2,
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(lines, fc.nat(), (texts, at) => {
        const task = taskWith({ persona: 'plain-insists', user: { insist: { say: 'I want it for free.' } } });
        let messages: readonly Message[] = [];
        const say = (text: string) => {
          const { content } = agendaUser(viewOf(task, messages, 'user'));
          messages = [
            ...messages,
            { role: 'user', step: messages.length, content },
            { role: 'agent', step: messages.length + 1, content: text, toolCalls: [] },
          ];
        };
        texts.forEach(say);
        const changed = messages.with(1 + 2 * (at % texts.length), {
          role: 'agent',
          step: 1,
          content: 'Hm.',
          toolCalls: [],
        });
        for (const view of [messages, changed]) {
          const fresh = view.map((message) => ({ ...message }));
          expect(agendaUser(viewOf(task, view, 'user'))).toEqual(agendaUser(viewOf(task, fresh, 'user')));
        }
      }),
    );
  });

  it('corrects another value of an `enum`', () => {
    const wide = domain.tools.map((tool) => ({
      ...tool,
      parameters: { type: 'object', properties: { finish: { type: 'string', enum: ['matt', 'gloss'] } } },
    }));
    const task = taskWith({ user: { known: { chair: 'A1', finish: 'matt' } } });
    const answers = (text: string) => heardBy(task, [text], '1', { ...domain, tools: wide }).at(-1)?.content;
    expect(answers('Shall I paint A1 in gloss?')).toMatch(/^No, .*matt/);
    expect(answers('Shall I paint A1 in matt?')).toMatch(/\b(?:yes|good)\b/i);
  });

  it('gives the same reply for the same view', () => {
    const lines = fc.array(fc.record({ isAgent: fc.boolean(), content: fc.string() }), { maxLength: 8 });
    fc.assert(
      fc.property(lines, fc.string(), (said, seed) => {
        const messages = said.map(
          ({ isAgent, content }, step): Message =>
            isAgent ? { role: 'agent', step, content, toolCalls: [] } : { role: 'user', step, content },
        );
        expect(agendaUser(viewOf(taskWith(), messages, 'user', seed))).toEqual(
          agendaUser(viewOf(taskWith(), messages, 'user', seed)),
        );
      }),
    );
  });

  it.each<[string, Record<string, unknown>, string[], RegExp, string | null]>([
    ['answers what it was asked', {}, ['Which chair is it?'], /A1/, null],
    ['answers several questions at once', {}, ['What are your chair number and the colour?'], /A1.*red/, null],
    [
      'says what it does not know',
      { user: { unknown: ['phone'] } },
      ['What is your phone number?'],
      /don't know/,
      null,
    ],
    [
      'says how it would say it',
      { user: { known: { chair: 'A1', colour: { value: 'red', say: 'a warm red' } } } },
      ['Which colour?'],
      /a warm red/,
      null,
    ],
    ['says yes to what it wants', {}, ['Shall I paint A1 red?'], /\b(?:yes|good)\b/i, null],
    ['corrects a wrong value', {}, ['Shall I paint A7 red?'], /^No, .*A1/, null],
    [
      'corrects a value that only rows have',
      { user: { known: { chair: 'A1', paint: 'blue' } } },
      ['Shall I paint A1 green?'],
      /^No, .*blue/,
      null,
    ],
    [
      'says yes to a value of a row that its wish names',
      { user: { goal: 'Blue first, then green.', known: { chair: 'A1', paint: 'blue' } } },
      ['Shall I paint A1 green?'],
      /\b(?:yes|good)\b/i,
      null,
    ],
    [
      'answers a question beside a proposal',
      {},
      ['Which chair is it? And shall I go ahead?'],
      /\b(?:yes|good)\b.*A1/i,
      null,
    ],
    ['asks when it does not understand', {}, ['blorp fizz wug'], /need from me/, null],
    [
      'tells the next fact when it still does not',
      { user: { opening: 'My chair needs paint.' } },
      ['blorp', 'fizz'],
      /A1/,
      null,
    ],
    ['says again what it wants', {}, ['How can I help you?'], /paint chair A1 red/, null],
    ['does not leave on a yes', {}, ['Shall I paint A1 red?', 'Thank you.'], /./, null],
    ['does not leave before anything was done', {}, ['Is there anything else?'], /./, null],
    ['leaves when it is done', {}, ['Shall I paint A1 red?', 'Done, A1 is red.'], /./, 'done'],
    ['leaves when it hears of it', {}, ['Shall I paint A1 red?', 'A1 is red.'], /./, 'done'],
    ['leaves with a person', {}, ['I am transferring you to a human agent.'], /./, 'transferred'],
    [
      'changes its mind',
      { persona: 'plain-changes', user: { change } },
      ['Shall I paint A1 red?'],
      /rather have blue/,
      null,
    ],
    [
      'stays with its new mind',
      { persona: 'plain-changes', user: { change } },
      ['Shall I paint A1 red?', 'Shall I paint A1 red?'],
      /^No, .*blue/,
      null,
    ],
    [
      'stays with a new day when the former one is proposed',
      { persona: 'plain-changes', ...withDay('2026-03-04', '2026-03-05') },
      ['Shall I paint it on Wednesday?', 'Shall I paint it on Wednesday?'],
      /^No, .*2026-03-05/,
      null,
    ],
    [
      'accepts a new day of the same weekday',
      { persona: 'plain-changes', ...withDay('2026-03-04', '2026-03-11') },
      ['Shall I paint it on Wednesday?', 'Shall I paint it on Wednesday?'],
      /^(?!No).*\b(?:yes|good)\b/i,
      null,
    ],
    [
      'stays with a new row when the former one is proposed by name',
      { persona: 'plain-changes', ...withDay({ value: 'A2', say: 'Pepper' }, { value: 'A1', say: 'Biscuit' }) },
      ['Shall I paint Pepper?', 'Shall I paint Pepper?'],
      /^No, .*Biscuit/,
      null,
    ],
    [
      'keeps its mind without that behaviour',
      { user: { change } },
      ['Shall I paint A1 red?'],
      /\b(?:yes|good)\b/i,
      null,
    ],
    [
      'changes its mind after the work',
      { persona: 'plain-changes', user: { change: { ...change, when: 'done' } } },
      ['Done, A1 is red.'],
      /rather have blue/,
      null,
    ],
    [
      'insists',
      { persona: 'plain-insists', user: { insist: { say: 'I want it for free.' } } },
      ['I am sorry, I cannot do that.'],
      /for free/,
      null,
    ],
    [
      'gives in',
      { persona: 'plain-insists', user: { insist: { say: 'I want it for free.' } } },
      ['I cannot do that.', 'That is not possible.', 'Shall I paint A1 red?'],
      /\b(?:yes|good)\b/i,
      null,
    ],
  ])('%s', (_, draft, texts, content, stop) => {
    const last = heardBy(taskWith(draft), texts).at(-1);
    expect(last?.content).toMatch(content);
    expect(last?.stop).toBe(stop);
  });

  it.each([
    ['Shall I paint chair A1 red at 14:00?', true],
    ['Shall I paint chair A1 red at 2 pm?', true],
    ['Shall I paint chair A1 red at 10:00?', false],
    ['Shall I paint chair A1 red at 2 am, for 14.00 EUR?', false],
  ])('agrees only to the time of day that it wants: %s', (proposal, isYes) => {
    const known = { chair: 'A1', colour: 'red', time: '14:00' };
    const user = { goal: 'You want your chair A1 painted red at 14:00.', known };
    const reply = heardBy(taskWith({ user }), [proposal]).at(-1)?.content ?? '';
    expect(isConfirmation(reply, proposal), reply).toBe(isYes);
  });

  it.each([
    ['Shall I paint chair A1 red?', true],
    ['Shall I paint chair C3 red?', false],
    ['Shall I paint it red, order 4711?', true],
  ])('agrees only to the code that it knows, whatever its letters: %s', (proposal, isYes) => {
    const user = { goal: 'You want your chair A1 painted red.', known: { chair: 'A1', colour: 'red' } };
    const reply = heardBy(taskWith({ user }), [proposal]).at(-1)?.content ?? '';
    expect(isConfirmation(reply, proposal), reply).toBe(isYes);
  });

  it('says a clear yes in every style, without a correction', () => {
    for (const { id } of personas.filter(({ behaviours }) => !behaviours.changes)) {
      for (const seed of seeds) {
        const reply = (text: string) => heardBy(taskWith({ persona: id }), [text], seed).at(-1)?.content ?? '';
        expect(
          isConfirmation(reply('Shall I paint A1 red?'), 'Shall I paint A1 red?'),
          reply('Shall I paint A1 red?'),
        ).toBe(true);
        expect(
          isConfirmation(reply('Shall I paint A7 red?'), 'Shall I paint A7 red?'),
          reply('Shall I paint A7 red?'),
        ).toBe(false);
      }
    }
  });

  it.each([
    ['Hi there. A1 is my chair, and red is what I want.', 'Hi there. I need your help with something.'],
    ['Please paint chair A1 red.', 'I need your help with something.'],
    ['I have a question about the colour of my chair: red for A1.', 'I have a question about the colour of my chair.'],
    ['My chair needs paint because it is old, and A1 is its number, red.', 'My chair needs paint because it is old.'],
    ['My chair is old and needs paint. A1 should be red.', 'My chair is old and needs paint.'],
  ])('a persona that omits begins %j with whole sentences', (opening, said) => {
    expect(heardBy(taskWith({ persona: 'plain-omits', user: { opening } }), [])[0]?.content).toBe(said);
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['the opening', {}, /^Please paint chair A1 red\.$/],
    ['the goal in its own words', { user: { opening: undefined } }, /^I want my chair A1 painted red\.$/],
    ['the opening without what it knows', { persona: 'plain-omits' }, /^(?!.*(?:A1|red)).+/],
    [
      'an opening that leaves something out already',
      { persona: 'plain-omits', user: { opening: 'Please paint chair A1.' } },
      /^Please paint chair A1\.$/,
    ],
  ])('begins with %s', (_, draft, opening) => {
    expect(heardBy(taskWith(draft), [])[0]?.content).toMatch(opening);
  });
});
