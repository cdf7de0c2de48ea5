import { expect, test } from 'vitest';
import { runDataOf } from '../../../src/extension/training/runData.ts';

const desk = { domain: 'desk', tasks: 64, user: 'agenda', weight: 1 };
const shop = { domain: 'shop', tasks: 1, user: 'openai:gpt-5', weight: 2 };

test.each([
  [
    { train: [desk], evaluate: [{ ...desk, tasks: 32 }], shared_simulators: ['agenda'] },
    'Learns from 64 tasks of desk, with agenda as the user. Evaluated on 32 tasks of desk, none of which it learns from, with agenda as the user. The same simulator, agenda, plays the user in both.',
  ],
  [
    { train: [desk, shop], evaluate: [], shared_simulators: [] },
    'Learns from 64 tasks of desk and 1 task of shop, with agenda and openai:gpt-5 as the user. Nothing is evaluated while it trains.',
  ],
  [
    { train: [], evaluate: [shop], shared_simulators: [] },
    'Evaluated on 1 task of shop, none of which it learns from, with openai:gpt-5 as the user.',
  ],
  [{ train: 'everything' }, null],
])('%j', (event, said) => {
  expect(runDataOf({ type: 'data', ...event } as never)).toBe(said);
});
