import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Task } from '../../src/engine/core/domain/task.ts';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { signingKey } from '../../src/engine/shell/records/ledger.ts';
import { runBatch, type TrialResult } from '../../src/engine/shell/runs/batch.ts';
import { openSupervisor } from '../../src/engine/shell/supervisor.ts';
import { inFullSuite, isFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';

type Batch = {
  readonly agent: 'gold' | 'scripted';
  readonly trials?: number;
  readonly tasks?: readonly string[];
  readonly seed?: string;
  readonly hear?: (task: Task, text: string) => void;
  readonly say?: (text: string) => void;
};

/** Rehearses a shipped domain in a worker against the agenda user. */
async function rehearse(
  name: string,
  { agent, trials = 1, tasks, seed = 'sample domains', hear, say }: Batch,
): Promise<readonly TrialResult[]> {
  const folder = temporaryFolder(name);
  const supervisor = await openSupervisor(loadDomain(join(import.meta.dirname, '../../domains', name)));
  try {
    return await runBatch(supervisor, {
      folder,
      tasks: supervisor.domain.tasks.filter(({ id }) => tasks?.includes(id) ?? true),
      trials,
      seed,
      basis: 'evaluate',
      agent: { type: agent },
      user: { type: 'agenda' },
      concurrency: 16,
      key: signingKey(join(folder, 'key')),
      readKey: () => undefined,
      askPerson: () => Promise.reject(new Error('no person is asked')),
      onEvents: (task, _trial, events) => {
        for (const { event } of events) {
          if (event.type === 'userReplied') hear?.(task, event.content);
          if (event.type === 'agentReplied' && event.content !== null) say?.(event.content);
        }
      },
    });
  } finally {
    await supervisor.close();
    rmSync(folder, { recursive: true });
  }
}

const failed = (results: readonly TrialResult[]) =>
  results
    .filter(({ reward, violations }) => reward !== 1 || violations > 0)
    .map(({ task, reason }) => `${task}: ${reason}`);

test.each(
  sampled(
    [
      ['library-desk', 24],
      ['parcel-desk', 96],
      ['order-desk', 60],
    ] as const,
    3,
  ),
)('the gold seat serves every user of %s within the rules', async (name, tasks) => {
  const trials = isFullSuite ? 3 : 1;
  const results = await rehearse(name, { agent: 'gold', trials });
  expect(failed(results)).toEqual([]);
  expect(results.length).toBe(tasks * trials);
});

inFullSuite.each(['one', 'two', 'three'])('the hard behaviours of order-desk show, with seed %s', async (seed) => {
  const heard = new Set<string>();
  const hear = (task: Task, text: string) => {
    for (const say of [task.user.change?.say, task.user.insist?.say]) if (say && text.includes(say)) heard.add(task.id);
  };
  expect(failed(await rehearse('order-desk', { agent: 'gold', seed, hear }))).toEqual([]);
  const { domain } = loadDomain(join(import.meta.dirname, '../../domains/order-desk'));
  const hard = domain.tasks.filter(({ user }) => user.change || user.insist).map(({ id }) => id);
  expect([...heard].sort()).toEqual(hard.sort());
  expect(hard.length).toBeGreaterThan(20);
});

inFullSuite('the members of library-desk never hear an id', async () => {
  const ids: string[] = [];
  await rehearse('library-desk', {
    agent: 'gold',
    say: (text) => ids.push(...(text.match(/\b[A-Z]\d+\b|\b[A-Z]-\w+/g) ?? [])),
  });
  expect(ids).toEqual([]);
});

test('the well-known failure breaks the confirmation rule and ends with a person', async () => {
  const [result] = await rehearse('order-desk', { agent: 'scripted', tasks: ['lamp-variant'] });
  expect(result).toMatchObject({ reward: 0, endReason: 'handedOff' });
  expect(result?.reason).toContain('rule confirm-before-write was violated');
});
