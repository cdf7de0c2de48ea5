import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  checkpointsOf,
  lastWordOf,
  parseEvent,
  rolloutOfLine,
  valueOfLine,
} from '../../../../src/engine/shell/records/trainingRun.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const folder = () => temporaryFolder('rehearsal-run');

test('a number that JSON cannot represent counts as not measured, and a truncated line is ignored', () => {
  expect(valueOfLine('{"loss": NaN, "kl": -Infinity, "note": "NaN"}')).toEqual({ loss: null, kl: null, note: 'NaN' });
  expect(valueOfLine('{"loss": 1')).toBeUndefined();
});

test('an event has a type', () => {
  expect(parseEvent('{"time": 1, "type": "checkpoint", "step": 3}')).toMatchObject({ type: 'checkpoint' });
  expect(parseEvent('{"time": 1}')).toMatch(/^expected an object with a "type"/);
});

test('the last word of a run is its last complete start or end event', () => {
  const run = folder();
  expect(lastWordOf(run)).toEqual({ type: null, message: '' });
  const lines = [
    '{"type": "started"}',
    '{"type": "error", "message": "m", "loss": NaN}',
    '{"type": "alarm"}',
    '{"type": "fini',
  ];
  writeFileSync(join(run, 'events.jsonl'), lines.join('\n'));
  expect(lastWordOf(run)).toEqual({ type: 'error', message: 'm' });
});

test('the line of a rollout may lack fields, but an invalid reward is not guessed', () => {
  expect(rolloutOfLine('{"task": "t"}')).toMatchObject({ reward: null, calls: {}, recording: null });
  expect(rolloutOfLine('{"task": "t", "reward": "x"}')).toBeUndefined();
  expect(rolloutOfLine('{"reward": 1}')).toBeUndefined();
  expect(rolloutOfLine('')).toBeUndefined();
});

test('checkpoints are in the order of their steps, and other folders are left out', () => {
  const run = folder();
  for (const name of ['checkpoint-10', 'final', 'checkpoint-9', '.checkpoint-11', 'x'])
    mkdirSync(join(run, 'checkpoints', name), { recursive: true });
  expect(checkpointsOf(run)).toEqual(['checkpoint-9', 'checkpoint-10', 'final']);
});
