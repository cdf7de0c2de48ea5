import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { inRoot } from '../../scripts/repository.ts';
import { emptyFolder, type Outcome, partOf, run } from './parts.ts';

const actionFolder = inRoot('.github', 'actions', 'evaluate');
const action = z
  .object({
    inputs: z.record(z.string(), z.object({ default: z.string().optional() })),
    outputs: z.record(z.string(), z.object({ value: z.string() })),
    runs: z.object({
      steps: z.array(
        z.object({
          id: z.string().optional(),
          run: z.string().optional(),
          env: z.record(z.string(), z.string()).optional(),
        }),
      ),
    }),
  })
  .parse(parse(readFileSync(join(actionFolder, 'action.yml'), 'utf8')));
let folder: string;

beforeEach(() => {
  folder = emptyFolder();
  cpSync(inRoot('domains', 'order-desk'), join(folder, 'desk'), { recursive: true });
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the step `evaluate` as a runner does: inputs are filled into its environment, and it writes to files. */
function evaluate(
  inputs: Readonly<Record<string, string>>,
): Outcome & { summary: string; outputs: string; paths: string[] } {
  const step = action.runs.steps.find(({ id }) => id === 'evaluate');
  const given = { package: partOf('.tgz'), ...inputs };
  const fill = (text: string) =>
    text.replaceAll(
      /\$\{\{ inputs\.(\w+) \}\}/g,
      (_, name: keyof typeof given) => given[name] ?? action.inputs[name]?.default ?? '',
    );
  const filled = Object.entries(step?.env ?? {}).map(([name, text]) => [name, fill(text)]);
  const temporary = join(folder, 'temporary');
  mkdirSync(temporary, { recursive: true });
  const files = {
    GITHUB_OUTPUT: join(folder, 'outputs'),
    GITHUB_STEP_SUMMARY: join(folder, 'summary.md'),
    GITHUB_PATH: join(folder, 'paths'),
  };
  for (const file of Object.values(files)) writeFileSync(file, '');
  const runner = { ...files, RUNNER_TEMP: temporary, GITHUB_ACTION_PATH: actionFolder, npm_config_offline: 'true' };
  const env = { ...process.env, ...runner, ...Object.fromEntries(filled) };
  const outcome = run(folder, 'bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step?.run ?? 'exit 9'], env);
  const read = (file: string) => readFileSync(file, 'utf8');
  const paths = read(files.GITHUB_PATH).trim().split('\n');
  return { ...outcome, summary: read(files.GITHUB_STEP_SUMMARY), outputs: read(files.GITHUB_OUTPUT), paths };
}

test.each([
  ['a domain whose gate holds', { domain: 'desk', agent: 'gold', gate: 'reward>=1' }, 0, 'gate held: reward is 1'],
  ['a gate that is missed', { domain: 'desk', agent: 'gold', gate: 'turns<=1' }, 1, 'gate missed: turns'],
  ['an agent that cannot be reached', { domain: 'desk', agent: 'openai:m@http://127.0.0.1:9/v1' }, 2, '127.0.0.1:9'],
  [
    'options in the words of a shell',
    { domain: 'desk', agent: 'gold', arguments: "--tasks 'lamp-*' --seed 'a b'" },
    0,
    'seed a b',
  ],
])('%s', (_, inputs, code, words) => {
  const result = evaluate({ ...inputs, output: join(folder, 'run') });
  expect(result.summary).toContain(words);
  expect(result.code).toBe(code);
  const outputs = Object.fromEntries(
    result.outputs
      .trim()
      .split('\n')
      .map((line) => line.split('=') as [string, string]),
  );
  for (const name of Object.keys(action.outputs)) expect(existsSync(outputs[name] ?? '')).toBe(true);
});

test.each([
  [
    'arguments that a shell cannot read',
    { arguments: "--tasks 'lamp" },
    /The input 'arguments' is not valid in a shell/,
  ],
  ['a package that does not exist', { package: './nothing.tgz' }, /nothing\.tgz/],
])('%s are in the summary', (_, inputs, words) => {
  const result = evaluate({ domain: 'desk', agent: 'gold', ...inputs });
  expect(result.summary).toMatch(words);
  expect(result.code).toBe(2);
});

test('the path of a package starts in the checkout', () => {
  cpSync(partOf('.tgz'), join(folder, 'ci', 'rehearsal.tgz'));
  const { summary } = evaluate({ domain: 'desk', agent: 'gold', package: 'ci/rehearsal.tgz', arguments: '--tasks no' });
  expect(summary).toContain('there is no task no');
});

test('the summary begins with the result, and folds the rest without progress and paths of the runner', () => {
  const { summary } = evaluate({
    domain: 'desk',
    agent: 'scripted',
    gate: 'reward>=1',
    arguments: '--tasks lamp-variant',
  });
  const [result = '', output = ''] = summary.split('<details><summary>Output</summary>');
  expect(result).toMatch(
    /failed \(exit code 1\)\n\n````text\n1 scored of 1, .*\ngate missed: reward is 0, .*\n1 of 1 task failed\nlamp-variant: reward 0, trial 0, agent: rule confirm-before-write was violated .*\n/,
  );
  expect(output).toMatch(/^lamp-variant, trial 0: lamp-variant\.0\.traj\.jsonl$/m);
  expect(output).not.toMatch(/1\/1 mean reward|changed \d+ package/);
});

test('an older run that is refused is not an output', () => {
  mkdirSync(join(folder, 'run'));
  writeFileSync(join(folder, 'run', 'run.json'), '{}');
  const { code, outputs } = evaluate({ domain: 'desk', agent: 'gold', output: join(folder, 'run') });
  expect([code, outputs]).toEqual([2, expect.not.stringContaining('run=')]);
});

test('an approval in the arguments reaches the check', () => {
  vi.stubEnv('REHEARSAL_SANDBOX', 'off');
  appendFileSync(join(folder, 'desk', 'tools.ts'), '// edited\n');
  const tried = evaluate({ domain: 'desk', agent: 'gold', arguments: '--tasks lamp-variant' });
  const [approval = ''] = /--approve \w+/.exec(tried.summary) ?? [];
  const approved = evaluate({ domain: 'desk', agent: 'gold', arguments: `--tasks lamp-variant ${approval}` });
  expect([tried.code, approved.code]).toEqual([2, 0]);
  expect(approved.summary).toContain('no findings');
});

test('later steps find the command, and the run is as it was signed', () => {
  const recorded = join(folder, 'run');
  const { paths } = evaluate({ domain: 'desk', agent: 'gold', output: recorded });
  const env = { ...process.env, PATH: [...paths, process.env['PATH']].join(delimiter) };
  expect(run(folder, 'bash', ['-c', 'rehearsal verify "$0"', recorded], env).code).toBe(0);
});

test('a domain with an error is not evaluated', () => {
  writeFileSync(join(folder, 'desk', 'rules.yaml'), 'rules: [');
  const result = evaluate({ domain: 'desk', agent: 'gold' });
  expect(result.summary).toContain('rules.yaml');
  expect(result.summary).toContain('failed');
  expect([result.code, result.outputs.includes('run=')]).toEqual([1, false]);
});
