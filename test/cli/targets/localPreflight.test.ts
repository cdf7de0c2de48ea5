import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../support/temporary.ts';
import { rehearsal } from '../../support/terminal.ts';

describe.skipIf(process.platform === 'win32')('what would make a run on this machine fail is one message', () => {
  const scratch = temporaryFolder('rehearsal-local');
  const bin = join(scratch, 'bin');
  const python = join(scratch, 'python');
  mkdirSync(bin);
  afterEach(() => vi.unstubAllEnvs());
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  type Wrong = {
    readonly what: string;
    readonly profile?: string;
    /** The script that replaces nvidia-smi. */
    readonly nvidia?: string;
    /** The script that replaces the trainer's check. */
    readonly check?: string;
    readonly says: RegExp;
  };

  const wrong: readonly Wrong[] = [
    {
      what: 'no driver',
      profile: 'gpu',
      nvidia: 'echo "NVIDIA-SMI has failed: no driver"; exit 9',
      says: /: the profile gpu needs a GPU, but this machine has none \(NVIDIA-SMI has failed: no driver\): choose --profile cpu, or/,
    },
    {
      what: 'no GPU',
      profile: 'paper',
      nvidia: 'exit 0',
      says: /: the profile paper needs a GPU, but this machine has none \(nvidia-smi lists none\): choose/,
    },
    {
      what: 'an old driver',
      profile: 'gpu',
      nvidia: 'echo "NVIDIA H200, 535.104.05"',
      says: /: the driver 535\.104\.05 of NVIDIA H200 on this machine is too old for the trainer's PyTorch: install 580 or/,
    },
    {
      what: 'an unknown model',
      check: 'echo "error: model: there is no such model" >&2; exit 2',
      says: /: the trainer refuses these options: model: there is no such model\n$/,
    },
    {
      what: 'less room than the trainer reckons',
      check: `echo '{"disk": 1073741824000000000, "free": 1}'`,
      says: /: there are [\d.]+ GB free for .*run, and the run needs 1000000000\.0 GB: make room, or name another folder/,
    },
    {
      what: 'a check without an answer',
      check: 'echo "a library greets"',
      says: /: the trainer's check of the options exited without a result: reinstall Rehearsal\n$/,
    },
  ];

  test('a program that is not Python, and a file in place of the folder', async () => {
    const said = async (...args: readonly string[]) =>
      (await rehearsal('train', 'sft', 'domains/parcel-desk', ...args)).err;
    for (const program of ['/bin/echo', '/bin/true'])
      expect(await said('--out', join(scratch, 'run'), '--python', program)).toMatch(
        `${program} is not Python 3.11 or newer`,
      );
    writeFileSync(join(scratch, 'file'), '');
    expect(await said('--out', join(scratch, 'file'))).toMatch(/file is a file: name a folder that is new or empty/);
    const [trained, evaluated] = ['trained/metrics.jsonl', 'evaluated/trajectories/sampled/rollouts.jsonl'];
    for (const file of [trained, evaluated]) {
      const run = join(scratch, dirname(file).split('/')[0] ?? '');
      mkdirSync(join(scratch, dirname(file)), { recursive: true });
      writeFileSync(join(scratch, file), '{}\n');
      expect(await said('--out', run)).toContain(
        `already contains a run: resume it (npx rehearsal train resume ${run})`,
      );
    }
  });

  /** Writes a program that answers as the trainer does. */
  function trainerThat(check: string, prompt = 'exit 1') {
    const making = `case "$1" in *setup_environment.py) echo '{"python": "${python}"}' ;; *) `;
    const answers = `*--check) cat > /dev/null; ${check} ;; *" prompt "*) cat > /dev/null; ${prompt} ;; esac`;
    writeFileSync(python, `#!/bin/sh\n${making}case "$*" in ${answers} ;; esac\n`, { mode: 0o755 });
  }

  test('a context that is full before a conversation begins, with the numbers', async () => {
    const run = join(scratch, 'run');
    const train = (tokens: readonly number[], limit: number | null, ...more: readonly string[]) => {
      trainerThat(`echo '{"disk": 1, "free": 1}'`, `echo '${JSON.stringify({ tokens, limit })}'`);
      const args = ['--out', run, '--python', python, '--profile', 'cpu', '--set', 'context=2048', ...more];
      return rehearsal('train', 'sft', 'domains/order-desk', ...args);
    };
    expect((await train([2048, 2100], null)).err).toContain(
      'context: the policy and the tools of order-desk take 2048 tokens, and context is 2048. Raise it above',
    );
    expect((await train([1500, 1600], 1024, '--model', 'm')).err).toContain(
      'take 1500 tokens, and m takes at most 1024. Choose another model, or shorten',
    );
    expect(existsSync(run)).toBe(false);
    expect((await train([1500, 1600], 8192, '--plan')).out).toMatch(
      /^context {4}the policy and the tools of order-desk take 1600 of 2048 tokens; 448 are left for the conversation/m,
    );
  });

  test.each(wrong)('$what', async ({ profile = 'cpu', nvidia = 'exit 0', check = 'exit 0', says }) => {
    writeFileSync(join(bin, 'nvidia-smi'), `#!/bin/sh\n${nvidia}\n`, { mode: 0o755 });
    trainerThat(check);
    vi.stubEnv('PATH', `${bin}${delimiter}${process.env['PATH']}`);
    const run = join(scratch, 'run');
    const where = ['--out', run, '--python', python];
    const { code, out, err } = await rehearsal('train', 'sft', 'domains/parcel-desk', '--profile', profile, ...where);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(says);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(existsSync(run)).toBe(false);
  });
});
