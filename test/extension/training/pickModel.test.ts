import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { modelsOf, ownModels } from '../../../src/extension/training/pickModel.ts';
import { temporaryFolder } from '../../support/temporary.ts';

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

test('of the models of earlier runs, a folder is offered only where it is there', () => {
  const runs = ['tiny', '/models/gone', '/models/mine'].map((model) => {
    const run = temporaryFolder('training');
    writeFileSync(join(run, 'launch.json'), JSON.stringify({ model }));
    return run;
  });
  expect(modelsOf(runs, (folder) => folder === '/models/mine')).toEqual(['tiny', '/models/mine']);
});
