import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Io } from '../../../src/cli/io.ts';
import { localTarget } from '../../../src/cli/targets/local.ts';
import type { Launch } from '../../../src/cli/targets/target.ts';
import { launchTrainer } from '../../../src/cli/training/trainerLaunch.ts';
import { rehearsal } from '../../support/terminal.ts';

/** A run's folder that was trained before, and a trainer that goes on with it: a program for Node in place of Python. */
function resumed(program: string, isDetached = true, config: Launch['config'] = {}) {
  const run = mkdtempSync(join(tmpdir(), 'rehearsal-run-'));
  const events = join(run, 'events.jsonl');
  writeFileSync(events, '{"type": "started"}\n');
  let out = '';
  const io: Io = {
    out: (text) => {
      out += text;
    },
    err: () => undefined,
    terminal: false,
    cwd: run,
    environment: {},
    signal: new AbortController().signal,
    readLine: () => Promise.reject(new Error('nobody is at this terminal')),
  };
  const python = join(run, 'python');
  const making = `case "$1" in *setup_environment.py) echo '{"python": "${python}"}'; exit ;; esac`;
  writeFileSync(join(run, 'trainer.cjs'), program);
  writeFileSync(
    python,
    `#!/bin/sh
${making}
case "$*" in *--check) echo '{"disk": 0, "free": 1}'; exit ;; -c*) exit ;; esac
exec "${process.execPath}" trainer.cjs
`,
    { mode: 0o755 },
  );
  const launch = { kind: 'sft', run, config, isResumed: true, isDetached, python, disk: undefined } as const;
  const target = localTarget();
  const launched = target
    .preflight(launch, io)
    .then((inspected) => inspected.prepare())
    .then((prepared) => launchTrainer(io, target, launch, prepared, isDetached));
  return { run, events, launched, printed: () => out };
}

test('a detached trainer that goes on with a run is waited for until it says so', async () => {
  const { run, events, launched, printed } = resumed(
    `setTimeout(() => require('node:fs').appendFileSync('events.jsonl', '{"type": "resumed"}\\n'), 400)`,
  );
  expect(await launched).toBe(0);
  expect(readFileSync(events, 'utf8')).toContain('resumed');
  expect(JSON.parse(printed())).toMatchObject({ run });
});

test('a trainer that refuses is quoted once as an error', async () => {
  const { launched } = resumed("console.error('error: foo: there is no such field'); process.exit(2)");
  await expect(launched).rejects.toThrow(/^training did not start: foo: there is no such field$/);
});

test('a server of tools that does not start is found before the trainer is', async () => {
  const domain = join(mkdtempSync(join(tmpdir(), 'rehearsal-domain-')), 'desk');
  cpSync('domains/parcel-desk', domain, { recursive: true });
  const server = 'mcpServers:\n  desk: { command: sh, args: [-c, "echo no licence >&2; exit 3"] }\n';
  appendFileSync(join(domain, 'domain.yaml'), server);
  const { events, launched } = resumed('throw new Error("the trainer was started")', true, { domain });
  await expect(launched).rejects.toThrow(/MCP server "desk".*no licence/s);
  expect(readFileSync(events, 'utf8')).toBe('{"type": "started"}\n');
});

test('one that ends before it begins is a fault with its last words', async () => {
  const { launched } = resumed("console.error('there is no checkpoint'); process.exit(1)");
  await expect(launched).rejects.toThrow('training did not start: there is no checkpoint');
});

test('a run that an alarm paused is over, and says why and how it goes on', async () => {
  const { run, launched, printed } = resumed(
    `const { appendFileSync } = require('node:fs');
     for (const event of [{ type: 'resumed' }, { type: 'paused', message: 'KL is 0.7' }])
       appendFileSync('events.jsonl', JSON.stringify(event) + '\\n');`,
    false,
  );
  expect(await launched).toBe(0);
  expect(printed()).toBe(`paused by an alarm: KL is 0.7. Go on with: rehearsal train resume ${run}\n`);
});

test.skipIf(process.platform === 'win32')('one that is killed says so, and how the run goes on', async () => {
  const { run, launched } = resumed(
    `require('node:fs').appendFileSync('events.jsonl', '{"type": "resumed"}\\n');
     console.log("{'loss': '0'}");
     setTimeout(() => process.kill(process.pid, 'SIGKILL'), 600);`,
    false,
  );
  mkdirSync(join(run, 'checkpoints', 'checkpoint-2'), { recursive: true });
  await expect(launched).rejects.toThrow(
    `training was ended from outside by SIGKILL, as a system without memory left does it; go on from checkpoint-2 with: rehearsal train resume ${run}`,
  );
});

const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))']).status === 0;

describe.skipIf(!hasPython || process.platform === 'win32')('what the trainer itself refuses', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'rehearsal-refused-'));
  const python = join(scratch, 'python');
  const script = `#!/bin/sh
case "$1" in *setup_environment.py) echo '{"python": "${python}"}' ;; *) exec python3 "$@" ;; esac
`;
  writeFileSync(python, script, { mode: 0o755 });

  test.each([
    ['sft', ['--set', 'foo=1'], /^foo: there is no such field; known are alarms, batch, /],
    ['sft', ['--set', 'batch=many'], /^batch: expected integer, found "many"$/],
    ['sft', ['--profile', 'zz'], /^profile: 'zz' is unknown; known are paper, gpu, cpu, trial$/],
    ['grpo', ['--set', 'micro_batch=5'], /^micro_batch: 5 does not divide tasks_per_step x group_size = 32$/],
    ['evaluate', ['--set', 'foo=1'], /^foo: there is no such field; known are agent, /],
  ] as const)('%s %j, before anything is made or played', async (kind, options, words) => {
    const run = join(scratch, 'run');
    const more = ['--out', run, '--python', python];
    const { code, out, err } = await rehearsal('train', kind, 'domains/parcel-desk', ...options, ...more);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    const [, said = ''] = /^rehearsal train: the trainer refuses these options: (.*)\n$/.exec(err) ?? [];
    expect(said, err).toMatch(words);
    expect(existsSync(run)).toBe(false);
  });
});
