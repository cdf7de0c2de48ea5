import { expect, test } from 'vitest';
import { runSteps } from '../../scripts/runSteps.ts';
import type { Step } from '../../scripts/step.ts';

const step = (name: string, more: Partial<Step> = {}): Step => ({
  name,
  title: '',
  limitMinutes: 1,
  run: () => Promise.reject(new Error('it runs in another process')),
  ...more,
});

test('a step that this machine cannot run is skipped, with the command that installs what it needs', async () => {
  const obstacle = () => ({ reason: 'Ray is not installed', install: 'pip install ray' });
  const [outcome] = await runSteps([step('ray', { obstacle })], {
    filters: [],
    interruption: new AbortController().signal,
  });
  expect(outcome).toMatchObject({
    step: 'ray',
    absence: { status: 'skipped', reason: 'Ray is not installed. Install it: pip install ray' },
  });
});

test('after an interruption no step starts', async () => {
  const outcomes = await runSteps([step('unit', { isBackground: true }), step('ray', { isFull: true })], {
    filters: [],
    interruption: AbortSignal.abort(),
  });
  const interrupted = { status: 'not run', reason: 'interrupted' };
  expect(outcomes.map(({ step: name, absence }) => [name, absence])).toEqual([
    ['unit', interrupted],
    ['ray', interrupted],
  ]);
});
