import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { finishedRollouts } from '../../src/engine/shell/records/ledger.ts';
import { commandLine } from '../support/commandLine.ts';
import { completion, endpoint } from '../support/endpoint.ts';
import { shownBy } from '../support/screen.ts';
import { isFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';

/**
 * Tests the output of the command line in a real terminal, which `script` provides. Without that program, or if it has
 * other options, these tests are skipped; modelWait.test.ts tests the same line without a terminal.
 */
const root = temporaryFolder('rehearsal-terminal');
let runs = 0;
const fresh = () => join(root, String(++runs));
const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Starts the command line in a terminal. `text` grows with what is written to it. */
const inTerminal = (...argv: readonly string[]) =>
  inTerminalWith({ NO_COLOR: undefined, FORCE_COLOR: undefined, CI: undefined }, ...argv);

/** Starts it with these variables, too. */
function inTerminalWith(environment: NodeJS.ProcessEnv, ...argv: readonly string[]) {
  // Without `exec`, some shells remain as a parent process, are interrupted too, and exit with their own code.
  const command = `exec ${[process.execPath, '--no-warnings', commandLine, ...argv].map(quoted).join(' ')}`;
  const env = { ...process.env, REHEARSAL_HOME: join(root, 'home'), TERM: 'xterm-256color', ...environment };
  const child = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  const until = async (wanted: RegExp) => {
    const from = performance.now();
    while (!wanted.test(stripVTControlCharacters(text))) {
      if (performance.now() - from > patienceMs / 2) throw new Error(`${wanted} is not in: ${text}`);
      await new Promise((later) => setTimeout(later, 20));
    }
  };
  return { text: () => text, code, until, press: (keys: string) => child.stdin.write(keys) };
}

/** A limit that only a hung test reaches. */
const patienceMs = 240_000;

const goToEnd = join(root, 'steps');
writeFileSync(goToEnd, 'continue\n');

const esc = '\u001b';
const colours = { user: 36, agent: 32, call: 33, reward: 1 };

test.skipIf(!hasScript)(
  'run shows the conversation in colours, line by line as it happens',
  async () => {
    const { text, code } = inTerminal('run', 'domains/order-desk', 'lamp-variant', '--out', fresh());
    expect(await code).toBe(0);
    for (const [speaker, colour] of Object.entries(colours))
      expect(text()).toMatch(new RegExp(`${esc}\\[${colour}m${speaker} +${esc}\\[0m\\S`));
    expect(text()).toContain(`${esc}[31mVIOLATED  ${esc}[0mconfirm-before-write (makes the reward 0)`);
    const lines = shownBy(text());
    expect(lines.find((line) => line.startsWith('reward'))).toMatch(/^reward {4}reward 0, scored for evaluation:/);
    expect(lines.at(-2)).toMatch(/^recording \S+lamp-variant\.0\.traj\.jsonl$/);
  },
  patienceMs,
);

test.skipIf(!hasScript)(
  'Tab completes a command of debug',
  async () => {
    const { until, press, code } = inTerminal('debug', 'domains/order-desk', 'lamp-variant', '--out', fresh());
    await until(/debug> $/);
    press('qui\t');
    await until(/debug> quit$/);
    press('\r');
    expect(await code).toBe(0);
  },
  patienceMs,
);

const commands = [
  ['call', 'domains/order-desk', 'get_order', '--arguments', '{"order_id": "W1138"}'],
  ['run', 'domains/order-desk', 'lamp-variant', '--out', fresh()],
  ['debug', 'domains/order-desk', 'lamp-variant', '--script', goToEnd, '--out', fresh()],
];

test.skipIf(!hasScript).each(sampled(commands, 3))(
  'NO_COLOR leaves out the colours of %s',
  async (...command) => {
    const { text, code } = inTerminalWith({ NO_COLOR: '1' }, ...command);
    await code;
    expect(text()).toMatch(/result|reward/);
    expect(text()).not.toMatch(new RegExp(`${esc}\\[\\d+m`));
  },
  patienceMs,
);

test.skipIf(!hasScript)(
  'control sequences of a model do not reach the terminal',
  async () => {
    const content = `Hello${esc}[2J${esc}]52;c;ZXZpbA==\u0007${esc}[8m\u009b2J\u202e there`;
    const url = await endpoint(() => completion({ content }));
    const agent = ['--agent', `openai:m@${url}`, '--out', fresh()];
    const { text, code } = inTerminal('run', 'domains/parcel-desk', 'reschedule-P46', ...agent);
    await code;
    expect(text()).toContain('Hello there');
    for (const sequence of [`${esc}[2J`, `${esc}]52`, `${esc}[8m`, '\u009b', '\u202e'])
      expect(text()).not.toContain(sequence);
  },
  patienceMs,
);

test.skipIf(!hasScript)(
  'eval has one progress bar that fills, and the report below it',
  async () => {
    const options = ['--tasks', 'reschedule-*', '--split', 'test', '--agent', 'gold', '--out', fresh()];
    const { text, code } = inTerminal('eval', 'domains/parcel-desk', ...options);
    expect(await code).toBe(0);
    const drawn = [...text().matchAll(new RegExp(`\\r${esc}\\[K\\[#*\\.*\\] (\\d+)/7 mean reward`, 'g'))];
    expect(drawn.map(([, done]) => Number(done))).toEqual(Array.from({ length: 7 }, (_, n) => n + 1));
    const bars = shownBy(text()).filter((line) => line.startsWith('['));
    expect(bars).toEqual(['[####################] 7/7 mean reward 1.00']);
  },
  patienceMs,
);

test.skipIf(!hasScript)(
  'a model that thinks is waited for in a line that counts, and Ctrl+C ends the wait',
  async () => {
    const look = { id: 'c1', type: 'function', function: { name: 'get_parcel', arguments: '{"parcel": "P46"}' } };
    const url = await endpoint((n) => (n === 0 ? completion({ tool_calls: [look] }) : null));
    const run = fresh();
    const agent = ['--agent', `openai:m@${url}`, '--out', run];
    const { text, code, until, press } = inTerminal('run', 'domains/parcel-desk', 'reschedule-P46', ...agent);
    await until(/waiting for the model, (?:[2-9]|\d{2,}) s/);
    expect(shownBy(text()).at(-1)).toMatch(/^waiting for the model, \d+ s$/);
    // The model never answers, so only Ctrl+C ends the command.
    press('\u0003');
    expect(await code).toBe(2);
    const lines = shownBy(text());
    expect(lines.filter((line) => line.includes('waiting for the model'))).toEqual([]);
    expect(lines.join('\n')).toMatch(/ended: the rollout was cancelled$/m);
    expect(finishedRollouts(join(run, 'ledger.jsonl')), 'a rollout to resume').toEqual([]);
  },
  patienceMs,
);

test.skipIf(!hasScript)(
  'a paste of several lines is several turns, and Ctrl+C at the prompt cancels',
  async () => {
    const human = ['--agent', 'human', '--out', fresh()];
    const { text, code, until, press } = inTerminal('run', 'domains/parcel-desk', 'reschedule-P46', ...human);
    await until(/agent> $/);
    press('Hello.\rWhich day?\rOne mo');
    await until(/agent {5}Which day\?[\s\S]*agent> One mo$/);
    press('ment.\r');
    await until(/agent {5}One moment\.[\s\S]*agent> $/);
    press('\u0003');
    expect(await code).toBe(2);
    const said = shownBy(text()).filter((line) => line.startsWith('agent     '));
    expect(said).toEqual(['agent     Hello.', 'agent     Which day?', 'agent     One moment.']);
    expect(text()).toContain('cancelled');
  },
  patienceMs,
);

test.skipIf(!hasScript || !isFullSuite)(
  'debug asks for commands, shows the conversation in colours, and ends with Ctrl+C at the prompt',
  async () => {
    const { text, code, until, press } = inTerminal('debug', 'domains/order-desk', 'lamp-variant', '--out', fresh());
    await until(/debug> $/);
    press('continue\r');
    await until(/stopped: rule confirm-before-write violated.*debug> $/s);
    expect(text()).toContain(`${esc}[${colours.user}m`);
    press('\u0003');
    expect([0, 2]).toContain(await code);
  },
  patienceMs,
);
