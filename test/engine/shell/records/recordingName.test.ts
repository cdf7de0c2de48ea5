import { expect, test } from 'vitest';
import {
  forkName,
  forkNumber,
  isForkName,
  isRecording,
  nameOf,
  originName,
  recordingName,
  rolloutName,
} from '../../../../src/engine/shell/records/recordingName.ts';

test.each([
  ['/runs/x/lamp.0.traj.jsonl', 'lamp.0', 'lamp.0', 0],
  ['lamp.0.fork-12.traj.jsonl', 'lamp.0.fork-12', 'lamp.0', 12],
  ['a.fork-in-the-road.3.traj.jsonl', 'a.fork-in-the-road.3', 'a.fork-in-the-road.3', 0],
])('%s is named %s, comes from %s and is fork %i', (recording, name, origin, number) => {
  expect([nameOf(recording), originName(recording), forkNumber(recording)]).toEqual([name, origin, number]);
  expect([isRecording(recording), isForkName(recording)]).toEqual([true, number > 0]);
  expect(recording.endsWith(recordingName(name))).toBe(true);
});

test('a fork has the name of the first recording, and a number', () => {
  const origin = rolloutName({ id: 'lamp' }, 3);
  const fork = forkName(origin, 2);
  expect([fork, originName(fork), forkNumber(fork)]).toEqual(['lamp.3.fork-2.traj.jsonl', origin, 2]);
  expect(forkName(originName(fork), 3), 'forks of forks are numbered on').toBe('lamp.3.fork-3.traj.jsonl');
});
