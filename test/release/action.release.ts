import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
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

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the step `evaluate` as a runner does: inputs are filled into its environment, and it writes to files. */
function evaluate(inputs: Readonly<Record<string, string>>): Outcome & { summary: string; outputs: string } {
  const step = action.runs.steps.find(({ id }) => id === 'evaluate');
  const given = { package: partOf('.tgz'), ...inputs };
  const fill = (text: string) =>
    text.replaceAll(
      /\$\{\{ inputs\.(\w+) \}\}/g,
      (_, name: keyof typeof given) => given[name] ?? action.inputs[name]?.default ?? '',
    );
  const filled = Object.entries(step?.env ?? {}).map(([name, text]) => [name, fill(text)]);
  const temporary = join(folder, 'temporary');
  mkdirSync(temporary);
  const files = { GITHUB_OUTPUT: join(folder, 'outputs'), GITHUB_STEP_SUMMARY: join(folder, 'summary.md') };
  for (const file of Object.values(files)) writeFileSync(file, '');
  const runner = { ...files, RUNNER_TEMP: temporary, GITHUB_ACTION_PATH: actionFolder, npm_config_offline: 'true' };
  const env = { ...process.env, ...runner, ...Object.fromEntries(filled) };
  const outcome = run(folder, 'bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step?.run ?? 'exit 9'], env);
  const read = (file: string) => readFileSync(file, 'utf8');
  return { ...outcome, summary: read(files.GITHUB_STEP_SUMMARY), outputs: read(files.GITHUB_OUTPUT) };
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
  expect(result.code).not.toBe(0);
});

test('what the action writes leaves the run as it was signed', () => {
  const recorded = join(folder, 'run');
  evaluate({ domain: 'desk', agent: 'gold', output: recorded });
  const rehearsal = join(folder, 'temporary', 'rehearsal', 'bin', 'rehearsal');
  expect(run(folder, rehearsal, ['verify', recorded]).code).toBe(0);
});

test('a domain with an error is not evaluated', () => {
  writeFileSync(join(folder, 'desk', 'rules.yaml'), 'rules: [');
  const result = evaluate({ domain: 'desk', agent: 'gold' });
  expect(result.summary).toContain('rules.yaml');
  expect(result.summary).toContain('failed');
  expect([result.code, result.outputs.includes('run=')]).toEqual([1, false]);
});
