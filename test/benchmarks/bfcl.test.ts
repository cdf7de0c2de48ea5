import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { RolloutEvent } from '../../src/engine/core/events/event.ts';
import { callArguments } from '../../src/engine/core/events/message.ts';
import { expectRefused, type Spoiling, scratch, spoiledCopy } from '../support/benchmarkCopy.ts';
import { rehearse, replayed } from '../support/rehearsed.ts';
import { inFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { type Printed, rehearsal } from '../support/terminal.ts';

const fixture = fileURLToPath(new URL('../fixtures/bfcl', import.meta.url));
const out = join(temporaryFolder('rehearsal-bfcl'), 'domains');
const scripted = { user: { type: 'scripted' } } as const;
let imported: Printed;

beforeAll(async () => {
  imported = await rehearsal('import', 'bfcl', '--from', fixture, '--out', out);
});

const tasksOf = (folder: string): readonly Record<string, unknown>[] =>
  parse(readFileSync(join(folder, 'tasks/test.task.yaml'), 'utf8'));

describe('an import', () => {
  test('lists what it made, and everything that it could not carry over', () => {
    expect(imported).toMatchObject({ err: '', code: 0 });
    expect(imported.out.split('\n')).toEqual([
      expect.stringMatching(/^bfcl_eval 0\.0\.1, /),
      expect.stringMatching(/^base: 30 tasks \(0 train, 30 test\) in /),
      expect.stringMatching(/^miss_func: 5 tasks /),
      expect.stringMatching(/^miss_param: 5 tasks /),
      expect.stringMatching(/^long_context: 5 tasks /),
      'not carried over:',
      "  base: excluded_function: BFCL's own code does not look at it, so the function is offered (1 task)",
      '  base: initial_config of WorkshopAPI, which is not a class of the entry (1 task)',
      '',
    ]);
  });

  test('writes an entry as a task: fixed turns, gold calls as data, functions that come later', () => {
    const [task] = tasksOf(join(out, 'miss_func'));
    expect(task).toMatchObject({
      id: 'multi_turn_miss_func_0',
      origin: { benchmark: 'bfcl', id: 'multi_turn_miss_func_0' },
      split: 'test',
      user: {
        script: ['Put the hammer into the drawer.', 'There is something new on the bench. Try that.', 'Look.'],
      },
      laterTools: [{ turn: 1, tools: ['carry'] }],
      actions: [
        { tool: 'carry', arguments: { name: 'hammer', box: 'drawer' }, turn: 1 },
        { tool: 'look', arguments: {}, turn: 2 },
      ],
      evaluate: ['turns'],
    });
  });

  test('keeps what JSON does not tell: floats, and the order of keys that are numbers', () => {
    const tasks = tasksOf(join(out, 'base'));
    expect(tasks[3]?.['setUp']).toEqual({
      bfcl: { classes: ['RadioAPI', 'SumAPI'], config: { RadioAPI: { volume: 4 } }, floats: ['/RadioAPI/volume'] },
    });
    expect(tasks[3]?.['actions']).toContainEqual({
      tool: 'mean',
      arguments: { numbers: [1, 2, 4.5] },
      floats: ['/numbers/1'],
      turn: 2,
    });
    const text = readFileSync(join(out, 'base/tasks/test.task.yaml'), 'utf8');
    expect(text).toMatch(/shelves:\n +"'9'": old\n +"'2'": older\n/);
  });

  test('reads positional arguments by the names of the parameters', () => {
    expect(tasksOf(join(out, 'base'))[0]?.['actions']).toContainEqual({
      tool: 'carry',
      arguments: { name: 'hammer', box: 'drawer' },
      turn: 0,
    });
  });

  inFullSuite('leaves domains without findings', async () => {
    for (const name of ['base', 'miss_func', 'miss_param', 'long_context']) {
      const { out: text, code } = await rehearsal('check', join(out, name));
      expect([code, text.trim().split('\n')]).toEqual([0, [expect.stringMatching(/no findings$/)]]);
    }
  });

  test('imports only the categories that are named', async () => {
    const folder = scratch();
    await rehearsal('import', 'bfcl', '--from', fixture, '--out', folder, '--domains', 'miss_param');
    expect(['base', 'miss_param'].map((name) => existsSync(join(folder, name)))).toEqual([false, true]);
  });
});

describe('a rollout', () => {
  let played: ReturnType<typeof rehearse> | undefined;
  /** Plays the first eight entries once, for all tests that check them. */
  const playedBase = () => {
    const ids = [0, 1, 2, 3, 4, 5, 6, 7].map((number) => `multi_turn_base_${number}`);
    played ??= rehearse(join(out, 'base'), ids, scripted);
    return played;
  };

  test('makes the gold calls of every entry, and shows the public state step by step', async () => {
    const all = (await playedBase()).slice(0, 7);
    expect(all.map(({ reward }) => reward)).toEqual(Array(7).fill(1));
    expect(writesIn(all[0]?.events ?? []).slice(1)).toEqual([
      'databaseWritten WorkshopAPI.room.contents.drawer.contents.hammer={"$class":"Thing","name":"hammer","weight":3}',
      'databaseWritten WorkshopAPI.room.contents.hammer=undefined',
      'databaseWritten WorkshopAPI._here.$ref="/room/contents/drawer"',
    ]);
    expect(all[2]?.results[0]).toBe('{"shelves": [9, 2, 4], "cards": ["7", "4"]}');
    expect(all[5]?.results[0]).toBe('Error during execution: soup is spoilt');
    for (const closed of all) expect(replayed(join(out, 'base'), closed).problems).toBe(0);
  });

  test('offers the functions of its classes, and a missing one from the turn that brings it', async () => {
    const [closed] = await rehearse(join(out, 'miss_func'), ['multi_turn_miss_func_0'], scripted);
    const [started, ...rest] = closed?.events ?? [];
    if (started?.type !== 'rolloutStarted') throw new Error('a rollout starts');
    const names = started.tools.map(({ name }) => name);
    expect(names).toContain('look');
    expect(names).not.toContain('carry');
    expect(names).not.toContain('tune');
    expect(started).toMatchObject({ system: '', callCap: 4 });
    expect(started.tools.find(({ name }) => name === 'store')).toEqual({
      name: 'store',
      description: 'Stores a thing. Called from Python.',
      parameters: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'Its name.' },
          weight: { type: 'number', format: 'float', description: 'In kilograms. This is a float type value.' },
        },
        required: ['name', 'weight'],
      },
    });
    const brought = rest.flatMap((event) =>
      event.type === 'userReplied' ? [event.tools?.map(({ name }) => name) ?? []] : [],
    );
    expect(brought).toEqual([[], ['carry'], [], []]);
    expect(closed?.reward).toBe(1);
  });

  inFullSuite(
    'continues from every event as the recording did: random numbers, floats, locations and order are restored',
    async () => {
      for (const id of sampled(
        ['multi_turn_base_0', 'multi_turn_base_1', 'multi_turn_base_2', 'multi_turn_base_5'],
        3,
      )) {
        const [whole] = await rehearse(join(out, 'base'), [id], scripted);
        const events = whole?.events ?? [];
        const returns = events.flatMap(({ type }, at) => (type === 'toolReturned' ? [at] : []));
        for (const at of [returns[1], returns.at(-1)]) {
          if (at === undefined) throw new Error('an entry has two calls');
          const [forked] = await rehearse(join(out, 'base'), [id], { ...scripted, from: events.slice(0, at + 1) });
          expect(forked?.events).toEqual(events);
        }
      }
    },
  );

  inFullSuite('is graded again from its recording, by gold calls on separate objects', async () => {
    const run = join(scratch(), 'run');
    await rehearsal('run', join(out, 'base'), 'multi_turn_base_1', '--out', run);
    const { code, out: text } = await rehearsal('regrade', run, '--domain', join(out, 'base'), '--out', `${run}-again`);
    expect([code, text]).toEqual([0, expect.stringMatching(/^1 rollout graded again, 0 with another reward/)]);
  });

  test('a state that can not be kept ends it, with the place', async () => {
    const closed = (await playedBase())[7];
    expect(closed).toMatchObject({ endReason: 'environmentFailed', reward: null });
    expect(closed?.failure?.message).toMatch(/WorkshopAPI\.log\.0 holds a function, which can't be kept/);
  });

  test('a start that raises is reported with its reason', async () => {
    const folder = spoiledCopy(fixture, [
      [`${backends}/radio.py`, 'self.volume = scenario.get("volume", 5)', 'raise KeyError("dial")'],
    ]);
    const made = scratch();
    await rehearsal('import', 'bfcl', '--from', folder, '--out', made, '--domains', 'miss_param');
    const [closed] = await rehearse(join(made, 'miss_param'), ['multi_turn_miss_param_0'], scripted);
    expect(closed).toMatchObject({ endReason: 'environmentFailed', reward: null });
    expect(closed?.failure?.message).toBe(`environment "bfcl": the task can't be set up: KeyError: 'dial'`);
  });
});

type Conversation = {
  readonly task: string;
  readonly name: string;
  readonly valid: boolean;
  readonly turns: readonly (readonly (readonly string[])[])[];
};

test('every conversation has the verdict of the official checker', async () => {
  const file = fileURLToPath(new URL('../fixtures/bfcl/conversations.json', import.meta.url));
  const all = JSON.parse(readFileSync(file, 'utf8')) as readonly Conversation[];
  expect(all.length).toBeGreaterThan(400);
  const told = sampled(all, 54);
  const came = new Map<Conversation, number | null>();
  for (const category of ['base', 'miss_func', 'miss_param', 'long_context']) {
    const own = told.filter(({ task }) => task.startsWith(`multi_turn_${category}_`));
    if (own.length === 0) continue;
    const folder = withConversations(join(out, category), own);
    const ids = own.map((_, at) => `conversation-${at}`);
    const rewards = await rehearse(folder, ids, scripted);
    for (const [at, each] of own.entries()) came.set(each, rewards[at]?.reward ?? null);
  }
  const named = (reward: (each: Conversation) => unknown) =>
    told.map((each) => `${each.task} ${each.name}: ${reward(each)}`);
  expect(named((each) => came.get(each))).toEqual(named(({ valid }) => (valid ? 1 : 0)));
});

test.each([
  ['after the calls of a turn', [['carry {"name": "hammer", "box": "drawer"}']], 1],
  ['as the first response of a turn', [], 0],
])('a call that is not JSON %s ends the turn without any call of its response', async (_, before, reward) => {
  const turns = [
    [...before, ['carry {"name": "hammer", "box": "shed"}', 'look [1']],
    [['enter {"box": "drawer"}'], ['look {}']],
  ];
  const folder = withConversations(join(out, 'base'), [{ task: 'multi_turn_base_0', name: '', valid: true, turns }]);
  const [closed] = await rehearse(folder, ['conversation-0'], scripted);
  expect(closed).toMatchObject({ endReason: 'userStopped', reward });
});

/** Copies a domain, with conversations as tasks: the agent makes the calls, and sends a message after each turn. */
function withConversations(domain: string, told: readonly Conversation[]): string {
  const folder = join(scratch(), 'domain');
  cpSync(domain, folder, { recursive: true });
  const byId = new Map(tasksOf(domain).map((task) => [task['id'], task]));
  const tasks = told.map(({ task, turns }, at) => ({
    ...byId.get(task),
    id: `conversation-${at}`,
    script: turns.flatMap((steps) => {
      const made = steps.map((calls) => calls.map(callIn));
      const isUnread = made.at(-1)?.some(({ arguments: each }) => typeof each === 'string') === true;
      return isUnread ? made : [...made, 'Done.'];
    }),
  }));
  writeFileSync(join(folder, 'tasks/test.task.yaml'), stringify(tasks, { aliasDuplicateObjects: false }));
  return folder;
}

function callIn(text: string) {
  const [tool = '', values = ''] = text.split(/ (.*)/s);
  return { tool, ...callArguments(values) };
}

function writesIn(events: readonly RolloutEvent[]): readonly string[] {
  return events.flatMap((event) =>
    'writes' in event
      ? event.writes.flatMap(({ patches }) =>
          patches.map(({ path, value }) => `${event.type} ${path.join('.')}=${JSON.stringify(value)}`),
        )
      : [],
  );
}

const backends = 'bfcl_eval/eval_checker/multi_turn_eval/func_source_code';
const data = 'bfcl_eval/data';
const baseFile = `${data}/BFCL_v4_multi_turn_base.json`;
const answers = `${data}/possible_answer/BFCL_v4_multi_turn_base.json`;

describe('inputs that cannot be imported are reported in one message', () => {
  const spoil =
    (...change: Spoiling) =>
    () => ['--from', spoiledCopy(fixture, [change])];
  const cases: readonly (readonly [what: string, args: () => readonly string[], message: RegExp])[] = [
    [
      'a folder that is not there',
      () => ['--from', '/no/such/folder'],
      /there is no folder \/no\/such\/folder\. Get one with "pip install --no-deps bfcl-eval"/,
    ],
    [
      'a wrong folder',
      () => ['--from', join(fixture, backends)],
      /is not a copy of BFCL: expected berkeley-function-call-leaderboard\/bfcl_eval .*; found .*radio\.py.*Get one/,
    ],
    [
      'a package that is not installed',
      () => ['--from', 'bfcl-eval'],
      /python3 has no package bfcl_eval \(bfcl-eval\)\. Get one/,
    ],
    [
      'no Python',
      () => ['--from', fixture, '--python', '/no/python'],
      /needs Python 3\.10 or newer, and \/no\/python is not a Python interpreter/,
    ],
    [
      'a missing package',
      spoil(`${backends}/workshop.py`, 'import random', 'import random_that_is_not_installed'),
      /can't import what BFCL needs: No module named 'random_that_is_not_installed'\. Name a Python that has it \(--python\)/,
    ],
    [
      'data of another version',
      () => [
        '--from',
        spoiledCopy(
          fixture,
          ['base', 'miss_func', 'miss_param', 'long_context'].map(
            (name) => [`${data}/BFCL_v4_multi_turn_${name}.json`, null, ''] as const,
          ),
        ),
      ],
      /expected BFCL_v4_multi_turn_base\.json and the like in .*data; found multi_turn_func_doc, possible_answer\. This version/,
    ],
    [
      'another layout of the code',
      spoil('bfcl_eval/constants/executable_backend_config.py', 'STATELESS_CLASSES', 'CLASSES'),
      /executable_backend_config\.py has no STATELESS_CLASSES; this version has a different layout/,
    ],
    [
      'a module that lies elsewhere',
      spoil(`${backends}/radio.py`, null, ''),
      /expected bfcl_eval\.eval_checker\.multi_turn_eval\.func_source_code\.radio in .*; this version has a different layout/,
    ],
    [
      'a module that does not parse',
      spoil(`${backends}/radio.py`, 'class RadioAPI:', 'class RadioAPI'),
      /func_source_code\/radio\.py:4 does not parse: /,
    ],
    [
      'hints that do not parse',
      spoil('bfcl_eval/utils.py', '(category):', '(category)'),
      /bfcl_eval\/utils\.py:6 does not parse: /,
    ],
    [
      'no answers',
      spoil(answers, null, ''),
      /expected .*possible_answer.*base\.json, which is not there; this version has a different layout/,
    ],
    [
      'no document of the functions',
      spoil(`${data}/multi_turn_func_doc/radio.json`, null, ''),
      /expected .*multi_turn_func_doc\/radio\.json, which is not there/,
    ],
    [
      'a document that is garbled',
      spoil(`${data}/multi_turn_func_doc/radio.json`, '"parameters"', '"arguments"'),
      /radio\.json:1: the function lacks or garbles 'parameters'/,
    ],
    ['entries that do not parse', spoil(baseFile, null, '{"id": 1}\n{'), /base\.json:2 does not parse: /],
    [
      'a class that it has not',
      spoil(baseFile, '["WorkshopAPI"]', '["BakeryAPI"]'),
      /has no document of the functions of BakeryAPI/,
    ],
    [
      'an unknown category',
      () => ['--from', fixture, '--domains', 'composite'],
      /has no composite; what can be imported is base, miss_func, miss_param, long_context/,
    ],
    ['a split', () => ['--from', fixture, '--split', 'train'], /BFCL has no splits; choose categories with --domains/],
  ];

  test.each(sampled(cases, 8))('%s', (_, args, message) => expectRefused('bfcl', args(), message));

  test('a folder that already contains a domain', async () => {
    const message = expect.stringContaining('already contains a domain; choose another --out, or remove it first');
    expect(await rehearsal('import', 'bfcl', '--from', fixture, '--out', out)).toMatchObject({ code: 2, err: message });
  });
});

describe('an entry that can not be carried over is listed, and the others are imported', () => {
  const missing = `${data}/BFCL_v4_multi_turn_miss_func.json`;
  const cases: readonly (readonly [what: string, change: Spoiling, task: string, message: RegExp])[] = [
    [
      'unknown keys',
      [baseFile, '"path"', '"colour"'],
      'multi_turn_base_0',
      /it has a different layout: the task has the unknown key colour/,
    ],
    [
      'an answer with unknown keys',
      [answers, '"ground_truth"', '"truth": [], "ground_truth"'],
      'multi_turn_base_0',
      /the task has the unknown key truth/,
    ],
    ['no answer', [answers, 'multi_turn_base_0', 'multi_turn_base_90'], 'multi_turn_base_0', /it has no ground truth/],
    [
      'an answer that is not a call',
      [answers, '"look()"', '"look = 1"'],
      'multi_turn_base_0',
      /its ground truth can't be read: .*invalid syntax/,
    ],
    [
      'an answer that calls what it works out',
      [answers, '"look()"', '"enter(box=look())"'],
      'multi_turn_base_0',
      /its ground truth can't be read: /,
    ],
    [
      'another number of turns',
      [answers, '[["carry', '[[], ["carry'],
      'multi_turn_base_0',
      /its ground truth has 3 turns, and the user has 2/,
    ],
    [
      'a message by another role',
      [baseFile, '"role": "user"', '"role": "system"'],
      'multi_turn_base_0',
      /a turn of it holds a message by the system/,
    ],
    [
      'a silent turn',
      [missing, '"missed_function": {"1"', '"missed_function": {"2"'],
      'multi_turn_miss_func_0',
      /the user says nothing in turn 1, and brings no function/,
    ],
    [
      'a missed function that no class has',
      [missing, '["carry"]', '["bake"]'],
      'multi_turn_miss_func_0',
      /missed_function names bake, which no class of it has/,
    ],
  ];

  test.each(sampled(cases, 8))('%s', async (_, change, task, message) => {
    const category = task.replace(/^multi_turn_(.*)_\d+$/, '$1');
    const from = spoiledCopy(fixture, [change]);
    const args = ['--from', from, '--out', scratch(), '--domains', category, '--json'];
    const { out: text, code } = await rehearsal('import', 'bfcl', ...args);
    expect(code).toBe(1);
    const { notCarried } = JSON.parse(text) as { notCarried: { task?: string; what: string }[] };
    const rejected = notCarried.filter((each) => each.task !== undefined);
    expect(rejected).toEqual([{ domain: expect.any(String), task, what: expect.stringMatching(message) }]);
  });
});
