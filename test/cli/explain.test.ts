import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { openRecording, readRecording } from '../../src/engine/shell/records/recording.ts';
import { withEmptyScripts } from '../support/sampleDomains.ts';
import { smallDomain } from '../support/smallDomain.ts';
import { inFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const root = temporaryFolder('rehearsal-explain');
const run = join(root, 'run');
const recording = join(run, 'lamp-variant.0.traj.jsonl');

beforeAll(async () => {
  await rehearsal('run', 'domains/order-desk', 'lamp-variant', '--agent', 'scripted', '--out', run);
});
test('a reward is explained by its verdicts, their steps and the lines that demand it', async () => {
  const { code, out } = await rehearsal('explain', recording);
  expect(code).toBe(0);
  expect(out).toMatch(/^REWARD 0 {2}rule confirm-before-write was violated at step 16/);
  expect(out).toMatch(/orders\.W1138\.items\[0\]\.variant +is "white", expected "brass"/);
  expect(out).toMatch(/wrote it {3}\(domains\/order-desk\/tools\.ts:\d+\)/);
  expect(out).toMatch(/violated +rule confirm-before-write .*\(domains\/order-desk\/policy\.md:16\)/);
});

test('a recording that was changed or is cut off is explained with a warning and the exit code 1', async () => {
  const changed = join(root, 'changed.0.traj.jsonl');
  const text = readFileSync(recording, 'utf8');
  writeFileSync(changed, text.replaceAll('brass', 'green'));
  const explained = await rehearsal('explain', changed, '--domain', 'domains/order-desk');
  expect([explained.code, explained.err]).toEqual([
    1,
    expect.stringMatching(/^warning: .*changed\.0\.traj\.jsonl:\d+: .*its chain does not fit/),
  ]);
  writeFileSync(changed, text.slice(0, -300));
  const { code, err } = await rehearsal('explain', changed, '--domain', 'domains/order-desk');
  expect([code, err]).toEqual([1, expect.stringMatching(/^warning: .*changed\.0\.traj\.jsonl:\d+: /)]);
});

test('a run with a recording that was changed ends with the exit code 1', async () => {
  const folder = join(root, 'changed-run');
  cpSync(run, folder, { recursive: true });
  const changed = join(folder, 'lamp-variant.0.traj.jsonl');
  writeFileSync(changed, readFileSync(changed, 'utf8').replaceAll('brass', 'green'));
  const { code, out, err } = await rehearsal('explain', folder);
  expect([code, out]).toEqual([1, '0 of 0 tasks failed; 1 rollout left out\n']);
  expect(err).toMatch(/^left out: .*lamp-variant\.0\.traj\.jsonl:\d+: /);
});

test('in place of the expression of a check it says what the policy says, and where the check is', async () => {
  const { out } = await rehearsal('explain', recording);
  expect(out).not.toMatch(/although this|any\(|args\./);
  expect(out).toMatch(
    /violated {2}rule change-once at step 23: change_item was called, which the policy does not allow here {3}\(/,
  );
  expect(out).toMatch(
    /violated {2}rule hand-off .*: the call transfer_to_human\(.*\) was made, which the policy does not allow here .*\n +"Transfer to a human when .*\n +decided by its check {3}\(domains\/order-desk\/rules\.yaml:\d+\)/,
  );
});

test('an expression that decides the reward is replaced in the first line, too', async () => {
  const desk = join(root, 'desk');
  cpSync('domains/order-desk', desk, { recursive: true });
  const rules = join(desk, 'rules.yaml');
  const ungated = readFileSync(rules, 'utf8').replaceAll('gate: true', 'gate: false');
  writeFileSync(rules, ungated.replace('  check: handOff', '  check: handOff\n  gate: true'));
  const folder = join(root, 'gated');
  await rehearsal('run', desk, 'lamp-variant', '--agent', 'scripted', '--out', folder);
  const { out } = await rehearsal('explain', join(folder, 'lamp-variant.0.traj.jsonl'));
  expect(out).toMatch(
    /^REWARD 0 {2}rule hand-off was violated at step 27: the call transfer_to_human\(.*\) was made, which the policy does not allow here: "Transfer to a human when .*"\n/,
  );
});

inFullSuite('a run is explained by the first failed trial of each failed task', async () => {
  const folder = join(root, 'runs');
  const tasks = ['--tasks', 'lamp-variant,mistaken-order', '--trials', '2'];
  await rehearsal('eval', withEmptyScripts('mistaken-order'), ...tasks, '--agent', 'scripted', '--out', folder);
  const { code, out } = await rehearsal('explain', folder);
  expect(code).toBe(0);
  const titles = out.split('\n').filter((line) => line.includes('.traj.jsonl'));
  expect(titles.toSorted()).toEqual([
    expect.stringMatching(/^lamp-variant, trial 0 \(failed in trial 1 as well\): \S+lamp-variant\.0\.traj\.jsonl$/),
    expect.stringMatching(/^mistaken-order, trial 0 \(failed in trial 1 as well\): \S+mistaken-order\.0\.traj\.jsonl$/),
  ]);
  expect(out).toMatch(/^REWARD 0 {2}rule confirm-before-write was violated/m);
  expect(out).toMatch(/\n2 of 2 tasks failed\n$/);
  const data = JSON.parse((await rehearsal('explain', folder, '--json')).out);
  expect(data).toMatchObject({
    folder,
    tasks: 2,
    unfinished: [],
    failed: [{ trials: [0, 1], reward: 0 }, { reward: 0 }],
  });
});

test('what changes no reward has its reason too: a violated rule and a call that failed again and again', async () => {
  const tools = { look: { effect: 'read', run: "throw new Error('it is dark')" } } as const;
  const task = [
    'id: dark',
    'persona: plain',
    'user: { goal: Look., script: [Look., STOP] }',
    'actions: []',
    'script:',
    '  - - { tool: look, arguments: {} }',
    '  - - { tool: look, arguments: {} }',
    '  - It is dark.',
    '  - Goodbye.',
  ].join('\n');
  const domain = smallDomain(tools, task);
  writeFileSync(join(domain, 'policy.md'), '- Never look. {#never}\n');
  writeFileSync(join(domain, 'rules.yaml'), '- { rule: never, check: never, tools: [look] }\n');
  const [folder, page] = [join(root, 'dark'), join(root, 'dark.html')];
  const lapse = 'recovery (does not change the reward): look failed 2 times with the same arguments';
  const run = await rehearsal('run', domain, 'dark', '--agent', 'scripted', '--user', 'scripted', '--out', folder);
  expect(run.out).toContain(lapse);
  const { out } = await rehearsal('explain', folder);
  expect(out).toMatch(
    /^dark, trial 0: .*\nREWARD 1, although not everything held\n {2}violated {2}rule never at step \d+: /,
  );
  expect(out).toContain(`  violated  ${lapse}\n`);
  expect((await rehearsal('explain', join(folder, 'dark.0.traj.jsonl'))).out).toContain(`  violated  ${lapse}\n`);
  const report = await rehearsal('report', folder, '--html', page);
  for (const text of [report.out, readFileSync(page, 'utf8')])
    expect(text).toMatch(/look failed 2 times with the same arguments.*dark, trial 0/);
});

test('of a gold action that fails it names the action, the call and the line of the tool', async () => {
  const tools = { look: { effect: 'write', run: "throw new ToolError('it is dark')" } } as const;
  const domain = smallDomain(tools, 'id: look\npersona: plain\nuser: { goal: Look. }\nactions: [{ tool: look }]\n');
  const file = join(domain, 'tools.ts');
  writeFileSync(file, readFileSync(file, 'utf8').replace('{ defineTools }', '{ defineTools, ToolError }'));
  const folder = join(root, 'unscored');
  await rehearsal('run', domain, 'look', '--agent', 'gold', '--out', folder);
  const { out } = await rehearsal('explain', join(folder, 'look.0.traj.jsonl'));
  expect(out).toMatch(
    /The gold action look fails: it is dark\. Correct its arguments, the database or the tool\. {3}\(.*one\.task\.yaml:4\)\n +step \d+ {2}look\(\) returned Error: it is dark {3}\(.*tools\.ts:4\)/,
  );
  expect(out).toMatch(/\n {2}Find the error in the domain with: npx rehearsal check \S+ --audit\n$/);
});

test('of a run without a failed task it says that', async () => {
  const folder = join(root, 'passed');
  await rehearsal('eval', 'domains/order-desk', '--tasks', 'mistaken-order', '--agent', 'gold', '--out', folder);
  expect(await rehearsal('explain', folder)).toMatchObject({ code: 0, out: '0 of 1 task failed\n' });
});

test('of an attempt in which nothing was said, that no rule was checked', async () => {
  const { lines } = readRecording(recording);
  const file = join(root, 'lost.traj.jsonl');
  const lost = openRecording(file);
  const first = lines.slice(
    0,
    lines.findIndex(({ event }) => event.type === 'userReplied'),
  );
  lost.append(...first.map(({ n, event, state }) => ({ n, event, state })));
  lost.close();
  const { code, out } = await rehearsal('explain', file, '--domain', 'domains/order-desk');
  expect(code).toBe(0);
  expect(out).toContain('nothing was played, so no rule was checked\n');
  expect(out).not.toMatch(/every .*rule/);
});

test('as data, each line has its place', async () => {
  const answer = JSON.parse((await rehearsal('explain', recording, '--json')).out);
  expect(answer).toMatchObject({ recording, reward: 0 });
  expect(answer.chain).toContainEqual({
    text: expect.stringContaining('required by the task'),
    at: expect.objectContaining({ file: expect.stringContaining('lamp-variant.task.yaml'), line: expect.any(Number) }),
  });
});

test.each([
  [[], /name a run's folder, or a recording/],
  [['none'], /^rehearsal explain: none: there is no such run folder or recording/],
  [['none.traj.jsonl'], /none\.traj\.jsonl: there is no such recording/],
  [['domains/order-desk'], /domains\/order-desk is not the folder of a run, which contains run\.json: /],
  [['package.json'], /a file that ends in \.traj\.jsonl/],
])('explain %j can not be done', async (args, words) => {
  const { code, err } = await rehearsal('explain', ...args);
  expect(code).toBe(2);
  expect(err).toMatch(words);
});

test('a file that is not a recording is reported with its line', async () => {
  const broken = join(root, 'broken.traj.jsonl');
  writeFileSync(broken, 'no JSON\n');
  const { code, err } = await rehearsal('explain', broken, '--domain', 'domains/order-desk');
  expect(code).toBe(2);
  expect(err).toMatch(/broken\.traj\.jsonl:1: /);
});
