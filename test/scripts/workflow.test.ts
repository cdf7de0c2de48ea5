import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { inRoot } from '../../scripts/repository.ts';
import { steps } from '../../scripts/testSteps.ts';

const step = z.object({
  uses: z.string().optional(),
  run: z.string().optional(),
  if: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
});
const job = z.object({
  'runs-on': z.string(),
  'timeout-minutes': z.number(),
  strategy: z.object({ matrix: z.object({ os: z.array(z.string()) }) }).optional(),
  steps: z.array(step),
});
const workflow = z.object({
  on: z.record(z.string(), z.unknown()),
  permissions: z.unknown(),
  jobs: z.record(z.string(), job),
});
const action = z.object({ runs: z.object({ steps: z.array(step) }) });

const read = (...path: string[]) => readFileSync(inRoot('.github', ...path), 'utf8');
const workflowOf = (name: string) => workflow.parse(parse(read('workflows', name)));
const stepsOf = (name: string) => action.parse(parse(read('actions', name, 'action.yml'))).runs.steps;
const preparation = stepsOf('prepare');
const files = readdirSync(inRoot('.github', 'workflows'));
const workflows = files.map((name) => [name, workflowOf(name)] as const);

test.each(workflows)(
  '%s: every action is pinned to a commit, and nothing may be written',
  (_, { permissions, jobs }) => {
    const steps = [...Object.values(jobs).flatMap((each) => each.steps), ...preparation, ...stepsOf('evaluate')];
    const actions = steps.flatMap(({ uses }) => uses ?? []);
    expect(actions).toContain('./.github/actions/prepare');
    const others = actions.filter((uses) => uses !== './.github/actions/prepare');
    expect(others.filter((uses) => !/^actions\/[\w-]+@[0-9a-f]{40}$/.test(uses))).toEqual([]);
    expect(permissions).toEqual({ contents: 'read' });
  },
);

test('npm test runs on three systems at every push and pull request', () => {
  const { on, jobs } = workflowOf('ci.yml');
  expect(on).toEqual({ push: null, pull_request: null });
  expect(jobs['test']?.strategy?.matrix.os).toEqual(['ubuntu-latest', 'macos-latest', 'windows-latest']);
  const tests = jobs['test']?.steps.filter(({ run }) => run?.endsWith('npm test')) ?? [];
  expect(tests.map(({ run, if: condition }) => [condition, run])).toEqual([
    ["runner.os == 'Linux'", 'xvfb-run --auto-servernum npm test'],
    ["runner.os != 'Linux'", 'npm test'],
  ]);
});

test('the full suite runs every night', () => {
  const { on, jobs } = workflowOf('nightly.yml');
  expect(on['schedule']).toEqual([{ cron: expect.stringMatching(/^\d+ \d+ \* \* \*$/) }]);
  const commands = jobs['full']?.steps.flatMap(({ run }) => run ?? []);
  expect(commands).toEqual([expect.stringMatching(/^xvfb-run --auto-servernum npm run test:full -- /)]);
});

/** The minutes that a full suite takes if every step reaches its limit. */
function longestSuite(): number {
  let [now, allEnded] = [0, 0];
  for (const { isPlanted, isFull, isBackground, limitMinutes, fullLimitMinutes = limitMinutes } of steps) {
    if (isPlanted) continue;
    if (isFull) now = Math.max(now, allEnded);
    allEnded = Math.max(allEnded, now + fullLimitMinutes);
    if (!isBackground) now += fullLimitMinutes;
  }
  return Math.max(now, allEnded);
}

test('the time limits of the steps end the full suite before the nightly run is stopped', () => {
  const setUpMinutes = 15;
  expect(longestSuite() + setUpMinutes).toBeLessThanOrEqual(
    workflowOf('nightly.yml').jobs['full']?.['timeout-minutes'] ?? 0,
  );
});

test('Linux gets a sandbox, a display and an SSH server', () => {
  const [linux] = preparation.filter(({ if: condition }) => condition === "runner.os == 'Linux'");
  expect(linux?.run).toMatch(/apt-get install --yes bubblewrap openssh-server xvfb$/m);
  expect(linux?.run).toMatch(/sysctl -w kernel\.apparmor_restrict_unprivileged_userns=0$/m);
});

test('the cache is keyed by the files that name what is downloaded', () => {
  const { key } = preparation.find(({ uses }) => uses?.startsWith('actions/cache@'))?.with ?? {};
  const paths = [...String(key).matchAll(/'([^']+)'/g)].map(([, path = '']) => path);
  expect(paths).toContain('package-lock.json');
  const found = (path: string) => existsSync(inRoot(path.replace(/\/\*\.\w+$/, '')));
  expect(paths.filter((path) => !found(path))).toEqual([]);
});

const testing = workflows.filter(([name]) => !['docs.yml', 'release.yml'].includes(name));

test.each(testing)('%s: a failure or a time limit uploads the reports and the pictures', (_, { jobs }) => {
  for (const { steps } of Object.values(jobs)) {
    const [upload] = steps.filter(({ if: condition }) => condition === 'failure() || cancelled()');
    expect(upload?.uses).toMatch(/^actions\/upload-artifact@/);
    expect(String(upload?.with?.['path']).trim().split('\n')).toEqual([
      'dist/test/*.json',
      'dist/test/*.xml',
      'dist/test/screenshots',
    ]);
  }
});

test.each(workflows)('%s: every npm script exists', (name) => {
  const { scripts } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')) as { scripts: Record<string, string> };
  const used = [...read('workflows', name).matchAll(/npm run ([\w:]+)/g)].map(([, script = '']) => script);
  expect(used.filter((script) => !(script in scripts))).toEqual([]);
});
