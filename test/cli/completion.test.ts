import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { commandNames, loadCommands } from '../../src/cli/commands.ts';
import { commandLine } from '../support/commandLine.ts';
import { rehearsal } from '../support/terminal.ts';

const commands = await loadCommands();

/** Completes typed words in bash. The last one is where the cursor is. */
async function completedInBash(words: readonly string[]): Promise<readonly string[]> {
  const { out } = await rehearsal('completion', 'bash');
  const probe = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rehearsal; printf "%s\\n" "${COMPREPLY[@]}"';
  const { stdout, stderr } = spawnSync('bash', ['-c', `${out}\n${probe}`, 'bash', ...words], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

test.each([
  [['rehearsal', 'ev'], ['eval']],
  [['rehearsal', 'help', 'ev'], ['eval']],
  [['rehearsal', 'eval', '--tr'], ['--trials']],
  [
    ['rehearsal', 'eval', 'desk', '--split', ''],
    ['train', 'test'],
  ],
  [['rehearsal', 'eval', 'desk', '--split', '=', 'te'], ['test']],
  [
    ['rehearsal', 'eval', 'desk', '--split', '='],
    ['train', 'test'],
  ],
  [['rehearsal', 'doctor', '--only', 'to'], ['tool\\ simulator']],
  [['rehearsal', 'train', 'g'], ['grpo']],
  [
    ['rehearsal', 'run', 'desk', 'lamp', '--agent', ''],
    ['gold', 'scripted', 'human'],
  ],
  [['rehearsal', 'debug', 'desk', 'lamp', '--user', 'ag'], ['agenda']],
  [['rehearsal', 'train', 'sft', '--profile', 'g'], ['gpu']],
  [['rehearsal', 'new', 'y', '--template', 's'], ['support-desk']],
  [['rehearsal', 'new', 'z', '--sample', 'o'], ['order-desk']],
  [[commandLine, 'run', 'domains/order-desk', 'lamp-v'], ['lamp-variant']],
  [[commandLine, 'debug', 'nowhere', ''], []],
  // Files are the default of bash.
  [['rehearsal', 'eval', 'desk', '--out', ''], []],
  [['rehearsal', 'eval', ''], []],
])('bash completes %j as %j', async (words, expected) => {
  expect(await completedInBash(words)).toEqual(expected);
});

test('the scripts for zsh and fish complete the task of run and debug, and of no other command', async () => {
  const scripts = [await rehearsal('completion', 'zsh'), await rehearsal('completion', 'fish')].map(({ out }) => out);
  expect(scripts[0]?.match(/^ {4}\w+\)(?=\n(?: {6,}(?![; ]).*\n)*? {8}'2: : _rehearsal_tasks)/gm)).toEqual([
    '    run)',
    '    debug)',
  ]);
  expect(scripts[1]?.match(/'__rehearsal_is \w+ 3' -f -a '\(__rehearsal_tasks\)'/g)).toHaveLength(2);
});

/** The rest of a script that completes the task of a typed line in a shell that a machine may not have. */
const probes = {
  zsh: '\ncompadd() { print -l -- "${@:2}" }; program=$1; _rehearsal_tasks $2 | grep "^$3"',
  fish: '\nfunction rehearsal; $command $argv; end; complete -C "rehearsal run $argv"',
} as const;
const has = (shell: string) => spawnSync(shell, ['-c', ':'], { stdio: 'ignore' }).status === 0;

test.runIf(has('zsh'))('zsh completes a task', async () => {
  const { out } = await rehearsal('completion', 'zsh');
  const script = `compdef() { }\n${out}${probes.zsh}`;
  const argv = ['-f', '-c', script, 'zsh', commandLine, 'domains/order-desk', 'lamp-v'];
  expect(spawnSync('zsh', argv, { encoding: 'utf8' })).toMatchObject({ stdout: 'lamp-variant\n', stderr: '' });
});

test.runIf(has('fish'))('fish completes a task', async () => {
  const { out } = await rehearsal('completion', 'fish');
  const argv = ['--no-config', '-c', `set command ${commandLine}\n${out}${probes.fish}`, 'domains/order-desk lamp-v'];
  expect(spawnSync('fish', argv, { encoding: 'utf8' })).toMatchObject({ stdout: 'lamp-variant\n', stderr: '' });
});

test.each(['bash', 'zsh', 'fish'])('the script for %s has every command, option and value', async (shell) => {
  const { out } = await rehearsal('completion', shell);
  const words = commands.flatMap(({ options, actions }) => [
    ...options.flatMap(({ name, choices }) => [name, ...choices.flatMap((choice) => choice.split(' '))]),
    ...actions,
  ]);
  expect([...commandNames, ...words].filter((word) => !out.includes(word))).toEqual([]);
});
