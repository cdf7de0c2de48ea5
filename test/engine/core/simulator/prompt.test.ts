import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../../../../src/engine/core/events/message.ts';
import { simulatorChat } from '../../../../src/engine/core/simulator/prompt.ts';
import { runs } from '../../../support/runs.ts';
import { type Drawn, viewAfter } from './view.ts';

const text = fc.oneof(fc.string(), fc.lorem({ maxCount: 8 }), fc.constantFrom('', ' ', 'Yes.', '###STOP###'));
const call = { id: 'c', name: 'look', arguments: { chair: 'A1' } };
const said: fc.Arbitrary<Message[]> = fc
  .oneof(
    fc.record({ role: fc.constant('user' as const), step: fc.nat(), content: text }),
    fc.record({
      role: fc.constant('agent' as const),
      step: fc.nat(),
      content: fc.option(text),
      toolCalls: fc.constantFrom([], [call]),
    }),
    fc.record({
      role: fc.constant('tool' as const),
      step: fc.nat(),
      callId: fc.constant('c'),
      name: fc.constant('look'),
      content: text,
      isError: fc.boolean(),
    }),
  )
  .map((message) => [message]);
/** A call of a tool of the user's own, with its result. */
const exchange: fc.Arbitrary<Message[]> = fc.tuple(fc.nat(), text, text).map(([step, content, result]) => [
  { role: 'user', step, content, toolCalls: [{ id: 'u', name: 'look_at_lamp', arguments: {} }] },
  { role: 'tool', step, callId: 'u', name: 'look_at_lamp', content: result, isError: false, by: 'user' },
]);
const conversation = fc.array(fc.oneof(said, exchange), { maxLength: 24 }).map((parts) => parts.flat());

const isOwnCall = (each: Message) => each.role === 'user' && each.toolCalls !== undefined;

test('the view has each turn of the user verbatim and in order, and roles strictly alternate', () => {
  fc.assert(
    fc.property(conversation, (messages) => {
      const [system, ...whole] = simulatorChat({ ...viewAfter([]), messages });
      expect(system?.role).toBe('system');
      const turns = whole.map((each) => ('toolCalls' in each ? 'call' : each.role));
      expect(turns[0]).toBe('user');
      expect(turns.some((role, at) => role === 'user' && turns[at - 1] === 'user')).toBe(false);
      expect(turns.some((role, at) => role === 'assistant' && turns[at - 1] === 'assistant')).toBe(false);
      expect(turns.some((role, at) => role === 'call' && turns[at - 1] === 'assistant')).toBe(false);
      const exchanges = messages.filter((each) => (each.role === 'tool' ? each.by === 'user' : isOwnCall(each)));
      expect(turns.filter((role) => role === 'tool' || role === 'call')).toHaveLength(exchanges.length);
      expect(['user', 'tool']).toContain(whole.at(-1)?.role);
      const own = whole.flatMap((each) => (each.role === 'assistant' && !('toolCalls' in each) ? [each.content] : []));
      const spoken = messages.flatMap((each) => (each.role === 'user' && !isOwnCall(each) ? [each.content] : []));
      let [at, from] = [0, 0];
      for (const each of spoken) {
        while (at < own.length && own[at]?.indexOf(each, from) === -1) [at, from] = [at + 1, 0];
        expect(at).toBeLessThan(own.length);
        from = (own[at]?.indexOf(each, from) ?? 0) + each.length;
      }
    }),
    { numRuns: runs(125) },
  );
});

test('neither results of tools, nor text beside a call, nor reasoning reach the user', () => {
  const messages: Message[] = [
    { role: 'user', step: 0, content: 'Hello.' },
    { role: 'agent', step: 1, content: 'secret plan', reasoning: 'secret thought', toolCalls: [call] },
    { role: 'tool', step: 2, callId: 'c', name: 'look', content: 'secret row', isError: false },
    { role: 'agent', step: 3, content: 'Which colour?', reasoning: 'secret again', toolCalls: [] },
  ];
  expect(JSON.stringify(simulatorChat({ ...viewAfter([]), messages }))).not.toContain('secret');
});

const proposal = 'Shall I paint chair A1 red?';
const told = (lines: readonly string[], given: Drawn = {}) => simulatorChat(viewAfter(lines, given))[0]?.content ?? '';
const only = (behaviour: string, at: number): Drawn => ({
  persona: { behaviours: { [behaviour]: { from: at, to: at } } },
});
const opening = 'Please paint chair A1 red.';

test.each([
  { behaviour: 'interrupts', agent: proposal, words: 'Cut in' },
  { behaviour: 'misunderstands', agent: proposal, words: 'misunderstand' },
  { behaviour: 'contradicts', agent: proposal, words: 'contradict something' },
  { behaviour: 'getsUpset', agent: 'Hm.', words: 'upset' },
  { behaviour: 'evades', agent: 'Which chair is it?', words: 'do not answer the question' },
])('a persona that $behaviour gets the instruction for that message only', ({ behaviour, agent, words }) => {
  const line = `In your next message: `;
  expect(told([opening, agent], only(behaviour, 1))).toMatch(new RegExp(`${line}.*${words}`));
  expect(told([opening, agent], only(behaviour, 2))).not.toContain(line);
  expect(told([opening, agent, 'Well.', agent], only(behaviour, 1))).not.toContain(line);
  expect(told([opening, agent, 'Well.', agent], only(behaviour, 2))).toContain(line);
  expect(told([], only(behaviour, 1))).not.toContain(line);
});

test('a change of mind is in the instructions when it is due, and the new facts from then on', () => {
  const given: Drawn = {
    persona: { behaviours: { changes: true } },
    task: { user: { change: { when: 'proposed', say: 'I would rather have blue.', known: { colour: 'blue' } } } },
  };
  expect(told([opening, 'Which chair is it?'], given)).not.toContain('blue');
  expect(told([opening, proposal], given)).toContain('Change your mind and say so: "I would rather have blue."');
  const after = told([opening, proposal, 'No, in blue please.', 'Shall I paint A1 blue?'], given);
  expect(after).toContain('- colour: blue');
  expect(after).not.toContain('- colour: red');
  expect(after).not.toContain('Change your mind');
});

test('the demand of a persona that insists is in the instructions at the first two refusals only', () => {
  const given: Drawn = {
    persona: { behaviours: { insists: true } },
    task: { user: { insist: { say: 'I want it for free.' } } },
  };
  const no = 'I am afraid I cannot do that.';
  expect(told([opening, 'Which chair is it?'], given)).not.toContain('free');
  expect(told([opening, no], given)).toContain('although you may hear that it is not allowed: "I want it for free."');
  expect(told([opening, no, 'I want it for free.', no], given)).toContain('insist once more');
  expect(told([opening, no, 'I want it for free.', no, 'Please!', no], given)).not.toContain('In your next message');
});

test('a persona that omits is instructed to leave out details, in the first message only', () => {
  const given: Drawn = { persona: { behaviours: { omits: true } } };
  expect(told([], given)).toContain('leave out numbers');
  expect(told([opening, proposal], given)).not.toContain('leave out numbers');
});

test('the problem of the last answer is at the end of the instructions', () => {
  const [system] = simulatorChat(viewAfter([opening, proposal]), 'it says nothing');
  expect(system?.content.split('\n').at(-1)).toBe(
    'Your last answer could not be used: it says nothing. Answer again, as the customer.',
  );
});
