import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { copyFolder } from '../../src/benchmarks/userCopy.ts';
import { askTrainer } from '../../src/cli/python/askTrainer.ts';
import { preparePython } from '../../src/cli/python/pythonEnvironment.ts';
import { gpusHere } from '../../src/cli/targets/gpus.ts';
import { openSsh } from '../../src/cli/targets/ssh/remoteAgent.ts';
import { withoutKeys } from '../../src/engine/shell/processes/childEnvironment.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

/** A process that does not need keys does not get them in its environment. */

const keys = {
  OPENAI_API_KEY: 'sk-openai-planted',
  ANTHROPIC_API_KEY: 'sk-anthropic-planted',
  HF_TOKEN: 'hf-planted-token',
  WANDB_API_KEY: 'wandb-planted',
  DESK_KEY: 'desk-planted-key',
  SERVER_TOKEN: 'server-planted-token',
  AWS_SECRET_ACCESS_KEY: 'aws-planted-secret',
  LLM_LOGIN: 'bound-planted-key',
  REHEARSAL_KEY_ORIGINS: 'LLM_LOGIN=https://llm.example',
};
const others = { SSH_AUTH_SOCK: '/tmp/agent.sock', KEYBOARD: 'de', TOKENIZERS_PARALLELISM: 'false' };

test('a key is known by its name, or by the origin that a person allowed for it', () => {
  expect(withoutKeys([], { ...keys, ...others })).toEqual({
    ...others,
    REHEARSAL_KEY_ORIGINS: keys.REHEARSAL_KEY_ORIGINS,
  });
  expect(withoutKeys(['HF_TOKEN'], keys)).toMatchObject({ HF_TOKEN: keys.HF_TOKEN });
});

describe.skipIf(process.platform === 'win32')('a process is started without keys', () => {
  const scratch = temporaryFolder('rehearsal-keys');
  const seen = join(scratch, 'environments');
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  /** Creates a program that logs its environment and then prints something. */
  function program(name: string, script: string): string {
    const path = join(scratch, name);
    writeFileSync(path, `#!/bin/sh\necho "== $0 $*" >> "${seen}"\nenv >> "${seen}"\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  }
  const python = program(
    'python3',
    `case "$*" in
  *setup_environment.py*) echo '{"python": "${join(scratch, 'python3')}", "ready": true, "node": "${process.execPath}"}' ;;
  *--check*) cat > /dev/null; echo '{"disk": 0, "free": 1}' ;;
  *--config*) echo '{"type": "finished"}' >> events.jsonl ;;
  *find_spec*) echo /tmp ;;
  *version_info*) echo 3.12.0 ;;
esac`,
  );
  for (const name of ['ssh', 'nvidia-smi', 'code']) program(name, 'echo 1.0');

  beforeEach(() => {
    for (const [name, value] of Object.entries({ ...keys, ...others })) vi.stubEnv(name, value);
    vi.stubEnv('PATH', `${scratch}${delimiter}${process.env['PATH']}`);
    writeFileSync(seen, '');
  });
  afterEach(() => void vi.unstubAllEnvs());

  /** Returns the planted keys that the started processes had, and the number of processes. */
  function found(of = '') {
    const processes = readFileSync(seen, 'utf8')
      .split(/^== /m)
      .filter((each) => each.includes(of) && each !== '');
    const given = Object.keys(keys).filter((name) => processes.some((each) => each.includes(`\n${name}=`)));
    return { processes: processes.length, keys: given.filter((name) => name !== 'REHEARSAL_KEY_ORIGINS') };
  }
  const io = { err: () => undefined, signal: new AbortController().signal };

  test.each<readonly [string, () => unknown, readonly string[]]>([
    ["the setup of the trainer's Python", () => preparePython(io, [python]), []],
    [
      'the trainer that answers a question',
      () => askTrainer(io, [python], ['explain'], { refused: Error }),
      ['HF_TOKEN'],
    ],
    ['ssh', () => openSsh({ host: 'host', port: undefined, folder: '~/r' }, 'true').end(), []],
    ['nvidia-smi', gpusHere, []],
    ['the Python that knows a benchmark', () => copyFolder('tau2', { module: 'tau2', howToGet: '' }, python), []],
    ['what doctor looks for', () => rehearsal('doctor', '--json'), []],
  ])('%s', async (_what, start, needed) => {
    await start();
    expect(found()).toEqual({ processes: expect.toSatisfy((count: number) => count > 0), keys: needed });
  });

  test.each<readonly [string, string, readonly string[]]>([
    ['without a user model gets the key of the hub', '', ['HF_TOKEN']],
    ['that reports gets the key of its tracker', 'report_to: [wandb]\n', ['HF_TOKEN', 'WANDB_API_KEY']],
    [
      'with a user model gets its key',
      'user: { base_url: "http://127.0.0.1:1", model: m, api_key_env: DESK_KEY }\nevaluate_every: 0\n',
      ['HF_TOKEN', 'DESK_KEY'],
    ],
  ])('the trainer %s', async (_what, more, needed) => {
    const file = join(scratch, 'a.training.yaml');
    const { localEnvironment } = await import('../../src/cli/targets/keys.ts');
    const { parse } = await import('yaml');
    writeFileSync(file, `kind: grpo\ndomain: ${inRoot('domains', 'parcel-desk')}\n${more}`);
    const environment = localEnvironment(parse(readFileSync(file, 'utf8')));
    expect(Object.keys(keys).filter((name) => name !== 'REHEARSAL_KEY_ORIGINS' && name in environment)).toEqual(needed);
    expect(environment).toMatchObject({ REHEARSAL_ENGINE_KEYS: more.includes('DESK_KEY') ? 'DESK_KEY' : '' });
  });

  test('a training run', async () => {
    const argv = ['train', 'grpo', 'domains/parcel-desk', '--python', python, '--set', 'evaluate_every=0'];
    expect(await rehearsal(...argv, '--out', join(scratch, 'run'))).toMatchObject({ code: 0 });
    expect(found('setup_environment')).toEqual({ processes: 1, keys: [] });
    expect(found('launch.json')).toEqual({ processes: 1, keys: ['HF_TOKEN'] });
  });
});

/** Files that start a process with the whole environment, because that process holds the keys. */
const holders = ['src/extension/debug/standbyAdapter.ts'];

test('no process in src/ is started with the whole environment', () => {
  const files = readdirSync(inRoot('src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join('src', file));
  const starts = files.flatMap((file) => {
    const text = readFileSync(inRoot(file), 'utf8');
    const imported = /import \{([^}]*)\} from 'node:child_process'/.exec(text)?.[1] ?? '';
    const names = imported.match(/\b(?:spawn|exec|fork)\w*/g) ?? [];
    if (names.length === 0) return [];
    const calls = [...text.matchAll(new RegExp(`(?<![.\\w#])(?:${names.join('|')})\\(`, 'g'))];
    return calls.map(({ index }) => ({ file, call: callAt(text, index), text }));
  });
  expect(starts.length).toBeGreaterThan(15);
  const unfiltered = starts.filter(({ call, text }) => {
    const passed = /\boptions\b/.test(call) ? text : call;
    return !/\benv\b/.test(passed) || /\.\.\.process\.env|env: process\.env/.test(passed);
  });
  expect(unfiltered.map(({ file }) => file)).toEqual(holders);
});

/** Returns the text of a call, from its name to the closing parenthesis. */
function callAt(text: string, start: number): string {
  let depth = 0;
  for (let at = text.indexOf('(', start); at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    if (text[at] === ')') depth -= 1;
    if (depth === 0) return text.slice(start, at + 1);
  }
  return text.slice(start);
}
