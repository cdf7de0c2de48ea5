import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { steps, watchingProcesses } from '../../scripts/testSteps.ts';

test('every file that runs once more exists', () => {
  expect(watchingProcesses.filter((path) => !existsSync(inRoot(path)))).toEqual([]);
});

test('filters choose among all end-to-end tests, also when a file runs once more', () => {
  const environment = steps.find(({ name }) => name === 'e2e')?.environment;
  expect([environment?.([]), environment?.(['walk'])]).toEqual([{}, { REHEARSAL_SUITE: 'full' }]);
});
