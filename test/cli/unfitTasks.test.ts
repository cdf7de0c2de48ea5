import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openTrainingChannel } from '../../src/cli/training/trainingChannel.ts';
import type { RunLine } from '../../src/engine/shell/records/runLine.ts';
import { smallDomain } from '../support/smallDomain.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

/** An error in a file of a domain stops only the tasks that depend on that file. */
const task = (id: string, persona = 'plain') =>
  `id: ${id}\npersona: ${persona}\nuser: { goal: Look., opening: Hello. }\nactions: [{ tool: look, arguments: {} }]\nscript: [[{ tool: look, arguments: {} }], Done.]\n`;

function domain(files: Readonly<Record<string, string>>): string {
  const folder = smallDomain({ look: { effect: 'read', run: 'return "ok";' } }, task('one'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

async function evaluated(folder: string, ...more: readonly string[]) {
  const out = join(temporaryFolder('unfit'), 'run');
  const streamed = ['--agent', 'scripted', '--json', '--stream', '--out', out];
  const { code, out: printed, err } = await rehearsal('eval', folder, ...streamed, ...more);
  const lines = printed.split('\n').filter((line) => line.startsWith('{"type":"rolloutFinished"'));
  const outcomes = lines.map((line) => (JSON.parse(line) as RunLine & { readonly type: 'rolloutFinished' }).outcome);
  const results = Object.fromEntries(outcomes.map(({ task: id, result }) => [id, result]));
  const { error } = JSON.parse(printed.trim().split('\n').at(-1) ?? '') as {
    readonly error?: { readonly message: string };
  };
  const messages = outcomes.map(({ message }) => message.split('\n')[0]);
  return { code, err, out, results, messages, refusal: error?.message ?? '' };
}

describe.each([
  [
    'a task that names no persona',
    { 'tasks/two.task.yaml': task('two', 'unknown') },
    /\/tasks\/two\.task\.yaml:2:\d+ error task\/unknown-persona There is no persona unknown\./,
  ],
  [
    'a task whose persona cannot be read',
    { 'tasks/two.task.yaml': task('two', 'rough'), 'personas/rough.persona.yaml': 'id: rough\ndescription: [\n' },
    /\/personas\/rough\.persona\.yaml:\d+:\d+ error persona\//,
  ],
  [
    'a task whose call the tool refuses, which only the running tool tells',
    { 'tasks/two.task.yaml': task('two').replace('arguments: {} }]\nscript', 'arguments: { at: 1 } }]\nscript') },
    /\/tasks\/two\.task\.yaml:4:\d+ error task\/bad-arguments look: /,
  ],
])('%s', (_what, files, place) => {
  test('is the only one that eval cannot run, and its message begins with the place', async () => {
    const { code, results, messages, err, out } = await evaluated(domain(files), '--tasks', 'one,two');
    expect({ code, results }).toEqual({ code: 2, results: { one: 'passed', two: 'errored' } });
    expect(messages.join('\n')).toMatch(place);
    expect(err).toMatch(place);
    expect(readdirSync(out)).toContain('one.0.traj.jsonl');
    expect(readdirSync(out)).not.toContain('two.0.traj.jsonl');
  });

  test('does not keep run from playing another', async () => {
    const folder = domain(files);
    const out = join(temporaryFolder('unfit'), 'run');
    expect(await rehearsal('run', folder, 'one', '--agent', 'scripted', '--out', out)).toMatchObject({ code: 0 });
    const { code, err } = await rehearsal('run', folder, 'two', '--agent', 'scripted', '--out', join(out, 'two'));
    expect(code).toBe(2);
    expect(err.split('\n')[0]).toMatch(place);
  });
});

const place = /\/tasks\/two\.task\.yaml:\d+:\d+ error task\//;
const unreadable = { 'tasks/two.task.yaml': 'id: two\npersona: [plain\n' };

test('a file of tasks that cannot be read keeps no other task from running', async () => {
  const folder = domain(unreadable);
  expect(await evaluated(folder, '--tasks', 'one')).toMatchObject({ code: 0, results: { one: 'passed' }, err: '' });
  // All tasks were selected, but not all of them were run.
  const all = await evaluated(folder);
  expect(all).toMatchObject({ code: 2, results: { one: 'passed' } });
  expect(all.err).toMatch(/not run: .*\/tasks\/two\.task\.yaml:\d+:\d+ error /);
  const run = (task: string) => rehearsal('run', folder, task, '--out', join(temporaryFolder('unfit'), 'run'));
  const two = await run('two');
  expect({ code: two.code, first: two.err.split('\n')[0] }).toEqual({ code: 2, first: expect.stringMatching(place) });
  const other = await run('three');
  expect(other.code).toBe(2);
  expect(other.err).toMatch(/there is no task "three".*\n.*\/tasks\/two\.task\.yaml:\d+:\d+ error /);
});

test.each(['two', 't*', 'tasks/two.task.yaml'])(
  'a task whose file cannot be read and that eval is asked for as %s keeps no other from running',
  async (named) => {
    const folder = domain(unreadable);
    const out = join(temporaryFolder('unfit'), 'run');
    const list = ['--agent', 'scripted', '--out', out, '--tasks', `one,${named}`];
    const { code, out: report, err } = await rehearsal('eval', folder, ...list);
    expect({ code, last: err.trim().split('\n').at(-1) }).toEqual({ code: 2, last: expect.stringMatching(place) });
    expect(err).toMatch(/^not run: /m);
    expect(report).toContain('1 rollout');
    expect(readdirSync(out).filter((name) => name.endsWith('.traj.jsonl'))).toEqual(['one.0.traj.jsonl']);
    // Once the file is right, the same command runs what is left.
    writeFileSync(join(folder, 'tasks', 'two.task.yaml'), task('two'));
    expect(await rehearsal('eval', folder, ...list)).toMatchObject({ code: 0 });
    expect(readdirSync(out)).toContain('two.0.traj.jsonl');
  },
);

test('reports and explain name what could not be run, until the same command has run it', async () => {
  const folder = domain({ 'tasks/two.task.yaml': task('two', 'unknown'), 'tasks/three.task.yaml': 'id: [three\n' });
  const { out } = await evaluated(folder, '--trials', '2');
  const [junit, page] = ['junit.xml', 'page.html'].map((name) => join(out, name)) as [string, string];
  const reported = async () => {
    const { out: text } = await rehearsal('report', out, '--junit', junit, '--html', page);
    return { text, junit: readFileSync(junit, 'utf8'), page: readFileSync(page, 'utf8') };
  };
  const found = await reported();
  expect(found.junit).toMatch(/<testsuites [^>]*tests="5" failures="0" errors="3"/);
  expect(
    found.junit.match(/<error type="notRun" message="[^"]*two\.task\.yaml:2:\d+ error task\/unknown-persona/g),
  ).toHaveLength(2);
  expect(found.junit).toMatch(/name="the file of tasks" time="0">\s*<error [^>]*three\.task\.yaml:1/);
  expect(found.text).toMatch(/^not run: two \(2 trials\): .*two\.task\.yaml:2:/m);
  expect(found.text).toMatch(/^not run: .*three\.task\.yaml:1:/m);
  expect(found.text).toContain('2 scored of 4, 2 not run, mean reward of scored rollouts 1.000');
  expect(found.page).toMatch(/<p class="note">not run: two \(2 trials\): /);
  expect(found.page).toContain('0 tasks of 3 failed in at least one trial, and 2 were not run.');
  expect((await rehearsal('explain', out)).out).toMatch(
    /^not run: two .*\n(?:.*\n)*0 of 3 tasks failed, 2 not run\n$/m,
  );

  for (const id of ['two', 'three']) writeFileSync(join(folder, 'tasks', `${id}.task.yaml`), task(id));
  const again = await rehearsal('eval', folder, '--agent', 'scripted', '--trials', '2', '--out', out);
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining('6 scored of 6, mean reward 1.000') });
  expect((await reported()).junit).toMatch(/<testsuites [^>]*tests="6" failures="0" errors="0"/);
});

test('the advice after an error is the one that works', async () => {
  const ofTask = await evaluated(domain({ 'tasks/two.task.yaml': task('two', 'unknown') }));
  expect(ofTask.err).toMatch(/1 of 2 rollouts could not be run: .*\nCorrect the task and run what is left with --out /);
  const rough = {
    'tasks/two.task.yaml': task('two', 'rough'),
    'personas/rough.persona.yaml': 'id: rough\ndescription: [\n',
  };
  expect((await evaluated(domain(rough))).err).toMatch(/Correct the domain and run again with another --out/);
});

test('where the only chosen task cannot be read, the first line names the place; a name that no file has is refused', async () => {
  const folder = domain(unreadable);
  const only = await evaluated(folder, '--tasks', 'two');
  expect({ code: only.code, results: only.results }).toEqual({ code: 2, results: {} });
  expect(only.refusal.split('\n')[0]).toMatch(place);
  const typo = await evaluated(folder, '--tasks', 'one,tow');
  expect({ code: typo.code, results: typo.results }).toEqual({ code: 2, results: {} });
  expect(typo.refusal).toMatch(/^there is no task tow; /);
});

test.each([
  [
    'a rule',
    { 'rules.yaml': '- rule: nothing\n  check: oneCall\n' },
    /^.*\/rules\.yaml:1:\d+ error rule\/unknown-rule/,
  ],
  ['a simulated tool', { 'tools/wait.tool.yaml': 'name: wait\n' }, /^.*\/tools\/wait\.tool\.yaml:1:\d+ error tool\//],
])('%s concerns every rollout: nothing runs, and the first line names the place', async (_what, files, place) => {
  const { code, refusal, results } = await evaluated(domain(files), '--tasks', 'one');
  expect({ code, results }).toEqual({ code: 2, results: {} });
  expect(refusal.split('\n')[0]).toMatch(place);
});

describe.each([
  ['a file of tasks that cannot be read', unreadable],
  ['a task that names no persona', { 'tasks/two.task.yaml': task('two', 'unknown').replace(/^/, 'split: train\n') }],
])('%s', (_what, files) => {
  const place = /not used:? .*\/tasks\/two\.task\.yaml:\d+:\d+ error task\//;
  const withFiles = (one: string) => domain({ 'tasks/one.task.yaml': one, ...files });
  const [training, testing] = ['train', 'test'].map((split) => `split: ${split}\n${task('one')}`) as [string, string];

  test('keeps no other task from a synthesis', async () => {
    const out = join(temporaryFolder('unfit'), 'synth');
    const { code, err, out: printed } = await rehearsal('synth', withFiles(training), '--count', '1', '--out', out);
    expect(code, err).toBe(0);
    expect(printed).toContain('synthesis ');
    expect(err).toMatch(place);
  });

  test('keeps no other task from training, and the plan names it', async () => {
    const { code, out, err } = await rehearsal('train', 'sft', withFiles(training), '--model', 'tiny', '--plan');
    expect(code, err).toBe(0);
    expect(out).toContain('input      4 rollouts that the gold seat plays first: 1 training task, 4 trials each\n');
    expect(out).toMatch(place);
  });

  test('is the reason where no task is left', async () => {
    for (const argv of [
      ['train', 'sft', withFiles(testing), '--model', 'tiny', '--plan'],
      ['synth', withFiles(testing), '--count', '1', '--out', join(temporaryFolder('unfit'), 'synth')],
    ]) {
      const { code, err } = await rehearsal(...argv);
      expect(code).toBe(2);
      expect(err).toMatch(/^.*\/tasks\/two\.task\.yaml:\d+:\d+ error task\//);
    }
  });

  test('is left out of what a trainer plays', async () => {
    const sent: { readonly id?: number; readonly result?: unknown }[] = [];
    const channel = openTrainingChannel('/', (message) => void sent.push(message));
    const params = { domain: withFiles(training), split: 'train' };
    await channel.receive(JSON.stringify({ id: 1, method: 'tasks', params }));
    await channel.close();
    expect(sent.at(-1)).toMatchObject({ id: 1, result: [{ id: 'one' }] });
    expect(JSON.stringify(sent[0])).toMatch(place);
  });
});
