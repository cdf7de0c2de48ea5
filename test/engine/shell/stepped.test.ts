import { afterAll, expect, test } from 'vitest';
import { baseHash } from '../../../src/engine/core/events/world.ts';
import { loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import { externalSeatsOf, workerSeats } from '../../../src/engine/shell/externalSeats.ts';
import type { LiveRollout } from '../../../src/engine/shell/liveRollout.ts';
import { settingOf } from '../../../src/engine/shell/replay.ts';
import { startOf } from '../../../src/engine/shell/start.ts';
import { openSupervisor, type Supervisor } from '../../../src/engine/shell/supervisor.ts';
import type { WorkerEvent } from '../../../src/engine/shell/workers/workerMessage.ts';
import { until } from '../../support/until.ts';
import { domain, gated, go } from './faults/scene.ts';

const open: Supervisor[] = [];
afterAll(() => Promise.all(open.map((supervisor) => supervisor.close())));

const agent = { type: 'scripted' } as const;
const user = { type: 'agenda' } as const;
const tools = `${gated}export const loop = tool({ description: 'Never ends.', effect: 'read', timeoutMs: 500, input,
  run: () => { for (;;) {} } });
`;
const script = (id: string, call: string) =>
  `- id: ${id}\n  persona: plain\n  user: { goal: Look. }\n  actions: []\n  script: [[{ tool: ${call}, arguments: {} }], Done.]\n`;

/** Opens one worker. Returns it with a function that starts stepped rollouts in it. */
async function stepping() {
  const tasks = script('loops', 'loop') + script('waits', 'wait') + script('looks', 'look');
  const folder = domain([], { 'tools.ts': tools, 'tasks/all.task.yaml': tasks });
  const loaded = loadDomain(folder);
  const supervisor = await openSupervisor(loaded);
  open.push(supervisor);
  const start = (id: string, onEvent: (event: WorkerEvent, live: LiveRollout) => void): LiveRollout => {
    const task = supervisor.domain.tasks.find((each) => each.id === id);
    if (!task) throw new Error(id);
    const from = startOf(supervisor.domain, baseHash(settingOf(loaded).world), task, {
      seed: '1',
      trial: 0,
      basis: 'evaluate',
      agent,
      user,
    });
    const nobody = () => Promise.reject(new Error('no person is asked'));
    const externalSeats = externalSeatsOf(agent, user, () => undefined, nobody);
    const request = {
      task,
      from: [from],
      seats: workerSeats(agent, user),
      externalSeats,
      recording: null,
      pace: 'step',
    } as const;
    const live: LiveRollout = supervisor.start(request, (events) => {
      for (const event of events) onEvent(event, live);
    });
    return live;
  };
  return { start, folder };
}

test('a step that is requested while the dead worker is replaced reaches the new worker', async () => {
  const { start } = await stepping();
  const live = start('loops', (_, self) => self.step());
  const { events, reward } = await live.closed;
  expect(reward).toBeNull();
  expect(events.map(({ type }) => type).slice(-3)).toEqual(['toolCalled', 'rolloutEnded', 'rewarded']);
});

test('a step in progress when another rollout kills the worker is taken on the next worker', async () => {
  const { start, folder } = await stepping();
  const seen: string[] = [];
  const waits = start('waits', ({ type }, self) => {
    seen.push(type);
    self.step();
  });
  await until('the call', () => seen.includes('toolCalled'));
  const loops = start('loops', (_, self) => self.step());
  const looped = await loops.closed;
  go(folder);
  const waited = await waits.closed;
  expect(looped).toMatchObject({ reward: null, endReason: 'environmentFailed' });
  expect(waited).toMatchObject({ reward: 1, endReason: 'userStopped' });
  expect(seen.filter((type) => type === 'toolCalled')).toHaveLength(1);
});

test('only requested events arrive, on the new worker too', async () => {
  const { start } = await stepping();
  let asked = 1;
  const seen: WorkerEvent[] = [];
  const live = start('loops', (event, self) => {
    seen.push(event);
    if (seen.some(({ type }) => type === 'rolloutEnded')) return;
    asked += 1;
    self.step();
  });
  // Events of one worker arrive in order: an event that was not requested would arrive before those of a later rollout.
  const playAnother = () => start('looks', (_, self) => self.step()).closed;
  await until('the end', () => seen.at(-1)?.type === 'rolloutEnded');
  await playAnother();
  expect(seen).toHaveLength(asked);
  live.step();
  await until('an event', () => seen.length > asked);
  await playAnother();
  expect(seen).toHaveLength(asked + 1);
  live.abandon();
  expect((await live.closed).endReason).toBe('cancelled');
});

test('a pause between two steps is not part of the duration of a step', async () => {
  const { start } = await stepping();
  const pause = 300;
  const took: number[] = [];
  const live = start('looks', ({ type, ms }, self) => {
    if (type === 'toolReturned') took.push(ms);
    setTimeout(() => self.step(), type === 'toolCalled' ? pause : 0);
  });
  await live.closed;
  expect(took).toHaveLength(1);
  expect(took[0]).toBeLessThan(pause);
});

test('a rollout that is cancelled while its worker is replaced ends', async () => {
  const { start } = await stepping();
  const live = start('loops', ({ type }, self) => (type === 'rolloutEnded' ? self.cancel() : self.step()));
  expect(await live.closed).toMatchObject({ reward: null, endReason: 'environmentFailed' });
});
