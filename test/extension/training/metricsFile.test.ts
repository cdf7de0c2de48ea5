import { describe, expect, it } from 'vitest';
import { parseMetrics, readMetrics } from '../../../src/extension/training/metricsFile.ts';
import type { RunStatus } from '../../../src/webview/messages/protocol.ts';
import { runFolder } from './runFolder.ts';

const line = (value: unknown): string => `${JSON.stringify(value)}\n`;
/** A process id that is never used: those of Linux and macOS are lower. */
const deadPid = 2 ** 30;

describe('parseMetrics', () => {
  it('takes time in epoch seconds and in ISO, and keeps what is a number', () => {
    const point = { step: 3, time: 1_700_000_000_500, metrics: { loss: 0.5 } };
    expect(parseMetrics('{"step":3,"time":1700000000.5,"attempt":2,"loss":0.5,"note":"x","kl":null}')).toEqual({
      attempt: 2,
      point,
    });
    expect(parseMetrics('{"step":3,"time":"2023-11-14T22:13:20.500Z","loss":0.5}')).toEqual({ attempt: 0, point });
  });

  it('reads a line in which Python wrote NaN or Infinity, without that metric', () => {
    expect(parseMetrics('{"step": 1, "loss": NaN, "kl": -Infinity, "reward": 0}')).toMatchObject({
      point: { metrics: { reward: 0 } },
    });
  });

  it.each(['{"step": 1, "lo', '{"loss": 1}', '{"step": 1.5}', '[]', '12'])('says what is wrong with %s', (text) => {
    expect(parseMetrics(text)).toMatch(/^(is not JSON|expected an object)/);
  });
});

describe('readMetrics', () => {
  it('brings new points, and only those', async () => {
    const folder = runFolder();
    const metrics = readMetrics(folder.path);
    expect(await metrics.refresh()).toEqual({ points: [], reset: false, statusChanged: false, alarmsChanged: false });
    folder.append('metrics.jsonl', line({ step: 1, reward: 0.25 }) + line({ step: 2, reward: 0.5 }));
    expect((await metrics.refresh()).points.map(({ step }) => step)).toEqual([1, 2]);
    folder.append('metrics.jsonl', `${line({ step: 3, reward: 0.75 })}{"step": 4, "rew`);
    expect((await metrics.refresh()).points).toEqual([{ step: 3, time: null, metrics: { reward: 0.75 } }]);
    expect(metrics.points().map(({ step }) => step)).toEqual([1, 2, 3]);
    expect(metrics.problems()).toEqual([]);
  });

  it('says what the run learns from once the run has said so', async () => {
    const folder = runFolder();
    const metrics = readMetrics(folder.path);
    await metrics.refresh();
    expect(metrics.data()).toBeNull();
    const train = [{ domain: 'desk', tasks: 2, user: 'agenda' }];
    folder.append('events.jsonl', line({ type: 'data', train, evaluate: [], shared_simulators: [] }));
    expect((await metrics.refresh()).statusChanged).toBe(true);
    folder.append('events.jsonl', line({ type: 'checkpoint', step: 1 }));
    expect((await metrics.refresh()).statusChanged).toBe(false);
    expect(metrics.data()).toMatch(/^Learns from 2 tasks of desk, with agenda as the user/);
  });

  it('keeps the highest attempt of a step that a resumed run measured again', async () => {
    const folder = runFolder();
    const metrics = readMetrics(folder.path);
    const lines = [
      { step: 1, attempt: 1, loss: 1 },
      { step: 2, attempt: 1, loss: 2 },
      { step: 2, attempt: 2, loss: 20 },
      { step: 2, attempt: 1, loss: 3 },
    ];
    folder.append('metrics.jsonl', lines.map(line).join(''));
    const { points } = await metrics.refresh();
    expect(points.map(({ metrics: { loss } }) => loss)).toEqual([1, 20]);
    expect(metrics.points()).toEqual(points);
  });

  it('leaves out a line that is not a metrics line, and names it once', async () => {
    const folder = runFolder();
    const metrics = readMetrics(folder.path);
    folder.append('metrics.jsonl', `${line({ step: 1 })}{"step": 2, "ti{"step": 2, "loss": 1}\n${line({ step: 3 })}`);
    const { points, statusChanged } = await metrics.refresh();
    expect(points.map(({ step }) => step)).toEqual([1, 3]);
    expect(statusChanged).toBe(true);
    expect(metrics.problems()).toEqual(['metrics.jsonl, line 2: is not JSON and was left out']);
  });

  it('starts over when the file was restarted', async () => {
    const folder = runFolder();
    const metrics = readMetrics(folder.path);
    folder.write('metrics.jsonl', line({ step: 1, loss: 1 }) + line({ step: 2, loss: 1 }));
    await metrics.refresh();
    folder.write('metrics.jsonl', line({ step: 1, loss: 9 }));
    expect(await metrics.refresh()).toMatchObject({ reset: true });
    expect(metrics.points()).toEqual([{ step: 1, time: null, metrics: { loss: 9 } }]);
  });

  it('keeps alarms, without those of steps that a resumed run does again', async () => {
    const folder = runFolder();
    const alarm = (step: number) => ({
      type: 'alarm',
      alarm: 'tool-loop',
      step,
      message: 'm',
      evidence: { looping: 0.5 },
      recordings: ['a'],
      advice: 'b',
      pauses: false,
    });
    const events = [alarm(3), { type: 'alarm', alarm: 'torn' }, alarm(7), { type: 'resumed', step: 5, attempt: 2 }];
    folder.append('events.jsonl', events.map(line).join(''));
    const metrics = readMetrics(folder.path);
    expect(await metrics.refresh()).toMatchObject({ alarmsChanged: true });
    const { type, alarm: name, ...rest } = alarm(3);
    expect(metrics.alarms()).toEqual([{ name, ...rest }]);
    expect(await metrics.refresh()).toMatchObject({ alarmsChanged: false });
    folder.append('events.jsonl', line(alarm(6)));
    await metrics.refresh();
    expect(metrics.alarms().map(({ step }) => step)).toEqual([3, 6]);
  });

  it('marks what a resumed run has yet to do again', async () => {
    const folder = runFolder();
    const metrics = readMetrics(folder.path);
    const measured = (step: number, attempt: number) => ({ step, attempt, loss: step });
    folder.append('metrics.jsonl', [1, 2, 3, 4, 5].map((step) => line(measured(step, 1))).join(''));
    await metrics.refresh();
    const superseded = () => metrics.points().flatMap((point) => (point.superseded ? point.step : []));
    expect(superseded()).toEqual([]);
    expect(metrics.isSuperseded(9)).toBe(false);

    folder.append('events.jsonl', line({ type: 'resumed', step: 2, attempt: 2 }));
    expect((await metrics.refresh()).points.map(({ step }) => step)).toEqual([3, 4, 5]);
    expect(superseded()).toEqual([3, 4, 5]);

    folder.append('metrics.jsonl', line(measured(3, 2)));
    expect((await metrics.refresh()).points).toEqual([{ step: 3, time: null, metrics: { loss: 3 } }]);
    expect(superseded()).toEqual([4, 5]);
    // Step 6 was recorded, and its trainer was killed before it was measured.
    expect([3, 4, 5, 6].map(metrics.isSuperseded)).toEqual([false, true, true, true]);

    folder.append('events.jsonl', line({ type: 'resumed', step: 1, attempt: 3 }));
    await metrics.refresh();
    expect(superseded()).toEqual([2, 3, 4, 5]);
  });

  it.each([{ step: 'two', attempt: 2 }, { attempt: 2 }, { step: 1 }])(
    'takes nothing for superseded if the resumed step or attempt is invalid: %o',
    async (said) => {
      const folder = runFolder();
      folder.append('metrics.jsonl', line({ step: 3, attempt: 1 }));
      folder.append('events.jsonl', line({ type: 'resumed', ...said }));
      const metrics = readMetrics(folder.path);
      await metrics.refresh();
      expect(metrics.points()).toEqual([{ step: 3, time: null, metrics: {} }]);
    },
  );

  const statuses: readonly [string, readonly object[], number | null, boolean, RunStatus][] = [
    ['nothing yet', [], null, false, { type: 'waiting' }],
    ['a live process', [{ type: 'started' }], process.pid, false, { type: 'running' }],
    ['a process on another machine', [{ type: 'started' }], null, false, { type: 'running' }],
    ['a stop that was asked for', [{ type: 'started' }], process.pid, true, { type: 'stopping' }],
    ['stopped', [{ type: 'started' }, { type: 'checkpoint' }, { type: 'stopped' }], null, false, { type: 'stopped' }],
    ['a pause', [{ type: 'paused', message: 'KL is 3' }], null, false, { type: 'paused', message: 'KL is 3' }],
    ['resumed', [{ type: 'stopped' }, { type: 'resumed' }], process.pid, false, { type: 'running' }],
    ['finished', [{ type: 'started' }, { type: 'finished' }, { type: 'evaluated' }], null, false, { type: 'finished' }],
    [
      'an error',
      [{ type: 'error', message: 'MemoryError: 3 GB' }],
      null,
      false,
      { type: 'failed', message: 'MemoryError: 3 GB' },
    ],
  ];
  it.each(statuses)('tells the status of %s', async (_name, events, pid, stop, status) => {
    const folder = runFolder();
    folder.append('events.jsonl', events.map(line).join(''));
    if (pid !== null) folder.write('pid', String(pid));
    if (stop) folder.write('stop', '');
    const metrics = readMetrics(folder.path);
    await metrics.refresh();
    expect(metrics.status()).toEqual(status);
  });

  it('says that a process ended unexpectedly', async () => {
    const folder = runFolder();
    folder.append('events.jsonl', line({ type: 'started' }));
    folder.write('pid', String(deadPid));
    const metrics = readMetrics(folder.path);
    expect(await metrics.refresh()).toMatchObject({ statusChanged: true });
    expect(metrics.status()).toEqual({
      type: 'failed',
      message: expect.stringContaining(`(${deadPid}) ended unexpectedly`),
    });
  });

  it('shows the trainer’s warnings', async () => {
    const folder = runFolder();
    folder.append('events.jsonl', line({ type: 'warning', message: 'the engine restarted' }));
    const metrics = readMetrics(folder.path);
    await metrics.refresh();
    expect(metrics.problems()).toEqual(['the engine restarted']);
  });
});

it('a run on another machine says that its connection is cut until it is back', async () => {
  const run = runFolder();
  const metrics = readMetrics(run.path);
  run.append('connection.jsonl', '{"time": 1, "type": "disconnected", "message": "gpu can\'t be reached"}\n');
  expect((await metrics.refresh()).statusChanged).toBe(true);
  expect(metrics.problems()).toEqual(["gpu can't be reached"]);
  run.append('connection.jsonl', '{"time": 2, "type": "connected", "message": "gpu is connected again"}\n');
  await metrics.refresh();
  expect(metrics.problems()).toEqual([]);
});

it('an unfollowed run on another machine says how to follow it', async () => {
  const run = runFolder();
  run.write('target.json', '{"target": "ssh://gpu"}');
  run.write('pid', '999999999');
  run.append('events.jsonl', '{"type": "started"}\n');
  const metrics = readMetrics(run.path);
  await metrics.refresh();
  expect(metrics.status()).toMatchObject({
    type: 'failed',
    message: expect.stringContaining(`train follow ${run.path}`),
  });
});
