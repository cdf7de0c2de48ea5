import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { inRoot } from '../../scripts/repository.ts';

type Step = { readonly uses?: string; readonly run?: string; readonly if?: string };
type Workflow = {
  readonly permissions: unknown;
  readonly jobs: {
    readonly test: { readonly strategy: { readonly matrix: { readonly os: string[] } }; steps: Step[] };
  };
};
const { permissions, jobs } = parse(readFileSync(inRoot('.github', 'workflows', 'ci.yml'), 'utf8')) as Workflow;
const { steps, strategy } = jobs.test;

test('every action is pinned to a commit, and nothing may be written', () => {
  const actions = steps.flatMap(({ uses }) => uses ?? []);
  expect(actions.length).toBeGreaterThan(3);
  expect(actions.filter((action) => !/^actions\/[\w-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
  expect(permissions).toEqual({ contents: 'read' });
});

test('npm test runs on three systems', () => {
  expect(strategy.matrix.os).toEqual(['ubuntu-latest', 'macos-latest', 'windows-latest']);
  const tests = steps.filter(({ run }) => run?.endsWith('npm test'));
  expect(tests.map((step) => step.if)).toEqual(["runner.os == 'Linux'", "runner.os != 'Linux'"]);
});
