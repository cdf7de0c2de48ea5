import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary.ts';
import { rehearsal } from '../../support/terminal.ts';

const desk = 'domains/order-desk';
const run = async (task: string, agent: string) => {
  const out = temporaryFolder('summary');
  const { out: printed } = await rehearsal(
    'run',
    desk,
    task,
    '--agent',
    agent,
    '--user',
    'agenda',
    '--out',
    out,
    '--json',
  );
  return JSON.parse(printed) as Record<string, unknown>;
};

test('run --json prints the report card, and how the databases at the end differ from those at the start', async () => {
  expect(await run('mistaken-order', 'gold')).toMatchObject({
    reward: 1,
    failedBy: null,
    turns: expect.any(Number),
    card: expect.arrayContaining([expect.objectContaining({ layer: 'outcome', verdict: 'held' })]),
    changes: [
      {
        side: 'agent',
        patches: expect.arrayContaining([
          { op: 'replace', path: ['orders', 'W1014', 'status'], value: 'cancelled', old: 'pending' },
          { op: 'add', path: ['orders', 'W1014', 'cancel_reason'], value: 'ordered by mistake' },
        ]),
      },
    ],
  });
});

test('a rollout that changes nothing reports that and why it failed', async () => {
  expect(await run('lamp-variant', 'scripted')).toMatchObject({
    reward: 0,
    failedBy: 'agent',
    reason: expect.any(String),
  });
});
