import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { simulatorPrompt } from '../../src/engine/core/simulator/prompt.ts';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { openSupervisor } from '../../src/engine/shell/supervisor.ts';
import { parsedSchema } from '../../src/engine/shell/tools/bridgeAnswer.ts';
import { BridgeProcess } from '../../src/engine/shell/tools/bridgeProcess.ts';
import { approveDomain } from '../support/approval.ts';
import { expectRefused, type Spoiling, scratch, spoiledCopy } from '../support/benchmarkCopy.ts';
import { rehearse, replayed } from '../support/rehearsed.ts';
import { inFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { type Printed, rehearsal } from '../support/terminal.ts';

/** A checkout laid out as tau-bench is. */
const fixture = fileURLToPath(new URL('../fixtures/tau1', import.meta.url));
const out = join(temporaryFolder('rehearsal-tau1-domains'), 'domains');
const bakery = join(out, 'retail');
const retail = 'tau_bench/envs/retail';
const scripted = { user: { type: 'scripted' } } as const;
let imported: Printed;

beforeAll(async () => {
  imported = await rehearsal('import', 'tau1', '--from', fixture, '--out', out);
});

/** Copies the checkout with an edit: `[file, from, to]`, or the whole file if `from` is null. */
function spoiled(...changes: readonly Spoiling[]): string {
  return spoiledCopy(fixture, changes);
}

describe('an import', () => {
  test('keeps splits apart, and lists everything that it could not carry over', () => {
    expect(imported.err).toBe('');
    expect(imported.code).toBe(1);
    expect(imported.out.split('\n')).toEqual([
      expect.stringMatching(/^tau-bench 0\.0\.1, /),
      expect.stringMatching(/^retail: 5 tasks \(1 train, 4 test\) in /),
      expect.stringMatching(/^airline: 1 task \(0 train, 1 test\) in /),
      'not carried over:',
      '  retail: split dev (1 task): --split dev makes a domain of it',
      '  retail: rules.py: tau-bench shows its rules to no agent; the policy is the wiki',
      '  retail test/3: it has a different layout: the task has the unknown key colour',
      "  retail test/4: it has the gold action respond, which asks tau-bench's simulated user while the reward is calculated",
      '  retail: annotator (3 tasks)',
      '  retail: outputs with a comma: tau-bench never finds them, so neither does this engine (1 task)',
      '  airline: annotator (1 task)',
      '',
    ]);
  });

  test('writes tasks in the words of a domain', () => {
    const tasks = ['train', 'test'].flatMap((half) =>
      parse(readFileSync(join(bakery, `tasks/${half}.task.yaml`), 'utf8')),
    );
    expect(tasks.map(({ id, split, evaluate, train }) => [id, split, evaluate, train])).toEqual([
      ['train-0', 'train', ['database'], ['database']],
      ['test-0', 'test', ['database'], ['database']],
      ['test-1', 'test', ['database', 'communicate'], ['database']],
      ['test-2', 'test', ['database'], ['database']],
      ['test-5', 'test', ['database', 'communicate'], ['database']],
    ]);
    expect(tasks[2]).toMatchObject({
      origin: { benchmark: 'tau1', id: 'test/1' },
      communicate: ['1013', 'Two'],
      communicateBy: 'tau1',
      user: { goal: 'You are Ann, want white bread in order #3, and ask what 2 orders cost.' },
    });
  });

  inFullSuite('another split makes a separate domain, which is not trained on', async () => {
    const folder = scratch();
    const { out: text } = await rehearsal(
      'import',
      'tau1',
      '--from',
      join(fixture, 'tau_bench'),
      '--out',
      folder,
      '--split',
      'dev',
      '--domains',
      'retail',
      '--json',
    );
    expect(JSON.parse(text)).toMatchObject({ domains: [{ name: 'retail', tasks: 1, train: 0, test: 1 }] });
    expect(existsSync(join(folder, 'airline'))).toBe(false);
  });

  inFullSuite('leaves a domain without errors and separates tools that write from tools that read', async () => {
    const { out: text, code } = await rehearsal('check', bakery);
    expect([code, text]).toEqual([0, expect.not.stringMatching(/ error /)]);
    const supervisor = await openSupervisor(loadDomain(approveDomain(bakery)));
    const { domain } = supervisor;
    await supervisor.close();
    expect(
      domain.tools.map(({ name, effect, generic = false, handsOff = false }) => [name, effect, generic, handsOff]),
    ).toEqual([
      ['get_order', 'read', false, false],
      ['find_orders', 'read', false, false],
      ['cancel_order', 'write', false, false],
      ['change_breads', 'write', false, false],
      ['think', 'read', true, false],
      ['transfer_to_human_agents', 'read', false, true],
      ['count', 'read', false, false],
    ]);
    const [task, persona] = [domain.tasks.find(({ id }) => id === 'train-0'), domain.personas[0]];
    const [closed] = await rehearse(bakery, ['train-0'], scripted);
    const started = closed?.events[0];
    if (!task || !persona || started?.type !== 'rolloutStarted') throw new Error('a rollout of the task starts');
    expect(started.system).toBe('# The bakery\n\nAsk before you change an order.\n');
    expect(simulatorPrompt({ domain, task, persona, started, messages: [] })).toBe(
      'You buy bread.\nYour wish: You are Ann and want to cancel order #3.\nSay ###STOP### when you have it.',
    );
  });
});

describe('a rollout', () => {
  inFullSuite('makes the gold actions of every task; only touched rows travel', async () => {
    const ids = ['train-0', 'test-0', 'test-1', 'test-2'];
    const closed = await rehearse(bakery, ids, scripted);
    expect(closed.map(({ reward }) => reward)).toEqual([1, 1, 1, 1]);
    expect(
      closed[1]?.events.flatMap((event) =>
        'writes' in event ? event.writes.flatMap(({ patches }) => patches.map(({ path }) => path.join('.'))) : [],
      ),
    ).toEqual(['orders.#1.state', 'users.ann.notes.0']);
    // A whole number that is a float in the copy stays a float for its tools.
    expect(closed[1]?.results[0]).toContain('"price": 8.0');
    if (closed[1]) expect(replayed(bakery, closed[1]).problems).toBe(0);
  });

  inFullSuite('the user still answers the response that reaches the cap on steps', async () => {
    const capped = async (from: string, to: string) => {
      const folder = join(scratch(), 'bakery');
      cpSync(bakery, folder, { recursive: true });
      const file = join(folder, 'domain.yaml');
      writeFileSync(file, readFileSync(file, 'utf8').replace('turnCap: 30', 'turnCap: 2').replace(from, to));
      const [closed] = await rehearse(folder, ['train-0'], scripted);
      return [closed?.endReason, closed?.reward];
    };
    expect(await capped('', '')).toEqual(['userStopped', 1]);
    expect(await capped('userEnds: true', 'userEnds: false')).toEqual(['turnCap', 0]);
    expect(await capped('turnCap: 2', 'turnCap: 1')).toEqual(['turnCap', 0]);
  });

  inFullSuite('a fork continues from the recorded rows', async () => {
    const [whole] = await rehearse(bakery, ['test-2'], scripted);
    const events = whole?.events ?? [];
    const at = events.findIndex(({ type }) => type === 'toolReturned');
    const [forked] = await rehearse(bakery, ['test-2'], { ...scripted, from: events.slice(0, at + 1) });
    expect(forked).toMatchObject({ reward: 1, databaseDiff: whole?.databaseDiff });
  });

  inFullSuite(
    'an assertion may call a tool, which changes nothing; a setUp is refused with what to do instead',
    async () => {
      const folder = join(scratch(), 'bakery');
      cpSync(bakery, folder, { recursive: true });
      const ask = (tool: string, order: string, says: string) =>
        `{ in: tau1, call: { tool: ${tool}, arguments: { order_id: "${order}" } }, contains: ${says} }`;
      const task = (id: string, more: string) => `- id: ${id}
  persona: ${loadDomain(bakery).domain.personas[0]?.id}
  user: { goal: You ask., script: [Hello.] }
  script: [Done.]
  evaluate: [assertions]
  train: [assertions]
  ${more}
`;
      writeFileSync(
        join(folder, 'tasks/own.task.yaml'),
        [
          task('asks', `assertions: [${ask('cancel_order', '#1', 'cancelled')}, ${ask('get_order', '#1', 'open')}]`),
          task('unknown', `assertions: [${ask('bake', '#1', 'open')}]`),
          task('begins', `assertions: [${ask('get_order', '#1', 'open')}]\n  setUp: { tau1: { orders: {} } }`),
        ].join(''),
      );
      const [asks, unknown, begins] = await rehearse(folder, ['asks', 'unknown', 'begins'], scripted);
      expect(asks).toMatchObject({ reward: 1, endReason: 'userStopped' });
      expect(unknown?.reward).toBeNull();
      expect(JSON.stringify(unknown?.events)).toMatch(/bake can't tell: /);
      expect(begins).toMatchObject({
        reward: null,
        failure: {
          message: expect.stringMatching(
            /can't be set up: an environment of tau1 takes no setUp; say in the task's state/,
          ),
          file: join(folder, 'tasks/own.task.yaml'),
          line: 22,
        },
      });
    },
  );

  inFullSuite('nothing of one reaches the base that all share', async () => {
    const adapter = { name: 'tau1', settings: { package: join(fixture, 'tau_bench'), domain: 'retail' } };
    const process = new BridgeProcess({
      label: 'bakery',
      kind: 'database',
      folder: bakery,
      file: bakery,
      adapter,
      base: loadDomain(bakery).world,
      pythonHint: 'Install it',
      log: () => undefined,
    });
    const call = { answer: parsedSchema, timeoutMs: 20_000, what: 'a call' };
    try {
      const made = { by: 'agent', fresh: true };
      await process.request(
        'call',
        { ...made, session: 's', tool: 'cancel_order', arguments: { order_id: '#1' } },
        call,
      );
      await process.request('call', { ...made, session: 't', tool: 'find_orders', arguments: { user: 'ann' } }, call);
      expect(await process.request('audit', {}, call)).toEqual({ changed: [] });
    } finally {
      process.close();
    }
  });
});

/** The arguments are a text if the spelling of a number matters. */
type Call = readonly [name: string, values: object | string];
/** A text or calls of the agent, or both. A text that begins with `user:` replaces the user's "Go on.". */
type Turn = string | readonly Call[] | { readonly say: string; readonly calls: readonly Call[] };
type Told = {
  readonly name: string;
  readonly task: number;
  readonly turns: readonly Turn[];
  readonly isCut?: boolean;
  readonly reward: number;
};

/** Conversations with the reward that tau-bench's evaluator gives them. */
const conversations: readonly Told[] = JSON.parse(readFileSync(join(fixture, 'conversations.json'), 'utf8'));

function trajectory(
  { name, task, turns, isCut = false, reward }: Told,
  tasks: readonly { readonly goal: string; readonly actions: readonly object[]; readonly outputs: readonly string[] }[],
) {
  const messages = turns.flatMap((turn, at): object[] => {
    const content = typeof turn === 'string' ? turn : 'say' in turn ? turn.say : null;
    const calls = typeof turn === 'string' ? [] : 'say' in turn ? turn.calls : turn;
    const made = calls.map(([called, values], index) => ({
      id: `c${at}${index}`,
      type: 'function',
      function: { name: called, arguments: typeof values === 'string' ? values : JSON.stringify(values) },
    }));
    const said = isCut || at < turns.length - 1 ? 'Go on.' : '###STOP###';
    return [
      { role: 'assistant', content, tool_calls: made.length > 0 ? made : null },
      made.length > 0
        ? { role: 'tool', tool_call_id: `c${at}0`, name: calls[0]?.[0], content: 'as recorded' }
        : { role: 'user', content: said },
    ];
  });
  const known = tasks[task];
  return {
    id: name,
    task_id: task,
    reward,
    trial: 0,
    info: { task: { user_id: 'ann', instruction: known?.goal, actions: known?.actions, outputs: known?.outputs } },
    traj: [{ role: 'system', content: 'wiki' }, { role: 'user', content: 'Hello.' }, ...messages],
  };
}

describe('a list of trajectories', () => {
  const goals = () => {
    const tasks = new Map(loadDomain(bakery).domain.tasks.map((task) => [task.id, task]));
    return Array.from({ length: 6 }, (_, at) => {
      const task = tasks.get(`test-${at}`);
      const actions = (task?.actions ?? []).map(({ tool, arguments: kwargs }) => ({ name: tool, kwargs }));
      return { goal: task?.user.goal ?? '', actions, outputs: task?.communicate ?? [] };
    });
  };
  const fileOf = (runs: unknown, name = 'results.json') => {
    const file = join(scratch(), name);
    writeFileSync(file, JSON.stringify(runs));
    return file;
  };

  test('is scored as tau-bench scored it', async () => {
    const tasks = goals();
    const runs = conversations.map((told, trial) => ({ ...trajectory(told, tasks), trial }));
    const { out: text, code } = await rehearsal('regrade', '--official', fileOf(runs), '--domain', bakery, '--json');
    const { rollouts, refused, counts } = JSON.parse(text);
    expect(rollouts.map(({ name, own }: { name: string; own: number }) => [name, own])).toEqual(
      conversations.map(({ name, reward }) => [name, reward]),
    );
    expect([code, refused, counts]).toEqual([
      0,
      [],
      { agree: conversations.length, differ: 0, raised: 0, unscored: 0 },
    ]);
  });

  inFullSuite('counts 5.0 as 5 where the domain does not say wholeFloats: distinct', async () => {
    const folder = join(scratch(), 'bakery');
    cpSync(bakery, folder, { recursive: true });
    const file = join(folder, 'domain.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/\n *wholeFloats: distinct/, ''));
    const tasks = goals();
    const told = conversations.filter(({ name }) => name.startsWith('a float'));
    const runs = fileOf(told.map((each, trial) => ({ ...trajectory(each, tasks), trial })));
    const { out: text } = await rehearsal('regrade', '--official', runs, '--domain', approveDomain(folder), '--json');
    expect(JSON.parse(text).rollouts.map(({ own }: { own: number }) => own)).toEqual([1, 1]);
  });

  inFullSuite('names what it can not play again, and what demands something else now', async () => {
    const tasks = goals();
    const [gold] = conversations;
    if (!gold) throw new Error('there is a conversation');
    const run = trajectory(gold, tasks);
    const runs = [
      { ...run, id: 'failed', reward: 0, traj: [], info: { error: 'out of money' } },
      { ...run, id: 'in texts', traj: [...run.traj, { role: 'user', content: 'API output: {}' }] },
      { ...run, id: 'of another task', info: { task: { instruction: 'Bake.', actions: [], outputs: [] } } },
      { ...run, id: 'reworded', info: { task: { ...run.info.task, instruction: 'Reworded.' } } },
      { ...run, id: 'demands less', trial: 1, info: { task: { ...run.info.task, actions: [] } } },
    ];
    const { out: text, code } = await rehearsal('regrade', '--official', fileOf(runs), '--domain', bakery);
    expect(code).toBe(1);
    expect(text).toContain('demands less: its gold actions are others in the file than in the imported task');
    expect(text).toContain('0: its run in tau-bench failed: out of money');
    expect(text).toContain('0: its calls are in its texts (strategy act or react)');
    expect(text).toContain('0: the domain tau1-retail has no task that was imported from it');
    expect(text).toMatch(/2 agree, 0 differ, 0 raised\n$/);
  });

  inFullSuite('asks for the domain, and reports a file that is not a list of trajectories', async () => {
    const tasks = goals();
    const one = fileOf(conversations.slice(0, 1).map((each) => trajectory(each, tasks)));
    const several = await rehearsal('regrade', '--official', one, '--domain', out);
    expect(several.err).toMatch(/does not name its domain: name a folder with a domain\.yaml/);
    const empty = await rehearsal('regrade', '--official', fileOf([]), '--domain', bakery);
    expect(empty).toMatchObject({
      code: 2,
      err: expect.stringMatching(/holds no simulation; expected the results of/),
    });
    const boat = await rehearsal('regrade', '--official', one, '--domain', join(out, 'airline'));
    expect(boat.err).toMatch(/none of 1 simulation can be scored; 0: the domain tau1-airline has no task that/);
    const own = await rehearsal('regrade', '--official', one, '--domain', 'domains/order-desk');
    expect(own.err).toMatch(/is a results file of tau1, and .*order-desk was not imported$/m);
    for (const name of ['results.json', 'results.txt']) {
      const other = await rehearsal('regrade', '--official', fileOf([{ task_id: 'x' }], name), '--domain', bakery);
      expect(other.err).toMatch(/is not a list of trajectories of tau-bench: expected task_id, .* 0\.task_id: /);
    }
  });
});

describe('inputs that cannot be imported are reported in one message', () => {
  const cases: readonly (readonly [name: string, from: () => string, says: RegExp, more?: readonly string[]])[] = [
    ['no folder', () => join(scratch(), 'nowhere'), /there is no folder .*nowhere\. Get one with "git clone /],
    [
      'a wrong folder',
      () => scratch(),
      /is not a copy of tau-bench: expected tau_bench\/envs with retail and airline; found nothing/,
    ],
    [
      'no domains',
      () => spoiled([`${retail}/tools`, null, ''], ['tau_bench/envs/airline/tools', null, '']),
      /expected retail and airline in .*envs, each with tools/,
    ],
    [
      'no wiki',
      () => spoiled([`${retail}/wiki.py`, null, '']),
      /expected tau_bench\.envs\.retail\.wiki in .*retail; this version has a different layout/,
    ],
    [
      'no list of tools',
      () => spoiled([`${retail}/tools/__init__.py`, 'ALL_TOOLS', 'TOOLS']),
      /expected a list ALL_TOOLS of classes .* in .*tools\/__init__\.py/,
    ],
    [
      'no terminate tools',
      () => spoiled([`${retail}/env.py`, 'terminate_tools', 'last_tools']),
      /expected self\.terminate_tools = \[\.\.\.\] in .*env\.py/,
    ],
    [
      'another simulator',
      () => spoiled(['tau_bench/envs/user.py', 'LLMUser', 'NewUser']),
      /expected LLMUserSimulationEnv\.build_system_prompt in .*user\.py/,
    ],
    [
      'no tasks',
      () => spoiled([`${retail}/tasks_dev.py`, 'TASKS_DEV', 'MINE']),
      /expected a list TASKS or .* in .*tasks_dev\.py/,
    ],
    [
      'tasks that do not parse',
      () => spoiled([`${retail}/tasks_test.py`, 'TASKS_TEST = [', 'TASKS_TEST = (']),
      /tasks_test\.py:\d+ does not parse: /,
    ],
    [
      'a simulator that does not parse',
      () => spoiled(['tau_bench/envs/user.py', 'class ', 'class class ']),
      /envs\/user\.py:\d+ does not parse: /,
    ],
    [
      'tasks of other types',
      () => spoiled([`${retail}/tasks_test.py`, 'import Action', 'import Step, Action']),
      /cannot import name 'Step'.*this version has a different layout/,
    ],
    [
      'a package that is not there',
      () => spoiled([`${retail}/tools/__init__.py`, 'import json', 'import json, a_package']),
      /can't import what .*retail needs: No module named 'a_package'.*--python/,
    ],
    [
      'a database that does not parse',
      () => spoiled([`${retail}/data/users.json`, '{ "ann"', '{ ann']),
      /the database of .*retail can't be read: .*users\.json does not parse: /,
    ],
    [
      'a database that is a pointer of Git LFS',
      () => spoiled([`${retail}/data/users.json`, null, 'version https://git-lfs.github.com/spec/v1\n']),
      /the database of .*retail can't be read: .*users\.json is a Git LFS pointer/,
    ],
    [
      'a database that is not there',
      () => spoiled([`${retail}/data/users.json`, null, '']),
      /expected .*users\.json, which is not there; this version has a different layout/,
    ],
    [
      'a database without tables',
      () => spoiled([`${retail}/data/users.json`, '{ "ann"', '[] #']),
      /the database of .*retail can't be read/,
    ],
    ['no Python', () => fixture, /nowhere-python/, ['--python', 'nowhere-python']],
    [
      'another domain',
      () => fixture,
      /has no bakery; what can be imported is retail, airline/,
      ['--domains', 'bakery'],
    ],
    ['another split', () => fixture, /retail has no split "base"; it has dev, test, train/, ['--split', 'base']],
  ];
  const named = cases.map(([name, from, says, more = []]) => ({ name, from, says, more }));
  test.each(sampled(named, 8))('$name', ({ from, says, more }) =>
    expectRefused('tau1', ['--from', from(), ...more], says),
  );

  inFullSuite('a domain that is there already, and a database that no longer fits the copy', async () => {
    const again = await rehearsal('import', 'tau1', '--from', fixture, '--out', out);
    expect(again.err).toMatch(/retail already contains a domain; choose another --out/);
    const folder = join(scratch(), 'bakery');
    cpSync(bakery, folder, { recursive: true });
    const file = join(folder, 'database.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"users"', '"people"'));
    await expect(rehearse(folder, ['test-0'], scripted)).rejects.toThrow(
      /the database has the tables orders, people, and that of .*retail has orders, users\. Import it again/,
    );
  });
});
