import { expect, test } from 'vitest';
import { understood } from '../../../../src/engine/core/simulator/stop.ts';
import { viewAfter } from './view.ts';

const opening = 'Please paint chair A1 red.';
const proposal = [opening, 'Shall I paint chair A1 red?'];
const done = [...proposal, 'Yes.', 'Done, A1 is red. Is there anything else?'];

test.each([
  { said: done, text: '###STOP###', content: '', stop: 'done', withheld: null },
  {
    said: done,
    text: 'Thanks, that is all. ###STOP###',
    content: 'Thanks, that is all.',
    stop: 'done',
    withheld: null,
  },
  { said: done, text: 'No.\n\n### stop ###', content: 'No.', stop: 'done', withheld: null },
  { said: done, text: '###STOP', content: '', stop: 'done', withheld: null },
  { said: done, text: '###TRANSFER###', content: '', stop: 'transferred', withheld: null },
  { said: done, text: '###OUT-OF-SCOPE###', content: '', stop: 'outOfScope', withheld: null },
  { said: done, text: '###GIVE-UP###', content: '', stop: 'gaveUp', withheld: null },
  { said: proposal, text: 'Yes, please. ###STOP###', content: 'Yes, please.', stop: null, withheld: 'done' },
  {
    said: proposal,
    text: 'Yes, go ahead, thank you! ###STOP###',
    content: 'Yes, go ahead, thank you!',
    stop: null,
    withheld: 'done',
  },
  { said: proposal, text: 'No, forget it. ###STOP###', content: 'No, forget it.', stop: 'done', withheld: null },
  {
    said: [opening, 'Which chair is it?'],
    text: 'It is A1. ###STOP###',
    content: 'It is A1.',
    stop: null,
    withheld: 'done',
  },
  { said: proposal, text: 'Customer: Red, please.', content: 'Red, please.', stop: null, withheld: null },
  { said: proposal, text: 'Please stop.', content: 'Please stop.', stop: null, withheld: null },
])('"$text" is a stop: $stop', ({ said, text, content, stop, withheld }) => {
  expect(understood(text, viewAfter(said))).toEqual({ reply: { content, stop }, withheld });
});

test.each([
  { text: 'Yes, please. ###STOP###', content: 'Yes, please.', stop: 'done' },
  { text: '###TRANSFER###', content: '', stop: 'transferred' },
  { text: 'Yes ###stop###', content: 'Yes ###stop###', stop: null },
  { text: 'Customer: ###GIVE-UP###', content: 'Customer: ###GIVE-UP###', stop: null },
])('with custom stop words, "$text" is a stop: $stop', ({ text, content, stop }) => {
  const view = viewAfter(proposal);
  const domain = { ...view.domain, file: { ...view.domain.file, stopWords: ['###STOP###', '###TRANSFER###'] } };
  expect(understood(text, { ...view, domain })).toEqual({ reply: { content, stop }, withheld: null });
});
