import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { commandNames, loadCommands } from '../../src/cli/commands.ts';
import { fitted } from '../../src/cli/options/help.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal, rehearsalIn } from '../support/terminal.ts';

const commands = await loadCommands();
const scratch = temporaryFolder('rehearsal');
const broken = join(scratch, 'broken');
const parcels = 'domains/parcel-desk';

test('each command is loaded by its name', () => {
  expect(commands.map(({ name }) => name)).toEqual(commandNames);
});

test('the overview names every command', async () => {
  const { code, out } = await rehearsal('--help');
  expect(code).toBe(0);
  expect(commands.filter(({ name }) => !out.includes(`  ${name}`))).toEqual([]);
});

test('docs/overview.md lists every command', () => {
  const page = readFileSync(inRoot('docs/overview.md'), 'utf8');
  expect(commandNames.filter((name) => !page.includes(`\`rehearsal ${name}`))).toEqual([]);
});

test('a command that does not exist names the one to play a conversation with', async () => {
  const { code, err } = await rehearsal('play', parcels);
  expect(code).toBe(2);
  expect(err).toBe(
    'rehearsal: there is no command "play". To play a conversation yourself, run: npx rehearsal run DOMAIN TASK --agent human\n',
  );
});

test('an evaluation of a domain without tasks names the files that need another name', async () => {
  const folder = join(temporaryFolder('rehearsal-renamed'), 'desk');
  cpSync(parcels, folder, { recursive: true });
  for (const name of readdirSync(join(folder, 'tasks')))
    renameSync(join(folder, 'tasks', name), join(folder, 'tasks', name.replace('.task.yaml', '.yaml')));
  const { code, err } = await rehearsal('eval', folder);
  expect(code).toBe(2);
  expect(err).toMatch(/has no tasks: a file of tasks in tasks\/ ends in \.task\.yaml; rename \S+\.yaml/);
});

test('the overview begins with the commands of a first day', async () => {
  const { out } = await rehearsal('--help');
  const names = out
    .split('\n')
    .slice(2, 8)
    .map((line) => line.trim().split(' ')[0]);
  expect(names).toEqual(['new', 'check', 'run', 'debug', 'eval', 'explain']);
});

test.each(commands)('$name --help says how it is called and names every option', async ({ name, options }) => {
  const { code, out } = await rehearsal(name, '--help');
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`^rehearsal ${name}`));
  expect(options.map((option) => `  --${option.name}`).filter((line) => !out.includes(line))).toEqual([]);
});

test.each(commands)('$name describes every option and names its value', ({ options }) => {
  expect(options.filter(({ description }) => description === '')).toEqual([]);
  expect(options.filter(({ type, value }) => (type === 'string') !== (value !== undefined))).toEqual([]);
});

test('a line of the help has at most 120 columns', () => {
  const lines = commands.flatMap(({ help }) =>
    fitted(help)
      .split('\n')
      .filter((line) => line.startsWith('  ')),
  );
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
});

test.each(commands)('help $name prints the same as $name --help', async ({ name }) => {
  expect(await rehearsal('help', name)).toEqual(await rehearsal(name, '--help'));
});

test('help without a command prints the overview', async () => {
  expect(await rehearsal('help')).toEqual(await rehearsal('--help'));
  expect(await rehearsal('help', 'help')).toEqual(await rehearsal('--help'));
});

test.each([
  ['docs/rule-language', 0, /^# The rule language\n/],
  ['docs/reference/training.md', 0, /^# /],
  ['docs/rule-languag', 2, /^rehearsal: there is no page docs\/rule-languag\. Did you mean "docs\/rule-language"\?\n$/],
  ['first-domain', 0, /^# /],
  ['docs', 0, /^# /],
  ['docs/nothing-like-it', 2, /`npx rehearsal help docs\/overview` lists the pages\.\n$/],
  ['docs/../README', 2, /there is no page docs\/\.\.\/README/],
])('help %s prints the page or says what is there', async (page, code, words) => {
  const printed = await rehearsal('help', page);
  expect([printed.code, printed.out + printed.err]).toEqual([code, expect.stringMatching(words)]);
});

test('the pages that messages name exist', () => {
  const files = globSync(['src/**/*.{ts,tsx}', 'trainer/README.md'], { cwd: inRoot() });
  const named = files.flatMap((file) =>
    [...readFileSync(inRoot(file), 'utf8').matchAll(/rehearsal help (docs\/[\w/-]+)/g)].map(([, page]) => `${page}.md`),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((page) => !existsSync(inRoot(page)))).toEqual([]);
});

test('a task is named by the path of its file, seen from where a person is', async () => {
  const [folder, file] = ['order-desk', 'order-desk/tasks/lamp-variant.task.yaml'];
  const byId = await rehearsalIn('domains', 'call', folder, 'get_order', '--task', 'lamp-variant');
  const byPath = await rehearsalIn('domains', 'call', folder, 'get_order', '--task', file);
  expect(byPath).toEqual(byId);
  const { err } = await rehearsalIn('domains', 'eval', folder, '--tasks', file, '--split', 'test');
  expect(err).toMatch(/no task of .* matches these options/);
});

const mentioned = new RegExp(`(?<!npx )(?<![\\w./@-])rehearsal (?:${commandNames.join('|')})\\b`);
const isUsage = /^\s*(?:\/?\*|\/\/|rehearsal |source <\(|.*\busage: [`']rehearsal |<title>)/;

test('every command that a text tells a person to run starts with npx, which finds it', () => {
  const lines = globSync('src/**/*.{ts,tsx}').flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .map((line, index) => ({ at: `${file}:${index + 1}`, line })),
  );
  const bare = lines.filter(({ line }) => mentioned.test(line) && !isUsage.test(line));
  expect(bare).toEqual([]);
});

const mistakes: readonly { readonly argv: readonly string[]; readonly message: RegExp }[] = [
  {
    argv: ['run', parcels, 'reschedule-P4'],
    message: /redirect-P13 and \d+ more\. Did you mean "reschedule-P\d+"\?$/m,
  },
  { argv: ['--vresion'], message: /^rehearsal: unknown option "--vresion". Did you mean "--version"\?\n$/ },
  { argv: ['--json'], message: /^rehearsal: unknown option "--json". An option follows its command: / },
  { argv: ['new', 'x', '--template', 'suport-desk'], message: /not "suport-desk". Did you mean "support-desk"\?$/m },
  { argv: ['new', 'x', '--sample', 'oder-desk'], message: /not "oder-desk". Did you mean "order-desk"\?$/m },
  { argv: ['import', 'tau3'], message: /not "tau3"; or .*\. Did you mean "tau\d"\?$/m },
  { argv: ['train', 'sft', parcels, '--profile', 'gpuu'], message: /not "gpuu". Did you mean "gpu"\?$/m },
  { argv: ['eval', parcels, '--gate', 'rewrd>=0.5'], message: /there is no metric "rewrd". Did you mean "reward"\?$/m },
  { argv: ['fly'], message: /there is no command "fly". Commands: new, check, run, / },
  { argv: ['evaluate'], message: /there is no command "evaluate". Did you mean "eval"\?\n$/ },
  { argv: ['version'], message: /there is no command "version". Did you mean "--version"\?\n$/ },
  { argv: ['chekc'], message: /there is no command "chekc". Did you mean "check"\?\n$/ },
  { argv: ['help', 'chekc'], message: /there is no command "chekc". Did you mean "check"\?\n$/ },
  { argv: ['eval', parcels, '--trails', '2'], message: /Unknown option '--trails'\. Did you mean "--trials"\?\n$/ },
  { argv: ['eval', parcels, '--aprove=x'], message: /Unknown option '--aprove'\. Did you mean "--approve"\?\n$/ },
  {
    argv: ['eval', parcels, '--tasks', 'reschedul-P46'],
    message: /no task reschedul-P46; .*\. Did you mean "reschedule-P46"\?/,
  },
  { argv: ['eval', parcels, '--persona', 'breif'], message: /has the persona breif\. Did you mean "brief"\?/ },
  { argv: ['preview', parcels, 'breif'], message: /there is no persona breif; .*\. Did you mean "brief"\?/ },
  { argv: ['draft', 'lst', parcels], message: /not "lst"\. Did you mean "list"\?/ },
  { argv: ['train', 'resme', 'run-1'], message: /"resme" is not an operation of train\. Did you mean "resume"\?/ },
  {
    argv: ['run', parcels, join(parcels, 'tasks/test.task.yaml')],
    message: /test\.task\.yaml has 32 tasks; name one: .*reschedule-P46/,
  },
  {
    argv: ['run', parcels, 'tasks/test.task.yaml'],
    message: /test\.task\.yaml has 32 tasks; name one: .*reschedule-P46/,
  },
  {
    argv: ['check', join(parcels, 'tasks/test.task.yaml')],
    message: /there is no domain here .* Name the folder of the domain first: ".*parcel-desk"\n$/,
  },
  {
    argv: ['run', join(parcels, '../reschedule-P46')],
    message: /there is no domain here .* Domains in the same folder: .*help-line, .*parcel-desk\n$/,
  },
  { argv: ['run'], message: /name the folder of a domain/ },
  { argv: ['run', broken], message: /there is no domain here/ },
  { argv: ['debug', 'order-desk', 'lamp-variant'], message: /here .*\. Did you mean "domains\/order-desk"\?\n$/ },
  {
    argv: ['eval', `${parcels.slice(0, -1)}c`],
    message: /there is no domain here .* Did you mean ".*parcel-desk"\?\n$/,
  },
  { argv: ['run', parcels], message: /name a task; .* has / },
  { argv: ['run', parcels, 'no-such-task'], message: /there is no task "no-such-task"/ },
  {
    argv: ['run', parcels, '--task=x'],
    message: /Unknown option '--task'\. TASK is not an option: npx rehearsal run DOMAIN TASK \[options\]\n$/,
  },
  {
    argv: ['run', parcels, 'x', '--persona=y'],
    message: /The persona follows the task: npx rehearsal run DOMAIN TASK@PERSONA /,
  },
  { argv: ['run', parcels, 'no-such-task', '--fly'], message: /Unknown option '--fly'\. Run `npx rehearsal help run`/ },
  { argv: ['eval', parcels, '--split', 'dev'], message: /--split is train or test, not "dev"/ },
  { argv: ['eval', parcels, '--trials', 'many'], message: /--trials is a whole number above 0, not "many"/ },
  {
    argv: ['eval', parcels, '--agent', 'sorcerer'],
    message: /"sorcerer" is not a seat for the agent: expected gold, scripted, human, openai.* or agent:FILE/,
  },
  {
    argv: ['run', parcels, 'reschedule-P46', '--agent', 'checkpoint:./no/where'],
    message: /checkpoint:\.\/no\/where: there is no such folder\. A model is smollm2, tiny, a checkpoint's folder/,
  },
  { argv: ['export-model', 'tiny'], message: /name the folder for the model: --out FOLDER/ },
  { argv: ['export-model', 'tiny', '--out', 'x', '--dtype', 'int4'], message: /--dtype is float32 or bfloat16/ },
  { argv: ['serve-model'], message: /name the model: smollm2, tiny, the folder of a checkpoint, or a hub id/ },
  { argv: ['serve-model', './no/where'], message: /\.\/no\/where: there is no such folder/ },
  { argv: ['serve-model', 'tiny', '--dialect', 'x'], message: /--dialect is auto or template or compact, not "x"/ },
  { argv: ['serve-model', 'tiny', '--port', '99999'], message: /--port is a number from 0 to 65535, not "99999"/ },
  {
    argv: ['run', parcels, 'reschedule-P46', '--agent', 'recorded'],
    message: /you cannot choose the seat "recorded": .* "npx rehearsal replay RECORDING" and in the debugger/,
  },
  { argv: ['verify', 'one', 'two'], message: /unexpected argument "two" in: rehearsal verify RUN_FOLDER\|RECORDING/ },
  { argv: ['eval', parcels, 'reschedule-P46'], message: /unexpected argument "reschedule-P46" in: rehearsal eval/ },
  { argv: ['report', 'one', 'two'], message: /unexpected argument "two" in: rehearsal report RUN_FOLDER/ },
  { argv: ['eval', parcels, '--trials', '-1'], message: /--trials is a whole number above 0, not "-1"/ },
  { argv: ['eval', parcels, '--gate', 'pass^0>=0.5'], message: /pass\^0 says nothing: the least is pass\^1/ },
  { argv: ['eval', parcels, '--timeout', '9999999'], message: /--timeout is at most 2147483 seconds, not "9999999"/ },
  { argv: ['run', parcels, 'reschedule-P46', '--judge', 'openai:'], message: /the judge is a model, .* not "openai:"/ },
  {
    argv: ['run', parcels, 'reschedule-P46', '--agent', 'openai:m@ftp://host/v1'],
    message: /"ftp:\/\/host\/v1" is not a URL: expected something like http/,
  },
  { argv: ['check', broken], message: /there is no domain here \(a folder with domain\.yaml\)/ },
  { argv: ['eval', parcels, '--timeout', 'long'], message: /--timeout is a number of seconds above 0, not "long"/ },
  { argv: ['eval', parcels, '--timeout', '0'], message: /--timeout is a number of seconds above 0, not "0"/ },
  { argv: ['eval', parcels, '--temperature', 'hot'], message: /--temperature is a number from 0 to 2, not "hot"/ },
  { argv: ['eval', parcels, '--basis', 'mood'], message: /--basis is evaluate or train/ },
  { argv: ['eval', parcels, '--budget-money', '-2'], message: /--budget-money is a number above 0, not "-2"/ },
  {
    argv: ['eval', parcels, '--user-price', '1'],
    message: /--user-price is what a million tokens cost, IN\/OUT, .* not "1"/,
  },
  { argv: ['debug', parcels, 'x', '--trial', '1.5'], message: /--trial is a whole number from 0, not "1\.5"/ },
  {
    argv: ['debug', parcels, 'x', '--max-tokens', 'all'],
    message: /--max-tokens is a whole number above 0, not "all"/,
  },
  {
    argv: ['doctor', '--only', 'seat'],
    message: /--only is one of agent, user, judge, grader, tool simulator, not "seat"/,
  },
  { argv: ['new', 'x', '--mcp', 'y', '--env', 'A=B', '--env', 'C'], message: /--env is NAME=VALUE, not "C"/ },
  {
    argv: ['new', 'x', '--template', 'empty', '--now', 'noon'],
    message: /--now is a date and time such as .*, not "noon"/,
  },
  { argv: ['completion', 'csh'], message: /name the shell: bash, zsh, fish, not "csh"/ },
  { argv: ['replay', 'nothing.traj.jsonl'], message: /there is no such recording/ },
  { argv: ['verify', 'nothing'], message: /there is no such run folder or recording/ },
  { argv: ['shadow', parcels], message: /name the traffic/ },
  { argv: ['shadow', parcels, 'nothing'], message: /nothing: there is no such traffic/ },
  { argv: ['shadow', parcels, scratch], message: /this folder has no recordings/ },
  {
    argv: ['shadow', parcels, parcels, '--gate', 'high'],
    message: /--gate is a share of the turns from 0 to 1, not "high"/,
  },
  { argv: ['serve'], message: /add --stdio/ },
  {
    argv: ['train', 'dream', parcels],
    message: /say what to do: sft\|grpo\|evaluate DOMAIN, or stop\|resume\|follow\|fetch RUN/,
  },
  { argv: ['train', 'resume'], message: /say which run: npx rehearsal train resume RUN/ },
  { argv: ['train', 'resume', join(scratch, 'none')], message: /\/none is not a run: name its folder/ },
  ...[
    { options: ['--steps', 'x'], message: /--steps is a whole number above 0, not "x"/ },
    { options: ['--steps', '0'], message: /--steps is a whole number above 0, not "0"/ },
    { options: ['--set', 'foo'], message: /--set is KEY=VALUE, not "foo"/ },
    { options: ['--model', '/nonexist'], message: /--model \/nonexist: there is no such folder\. A model is smollm2/ },
    { options: ['--model', 'runs/sft/checkpoints/final'], message: /--model runs\/\S+: there is no such folder/ },
    { options: ['--trials', '1000000'], message: /--trials 1000000 makes 64,000,000 rollouts/ },
  ].map(({ options, message }) => ({ argv: ['train', 'sft', parcels, ...options], message })),
  {
    argv: ['train', 'sft', parcels, '--out', join(scratch, 'r'), '--python', '/no/such/python'],
    message: /\/no\/such\/python was not found: Rehearsal needs Python 3\.11 or newer\. Install it/,
  },
  { argv: ['dap', '--port', 'x'], message: /--port is a number from 0 to 65535, not "x"/ },
  { argv: ['dap', '--port', '65536'], message: /--port is a number from 0 to 65535, not "65536"/ },
  { argv: ['dap', '--port', '99999999'], message: /--port is a number from 0 to 65535/ },
  {
    argv: ['eval', parcels, '--trials', '1000000000'],
    message: /--trials 1000000000 makes 96,000,000,000 rollouts, and a run has 1,000,000 at most\. Lower it/,
  },
];

test('a domain that is in the working folder is found for a path that is not', async () => {
  const { code, err } = await rehearsalIn(inRoot('domains'), 'debug', 'domains/order-desk', 'lamp-variant');
  expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/ Did you mean "order-desk"\?\n$/) });
});

const trainings = () => (existsSync('.rehearsal/training') ? readdirSync('.rehearsal/training') : []);

test.each(mistakes)('rehearsal $argv: one message, exit code 2', async ({ argv, message }) => {
  const before = trainings();
  const { code, out, err } = await rehearsal(...argv);
  expect(trainings()).toEqual(before);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(message);
});

/** Arguments that make a command fail when it takes neither a folder nor a recording that could be missing. */
const otherwise: Readonly<Record<string, readonly string[]>> = {
  serve: [],
  dap: ['--port', 'x'],
  doctor: ['--live', 'nowhere'],
  completion: ['nowhere'],
};

test.each(commands)(
  '$name: what could not be done is exit code 2, with one message and nothing else',
  async ({ name }) => {
    const missing = join(scratch, 'nothing-here');
    const kind = name === 'train' ? ['sft'] : [];
    const argv = otherwise[name] ?? [...kind, missing, missing];
    const { code, out, err } = await rehearsal(name, ...argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(new RegExp(`^rehearsal ${name}: .`));
    const json = await rehearsal(name, ...argv, '--json');
    expect(json.code).toBe(2);
    expect(JSON.parse(json.out)).toMatchObject({ error: { message: expect.stringMatching(/./) } });
  },
);

test('with --json the message is data', async () => {
  const { code, out } = await rehearsal('run', parcels, 'no-such-task', '--json');
  expect(code).toBe(2);
  expect(JSON.parse(out)).toMatchObject({ error: { code: 'usage', message: expect.stringContaining('no-such-task') } });
});

test('an error of a tools file names its place once', async () => {
  const folder = join(scratch, 'broken-tools');
  cpSync(parcels, folder, { recursive: true });
  appendFileSync(join(folder, 'tools.ts'), 'const = 1;\n');
  const { err } = await rehearsal('run', folder, 'reschedule-P46', '--out', join(scratch, 'broken-run'));
  expect(err).toMatch(/\/broken-tools\/tools\.ts:\d+(?::\d+)?: /);
  expect(err.match(/\btools\.ts/g)).toHaveLength(1);
});

test('a malformed file is named with its line', async () => {
  writeFileSync(join(scratch, 'domain.yaml'), 'name: desk\nturnCap: many\n');
  const { code, err } = await rehearsal('run', scratch, 't');
  expect(code).toBe(2);
  expect(err).toMatch(/domain\.yaml:2:10 error/);
});
