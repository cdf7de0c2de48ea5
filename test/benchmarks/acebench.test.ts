import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { callArguments } from '../../src/engine/core/events/message.ts';
import { simulatorChat } from '../../src/engine/core/simulator/prompt.ts';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { openSupervisor } from '../../src/engine/shell/supervisor.ts';
import { approveDomain } from '../support/approval.ts';
import { expectRefused, type Spoiling, scratch, spoiledCopy } from '../support/benchmarkCopy.ts';
import { rehearse, replayed } from '../support/rehearsed.ts';
import { inFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { type Printed, rehearsal } from '../support/terminal.ts';

const fixture = fileURLToPath(new URL('../fixtures/acebench', import.meta.url));
const out = join(temporaryFolder('rehearsal-acebench'), 'domains');
const scripted = { user: { type: 'scripted' } } as const;
const parts = ['multi_turn_en', 'multi_turn_zh', 'multi_step_en', 'multi_step_zh'];
let imported: Printed;

beforeAll(async () => {
  imported = await rehearsal('import', 'acebench', '--from', fixture, '--out', out);
});

const tasksOf = (folder: string): readonly Record<string, unknown>[] =>
  parse(readFileSync(join(folder, 'tasks/test.task.yaml'), 'utf8'));

describe('an import', () => {
  test('lists what it made, and everything that it could not carry over', () => {
    expect(imported).toMatchObject({ err: '', code: 0 });
    const [head, ...lines] = imported.out.split('\n').filter((line) => !line.includes('calls are tool calls here'));
    expect(head).toMatch(/^ACEBench of unknown version, /);
    expect(lines).toEqual([
      expect.stringMatching(/^multi_turn_en: 10 tasks \(0 train, 10 test\) in /),
      expect.stringMatching(/^multi_turn_zh: 3 tasks /),
      expect.stringMatching(/^multi_step_en: 6 tasks/),
      expect.stringMatching(/^multi_step_zh: 3 tasks /),
      'not carried over:',
      '  multi_turn_en: initial_config of Baspi, which is not a class of the entry (1 task)',
      expect.stringMatching(
        /^ {2}multi_turn_en: mile_stone: some are not written as Python prints calls, .* \(1 task\)$/,
      ),
      '',
    ]);
  });

  test('writes an entry as a task: its end state, its milestones, and the calls that were meant', () => {
    const [, task] = tasksOf(join(out, 'multi_turn_en'));
    expect(task).toMatchObject({
      id: 'agent_multi_turn_1',
      origin: { benchmark: 'acebench', id: 'agent_multi_turn_1' },
      split: 'test',
      tools: ['open_gate', 'plant', 'dig'],
      prompt: 'BaseApi',
      setUp: { acebench: { classes: ['BaseApi', 'MessageApi'], config: { BaseApi: { wifi: false } } } },
      endState: {
        gold: [{ BaseApi: { wifi: true, logged_in: true } }, { MessagApi: { inbox: {} } }],
        compared: { BaseApi: ['wifi', 'logged_in'], MessageApi: ['inbox'] },
        since: 'success',
      },
      milestones: [
        [
          [{ tool: 'open_gate', arguments: {} }],
          [{ tool: 'dig', arguments: { number: 2 } }],
          "[plant(name='Ann's rose')]",
        ],
      ],
      evaluate: ['endState'],
    });
    expect(task?.['script']).toContainEqual([{ tool: 'plant', arguments: { name: "Ann's rose" } }]);
    expect(tasksOf(join(out, 'multi_step_en'))[0]).toMatchObject({
      user: { goal: 'Plant an oak.', script: ['Plant an oak.'], otherwise: 'Do not ask, act.' },
      endState: { since: 'call' },
      script: [expect.anything(), expect.anything(), expect.anything(), 'finish conversation'],
    });
  });

  inFullSuite('leaves domains without findings', async () => {
    for (const name of parts) {
      const { out: text, code } = await rehearsal('check', join(out, name));
      expect([code, text.trim().split('\n')]).toEqual([0, [expect.stringMatching(/no findings$/)]]);
    }
  });

  inFullSuite('imports only the parts that are named', async () => {
    const folder = scratch();
    await rehearsal('import', 'acebench', '--from', fixture, '--out', folder, '--domains', 'multi_step_zh');
    expect(parts.map((name) => existsSync(join(folder, name)))).toEqual([false, false, false, true]);
  });

  test("tells both seats the benchmark's own texts for the classes of a task, without its format of calls", async () => {
    const supervisor = await openSupervisor(loadDomain(approveDomain(join(out, 'multi_turn_en'))));
    const { domain } = supervisor;
    await supervisor.close();
    const [garden, rails] = await rehearse(
      join(out, 'multi_turn_en'),
      ['agent_multi_turn_0', 'agent_multi_turn_2'],
      scripted,
    );
    const [started, other] = [garden, rails].map((each) => each?.events[0]);
    if (started?.type !== 'rolloutStarted' || other?.type !== 'rolloutStarted') throw new Error('a rollout starts');
    expect(started.system).toBe('Help in the garden.\nAsk when something is missing.\nGarden: mind the roses.\n\n');
    expect(other.system).toContain('Rails: be on time.');
    expect(started).toMatchObject({ messageCap: 40, closing: 'finish conversation' });
    expect(started.tools.map(({ name }) => name)).toEqual(['open_gate', 'plant', 'dig']);
    const [task, persona] = [domain.tasks[0], domain.personas[0]];
    if (!task || !persona) throw new Error('the domain has a task and a persona');
    expect(simulatorChat({ domain, task, persona, started, messages: [] })).toEqual([
      { role: 'system', content: 'Play the gardener.\n\nInstruction: You want an oak of 2 metres.\n' },
      { role: 'user', content: 'Any help?' },
    ]);
  });
});

describe('a rollout', () => {
  test('replays milestones on its own objects, whose attributes are shown', async () => {
    const ids = [0, 1, 2, 3].map((number) => `agent_multi_turn_${number}`);
    const all = await rehearse(join(out, 'multi_turn_en'), ids, scripted);
    expect(all.map(({ reward }) => reward)).toEqual([1, 1, 1, 0]);
    expect(all[0]?.results).toEqual(["[{'status': True}]", "[{'status': True, 'message': 'Planted oak'}]"]);
    expect(all[3]?.results).toEqual(["[\"['rose', 'leek']\"]"]);
    for (const closed of all) expect(replayed(join(out, 'multi_turn_en'), closed).problems).toBe(0);
  });

  test('says beside the reward which expected object was not compared', async () => {
    const [closed] = await rehearse(join(out, 'multi_turn_en'), ['agent_multi_turn_1'], scripted);
    const verdicts = closed?.events.flatMap((event) => (event.type === 'verdictReached' ? [event.verdict] : []));
    expect(verdicts).toEqual([
      expect.objectContaining({ verifier: 'endState', held: true }),
      expect.objectContaining({
        verifier: 'endState:names',
        held: false,
        diagnostic: true,
        detail: 'not compared, since no object is called so: MessagApi (there are BaseApi, MessageApi)',
      }),
      expect.objectContaining({ verifier: 'milestones', held: true, diagnostic: true }),
    ]);
    expect(closed?.reward).toBe(1);
  });

  inFullSuite('continues from every call as the recording did', async () => {
    const folder = join(out, 'multi_turn_en');
    const [whole] = await rehearse(folder, ['agent_multi_turn_0'], scripted);
    const events = whole?.events ?? [];
    const calls = events.flatMap(({ type }, at) => (type === 'toolReturned' ? [at] : []));
    expect(calls).toHaveLength(2);
    for (const at of calls) {
      const [forked] = await rehearse(folder, ['agent_multi_turn_0'], { ...scripted, from: events.slice(0, at + 1) });
      expect(forked?.events).toEqual(events);
    }
  });

  inFullSuite('a tool that raises keeps its writes, and a start that raises is reported with its reason', async () => {
    const tasks = tasksOf(join(out, 'multi_turn_en')).map((task) => ({
      ...task,
      script: [[{ tool: 'blow_up' }], 'Oh.'],
    }));
    const [closed] = await rehearse(withTasks(join(out, 'multi_turn_en'), tasks), ['agent_multi_turn_2'], scripted);
    expect(closed?.results).toEqual(['Error during execution: {str(e)}']);
    expect(JSON.stringify(closed?.events)).toContain('"half"');
    const folder = spoiledCopy(fixture, [[scenario('travel.py'), 'pass', 'raise KeyError("steam")']]);
    const made = scratch();
    await rehearsal('import', 'acebench', '--from', folder, '--out', made, '--domains', 'multi_turn_en');
    const [failed] = await rehearse(join(made, 'multi_turn_en'), ['agent_multi_turn_2'], scripted);
    expect(failed).toMatchObject({ endReason: 'environmentFailed', reward: null });
    expect(failed?.failure?.message).toBe(`environment "acebench": the task can't be set up: KeyError: 'steam'`);
  });

  inFullSuite('ends after forty messages, and is scored as it is', async () => {
    const again = Array.from({ length: 45 }, () => [{ tool: 'open_gate' }]);
    const tasks = tasksOf(join(out, 'multi_turn_en')).map((task) => ({ ...task, script: again }));
    const folder = withTasks(join(out, 'multi_turn_en'), tasks);
    const [closed] = await rehearse(folder, ['agent_multi_turn_1'], scripted);
    expect(closed).toMatchObject({ endReason: 'messageCap', reward: 1 });
    expect(closed?.results).toHaveLength(20);
    if (closed) expect(replayed(folder, closed).problems).toBe(0);
  });
});

type Conversation = {
  readonly part: string;
  readonly task: string;
  readonly kind: string;
  readonly steps: readonly (string | readonly string[])[];
  readonly valid: boolean;
  readonly process: number;
};

const oak = 'plant {"name": "oak", "height": 2}';
test.each([
  ['a dictionary that is not a call', [['open_gate {}'], ['plant {"name": {"x": 1}}'], [oak]], 0],
  ['a dictionary without keys', [['open_gate {}'], ['plant {"name": {}}'], [oak]], 0],
  ['a name that Python has not', [['open_gate {}'], ['plant {"": 1}'], [oak]], 0],
  ['a keyword of Python', [['open_gate {}'], ['plant {"class": 1}'], [oak]], 0],
  ['a dictionary that reads as a call', [['open_gate {}'], ['plant {"name": {"x": {"y": 1}}}'], [oak]], 1],
  ['a dictionary in a list', [['open_gate {}'], ['plant {"colour": [{"x": 1}]}'], [oak]], 1],
])('multi_turn passes a response to the user that ACEBench cannot read: %s', async (_, steps, reward) => {
  const [task] = tasksOf(join(out, 'multi_turn_en'));
  const folder = withTasks(join(out, 'multi_turn_en'), [conversationTask(task, steps, 'unread')]);
  const [closed] = await rehearse(folder, ['unread'], scripted);
  expect(closed).toMatchObject({ endReason: 'userStopped', reward });
});

inFullSuite('every conversation has the reward and the process accuracy of the official code', async () => {
  const file = join(fixture, 'conversations.json');
  const conversations = JSON.parse(readFileSync(file, 'utf8')) as readonly Conversation[];
  expect(conversations.length).toBeGreaterThan(200);
  const told = sampled(conversations, 9);
  const came = new Map<Conversation, readonly unknown[]>();
  for (const part of parts) {
    const own = told.filter((each) => each.part === part);
    const byId = new Map(tasksOf(join(out, part)).map((task) => [task['id'], task]));
    const tasks = own.map(({ task, steps }, at) => conversationTask(byId.get(task), steps, `conversation-${at}`));
    const all = await rehearse(
      withTasks(join(out, part), tasks),
      own.map((_, at) => `conversation-${at}`),
      scripted,
    );
    for (const [at, each] of own.entries()) {
      const verdicts = all[at]?.events.flatMap((event) => (event.type === 'verdictReached' ? [event.verdict] : []));
      const { met = 0, of = 1 } = verdicts?.find(({ verifier }) => verifier === 'milestones') ?? {};
      came.set(each, [all[at]?.reward, Math.round((met / of) * 1000) / 1000]);
    }
  }
  const named = (of: (each: Conversation) => unknown) =>
    told.map((each) => `${each.part} ${each.task} ${each.kind}: ${of(each)}`);
  expect(named((each) => came.get(each))).toEqual(named(({ valid, process }) => [valid ? 1 : 0, process]));
});

function conversationTask(task: Record<string, unknown> = {}, steps: Conversation['steps'], id: string) {
  const last = (task['script'] as readonly unknown[] | undefined)?.at(-1);
  const script = steps.map((step) => (typeof step === 'string' ? step : step.map(callIn)));
  const user = { otherwise: 'finish conversation', ...(task['user'] as object) };
  return { ...task, id, user, script: [...script, last, last, last] };
}

function callIn(text: string) {
  const [tool = '', values = ''] = text.split(/ (.*)/s);
  return { tool, ...callArguments(values) };
}

/** A copy of a domain with other tasks. */
function withTasks(domain: string, tasks: readonly object[]): string {
  const folder = join(scratch(), 'domain');
  cpSync(domain, folder, { recursive: true });
  writeFileSync(join(folder, 'tasks/test.task.yaml'), stringify(tasks, { aliasDuplicateObjects: false }));
  return folder;
}

const scenario = (file: string) => `model_inference/multi_turn/scenariosen/${file}`;
const data = 'data_all/data_en/data_agent_multi_turn.json';
const answers = 'data_all/data_en/possible_answer/data_agent_multi_turn.json';

describe('inputs that cannot be imported are reported in one message', () => {
  const spoil =
    (...change: Spoiling) =>
    () => ['--from', spoiledCopy(fixture, [change])];
  const cases: readonly (readonly [what: string, args: () => readonly string[], message: RegExp])[] = [
    [
      'a folder that is not there',
      () => ['--from', '/no/such/folder'],
      /there is no folder \/no\/such\/folder\. Get one with "git clone https:\/\/github\.com\/chenchen0103\/ACEBench"/,
    ],
    [
      'a wrong folder',
      () => ['--from', join(fixture, 'model_inference')],
      /is not a checkout of ACEBench: expected data_all\/ and model_inference\/; found .*multi_turn.*Get one/,
    ],
    [
      'no Python',
      () => ['--from', fixture, '--python', '/no/python'],
      /needs Python 3\.10 or newer, and \/no\/python is not a Python interpreter/,
    ],
    [
      'a missing package',
      spoil(scenario('travel.py'), 'class Travel:', 'import steam_that_is_not_installed\nclass Travel:'),
      /can't import what ACEBench needs: No module named 'steam_that_is_not_installed'\. Name a Python that has it \(--python\)/,
    ],
    [
      'a missing package of a class whose every function has a document',
      spoil('model_inference/multi_turn/scenarioszh/travel.py', 'class Travel:', 'import steam\nclass Travel:'),
      /can't import what ACEBench needs: No module named 'steam'\. Name a Python that has it \(--python\)/,
    ],
    [
      'data that lies elsewhere',
      () => [
        '--from',
        spoiledCopy(
          fixture,
          ['en', 'zh'].map((language) => [`data_all/data_${language}`, null, ''] as const),
        ),
      ],
      /expected data_all\/data_en\/data_agent_multi_turn\.json, .*; none is there\. This version has a different layout/,
    ],
    [
      'another layout of the code',
      spoil('model_inference/multi_turn/multi_turn_utils.py', 'CLASS_FILE_PATH_MAPPING_EN', 'CLASSES'),
      /multi_turn_utils\.py has no CLASS_FILE_PATH_MAPPING_EN; this version has a different layout/,
    ],
    [
      'a scenario that lies elsewhere',
      spoil(scenario('phone_platform/message.py'), null, ''),
      /expected model_inference\.multi_turn\.scenariosen\.phone_platform\.message in .*; this version has a different layout/,
    ],
    [
      'no prompt of the user',
      spoil('model_inference/multi_turn/APIModel_user.py', 'SYSTEM_PROMPT_BASE_EN', 'BASE_EN'),
      /expected SYSTEM_PROMPT_BASE_EN in .*APIModel_user\.py; this version has a different layout/,
    ],
    [
      'no attributes to compare',
      spoil('model_inference/common_inference.py', 'SAVED_CLASS', 'SAVED'),
      /expected SAVED_CLASS in .*common_inference\.py; this version has a different layout/,
    ],
    [
      'a scenario that does not parse',
      spoil(scenario('travel.py'), 'class Travel:', 'class Travel'),
      /scenariosen\/travel\.py:\d+ does not parse: /,
    ],
    [
      'prompts that do not parse',
      spoil('model_inference/prompt_en.py', 'TRAVEL_PROMPT_EN =', 'TRAVEL_PROMPT_EN = ='),
      /prompt_en\.py:1 does not parse: /,
    ],
    ['no answers', spoil(answers, null, ''), /expected .*possible_answer.*, which is not there/],
    ['entries that do not parse', spoil(data, null, '{"id": 1}\n{'), /data_agent_multi_turn\.json:2 does not parse: /],
    [
      'an unknown part',
      () => ['--from', fixture, '--domains', 'special'],
      /has no special; what can be imported is multi_turn_en, multi_turn_zh, multi_step_en, multi_step_zh/,
    ],
    ['a split', () => ['--from', fixture, '--split', 'train'], /ACEBench has no splits; choose parts with --domains/],
  ];

  test.each(sampled(cases, 8))('%s', (_, args, message) => expectRefused('acebench', args(), message));

  inFullSuite('a folder that already contains a domain', async () => {
    const message = expect.stringContaining('already contains a domain; choose another --out, or remove it first');
    expect(await rehearsal('import', 'acebench', '--from', fixture, '--out', out)).toMatchObject({
      code: 2,
      err: message,
    });
  });
});

describe('an entry that can not be carried over is listed, and the others are imported', () => {
  const cases: readonly (readonly [what: string, change: Spoiling, message: string])[] = [
    [
      'unknown keys',
      [data, '"path": []', '"colour": "blue"'],
      'it has a different layout: the task has the unknown key colour',
    ],
    [
      'a class that it has not',
      [data, '"MessageApi"]', '"Bakery"]'],
      'it involves Bakery, which is not a class of the copy',
    ],
    ['no answer', [answers, '"agent_multi_turn_0"', '"agent_multi_turn_x"'], 'it has no ground truth'],
  ];

  test.each(sampled(cases, 8))('%s', async (_, change, message) => {
    const args = ['--from', spoiledCopy(fixture, [change]), '--out', scratch(), '--domains', 'multi_turn_en'];
    const { code, out: text } = await rehearsal('import', 'acebench', ...args);
    expect(code).toBe(1);
    expect(text).toContain('multi_turn_en: 9 tasks');
    expect(text).toContain(`  multi_turn_en agent_multi_turn_0: ${message}\n`);
  });
});
