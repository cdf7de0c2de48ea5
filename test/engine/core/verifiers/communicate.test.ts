import { describe, expect, it } from 'vitest';
import { type Task, taskSchema } from '../../../../src/engine/core/domain/task.ts';
import type { RolloutState } from '../../../../src/engine/core/events/state.ts';
import { communicateVerdict } from '../../../../src/engine/core/verifiers/communicate.ts';

const task = (communicate: readonly string[], communicateBy?: Task['communicateBy']): Task =>
  taskSchema.parse({ id: 't', persona: 'p', user: { goal: 'g' }, communicate, communicateBy });

/** Reports whether the verifier finds a phrase in a message of the agent. */
function isSaid(phrase: string, content: string, by?: Task['communicateBy'], more: object = {}): boolean {
  const messages = [{ role: 'agent', step: 1, content, toolCalls: [], ...more }];
  return communicateVerdict(task([phrase], by), { started: {}, messages } as unknown as RolloutState).held;
}

describe('the evidence of communicate', () => {
  it.each([
    ['the message with the text', ['only once'], [2]],
    ['the message that completes the texts', ['only once', 'lamp'], [2]],
    ['the last message, if a text is missing', ['only once', 'white'], [3]],
  ])('is %s', (_, texts, evidence) => {
    const said = ['The lamp.', 'This works only once.', 'Only once, goodbye.'];
    const messages = said.map((content, at) => ({ role: 'agent', step: at + 1, content, toolCalls: [] }));
    const state = { started: {}, messages } as unknown as RolloutState;
    expect(communicateVerdict(task(texts), state).evidence).toEqual(evidence);
  });
});

describe('communicate of a native domain', () => {
  it.each([
    ['cannot', "I'm sorry, I can\u2019t cancel it."],
    ["isn't open", 'It is not open.'],
    ['10', 'That is 10.'],
    ['10', 'It takes **10** days'],
    ['10', 'From 10-12 days'],
    ['12', 'From 10-12 days'],
    ['10', 'a 10-day refund'],
    ['10', 'at 10am'],
    ['10 am', 'at 10am'],
    ['10', 'It is 10.00 dollars'],
    ['12.5', 'It costs $12.50.'],
    ['$12.50', 'It costs $12.5, I think'],
    ['1,000', 'You get 1000 points'],
    ['1000', 'You get 1,000.00 points'],
    ['1000', 'You get 1\u00a0000 points'],
    ['1000', "That is 1'000 francs"],
    ['1000', 'That is 1\u2019000 francs'],
    ['1000', 'That is 1 000 euros'],
    ['1234567.5', "That is 1'234'567.50"],
    ['100000', 'That is \u20b91,00,000'],
    ['100', 'Orders 12, 100 and 300'],
    ['\u20ac10', 'That is 10 \u20ac.'],
    ['10 \u20ac', 'That is \u20ac10.'],
    ['$12.50', 'That is 12.50 $'],
    ['\u20ac5', 'That is $10, or \u20ac5'],
    ['.5', 'That is 0.5'],
    ['0.5', 'That is .5'],
    ['C#', 'In the C# course'],
    ['P46-B', 'Parcel P46B'],
    ['P46', 'From P46-P48'],
    ['P46', 'A P46-related question'],
    ['2026-03-10', 'On 2026/03/10'],
    ['2', 'Sizes 1-2-3'],
    ['2', 'Orders 1,2,3 are yours'],
    ['12.50', 'Das kostet 12,50 Euro'],
    ['1.000', 'Sie haben 1.000 Punkte'],
    ['0.5', 'That is 0.500'],
    ['-5', 'It is \u22125 degrees'],
    ["don't", 'We don\u2019t do that.'],
    ["don't", 'We don\u00b4t do that.'],
    ['don\u00b4t', "We don't do that."],
    ['don\u2019t', "We DON'T do that."],
    ['Ann', "It is Ann's parcel"],
    ['it is "only once"', 'It is \u201conly once\u201d!'],
    ['check in', 'Please check-in at the desk'],
    ['check\u2011in', 'Please check in at the desk'],
    ['email', 'by e-mail'],
    ['e-mail', 'by Email'],
    ['cafe', 'At the caf\u00e9'],
    ['caf\u00e9', 'At the cafe\u0301'],
    ['Strasse', 'Main Stra\u00dfe'],
    ['W2010', 'Order #w2010 is here'],
    ['W-10', 'Order W10 is here'],
    ['Thursday', 'On **Thursday**, I hope'],
    ['only once', 'This works only\nonce.'],
    ['\u6728\u66dc\u65e5', '\u8377\u7269\u306f\u6728\u66dc\u65e5\u306b\u5c4a\u304d\u307e\u3059'],
    ['\ubaa9\uc694\uc77c', '\ubaa9\uc694\uc77c\uc5d0 \ub3c4\ucc29\ud569\ub2c8\ub2e4'],
    ['10\u65e5', '10 \u65e5\u306b'],
    ['\ud83d\udc4d', 'Done \ud83d\udc4d'],
  ])('%j is in %j', (phrase, text) => expect(isSaid(phrase, text)).toBe(true));

  it.each([
    ['10', 'Order W2010'],
    ['10', 'Order W-10'],
    ['10', 'It costs 10.50'],
    ['10', 'It costs 110'],
    ['10', 'It costs 10,50 euros'],
    ['10', 'You get 10,000 points'],
    ['10', 'at 10:30'],
    ['1', "That is 1'000 francs"],
    ['1', 'That is 1 000 euros'],
    ['1', 'Sie haben 1.000 Punkte'],
    ['10', 'Das kostet 10.000 Euro'],
    ['1000', 'It is 1.000 long'],
    ['1000', 'That is 1 0000'],
    ['1000', 'The code A1 000'],
    ['1', 'That is 1,00,000'],
    ['\u20ac10', 'That is $10, or \u20ac5'],
    ['.5', 'That is 5 euros'],
    ['C#', 'In the C course'],
    ['C++', 'In the C course'],
    ['P46', 'Parcel P46-B'],
    ['P46', 'Parcel P46-2'],
    ['10', 'On 2026-03-10'],
    ['10', 'On 10-03-2026'],
    ['10', 'the code 10A7F'],
    ['5', 'It is -5 degrees'],
    ['$12.50', 'It costs 12.50 euros'],
    ['50', 'It costs 10.50'],
    ['10%', 'It costs 10'],
    ['in', 'We begin'],
    ['we can', "We can't do that"],
    ['therapist', 'the rapist'],
    ['Thursday', 'On Thursdays'],
    ['\u304b', '\u304c'],
    ['\ud83d\udc4d', 'Done'],
  ])('%j is not in %j', (phrase, text) => expect(isSaid(phrase, text)).toBe(false));

  it('reads numbers of any length', () => {
    const zeros = '0'.repeat(200_000);
    expect([isSaid('10', `${zeros}.${zeros}1`), isSaid('10', `10.${zeros}`)]).toEqual([false, true]);
  });

  it.each([
    ['beside a call', 'It comes on Thursday', { toolCalls: [{ id: 'a', name: 'look', arguments: {} }] }],
    ['as reasoning', 'It is on its way.', { reasoning: 'It comes on Thursday' }],
  ])('finds nothing that was written %s', (_, content, more) => {
    expect(isSaid('Thursday', content, undefined, more)).toBe(false);
  });
});

it.each([
  ['10', 'Order W2010', true],
  ['1,000', 'You get 1,000 points', false],
  ['1000', 'You get 1,000 points', true],
  ["don't", 'We don\u2019t', false],
  ['day', 'On Thursday', true],
])('imports look for %j in %j as their benchmark does', (phrase, text, held) => {
  expect([isSaid(phrase, text, 'tau1'), isSaid(phrase, text, 'tau2')]).toEqual([held, held]);
});
