import { expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import {
  alarmReference,
  commandLineReference,
  commandReference,
  fileReference,
  launchReference,
  metricReference,
  recordingReference,
  settingReference,
} from './reference.ts';
import { trainingReference } from './trainingReference.ts';

// The pages of docs/reference are generated from the product itself. `vitest run test/docs -u` writes them again.

test.each([
  ['commands.md', commandReference],
  ['settings.md', settingReference],
  ['command-line.md', commandLineReference],
  ['files.md', fileReference],
  ['training.md', trainingReference],
  ['metrics.md', metricReference],
  ['alarms.md', alarmReference],
  ['launch.md', launchReference],
  ['recording.md', recordingReference],
])('docs/reference/%s says what the product says', async (page, text) => {
  await expect(await text()).toMatchFileSnapshot(inRoot('docs', 'reference', page));
});

test.each([
  ['files.md', fileReference],
  ['launch.md', launchReference],
  ['recording.md', recordingReference],
])('%s explains every key', (_, text) => {
  const empty = text()
    .split('\n')
    .filter((line) => /\|\s*\|$/.test(line));
  expect(empty).toEqual([]);
});
