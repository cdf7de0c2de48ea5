import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Returns the job summary above its output, for an evaluation that prints a text and exits with a code. */
function resultOf(printed: string, code: number): string {
  return evaluated(printed, code).summary.split('<details')[0] ?? '';
}

/** Runs the action's script, and returns the job summary and the arguments of the evaluation. */
function evaluated(printed: string, code: number, given: object = {}) {
  const folder = temporaryFolder('evaluate-action');
  const programs = join(folder, 'rehearsal', 'bin');
  mkdirSync(programs, { recursive: true });
  const [log, called] = [join(folder, 'printed.txt'), join(folder, 'called.txt')];
  writeFileSync(log, printed);
  for (const [name, script] of [
    ['npm', 'exit 0'],
    ['rehearsal', `[ "$1" != eval ] || { echo "$*" > '${called}'; cat '${log}'; exit ${code}; }`],
  ] as const) {
    writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(programs, name), 0o755);
  }
  const summary = join(folder, 'summary.md');
  const inputs = { PACKAGE: 'rehearsal', DOMAIN: 'desk', AGENT: 'gold', OUTPUT: folder, ...given };
  spawnSync('bash', [inRoot('.github', 'actions', 'evaluate', 'evaluate.sh')], {
    env: { ...process.env, ...inputs, RUNNER_TEMP: folder, GITHUB_STEP_SUMMARY: summary },
  });
  return { summary: readFileSync(summary, 'utf8'), called: readFileSync(called, 'utf8') };
}

const notApproved = `rehearsal eval: "own" (own.agent.yaml) is not approved. It would do this outside of the sandbox:
  starts the program node
To approve exactly this, repeat the command with this option:
  --approve 0123
`;
test.skipIf(process.platform === 'win32').each([
  [
    'a rollout without a reward',
    '4 scored of 5, 1 not scored\nbook-heron: no reward, trial 0, environment: the gold action fails\n',
  ],
  ['each task that is broken', '2 of 5 rollouts could not be run: a.task.yaml:2: x\nnot run: b: b.task.yaml:3: y\n'],
  ['all lines of a refusal', notApproved],
  ['code that is not approved', 'desk/domain.yaml:1:1 warning domain/not-approved This machine has no sandbox\n'],
  ['a gate that is not decided', 'gate not decided: the run is incomplete: some trials have no reward\n'],
])('the result in the job summary has %s', (_, printed) => {
  expect(resultOf(printed, 2)).toBe(
    `### Rehearsal: \`desk\` failed (exit code 2)\n\n\`\`\`\`text\n${printed}\`\`\`\`\n\n`,
  );
});

test.skipIf(process.platform === 'win32')('without the input agent, arguments can name the seats', () => {
  const { called } = evaluated('', 0, { AGENT: '', ARGUMENTS: '--task-agents' });
  expect(called).toMatch(/^eval desk --out .* --task-agents\n$/);
  expect(called).not.toContain('--agent ');
});
