import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Task } from '../../../../src/engine/core/domain/task.ts';
import type { EventOf, RolloutEvent, RolloutStarted } from '../../../../src/engine/core/events/event.ts';
import { notEvaluated } from '../../../../src/engine/core/reward/reward.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { Fault } from '../../../../src/engine/shell/files/fault.ts';
import { signingKey } from '../../../../src/engine/shell/records/ledger.ts';
import { readRecording } from '../../../../src/engine/shell/records/recording.ts';
import { runBatch } from '../../../../src/engine/shell/runs/batch.ts';
import { firstDifference } from '../../../../src/engine/shell/runs/recompute.ts';
import { openSupervisor, type Supervisor } from '../../../../src/engine/shell/supervisor.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const open = () => openSupervisor(loadDomain(join(import.meta.dirname, '../../../../domains/order-desk')));

/** Plays the task lamp-variant. Returns its events as JSON. */
async function played(supervisor: Supervisor, agent: 'gold' | 'scripted'): Promise<string> {
  const folder = temporaryFolder('rehearsal-recompute');
  const tasks = supervisor.domain.tasks.filter(({ id }) => id === 'lamp-variant');
  await runBatch(supervisor, {
    ...{ folder, tasks, trials: 1, seed: '1', basis: 'evaluate', concurrency: 1 },
    ...{ key: signingKey(join(folder, 'key.pem')), agent: { type: agent }, user: { type: 'agenda' } },
    ...{ readKey: () => undefined, askPerson: () => Promise.reject(new Error('no person is asked')) },
  });
  return JSON.stringify(readRecording(join(folder, 'lamp-variant.0.traj.jsonl')).lines.map(({ event }) => event));
}

test('a recording whose paths an earlier version wrote with dots or arrows does not differ', async () => {
  const supervisor = await open();
  try {
    const now = await played(supervisor, 'scripted');
    for (const [place, another] of [
      ['W1138.items.0.variant', 'W1138.items.1.variant'],
      ['W1138 › items › 0 › variant', 'W1138 › items › 1 › variant'],
    ] as const) {
      const before = now.replaceAll('W1138.items[0].variant', place);
      expect(before).not.toBe(now);
      expect(await firstDifference(supervisor, JSON.parse(before))).toBeNull();
      expect(await firstDifference(supervisor, JSON.parse(before.replaceAll(place, another)))).not.toBeNull();
    }
  } finally {
    await supervisor.close();
  }
});

test('a recording of an earlier version, in which a violated hand-off names no call, does not differ', async () => {
  const supervisor = await open();
  try {
    const now = await played(supervisor, 'scripted');
    const before = now.replaceAll(
      /the call transfer_to_human\((?:(?! although ).)* was made although/g,
      'the conversation was handed over although',
    );
    expect(before).not.toBe(now);
    expect(await firstDifference(supervisor, JSON.parse(before))).toBeNull();
  } finally {
    await supervisor.close();
  }
});

test('a recording of an earlier version, in which communicate cites the last message, does not differ', async () => {
  const supervisor = await open();
  try {
    const now = await played(supervisor, 'gold');
    const citing = (step: number) =>
      now
        .replace(/("verifier":"communicate"[^[]*"evidence":)\[\d+\]/, `$1[${step}]`)
        .replace(/("name":"communicate"[^[]*"evidence":)\[\d+\]/, `$1[${step}]`);
    expect(citing(24)).not.toBe(now);
    expect(await firstDifference(supervisor, JSON.parse(citing(24)))).toBeNull();
    expect(await firstDifference(supervisor, JSON.parse(citing(1)))).not.toBeNull();
  } finally {
    await supervisor.close();
  }
});

test('a recording whose texts an earlier version wrote does not differ, and one with another text does', async () => {
  const supervisor = await open();
  try {
    const now = await played(supervisor, 'gold');
    const differing = (text: string) => firstDifference(supervisor, JSON.parse(text) as readonly RolloutEvent[]);
    const before = now
      .replaceAll(
        'this rule needs a judge model, and the rollout has none',
        'only a judge can tell, and this rollout has none',
      )
      .replaceAll(', and every gated rule was followed', ' without a violation of a gated rule')
      .replaceAll('"reason":"the user ended the conversation"', '"reason":"the rollout ended by userStopped"');
    expect(before).toContain('only a judge can tell');
    expect(before).toContain('the rollout ended by userStopped');
    expect(before).toContain('held without a violation');
    expect(await differing(now)).toBeNull();
    expect(await differing(before)).toBeNull();
    expect(await differing(before.replace('only a judge can tell', 'it is unknown'))).not.toBeNull();
    const lost = new Fault({ who: 'infrastructure', code: 'test/lost', message: 'the connection was lost' });
    const [started] = JSON.parse(now) as readonly [RolloutStarted];
    const fails = () => Promise.reject(lost);
    const { events } = await supervisor.start({
      ...{
        task: supervisor.domain.tasks.find(({ id }) => id === 'lamp-variant') as Task,
        seats: { agent: 'remote', user: 'agenda' },
        recording: null,
      },
      from: { ...started, seats: { ...started.seats, agent: 'openai:lost' } },
      externalSeats: { agent: fails, user: fails, simulate: fails },
    }).closed;
    const rewarded = events.at(-1) as EventOf<'rewarded'>;
    const card = rewarded.card?.map(({ items, ...layer }) => ({
      ...layer,
      items: items.filter(({ reason }) => reason !== notEvaluated),
    }));
    expect(JSON.stringify(rewarded.card)).toContain(notEvaluated);
    const cutShort = (change: Partial<EventOf<'rewarded'>>) => [...events.slice(0, -1), { ...rewarded, ...change }];
    expect(await firstDifference(supervisor, cutShort(card ? { card } : {}))).toBeNull();
    expect(await firstDifference(supervisor, cutShort({ card: [] }))).not.toBeNull();
  } finally {
    await supervisor.close();
  }
});
