import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RolloutEvent } from '../../../src/engine/core/events/event.ts';
import { openRecording } from '../../../src/engine/shell/records/recording.ts';
import { listRuns, readRun } from '../../../src/extension/runs/runReader.ts';
import {
  type RecordedStep,
  readRollouts,
  recordedSteps,
  recordingPath,
  sameTaskElsewhere,
} from '../../../src/extension/training/stepRollouts.ts';
import { started } from '../../support/rolloutEvents.ts';
import { runFolder } from '../training/runFolder.ts';

function files(content: Readonly<Record<string, string>>): string {
  const { path } = runFolder();
  for (const [name, text] of Object.entries(content)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return path;
}

/** A recording's text, as the engine writes it. */
function recorded(events: readonly RolloutEvent[]): string {
  const path = join(files({}), 'x.traj.jsonl');
  const file = openRecording(path);
  file.append(...events.map((event, n) => ({ n, event, state: 's' })));
  file.close();
  return readFileSync(path, 'utf8');
}

const training = (step: number): RecordedStep => ({ step, purpose: 'training' });
const evaluation = (step: number): RecordedStep => ({ step, purpose: 'evaluation' });

describe('listRuns', () => {
  it('lists the newest first, and tells what the configuration says', async () => {
    const config = {
      kind: 'grpo',
      model: '/w/.rehearsal/training/20261120-sft/checkpoints/final',
      domain: '/w/domains/parcel-desk',
      steps: 20,
    };
    const root = files({
      '20261120-100000-sft/config.json': '{"kind": "sft", "model": "smollm2", "steps": null}',
      '20261121-100000-grpo/config.json': JSON.stringify(config),
      '20261122-100000-grpo/events.jsonl': '',
    });
    expect(await listRuns(root)).toEqual([
      { id: '20261122-100000-grpo', kind: null, model: null, domain: null, plannedSteps: null },
      {
        id: '20261121-100000-grpo',
        kind: 'grpo',
        model: '20261120-sft/checkpoints/final',
        domain: 'parcel-desk',
        plannedSteps: 20,
      },
      { id: '20261120-100000-sft', kind: 'sft', model: 'smollm2', domain: null, plannedSteps: null },
    ]);
  });

  it('names every domain of a run on several', async () => {
    const config = { kind: 'grpo', domain: [{ folder: '/w/parcel-desk', weight: 2 }, { folder: '/w/order-desk' }] };
    const run = await readRun(files({ 'config.json': JSON.stringify(config) }));
    expect(run.domain).toBe('parcel-desk, order-desk');
  });

  it('is empty where nothing was trained', async () => {
    expect(await listRuns(join(files({}), 'none'))).toEqual([]);
  });

  it('shows a run whose configuration is broken', async () => {
    expect(await readRun(files({ 'config.json': '{"kind": ' }))).toMatchObject({ kind: null, plannedSteps: null });
    expect(await readRun(files({ 'config.json': '{"kind": "dpo", "steps": "many", "model": "m"}' }))).toMatchObject({
      kind: null,
      model: 'm',
    });
  });
});

describe('readRollouts', () => {
  it('reads both parts of a run that only evaluates', async () => {
    const line = (task: string) =>
      `${JSON.stringify({ task, member: 0, reward: 1, turns: 2, end_reason: 'userStopped', failure: null, recording: `${task}.0.traj.jsonl` })}\n`;
    const folder = files({
      'trajectories/sampled/rollouts.jsonl': line('a'),
      'trajectories/greedy/rollouts.jsonl': line('b'),
    });
    const steps = await recordedSteps(folder);
    expect(steps).toEqual([
      { step: 0, purpose: 'greedy' },
      { step: 0, purpose: 'sampled' },
    ]);
    const found = await Promise.all(steps.map((step) => readRollouts(folder, step)));
    expect(found.flat().map(({ file }) => file)).toEqual([
      'trajectories/greedy/b.0.traj.jsonl',
      'trajectories/sampled/a.0.traj.jsonl',
    ]);
  });

  it('reads the summary of a step', async () => {
    const lines = [
      {
        task: 'parcel-001',
        member: 0,
        reward: 1,
        turns: 4,
        end_reason: 'userStopped',
        failure: null,
        recording: 'parcel-001.0.traj.jsonl',
      },
      {
        task: 'parcel-001',
        member: 1,
        reward: null,
        turns: 0,
        end_reason: 'infrastructureFailed',
        failure: { who: 'infrastructure', message: 'lost' },
        recording: null,
      },
    ];
    const folder = files({
      'trajectories/step-000003/rollouts.jsonl': `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"task": "to`,
    });
    expect(await readRollouts(folder, training(3))).toEqual([
      {
        file: 'trajectories/step-000003/parcel-001.0.traj.jsonl',
        task: 'parcel-001',
        member: 0,
        reward: 1,
        turns: 4,
        endReason: 'userStopped',
        failure: null,
      },
      {
        file: null,
        task: 'parcel-001',
        member: 1,
        reward: null,
        turns: 0,
        endReason: 'infrastructureFailed',
        failure: 'infrastructure: lost',
      },
    ]);
  });

  it('reads the recordings themselves while a step has no summary', async () => {
    const failure = { who: 'simulator' as const, code: 'model/empty', message: 'no words' };
    const whole = recorded([
      started('a.b', 12),
      { type: 'agentReplied', content: 'Hello.', toolCalls: [] },
      { type: 'agentReplied', content: 'Goodbye.', toolCalls: [] },
      { type: 'rolloutEnded', reason: 'userFailed', failure },
      { type: 'rewarded', basis: 'train', reward: null, reason: 'not scored' },
    ]);
    const folder = files({
      'trajectories/step-000001/a.b.12.traj.jsonl': whole,
      'trajectories/step-000001/b.0.traj.jsonl': whole.slice(0, whole.indexOf('Goodbye')),
      'trajectories/step-000001/c.traj.jsonl': '{"n": 0, "ev',
    });
    expect(await readRollouts(folder, training(1))).toEqual([
      {
        file: 'trajectories/step-000001/a.b.12.traj.jsonl',
        task: 'a.b',
        member: 12,
        reward: null,
        turns: 2,
        endReason: 'userFailed',
        failure: 'simulator: no words',
      },
      {
        file: 'trajectories/step-000001/b.0.traj.jsonl',
        task: 'a.b',
        member: 12,
        reward: null,
        turns: 1,
        endReason: null,
        failure: null,
      },
      {
        file: 'trajectories/step-000001/c.traj.jsonl',
        task: 'c',
        member: null,
        reward: null,
        turns: 0,
        endReason: null,
        failure: null,
      },
    ]);
    expect(await readRollouts(folder, training(2))).toEqual([]);
  });

  it('keeps a summary from naming a file outside its step', async () => {
    const folder = files({
      'trajectories/step-000001/rollouts.jsonl': '{"task": "t", "recording": "../../../etc/x.traj.jsonl"}\n',
    });
    expect((await readRollouts(folder, training(1))).map(({ file }) => file)).toEqual([
      'trajectories/step-000001/x.traj.jsonl',
    ]);
  });
});

describe('evaluations', () => {
  const line = (task: string): string => `{"task": "${task}", "reward": 1, "recording": "${task}.0.traj.jsonl"}\n`;

  it('are listed beside the optimizer steps, newest first', async () => {
    const folder = files({
      'trajectories/step-000002/rollouts.jsonl': '',
      'trajectories/evaluate-000000/desk/rollouts.jsonl': '',
      'trajectories/evaluate-000002/desk/rollouts.jsonl': '',
      'trajectories/greedy/rollouts.jsonl': '',
      'trajectories/step-x/rollouts.jsonl': '',
    });
    expect(await recordedSteps(folder)).toEqual([
      evaluation(2),
      training(2),
      evaluation(0),
      { step: 0, purpose: 'greedy' },
    ]);
  });

  it('have the rollouts of each domain, whose tasks are named with it where there are several', async () => {
    const folder = files({
      'trajectories/evaluate-000000/rollouts.jsonl': line('a'),
      'trajectories/evaluate-000002/desk/rollouts.jsonl': line('a'),
      'trajectories/evaluate-000004/desk/rollouts.jsonl': line('a'),
      'trajectories/evaluate-000004/shop/rollouts.jsonl': line('a'),
      'trajectories/step-000002/rollouts.jsonl': line('a'),
    });
    const rollouts = async (step: number) =>
      (await readRollouts(folder, evaluation(step))).map(({ task, file }) => [task, file]);
    expect(await rollouts(0)).toEqual([['a', 'trajectories/evaluate-000000/a.0.traj.jsonl']]);
    expect(await rollouts(2)).toEqual([['a', 'trajectories/evaluate-000002/desk/a.0.traj.jsonl']]);
    expect(await rollouts(4)).toEqual([
      ['desk/a', 'trajectories/evaluate-000004/desk/a.0.traj.jsonl'],
      ['shop/a', 'trajectories/evaluate-000004/shop/a.0.traj.jsonl'],
    ]);
    expect(await rollouts(6)).toEqual([]);
  });

  it('are compared with each other, and optimizer steps with optimizer steps', async () => {
    const folder = files({
      'trajectories/evaluate-000000/desk/rollouts.jsonl': line('a'),
      'trajectories/evaluate-000002/desk/rollouts.jsonl': line('a') + line('b'),
      'trajectories/step-000001/rollouts.jsonl': line('a'),
      'trajectories/step-000002/rollouts.jsonl': line('a'),
    });
    const others = async (file: string) =>
      (await sameTaskElsewhere(folder, `trajectories/${file}`)).map(({ rollout }) => rollout.file);
    expect(await others('evaluate-000002/desk/a.0.traj.jsonl')).toEqual([
      'trajectories/evaluate-000000/desk/a.0.traj.jsonl',
    ]);
    expect(await others('step-000002/a.0.traj.jsonl')).toEqual(['trajectories/step-000001/a.0.traj.jsonl']);
    expect(await others('../elsewhere/a.0.traj.jsonl')).toEqual([]);
  });
});

describe('recordingPath', () => {
  it.each([
    ['trajectories/step-000001/a.0.traj.jsonl', true],
    ['../other/a.traj.jsonl', false],
    ['/etc/a.traj.jsonl', false],
    ['config.json', false],
  ])('of %s is inside the run: %s', (file, inside) => {
    const run = resolve('/runs/r1');
    expect(recordingPath(run, file)).toBe(inside ? join(run, file) : null);
  });
});
