import { expect, test } from 'vitest';
import config from '../../vitest.config.ts';
import endToEnd from '../e2e/vitest.config.ts';
import release from '../release/vitest.config.ts';
import targets from '../targets/vitest.config.ts';

type Project = { readonly name: string; readonly globalSetup?: readonly string[] };
type Config = { readonly globalSetup: readonly string[]; readonly projects: readonly { readonly test: Project }[] };

test('tests of the source build nothing before they start', () => {
  const { globalSetup, projects } = (config as unknown as { readonly test: Config }).test;
  expect(globalSetup).toEqual(['test/support/temporary.ts']);
  expect(projects.find(({ test: { name } }) => name === 'source')?.test).not.toHaveProperty('globalSetup');
});

test.each([
  ['end-to-end tests', endToEnd],
  ['tests of the packed files', release],
  ['tests of targets', targets],
])('%s remove their temporary folders', (_, { test: settings }) => {
  expect(settings?.globalSetup).toContain('test/support/temporary.ts');
});
