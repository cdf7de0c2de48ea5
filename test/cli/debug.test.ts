import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { descendantsOf } from '../../scripts/processTree.ts';
import { main } from '../../src/cli/main.ts';
import type { Io } from '../../src/cli/terminal/io.ts';
import { readRecording } from '../../src/engine/shell/records/recording.ts';
import { commandLine } from '../support/commandLine.ts';
import { completion, endpoint } from '../support/endpoint.ts';
import { isRunning } from '../support/processes.ts';
import { inFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { type Printed, rehearsal, rehearsalTyped } from '../support/terminal.ts';
import { until } from '../support/until.ts';

const root = temporaryFolder('rehearsal-debug');
let runs = 0;
const fresh = () => join(root, String(++runs));
const task = ['domains/order-desk', 'lamp-variant'];
const asking = 'I can change the desk lamp in W1138 to white. The items can be changed only once. Shall I do that?';

function scriptOf(...lines: readonly string[]): string {
  const path = `${fresh()}.txt`;
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

/** Runs a script of commands against a task. RUN replaces the folder of recordings in the output. */
async function debugged(lines: readonly string[], ...options: readonly string[]): Promise<Printed> {
  const out = fresh();
  const printed = await rehearsal('debug', ...task, '--out', out, ...options, '--script', scriptOf(...lines));
  return { ...printed, out: printed.out.replace(/^recording \S*\/(?=[^/\s]+$)/gm, 'recording RUN/') };
}

/** Types lines as a person does. After the last one the input ends. */
const typed = (lines: readonly string[], ...options: readonly string[]) =>
  rehearsalTyped(lines, 'debug', ...task, '--out', fresh(), ...options);

test('a whole session: start, break, step, back, edit, fork, why, continue, reward', async () => {
  const { code, out, err } = await debugged([
    '# What docs/tutorial.md tells, and a fork without an edit.',
    'break rule confirm-before-write',
    'step',
    'continue',
    '/why',
    'back',
    `edit message ${asking}`,
    'step',
    'continue',
    'fork',
    'step',
    'where',
    'delete all',
    'continue',
    '/why',
    'reverse',
    'quit',
  ]);
  expect([code, err]).toEqual([0, '']);
  await expect(out).toMatchFileSnapshot('golden/debug.txt');
});

const completions: readonly (readonly [typed: string, words: readonly string[]])[] = [
  ['con', ['continue']],
  ['/re', ['/reverse', '/request', '/resample']],
  ['break ru', ['rule']],
  ['break rule confirm', ['confirm-before-write']],
  ['b change_i', ['change_item']],
  ['break role ', ['user', 'agent']],
  ['break row orders/W1138', ['W1138']],
  ['break turn 2 if mess', ['messages']],
  ['delete a', ['all']],
  ['edit arg', ['argument', 'args']],
  ['edit row orders/W1138/st', ['status']],
  ['print db.orders.W1138.st', ['status']],
  ['show mess', ['Messages']],
  ['help wh', ['where', 'why']],
  ['take u', ['user']],
  ['/call get_order ', ['{"order_id": ""}']],
  ['where ', []],
];

test('Tab completes commands, and the names that they take', async () => {
  const found: (readonly string[] | undefined)[] = [];
  const io = {
    out: () => undefined,
    err: () => undefined,
    terminal: false,
    interactive: true,
    cwd: process.cwd(),
    environment: {},
    signal: new AbortController().signal,
    readLine: (async (_, __, complete) => {
      for (const [typed] of completions) found.push((await complete?.(typed))?.[0]);
      return 'quit';
    }) satisfies Io['readLine'],
  };
  expect(await main(['debug', ...task, '--out', fresh()], io)).toBe(0);
  expect(completions.map(([typed], index) => [typed, found[index]])).toEqual(completions);
});

test('the run of a session describes its tools as run does, so its metrics are the same', async () => {
  const [session, run] = [fresh(), fresh()];
  await rehearsal('debug', ...task, '--out', session, '--script', scriptOf('delete all', 'continue'));
  await rehearsal('run', ...task, '--out', run);
  const toolsIn = async (folder: string) => {
    const { run: about, metrics } = JSON.parse((await rehearsal('report', folder, '--json')).out);
    return [about.tools, metrics.tools];
  };
  expect(await toolsIn(session)).toEqual(await toolsIn(run));
  expect((await toolsIn(run))[0]).not.toEqual([]);
});

test('the call that a rule is checked on can be printed', async () => {
  const { out } = await debugged(['break rule confirm-before-write', 'continue', 'print tool', 'print args.order_id']);
  expect(out).toMatch(/^"change_item"$[\s\S]*^"W1138"$/m);
});

test('a judge is asked with the settings of its seat, in a fork too, and recorded', async () => {
  const temperatures: unknown[] = [];
  const url = await endpoint((_, body) => {
    temperatures.push(JSON.parse(body).temperature);
    return completion({ content: '{"holds": true, "reason": "It does."}' });
  });
  const out = fresh();
  const judge = ['--agent', 'gold', '--judge', `openai:fair@${url}`, '--set', 'judge.temperature=0.5'];
  const script = scriptOf('continue', 'reverse', 'fork', 'continue');
  const { code, err } = await rehearsal('debug', ...task, '--out', out, ...judge, '--script', script);
  expect([code, err]).toEqual([0, '']);
  expect(temperatures).toEqual([0.5, 0.5]);
  const recordings = readdirSync(out).filter((name) => name.endsWith('.traj.jsonl'));
  const judges = recordings.map((name) => readRecording(join(out, name)).lines[0]?.event);
  expect(judges).toMatchObject([{ seats: { judge: 'openai:fair' } }, { seats: { judge: 'openai:fair' } }]);
});

inFullSuite('the same script prints the same text again', async () => {
  const lines = ['break tool change_item', 'continue', 'continue', `edit argument variant = brass`, 'continue', '/why'];
  const [one, other] = [await debugged(lines), await debugged(lines)];
  expect(one.code).toBe(0);
  expect(other).toEqual(one);
});

inFullSuite('a rollout without a model or a key can be played by the gold seat', async () => {
  const { code, out } = await debugged(['continue', 'continue'], '--agent', 'gold');
  expect([code, out]).toEqual([0, expect.stringContaining('REWARD 1  database and communicate held')]);
});

const stops: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['a tool', ['break tool get_order', 'continue'], /stopped: tool get_order is called$/m],
  [
    'a turn',
    ['break turn 3', 'continue'],
    /^step \d+, turn 3: agent calls list_variants .*\n {2}stopped: turn 3 begins$/m,
  ],
  [
    'a row',
    ['delete all', 'break row orders/W1138', 'continue'],
    /stopped: orders\.W1138 is written\n(?: {2}changed: .*\n)+/,
  ],
  [
    'a field',
    ['delete all', 'break row orders.W1138.items_changed', 'continue'],
    /stopped: orders\.W1138\.items_changed is written/,
  ],
  ['a table', ['delete all', 'break row handoffs', 'continue'], /stopped: handoffs is written/],
  ['a reading', ['break read orders/W1138', 'continue'], /stopped: orders\.W1138 is read by get_order/],
  ['a condition', ['delete all', 'break role agent if turn > 4', 'continue'], /^step \d+, turn 5: /m],
  [
    'an error of a tool',
    ['delete all', 'break toolError', 'continue'],
    /stopped: Error: the items of W1138 were changed before/,
  ],
  [
    'the last breakpoint',
    ['break tool get_order', 'continue', 'continue', 'reverse'],
    /tool get_order is called(?!.*tool get_order is called)/s,
  ],
  ['a shorter name', ['b tool get_order', 'c', 's', 'n', '/back', 'p turn'], /> p turn\n\d\n/],
];

test.each(sampled(stops, 10))('a script stops at %s', async (_, lines, shown) => {
  const { code, out, err } = await debugged(lines);
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(shown);
});

inFullSuite('breakpoints are listed with the names by which they are deleted', async () => {
  const { out } = await debugged([
    'break tool get_order',
    'break',
    'delete 1',
    'delete violation',
    'break',
    'continue',
  ]);
  expect(out).toContain(
    '> break\n  1           tool get_order\n  violation   Stop when a rule of the policy is violated\n',
  );
  expect(out).toContain('> break\n  there are no breakpoints\n');
  expect(out.split('stopped: ').at(-1)).toMatch(/^reward 0/);
});

test('a row, an argument, a message by its number and a turn are edited, each in a fork', async () => {
  const { code, out, err } = await debugged([
    'continue',
    'edit row orders/W1138/status = shipped',
    'print db.orders.W1138.status',
    'edit argument variant = brass',
    `edit messages[7] = ${asking}`,
    'print messages[7]',
    'back',
    `say ${asking}`,
  ]);
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(
    /stopped: forked: continues from the edited value.*> print db\.orders\.W1138\.status\n"shipped"/s,
  );
  expect(out).toMatch(/stopped: forked: continues from the edited call\n {2}call: .*"variant":"brass"/);
  expect(out).toMatch(new RegExp(`> edit messages\\[7\\].*agent {5}${RegExp.escape(asking)}`, 's'));
  expect(out).toMatch(/fork: the agent's turn was typed/);
});

inFullSuite('a row and a message are edited by their expressions, too', async () => {
  const edited = (line: string) => debugged(['continue', line, 'print db.orders.W1138.status', 'print messages[7]']);
  expect((await edited('edit db.orders.W1138.status = "shipped"')).out).toContain('\n"shipped"\n');
  expect((await edited(`edit messages[7] = ${asking}`)).out).toContain(`agent     ${asking}`);
});

inFullSuite('what a step has is shown by its name', async () => {
  const { code, out } = await debugged(['continue', 'show', 'show messages', 'show rollout', 'print task.id']);
  expect(code).toBe(0);
  expect(out).toMatch(/> show\n {2}Messages\n {2}Database\n/);
  expect(out).toMatch(/ {2}8 agent {2}change_item\(\{"order_id":"W1138"/);
  expect(out).toMatch(/ {2}task {2}lamp-variant\n/);
});

test.each([
  ['break confirm-before-write', 'breakpoint 1: rule confirm-before-write'],
  ['break get_order if turn > 1', 'breakpoint 1: tool get_order if turn > 1'],
])('%s needs no kind', async (line, words) => {
  expect((await debugged([line])).out).toContain(words);
});

test('help of a command has its kinds, and a step without changes has an answer', async () => {
  const { out, err } = await typed(['help break', 'help edit', 'show changed']);
  expect(err).toBe('');
  expect(out).toMatch(
    /break, b .*\nKinds of breakpoints: rule ID.*[\s\S]*edit message TEXT .*\nWhat you can edit: message TEXT/,
  );
  expect(out).toContain('  nothing changed in this step\n');
});

test('an argument that the call does not have is refused with those that it has', async () => {
  const { err } = await typed([
    'break tool change_item',
    'continue',
    'continue',
    'edit argument x=3',
    'edit argument varant = brass',
  ]);
  expect(err).toBe(`the call of change_item has no argument "x". It has order_id, product, variant
the call of change_item has no argument "varant". It has order_id, product, variant. Did you mean "variant"?
`);
});

const mistakes: readonly (readonly [string, RegExp])[] = [
  ['contineu', /there is no command "contineu"\. Did you mean "continue"\?/],
  ['/wy', /there is no command "wy"\. Did you mean "why"\?/],
  ['fly away', /there is no command "fly"\. help lists the commands/],
  ['break rul confirm-before-write', /"rul" is not a kind of breakpoint\. Did you mean "rule"\?/],
  ['break policy.md:16', /policy\.md:16 is a line\. In a terminal, name what is on it/],
  ['break nothing-like-it', /"nothing-like-it" is not a kind of breakpoint/],
  ['break at noon', /"at" is not a kind of breakpoint\. Expected rule, tool, /],
  ['break rule', /write break rule ID/],
  [
    'break rule confirm-before-wirte',
    /no rule "confirm-before-wirte" in this domain\. Did you mean "confirm-before-write"\?/,
  ],
  ['break tool get_ordr', /no tool "get_ordr" in this domain\. Did you mean "get_order"\?/],
  ['break turn soon', /"turn soon" is not a breakpoint: write break turn N/],
  ['step 3', /step takes no argument, so "3" means nothing/],
  ['st', /"st" may be step or stop\. Type more of it/],
  ['edit mesage Hello', /there is no edit mesage\. Did you mean "edit message"\?/],
  ['print db.orders.W1138.statu', /there is no db\.orders\.W1138\.statu at step 0\. Did you mean "status"\?/],
  ['break row ordrs/W1138', /there is no table "ordrs" in db\. Did you mean "orders"\?/],
  ['break tool get_order if turn >', /"turn >" is not an expression/],
  ['delete', /write delete and a number, a name or all:\n {2}violation/],
  ['delete 7', /there is no breakpoint "7"/],
  ['edit', /write edit message TEXT, edit argument NAME = VALUE/],
  ['edit message Hello', /there is no message yet/],
  ['edit row orders/W1138/status', /write edit row TABLE\/ID\/FIELD = VALUE/],
  ['edit row orders/W1138/status = pending', /it has this value already: nothing was edited/],
  ['break constructor x', /"constructor" is not a kind of breakpoint/],
  ['edit row orders/W1138/statos = shipped', /db\.orders\.W1138 has no statos\. Did you mean "status"\?/],
  ['break row orders/W1138/statos', /db\.orders\.W1138 has no statos\. Did you mean "status"\?/],
  ['edit result {"status": "shipped"}', /a result of a tool cannot be edited\. Edit the call/],
  ['print', /write an expression/],
  ['print launch()', /is not an expression/],
  ['print db.orders.W9.status', /there is no db\.orders\.W9\.status at step 0/],
  ['print call', /"call" is unknown; a path starts with .*, task\. Did you mean "calls"\?$/m],
  ['show mesages', /there is no "mesages" here\. Did you mean "Messages"\?/],
  ['take lamp', /name the seat: \/take agent or \/take user/],
  ['turn 0', /name a turn by its number/],
  ['say', /type the message: \/say TEXT/],
  ['stop', /only a user that you play can end the conversation/],
];

test('each wrong line has an error message, and the session continues', async () => {
  const { code, out, err } = await typed([...mistakes.map(([line]) => line), 'print turn']);
  expect(code).toBe(0);
  for (const [line, message] of mistakes) expect(err, line).toMatch(message);
  expect(out).toContain('\n0\n');
});

test.each(sampled(mistakes, 14))(
  'a script ends with exit code 2 at its first line that fails: %s',
  async (line, message) => {
    const { code, out, err } = await debugged(['# first', '', line, 'print turn']);
    expect(code).toBe(2);
    expect(err).toMatch(/^rehearsal debug: \S+\.txt:3: /);
    expect(err).toMatch(message);
    expect(out).not.toContain('> print turn');
  },
);

test('a turn that is not reached, a command that is not whole and an edit without a call have an answer', async () => {
  const { out, err } = await typed(['s', 's', 'edit argument variant = brass', 'cont', 'delete all', 'turn 99', 'c']);
  expect(out).toContain('stopped: rule confirm-before-write violated');
  expect(out).toMatch(/^there is no turn 99: the rollout ended in turn 7$/m);
  expect(err).toMatch(/^the last message makes no call\./m);
  expect(out).toContain('\nThe rollout is at its end, so the session ends.\n');
  expect(out).toMatch(/\nTo open it again: npx rehearsal debug \S+lamp-variant\.0\.traj\.jsonl\n$/);
});

inFullSuite('a command after the end of the session fails; of the rollout it does not', async () => {
  const { code, err } = await debugged(['delete all', 'continue', 'back', 'continue', 'continue', 'print turn']);
  expect([code, err]).toEqual([2, expect.stringMatching(/:6: the session has ended\n$/)]);
});

const refused: readonly (readonly [readonly string[], RegExp])[] = [
  [[], /name the folder of a domain/],
  [['domains/order-desk'], /name a task; /],
  [['domains/order-desk', 'lamp-varient'], /there is no task "lamp-varient"; .* has lamp-variant/],
  [['no/where', 'lamp-variant'], /domain\.yaml/],
  [['nothing.traj.jsonl'], /there is no such recording/],
  [['nothing.traj.jsonl', 'lamp-variant'], /unexpected argument "lamp-variant"/],
  [[...task, 'more'], /unexpected argument "more"/],
  [[...task, '--agent', 'sorcerer'], /"sorcerer" is not a seat/],
  [[...task, '--step', '3'], /--step cannot be used with a task; it takes --agent/],
  [['nothing.traj.jsonl', '--seed', '3'], /--seed cannot be used with a recording; it takes --domain/],
  [[...task, '--trial', 'x'], /--trial is a whole number/],
  [[...task, '--timeout', 'long'], /--timeout is a number of seconds/],
  [[...task, '--script', '/dev/null'], /the script \/dev\/null cannot be read: is a device/],
  [[...task, '--script', 'no/script.txt'], /the script no\/script\.txt cannot be read: there is no such file/],
];

test.each(sampled(refused, 3))('debug %j cannot begin', async (argv, message) => {
  const { code, out, err } = await rehearsal('debug', ...argv);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(message);
});

test('a person types commands, gets error messages, and ends the session with the end of the input', async () => {
  const { code, out, err, asked } = await typed([
    '',
    'brake rule confirm-before-write',
    'continue',
    'help break',
    'help',
  ]);
  expect([code, err]).toEqual([0, 'there is no command "brake". Did you mean "break"?\n']);
  expect(new Set(asked)).toEqual(new Set(['debug> ']));
  expect(out).toMatch(/ {2}break, b \[KIND NAME \[if EXPR\]\] +sets a breakpoint; without arguments, lists them/);
  expect(out).toMatch(/As in the Debug Console:\nExpressions: .*\/take user /s);
  expect(out).toMatch(/\nrecording \S+lamp-variant\.0\.traj\.jsonl\nTo open it again: /);
});

test('in the turn of a person plain text is a message, and only a line that begins with / is a command', async () => {
  const lines = [
    'delete all',
    'continue',
    'quit please',
    '/print turn',
    '/back',
    'step',
    '/call get_order {}',
    '/stop',
  ];
  const { code, out, err, asked } = await typed(lines, '--agent', 'gold', '--user', 'human');
  expect(code).toBe(0);
  expect(out).toContain('A line is your message. Commands begin with /, such as /where');
  expect(out).toContain('user      quit please');
  expect(out).toMatch(/\n\d+\nstep \d+/);
  expect(err).toBe('the user makes no calls: type what the user says\n');
  expect(asked).toContain('user> ');
  expect(out).toMatch(/the user ends the conversation/);
});

inFullSuite('a person takes over the user from a step', async () => {
  const lines = ['continue', 'back', `edit message ${asking}`, '/take user', 'No, leave it as it is.', '/stop'];
  const { code, out, err } = await typed(lines);
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/fork: a person took the user's seat at step 15/);
  expect(out).toMatch(/your turn as the user: type what you say \(\/stop ends the conversation\)\n/);
  expect(out).toMatch(/user {6}No, leave it as it is\./);
});

inFullSuite('control sequences and line breaks of a model do not change what is printed', async () => {
  const content = 'Hello\u001b[2J\u001b]52;c;ZXZpbA==\u0007\u009b2J\u202e there\n  9 user  forged';
  const url = await endpoint(() => completion({ content }));
  const lines = ['break role agent', 'continue', 'show messages', 'print messages[1]', 'where'];
  const { code, out } = await debugged(lines, '--agent', `openai:m@${url}`);
  expect(code).toBe(0);
  expect(out).toContain('Hello there');
  for (const control of ['\u001b', '\u0007', '\u009b', '\u202e']) expect(out).not.toContain(control);
  expect(out).toContain('2 agent  Hello there\n      9 user  forged\n');
});

inFullSuite('a recording is opened at a step, and forked', async () => {
  const out = fresh();
  await rehearsal('run', ...task, '--out', out);
  const recording = join(out, 'lamp-variant.0.traj.jsonl');
  const script = scriptOf('where', 'back', `edit message ${asking}`, 'delete all', 'continue');
  const printed = await rehearsal('debug', recording, '--step', '16', '--script', script);
  expect([printed.code, printed.err]).toEqual([0, '']);
  expect(printed.out).toMatch(/\nstep 16, turn 4: .*\n {2}stopped: rule confirm-before-write violated: /);
  expect(printed.out).toContain('REWARD 1');
  expect(readdirSync(out)).toContain('lamp-variant.0.fork-1.traj.jsonl');
});

inFullSuite('verify says that a rollout was left for its fork', async () => {
  const out = fresh();
  const script = scriptOf('continue', 'back', `edit message ${asking}`, 'delete all', 'continue');
  expect((await rehearsal('debug', ...task, '--out', out, '--script', script)).code).toBe(0);
  const { code, out: said } = await rehearsal('verify', out);
  expect([code, said]).toEqual([1, expect.stringContaining('The debugger left the others for their forks')]);
});

inFullSuite('as data, each line is an object with its type', async () => {
  const script = scriptOf('continue', 'print turn');
  const { out } = await rehearsal('debug', ...task, '--out', fresh(), '--script', script, '--json');
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(new Set(lines.map(({ type }) => type))).toEqual(new Set(['output', 'stop', 'command', 'answer', 'end']));
  expect(lines).toContainEqual(expect.objectContaining({ type: 'stop', step: 16, reason: 'exception' }));
  expect(lines).toContainEqual({ type: 'answer', text: '4' });
});

inFullSuite('- reads the script from standard input', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--no-warnings', commandLine, 'debug', ...task, '--out', fresh(), '--script', '-'],
    { input: 'continue\nprint trun\n', encoding: 'utf8' },
  );
  expect([status, stderr]).toEqual([2, expect.stringMatching(/^rehearsal debug: standard input:2: "trun" is unknown/)]);
  expect(stdout).toContain('> continue\n');
});

test('a recording is never overwritten: the same --out again is refused', async () => {
  const out = fresh();
  const again = ['debug', ...task, '--out', out, '--script', scriptOf('delete all', 'continue')];
  expect((await rehearsal(...again)).code).toBe(0);
  const { code, err } = await rehearsal(...again);
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/lamp-variant\.0\.traj\.jsonl is a recording already\. Name a new/),
  ]);
  expect(await rehearsal('verify', out)).toMatchObject({ code: 0 });
});

inFullSuite('Ctrl+C ends a session that waits for a script on standard input', async () => {
  const { child, code, out } = waiting('--script', '-');
  child.stdin?.write('print turn\n');
  await until('the first command', () => out().includes('> print turn'));
  child.kill('SIGINT');
  expect(await code).toBe(2);
});

/** Starts a session in a process whose input stays open. */
function waiting(...options: readonly string[]) {
  const argv = ['--no-warnings', commandLine, 'debug', ...task, '--out', fresh(), ...options];
  const child = spawn(process.execPath, argv, { stdio: ['pipe', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, code, out: () => out };
}

const endings: readonly (readonly [string, (child: ChildProcess) => unknown, number])[] = [
  ['the end of the input', (child) => child.stdin?.end(), 0],
  ['Ctrl+C', (child) => child.kill('SIGINT'), 2],
  ['a request to terminate', (child) => child.kill('SIGTERM'), 2],
];

test.each(sampled(endings, 3))('%s ends the session with its processes', async (_, end, expected) => {
  const { child, code, out } = waiting();
  await until('the first stop', () => out().includes('before the first message'));
  const workers = descendantsOf(child.pid ?? 0);
  expect(workers.length).toBeGreaterThan(0);
  end(child);
  expect(await code).toBe(expected);
  await until('the end of every process', () => !workers.some(isRunning));
});
