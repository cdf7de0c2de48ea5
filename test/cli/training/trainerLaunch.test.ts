import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { localTarget } from '../../../src/cli/targets/local.ts';
import type { Launch } from '../../../src/cli/targets/target.ts';
import type { Io } from '../../../src/cli/terminal/io.ts';
import { launchTrainer } from '../../../src/cli/training/trainerLaunch.ts';
import { approveDomain } from '../../support/approval.ts';
import { oneOfEachKind } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { rehearsal } from '../../support/terminal.ts';

/** A limit for waits that only a hung test reaches. */
const patience = { timeout: 240_000, interval: 10 };

/** Resumes a run with a trainer that is a program for Node instead of Python. */
function resumed(program: string, isDetached = true, config: Launch['config'] = {}) {
  const run = temporaryFolder('rehearsal-run');
  const events = join(run, 'events.jsonl');
  writeFileSync(events, '{"type": "started"}\n');
  let out = '';
  let err = '';
  const io: Io = {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    terminal: false,
    interactive: false,
    cwd: run,
    environment: {},
    signal: new AbortController().signal,
    readLine: () => Promise.reject(new Error('no person is at this terminal')),
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
  const launch = { kind: 'sft', run, config, isResumed: true, isDetached, python: [python], disk: undefined } as const;
  const target = localTarget();
  const launched = target
    .preflight(launch, io)
    .then((inspected) => inspected.prepare())
    .then((prepared) => launchTrainer(io, target, launch, prepared, isDetached));
  return { run, events, launched, printed: () => out, printedErrors: () => err };
}

test('the launch of a detached trainer ends when the trainer reports that it resumed', async () => {
  const { run, events, launched, printed } = resumed(
    `const { appendFileSync, existsSync, writeFileSync } = require('node:fs');
     writeFileSync('up', '');
     const waiting = setInterval(() => {
       if (!existsSync('go')) return;
       clearInterval(waiting);
       appendFileSync('events.jsonl', '{"type": "resumed"}\\n');
     }, 10);
     setTimeout(() => process.exit(1), 60_000).unref();`,
  );
  let isLaunched = false;
  const noted = launched.finally(() => {
    isLaunched = true;
  });
  await vi.waitUntil(() => existsSync(join(run, 'up')), patience);
  expect(isLaunched).toBe(false);
  writeFileSync(join(run, 'go'), '');
  expect(await noted).toBe(0);
  expect(readFileSync(events, 'utf8')).toContain('resumed');
  expect(JSON.parse(printed())).toMatchObject({ run });
});

test('a trainer that refuses is quoted once as an error', async () => {
  const { launched } = resumed("console.error('error: foo: there is no such key'); process.exit(2)");
  await expect(launched).rejects.toThrow(/^training did not start: foo: there is no such key$/);
});

test('a server of tools that does not start is found before the trainer is', async () => {
  const domain = join(temporaryFolder('rehearsal-domain'), 'desk');
  cpSync('domains/parcel-desk', domain, { recursive: true });
  const server = 'mcpServers:\n  desk: { command: sh, args: [-c, "echo no licence >&2; exit 3"] }\n';
  appendFileSync(join(domain, 'domain.yaml'), server);
  approveDomain(domain);
  const { events, launched } = resumed('throw new Error("the trainer was started")', true, { domain });
  await expect(launched).rejects.toThrow(/MCP server "desk".*no licence/s);
  expect(readFileSync(events, 'utf8')).toBe('{"type": "started"}\n');
});

test('one that ends before it begins is a fault with its last words', async () => {
  const { launched } = resumed("console.error('there is no checkpoint'); process.exit(1)");
  await expect(launched).rejects.toThrow('training did not start: there is no checkpoint');
});

test('a run that an alarm paused ends, and reports why and how to resume it', async () => {
  const { run, launched, printed } = resumed(
    `const { appendFileSync } = require('node:fs');
     for (const event of [{ type: 'resumed' }, { type: 'paused', message: 'KL is 0.7' }])
       appendFileSync('events.jsonl', JSON.stringify(event) + '\\n');`,
    false,
  );
  expect(await launched).toBe(0);
  expect(printed()).toBe(`paused by an alarm: KL is 0.7. Resume with: npx rehearsal train resume ${run}\n`);
});

test.skipIf(process.platform === 'win32')(
  'a killed trainer is reported with the command that resumes the run',
  async () => {
    const { run, launched, printedErrors } = resumed(
      `const { appendFileSync, existsSync } = require('node:fs');
     appendFileSync('events.jsonl', '{"type": "resumed"}\\n');
     console.log("{'loss': '0'}");
     setInterval(() => existsSync('go') && process.kill(process.pid, 'SIGKILL'), 10);
     setTimeout(() => process.exit(1), 60_000);`,
      false,
    );
    mkdirSync(join(run, 'checkpoints', 'checkpoint-2'), { recursive: true });
    const followed = vi.waitUntil(() => printedErrors().includes('training in '), patience);
    void followed.then(() => writeFileSync(join(run, 'go'), ''));
    await expect(launched).rejects.toThrow(
      `training was killed by SIGKILL, as happens when the system runs out of memory; resume from checkpoint-2 with: npx rehearsal train resume ${run}`,
    );
  },
);

/** The interpreter itself: `python3` may be a script of a version manager, which starts slowly. */
const interpreter = spawnSync(
  'python3',
  ['-c', 'import sys; print(sys.executable if sys.version_info >= (3, 11) else "")'],
  {
    encoding: 'utf8',
  },
).stdout?.trim();

describe.skipIf(!interpreter || process.platform === 'win32')('what the trainer itself refuses', () => {
  const scratch = temporaryFolder('rehearsal-refused');
  const python = join(scratch, 'python');
  const script = `#!/bin/sh
case "$1" in *setup_environment.py) echo '{"python": "${python}"}' ;; *) exec "${interpreter}" "$@" ;; esac
`;
  writeFileSync(python, script, { mode: 0o755 });

  const refused = [
    ['sft', ['--set', 'foo=1'], /^foo: there is no such key; known are alarms, batch, ((?!engine_c| run,).)*$/],
    ['grpo', ['--set', 'batch=4'], /^batch: there is no such key here: batch is a key of SFT$/],
    ['sft', ['--set', 'batch=many'], /^batch: expected integer, found "many"$/],
    ['sft', ['--set', 'profile=zz'], /^profile: 'zz' is unknown; known are paper, gpu, cpu, trial$/],
    ['grpo', ['--set', 'micro_batch=5'], /^micro_batch: 5 does not divide tasks_per_step x group_size = 32$/],
    ['evaluate', ['--set', 'foo=1'], /^foo: there is no such key; known are agent, /],
  ] as const;
  const cases = oneOfEachKind<(typeof refused)[number]>(refused, ([, options]) => options.join());
  test.each(cases)('%s %j, before anything is made or played', async (kind, options, words) => {
    const run = join(scratch, 'run');
    const more = ['--out', run, '--python', python];
    const { code, out, err } = await rehearsal('train', kind, 'domains/parcel-desk', ...options, ...more);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    const [, said = ''] = /^rehearsal train: the trainer refuses these options: (.*)\n$/.exec(err) ?? [];
    expect(said, err).toMatch(words);
    expect(existsSync(run)).toBe(false);
  });
});
