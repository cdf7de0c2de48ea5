import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import { sampleSizeOf, usualSampleSize } from '../../../src/extension/coldStart/sampleSize.ts';

test.each([
  [20, 20],
  [1, 1],
  [0, usualSampleSize],
  [2.5, usualSampleSize],
  ['20', usualSampleSize],
  [undefined, usualSampleSize],
])('of %j a spot check shows %i', (setting, size) => expect(sampleSizeOf(setting)).toBe(size));

test('the setting has the same default', () => {
  const { contributes } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));
  const setting = contributes.configuration.properties['rehearsal.synth.spotCheckSize'];
  expect(setting).toMatchObject({ type: 'integer', default: usualSampleSize, minimum: 1 });
});
