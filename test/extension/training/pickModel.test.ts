import { expect, test, vi } from 'vitest';
import { ownModels } from '../../../src/extension/training/pickModel.ts';

vi.mock('vscode', () => ({ EventEmitter: class {} }));

const offered = (set: string | undefined, folders: readonly string[] = []) =>
  ownModels(set, (folder) => folders.includes(folder)).map(({ label, description }) => `${label}: ${description}`);

const trainers = [
  'smollm2: SmolLM2 135M Instruct, part of the Python environment of the trainer',
  'tiny: random weights, for trying out',
] as const;

test('a model is "from the settings" only where a person set it, and a folder only where it is there', () => {
  expect(offered(undefined)).toEqual(trainers);
  expect(offered('tiny')).toEqual(['tiny: from the settings', trainers[0]]);
  expect(offered('/models/mine')).toEqual(trainers);
  expect(offered('/models/mine', ['/models/mine'])).toEqual(['/models/mine: from the settings', ...trainers]);
});
