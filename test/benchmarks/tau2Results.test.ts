import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { changedResult } from '../../src/benchmarks/officialSimulation.ts';
import { scratch } from '../support/benchmarkCopy.ts';
import { inFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { type Printed, rehearsal } from '../support/terminal.ts';
import { fixture, resultsFile, type Told, type Turn } from './tau2Copy.ts';

const out = join(temporaryFolder('rehearsal-tau2-results'), 'domains');
const shed = join(out, 'mock');
const done = 'agent: Done.';

beforeAll(async () => {
  await rehearsal('import', 'tau2', '--from', fixture, '--out', out);
});

type Conversation = Told & { readonly domain: string; readonly reward: number | null };

/** Conversations with the reward that tau2's evaluator gives them; null where it raises, or has no judge. */
const conversations: readonly Conversation[] = JSON.parse(readFileSync(join(fixture, 'conversations.json'), 'utf8'));

test.each([
  ['mock', 51],
  ['telecom', 12],
])('the conversations of %s have the reward of the official evaluator', async (domain, count) => {
  const told = conversations.filter((each) => each.domain === domain);
  expect(told).toHaveLength(count);
  const file = resultsFile(
    domain,
    told.map((each) => ({ ...each, name: `${each.task}: ${each.name}` })),
  );
  const run = join(scratch(), 'run');
  const printed = await rehearsal('regrade', '--official', file, '--domain', out, '--out', run, '--json');
  expect(printed.err).toBe('');
  const { rollouts, refused } = JSON.parse(printed.out) as {
    rollouts: { name: string; own: number | null; reason: string }[];
    refused: string[];
  };
  expect(refused).toEqual([]);
  const expected = told.map(({ task, name, reward }) => `${task}: ${name}: ${reward}`);
  expect(rollouts.map(({ name, own }) => `${name}: ${own}`)).toEqual(expected);
});

test('a regraded file says where both agree, which results are others now, and is a run that verifies', async () => {
  const told: Told[] = [
    { task: 'nothing', name: 'agrees', turns: [done], official: 1 },
    { task: 'nothing', name: 'nearly', turns: [done], official: 1 - 1e-9 },
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
  expect(text).not.toMatch(/nearly/);
  expect(text).toContain('differs: call 1 returned {"name": "rake", "out_to": null}, recorded was as recorded');
  expect(text).toContain('gone: the domain tau2-mock has no task that was imported from it');
  expect(text).toMatch(/2 agree, 1 differ, 0 raised\n$/);
  expect((await rehearsal('report', run)).out).toContain('3 scored of 3');
});

test.each([
  ['user_error', 0, /the simulated user sent an invalid message/],
  ['agent_error', 0, /the agent could not continue/],
  ['unexpected_error', 0, /did not end properly/],
  ['infrastructure_error', null, /tau2 ended the simulation by infrastructure_error/],
])('a simulation that ends by %s has the reward %s', async (end, reward, reason) => {
  const told: Told[] = [
    { task: 'nothing', name: 'after the agent', turns: [done], end },
    { task: 'nothing', name: 'after the user', turns: [done, 'user: Then go on.'], end },
  ];
  const args = ['--official', resultsFile('mock', told), '--domain', shed, '--out', join(scratch(), 'run'), '--json'];
  const { rollouts } = JSON.parse((await rehearsal('regrade', ...args)).out);
  const expected = { own: reward, reason: expect.stringMatching(reason) };
  expect(rollouts).toMatchObject([expected, expected]);
});

test('a file of another domain or another benchmark is refused before anything is played', async () => {
  const told: Told[] = [{ task: 'nothing', name: 'one', turns: [done] }];
  const refused = async (domain: string, at: string) =>
    (await rehearsal('regrade', '--official', resultsFile(domain, told), '--domain', at)).err;
  expect(await refused('telecom', shed)).toMatch(/belongs to the domain telecom, but .*mock was imported from mock$/m);
  expect(await refused('retail', out)).toMatch(
    /belongs to the domain retail, and .*domains contains no domain that was imported/,
  );
  expect(await refused('../mock', join(out, 'telecom'))).toMatch(
    /belongs to the domain \.\.\/mock, but .*imported from telecom/,
  );
  const tau1 = join(scratch(), 'list.json');
  const task = { instruction: 'Go.', actions: [], outputs: [] };
  writeFileSync(tau1, JSON.stringify([{ task_id: 0, reward: 1, trial: 0, traj: [], info: { task } }]));
  const other = await rehearsal('regrade', '--official', tau1, '--domain', shed);
  expect(other).toMatchObject({
    code: 2,
    err: expect.stringMatching(/is a results file of tau1, and .*mock was imported from tau2$/m),
  });
});

type ResultsFile = { info: object; simulations: { messages: { role: string }[] }[]; tasks?: object[] };

/** Regrades a changed results file with one simulation of a task and the official reward 1. Returns the output. */
async function regraded(task: string, change: (file: ResultsFile) => void): Promise<Printed> {
  const lend: Turn = ['agent', 'lend', { tool_id: 'T1', person: 'ann' }];
  const turns = task === 'judged' ? [lend, done] : [done];
  const file = resultsFile('mock', [{ task, name: 'one', turns, official: 1 }]);
  const read = JSON.parse(readFileSync(file, 'utf8')) as ResultsFile;
  change(read);
  writeFileSync(file, JSON.stringify(read));
  return rehearsal('regrade', '--official', file, '--domain', shed, '--out', join(scratch(), 'run'));
}

const known: readonly (readonly [what: string, task: string, change: (file: ResultsFile) => void, said: RegExp])[] = [
  [
    'a run in solo mode, by its own description',
    'nothing',
    (file) => Object.assign(file.info, { user_info: { implementation: 'dummy_user' } }),
    /none of 1 simulation can be scored; nothing: its run was in solo mode, where no user takes part/,
  ],
  [
    'a run in solo mode, by its messages',
    'nothing',
    ({ simulations: [one] }) => {
      if (one) one.messages = one.messages.filter(({ role }) => role !== 'user');
    },
    /its run was in solo mode/,
  ],
  [
    'a missing verdict of a judge',
    'judged',
    () => undefined,
    /one +1 +none +not scored: judge: .*the results file has no verdict of a judge on this[\s\S]*0 agree, 0 differ, 0 raised, 1 not scored here\n$/,
  ],
  [
    'another version of the task',
    'nothing',
    (file) => {
      const actions = [{ action_id: 'a', name: 'lend', arguments: { tool_id: 'T1' } }];
      file.tasks = [{ id: 'nothing', user_scenario: { instructions: 'Go.' }, evaluation_criteria: { actions } }];
    },
    /one: its gold actions in the file are not those of the imported task: the file is of another version of tau2/,
  ],
  [
    'a domain that is not imported',
    'nothing',
    (file) => Object.assign(file.info, { environment_info: { domain_name: 'banking_knowledge' } }),
    /banking_knowledge, which is not imported: its agent searches documents in an index/,
  ],
];

test.each(sampled(known, 3))('%s is named', async (_, task, change, said) => {
  const { out: text, err } = await regraded(task, change);
  expect(`${err}${text}`).toMatch(said);
});

inFullSuite('a file of telecom-workflow is scored as telecom', async () => {
  const told = conversations.filter(({ domain, reward }) => domain === 'telecom' && reward !== null).slice(0, 1);
  const file = resultsFile(
    'telecom-workflow',
    told.map((each) => ({ ...each, official: each.reward })),
  );
  const { out: text } = await rehearsal(
    'regrade',
    '--official',
    file,
    '--domain',
    out,
    '--out',
    join(scratch(), 'run'),
  );
  expect(text).toMatch(/1 agree, 0 differ, 0 raised\n$/);
});

test('what is different in two long results is shown', () => {
  const [before, now] = ['province', 'state'].map((key) => `{"street": "${'a'.repeat(200)}", "${key}": "TX"}`);
  expect(changedResult(0, before ?? '', now ?? '')).toEqual([
    `call 1 returned …${'a'.repeat(36)}", "state": "TX"}, recorded was …${'a'.repeat(36)}", "province": "TX"}`,
  ]);
});

test('each simulation is a separate trial, and run.json names those that were played', async () => {
  const told: Told[] = [
    { task: 'gone', name: 'unknown', trial: 9, turns: [done] },
    { task: 'nothing', name: 'without a number', trial: null, turns: [done] },
    { task: 'nothing', name: 'the first', trial: 0, turns: [done] },
    { task: 'nothing', name: 'the next without', trial: null, turns: [done] },
    { task: 'nothing', name: 'of another file', trial: 0, turns: [done] },
    { task: 'lend_one', name: 'the second', trial: 1, turns: [done] },
  ];
  const run = join(scratch(), 'run');
  const args = ['--official', resultsFile('mock', told), '--domain', shed, '--out', run, '--json'];
  const { rollouts, refused } = JSON.parse((await rehearsal('regrade', ...args)).out);
  expect(rollouts.map(({ name, trial }: { name: string; trial: number }) => [name, trial])).toEqual([
    ['without a number', 1],
    ['the first', 0],
    ['the next without', 2],
    ['the second', 1],
  ]);
  expect(refused).toEqual([
    'gone: the domain tau2-mock has no task that was imported from it',
    'of another file: trial 0 of nothing appears in the file twice; renumber the trials of merged files',
  ]);
  const file = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8'));
  expect([file.trials, file.tasks.toSorted(), file.agent]).toEqual([3, ['lend_one', 'nothing'], 'tau2']);
  expect((await rehearsal('verify', run)).code).toBe(0);
});

test('a folder has its simulations in the file, and in separate files', async () => {
  const told = (name: string, trial: number): Told => ({ task: 'nothing', name, trial, turns: [done] });
  const folder = scratch();
  const [whole, other] = [[told('inside', 0)], [told('beside', 1)]].map((each) =>
    JSON.parse(readFileSync(resultsFile('mock', each), 'utf8')),
  );
  mkdirSync(join(folder, 'simulations'));
  writeFileSync(join(folder, 'results.json'), JSON.stringify(whole));
  const beside = join(folder, 'simulations', 'one.json');
  writeFileSync(beside, JSON.stringify(other.simulations[0]));
  const args = ['regrade', '--official', folder, '--domain', shed, '--json', '--out'];
  const { rollouts } = JSON.parse((await rehearsal(...args, join(scratch(), 'run'))).out);
  expect(rollouts.map(({ name }: { name: string }) => name)).toEqual(['inside', 'beside']);
  writeFileSync(beside, '{"id": 5}');
  const { error } = JSON.parse((await rehearsal(...args, join(scratch(), 'run'))).out);
  expect(error.message).toMatch(/one\.json is not a results file of tau2: .*; id: .*; task_id: /);
});

describe('a file that is not a results file is reported in one message', () => {
  test('a folder without results', async () => {
    const folder = scratch();
    const { err } = await rehearsal('regrade', '--official', folder, '--domain', shed);
    expect(err).toBe(`rehearsal regrade: there is no ${join(folder, 'results.json')}\n`);
  });

  test.each([
    ['a file that is not there', null, /there is no /],
    ['no JSON', '{', /does not parse/],
    [
      'a page of a browser',
      '\n<!DOCTYPE html><html><head><title>Sign in to GitHub</title></head></html>',
      /results\.json is an HTML page \("Sign in to GitHub"\), not JSON\. Download the raw file\n$/,
    ],
    [
      'a pointer of Git LFS',
      'version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n',
      /results\.json is a Git LFS pointer, not the file itself\. Run "git lfs pull"/,
    ],
    [
      'another file',
      '{"a": 1}',
      /is not a results file of tau2: expected info\.environment_info\.domain_name.*; info: /,
    ],
    ['a text', '"a"', /is not a results file of tau2: .*; the whole: /],
  ])('%s', async (_, text, message) => {
    const file = join(scratch(), 'results.json');
    if (text !== null) writeFileSync(file, text);
    expect(await rehearsal('regrade', '--official', file, '--domain', shed)).toMatchObject({
      code: 2,
      err: expect.stringMatching(message),
    });
  });
});
