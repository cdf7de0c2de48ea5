import { setTimeout as later } from 'node:timers/promises';
import { afterAll, expect, test, vi } from 'vitest';
import { baseHash } from '../../../src/engine/core/world.ts';
import type { LaneEvent } from '../../../src/engine/shell/lane/laneMessage.ts';
import { loadDomain } from '../../../src/engine/shell/load/loadDomain.ts';
import { laneSeats, outsideOf } from '../../../src/engine/shell/outside.ts';
import { settingOf } from '../../../src/engine/shell/replay.ts';
import { startOf } from '../../../src/engine/shell/start.ts';
import { type LiveRollout, openSupervisor, type Supervisor } from '../../../src/engine/shell/supervisor.ts';
import { domain, toolsHead } from './faults/scene.ts';

vi.setConfig({ testTimeout: 60_000 });
const open: Supervisor[] = [];
afterAll(() => Promise.all(open.map((supervisor) => supervisor.close())));

const agent = { type: 'scripted' } as const;
const user = { type: 'agenda' } as const;
const tools = `${toolsHead}export const loop = tool({ description: 'Never ends.', effect: 'read', timeoutMs: 500, input,
  run: () => { for (;;) {} } });
export const wait = tool({ description: 'Waits.', effect: 'read', timeoutMs: 60_000, input,
  run: () => new Promise((done) => setTimeout(() => done('ok'), 2000)) });
`;
const script = (id: string, call: string) =>
  `- id: ${id}\n  persona: plain\n  user: { goal: Look. }\n  actions: []\n  script: [[{ tool: ${call}, arguments: {} }], Done.]\n`;

/** One lane, and what starts stepped rollouts in it. */
async function stepping() {
  const tasks = script('loops', 'loop') + script('waits', 'wait');
  const loaded = loadDomain(domain([], { 'tools.ts': tools, 'tasks/all.task.yaml': tasks }));
  const supervisor = await openSupervisor(loaded);
  open.push(supervisor);
  return (id: string, onEvent: (event: LaneEvent, live: LiveRollout) => void): LiveRollout => {
    const task = supervisor.domain.tasks.find((each) => each.id === id);
    if (!task) throw new Error(id);
    const from = startOf(supervisor.domain, baseHash(settingOf(loaded).world), task, {
      seed: '1',
      trial: 0,
      basis: 'evaluate',
      agent,
      user,
    });
    const nobody = () => Promise.reject(new Error('nobody is here'));
    const outside = outsideOf(agent, user, () => undefined, nobody);
    const request = {
      task,
      from: [from],
      seats: laneSeats(agent, user),
      outside,
      recording: null,
      pace: 'step',
    } as const;
    const live: LiveRollout = supervisor.start(request, (events) => {
      for (const event of events) onEvent(event, live);
    });
    return live;
  };
}

test('a step that is asked for while the dead lane is replaced reaches the one that takes over', async () => {
  const start = await stepping();
  const live = start('loops', (_, self) => self.step());
  const { events, reward } = await live.closed;
  expect(reward).toBeNull();
  expect(events.map(({ type }) => type).slice(-3)).toEqual(['toolCalled', 'rolloutEnded', 'rewarded']);
});

test('a step under way when the lane dies by another rollout is taken on the next lane', async () => {
  const start = await stepping();
  const seen: string[] = [];
  const waits = start('waits', ({ type }, self) => {
    seen.push(type);
    self.step();
  });
  while (!seen.includes('toolCalled')) await later(10);
  const loops = start('loops', (_, self) => self.step());
  const [waited, looped] = await Promise.all([waits.closed, loops.closed]);
  expect(looped).toMatchObject({ reward: null, endReason: 'environmentFailed' });
  expect(waited).toMatchObject({ reward: 1, endReason: 'userStopped' });
  expect(seen.filter((type) => type === 'toolCalled')).toHaveLength(1);
});

test('nothing comes that was not asked for, on the lane that took over neither', async () => {
  const start = await stepping();
  let asked = 1;
  const seen: LaneEvent[] = [];
  const live = start('loops', (event, self) => {
    seen.push(event);
    if (seen.some(({ type }) => type === 'rolloutEnded')) return;
    asked += 1;
    self.step();
  });
  while (seen.at(-1)?.type !== 'rolloutEnded') await later(10);
  await later(1500);
  expect(seen).toHaveLength(asked);
  live.step();
  while (seen.length === asked) await later(10);
  await later(200);
  expect(seen).toHaveLength(asked + 1);
  live.abandon();
  expect((await live.closed).endReason).toBe('cancelled');
});

test('a rollout that is cancelled while its lane is replaced comes to its end', async () => {
  const start = await stepping();
  const live = start('loops', ({ type }, self) => (type === 'rolloutEnded' ? self.cancel() : self.step()));
  expect(await live.closed).toMatchObject({ reward: null, endReason: 'environmentFailed' });
});
