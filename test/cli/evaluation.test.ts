import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { readingOrder, transcriptOf } from '../../src/cli/terminal/transcript.ts';
import type { RolloutEvent } from '../../src/engine/core/events/event.ts';
import { modelServer } from '../support/modelServer.ts';
import { withEmptyScripts } from '../support/sampleDomains.ts';
import { inFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal, rehearsalUntil } from '../support/terminal.ts';

const folder = () => join(temporaryFolder('rehearsal'), 'run');
const files = (run: string) =>
  readdirSync(run)
    .sort()
    .map((name) => [name, readFileSync(join(run, name), 'utf8')] as const);
const evaluated = (run: string, ...more: readonly string[]) => evaluatedOn('domains/order-desk', run, ...more);
const evaluatedOn = (domain: string, run: string, ...more: readonly string[]) =>
  rehearsal('eval', domain, '--agent', 'gold', '--out', run, ...more);

type Answer = {
  readonly folder: string;
  readonly results: readonly { readonly task: string; readonly split: string }[];
};
const tasksOf = (out: string) => (JSON.parse(out) as Answer).results.map(({ task }) => task);

test.each(
  sampled(
    [
      ['--tasks', ['lamp-variant,cancel-*', '--split', 'train'], /^(?:lamp-variant|cancel-W\d+)$/, 4],
      ['--persona', ['hurried', '--split', 'test'], /^(?:second-thoughts|address-again-W\d+)$/, 2],
      ['--uses', ['transfer_to_human'], /^(?:parcel-under-way|under-way-W\d+)$/, 3],
    ],
    3,
  ),
)('%s chooses tasks', async (option, [value = '', ...more], names, count) => {
  const { out } = await evaluated(folder(), option, value, ...more, '--json');
  const tasks = tasksOf(out);
  expect(tasks.filter((task) => !names.test(task))).toEqual([]);
  expect(tasks).toHaveLength(count);
});

test.each([
  [['--tasks', 'nothing-*'], 'there is no task nothing-*'],
  [['--tasks', 'returns-*'], 'order-desk has '],
  [['--persona', 'grumpy'], 'has the persona grumpy'],
  [['--gate', 'luck>=1'], '--gate: there is no metric "luck"'],
  [['--gate', 'pass^3>=1', '--trials', '2'], 'pass^3 needs at least 3 trials'],
  [['--price', '3'], '--price is what a million tokens cost'],
  [['--judge', 'gold'], 'the judge is a model'],
  [['--judge', 'openai:m@http://127.0.0.1:9/v1', '--budget-money', '1'], "the judge's seat: --judge-price IN/OUT"],
  [['--agent', 'openai:m@http://127.0.0.1:9/v1', '--budget-money', '1'], "needs the price of the model in the agent's"],
])('eval %j is refused in a sentence', async (given, message) => {
  expect(await evaluated(folder(), ...given)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
});

test('a gate that is missed says by how much, one line each, and exits with 1', async () => {
  const desk = withEmptyScripts('mistaken-order');
  const scripted = ['--tasks', 'lamp-variant,mistaken-order', '--agent', 'scripted'];
  const { code, out } = await evaluatedOn(
    desk,
    folder(),
    ...scripted,
    '--gate',
    'reward>=0.8,violations<=0.6,pass^1>0.2',
  );
  expect(code).toBe(1);
  expect(out.match(/^gate missed: .*$/gm)).toEqual([
    'gate missed: reward is 0, the gate wants >= 0.8',
    'gate missed: pass^1 is 0, the gate wants > 0.2',
  ]);
  expect(out).toMatch(
    /\nexplain its failures: npx rehearsal explain \S+\nwrite a page about it: npx rehearsal report \S+ --html report\.html\n$/,
  );
  const held = await evaluated(folder(), '--tasks', 'lamp-variant', '--gate', 'reward>=1,pass^1>=1');
  expect(held.out).not.toContain('explain its failures');
  expect([held.code, held.out.match(/^gate held: .*$/gm)]).toEqual([
    0,
    ['gate held: reward is 1, the gate wants >= 1', 'gate held: pass^1 is 1, the gate wants >= 1'],
  ]);
});

test('a report counts what the guard refused of a model that plays the user', async () => {
  const { url } = await modelServer(() => 'Hello! How can I help you today?');
  const run = folder();
  await evaluated(run, '--user', `openai:m@${url}`, '--tasks', 'lamp-variant');
  const { out } = await rehearsal('report', run, '--json');
  expect(JSON.parse(out)).toMatchObject({ metrics: { simulator: { flaws: { 'role-flip': 2 }, broken: 1 } } });
});

test.each([
  ['length', 'cut off at the token limit'],
  ['MALFORMED_FUNCTION_CALL', 'ended by a call that cannot be read'],
])('a report counts answers that ended with %s, and the reason of the rollout names them', async (reason, what) => {
  const { url } = await modelServer((_, nth) => ({ content: 'I am look', finish_reason: nth < 3 ? reason : 'OTHER' }));
  const run = folder();
  await evaluated(run, '--agent', `openai:m@${url}`, '--tasks', 'lamp-variant', '--turn-cap', '3');
  const { out } = await rehearsal('report', run);
  expect(out).toContain(`agent: 2 of 3 answers were ${what}\n`);
  expect(out).toContain('agent: 1 of 3 answers ended with an unknown finish_reason: OTHER\n');
  expect(out).toMatch(
    new RegExp(`lamp-variant: reward 0, .*; 2 answers of the agent were ${what} \\(steps \\d+, \\d+\\)\n`),
  );
});

test.each(['agent', 'user', 'judge'] as const)(
  'with onTruncation: fail, a report counts the answer of the %s, and the reason names it',
  async (seat) => {
    const { url } = await modelServer(() => ({ content: 'I am look', finish_reason: 'length' }));
    const run = folder();
    const given = ['--tasks', 'lamp-variant', '--set', `${seat}.onTruncation=fail`];
    await evaluated(run, `--${seat}`, `openai:m@${url}`, ...given);
    const { out } = await rehearsal('report', run);
    expect(out).toContain(`${seat}: 1 of 1 answers were cut off at the token limit\n`);
    expect(out).toMatch(/lamp-variant: .*cut off at the token limit/);
    const { out: json } = await rehearsal('report', run, '--json');
    expect(JSON.parse(json)).toMatchObject({ metrics: { tokens: { [seat]: { input: 7, output: 3 } } } });
  },
);

test('a report counts answers with a call in the text once, and asks for the parser', async () => {
  const call = '<tool_call>{"name": "find_user", "arguments": {}}</tool_call>';
  const { url } = await modelServer(() => call);
  const run = folder();
  await evaluated(run, '--agent', `openai:m@${url}`, '--tasks', 'lamp-variant', '--turn-cap', '2', '--trials', '2');
  const { out } = await rehearsal('report', run);
  const question = "Is the server's tool-call parser switched on?";
  expect(out).toContain(`agent: 4 of 4 answers were sent with a call in the text. ${question}\n`);
  expect(out).toContain(`2 answers of the agent were sent with a call in the text (steps 3, 5). ${question}`);
});

test('a transcript says which answers were cut off', () => {
  const event = { type: 'agentReplied', content: 'I am look', toolCalls: [], brokenEnd: 'length' } as const;
  expect(transcriptOf({ ...event, toolCalls: [] })).toEqual([
    { speaker: 'agent', text: 'I am look' },
    { speaker: 'note', text: 'this answer of the agent was cut off at the token limit' },
  ]);
});

test('a call is read before the verdicts on it, and once', () => {
  const call = (id: string) => ({ id, name: 'look', arguments: {} });
  const events: readonly RolloutEvent[] = [
    { type: 'agentReplied', content: null, toolCalls: [call('a'), call('b')] },
    { type: 'rulesChecked', callId: 'a', verdicts: [] },
    { type: 'worldEdited', writes: [] },
    { type: 'toolCalled', call: call('a') },
    { type: 'toolReturned', callId: 'a', content: '{}', isError: false },
    { type: 'toolCalled', call: call('b') },
    { type: 'rulesChecked', callId: null, verdicts: [] },
  ];
  const read = events.flatMap(readingOrder()).map((event) => `${event.type} ${'call' in event ? event.call.id : ''}`);
  expect(read).toEqual([
    'agentReplied ',
    'toolCalled a',
    'rulesChecked ',
    'worldEdited ',
    'toolReturned ',
    'toolCalled b',
    'rulesChecked ',
  ]);
});

test('a transcript says once that a rollout was cancelled', () => {
  const failure = { who: 'infrastructure', code: 'cancelled', message: 'the rollout was cancelled' } as const;
  expect(transcriptOf({ type: 'rolloutEnded', reason: 'cancelled', failure })).toEqual([
    { speaker: 'note', text: 'ended: the rollout was cancelled' },
  ]);
});

test('each seat is asked with its own settings, and a run is not resumed with others', async () => {
  const agent = await modelServer(() => 'No.');
  const user = await modelServer((_, nth) => (nth === 1 ? 'Hello, I need help with a lamp.' : '###GIVE-UP###'));
  const set = ['--set', 'user.temperature=0.4', '--set', 'user.extraBody.top_k=5'];
  const seats = ['--agent', `openai:a@${agent.url}`, '--user', `openai:u@${user.url}`];
  const given = ['--tasks', 'lamp-variant', '--turn-cap', '2', '--max-tokens', '64', '--temperature'];
  const run = folder();
  await evaluated(run, ...seats, ...given, '0.9', ...set);
  expect(agent.requests[0]).toMatchObject({ temperature: 0.9, max_tokens: 64 });
  expect(user.requests[0]).toMatchObject({ temperature: 0.4, top_k: 5 });
  expect(user.requests[0]).not.toHaveProperty('max_tokens');
  expect(await evaluated(run, ...seats, ...given, '0.5', ...set)).toMatchObject({
    code: 2,
    err: expect.stringContaining(
      'its agent\'s model configuration is {"maxTokens":64,"temperature":0.9}, now it would be {"maxTokens":64,"temperature":0.5}',
    ),
  });
});

inFullSuite('a run does not resume with other options', async () => {
  const run = folder();
  await evaluated(run, '--tasks', 'lamp-variant');
  const before = files(run);
  expect(await evaluated(run, '--tasks', 'lamp-variant', '--seed', 'another')).toMatchObject({
    code: 2,
    err: expect.stringContaining('holds another run: its seed is 1, now it would be another'),
  });
  expect(files(run)).toEqual(before);
});

/** Serves a model that always gives the same answer, with a usage of 30 tokens. */
const endpoint = (say = () => 'What is your email address, please?') =>
  modelServer(say, { prompt_tokens: 20, completion_tokens: 10 });

test('a budget stops the run, and with another one it resumes without asking again', async () => {
  const model = await endpoint();
  const run = folder();
  const options = ['--agent', `openai:m@${model.url}`, '--tasks', 'cancel-*', '--turn-cap', '5', '--concurrency', '1'];
  const stopped = await evaluated(run, ...options, '--budget-tokens', '400', '--json');
  expect(stopped.code).toBe(2);
  expect(stopped.err).toMatch(
    /the budget is spent \(420 tokens, .*rollouts are finished. Resume with: npx rehearsal eval /,
  );
  const finished = tasksOf(stopped.out).length;
  expect(finished).toBeLessThan(4);
  const asked = model.requests.length;
  expect(asked).toBe(14);
  const whole = await evaluated(run, ...options, '--price', '1/2', '--json');
  expect(whole).toMatchObject({ code: 0 });
  const { summary } = JSON.parse(whole.out) as {
    summary: { rollouts: number; tokens: { total: number }; money: number };
  };
  expect(summary.rollouts).toBe(4);
  expect(summary.tokens.total).toBe(30 * model.requests.length);
  expect(summary.money).toBeCloseTo((model.requests.length * (20 + 2 * 10)) / 1_000_000, 12);
  expect((await rehearsal('verify', run)).code).toBe(0);
});

inFullSuite('a budget in money counts by the price', async () => {
  const model = await endpoint();
  const options = ['--agent', `openai:m@${model.url}`, '--tasks', 'cancel-*', '--concurrency', '1'];
  const { code } = await evaluated(folder(), ...options, '--price', '1000/2000', '--budget-money', '0.1');
  expect(code).toBe(2);
  expect(model.requests.length).toBe(3);
});

test('a judge is asked what a task leaves to it, its tokens count, and its answers outlive the run', async () => {
  let asked = 0;
  const model = await endpoint(() => {
    asked += 1;
    return '{"holds": true, "reason": "the agent was kind"}';
  });
  const domain = copied('parcel-desk');
  replaceIn(
    join(domain, 'tasks', 'test.task.yaml'),
    '- id: reschedule-P46\n',
    '- id: reschedule-P46\n  judge: [The agent was kind.]\n  evaluate: [database, judge]\n',
  );
  const run = folder();
  const options = ['--tasks', 'reschedule-P46', '--agent', 'gold', '--out', run, '--json'];
  const { out } = await rehearsal('eval', domain, ...options, '--judge', `openai:m@${model.url}`);
  expect(JSON.parse(out).summary).toMatchObject({
    meanReward: 1,
    tokens: { judge: { input: 20, output: 10 }, total: 30 },
  });
  expect(asked).toBe(1);
  const regraded = JSON.parse((await rehearsal('regrade', run, '--json')).out);
  expect(regraded.rollouts).toMatchObject([{ before: 1, after: 1 }]);
  expect(asked).toBe(1);
});

inFullSuite('where infrastructure failed every rollout there is no reward, and nothing says 0', async () => {
  const run = folder();
  const html = `${run}.html`;
  const { code, out, err } = await rehearsal(
    ...['eval', 'domains/order-desk', '--tasks', 'cancel-*', '--agent', 'openai:m@http://127.0.0.1:1/v1', '--out', run],
    ...['--gate', 'reward>=0'],
  );
  expect(code).toBe(2);
  expect(out).toMatch(/^0 scored of (\d+), \1 not scored, no mean reward$/m);
  expect(out).toMatch(/^ {2}reward +none +\d+$/m);
  expect(out).toContain('reward cannot be checked');
  expect(err).toMatch(/^(\d+)\/\1 mean reward none$/m);
  expect((await rehearsal('report', run, '--html', html)).code).toBe(0);
  const page = readFileSync(html, 'utf8');
  expect(page).toContain('<dt>Mean reward</dt><dd>none</dd>');
  expect(page).toContain('No rollout has a reward.');
  expect(page).not.toMatch(/reward 0/);
});

test('a run that is cancelled before its first rollout does not advise resuming it', async () => {
  const argv = ['eval', 'domains/order-desk', '--agent', 'gold', '--tasks', 'lamp-variant', '--out', folder()];
  const { code, out, err } = await rehearsalUntil(AbortSignal.abort(), ...argv);
  expect({ code, out, err }).toEqual({
    code: 2,
    out: '',
    err: expect.stringMatching(/^cancelled: 0 of 1 rollout is finished\. Run the command again\n$/m),
  });
});

test('a cancelled run keeps finished rollouts, and resumes', async () => {
  const run = folder();
  const abort = new AbortController();
  let err = '';
  const io = {
    out: () => undefined,
    err: (text: string) => {
      err += text;
      if (/^4\/\d+/m.test(err)) abort.abort();
    },
    terminal: false,
    interactive: false,
    cwd: process.cwd(),
    environment: {},
    signal: abort.signal,
    readLine: () => Promise.reject(new Error('no person is asked')),
  };
  const options = ['--split', 'test', '--concurrency', '2'];
  const argv = ['eval', 'domains/order-desk', '--agent', 'gold', ...options, '--out', run];
  expect(await main(argv, io)).toBe(2);
  expect(err).toMatch(/cancelled: \d+ of 20 rollouts are finished/);
  expect(err).toContain(`Resume with: npx rehearsal ${argv.join(' ')}\n`);
  const receipts = readFileSync(join(run, 'ledger.jsonl'), 'utf8');
  const again = await evaluated(run, ...options);
  expect(again.code).toBe(0);
  expect(again.out).toContain('20 scored of 20, mean reward 1.000');
  expect(readFileSync(join(run, 'ledger.jsonl'), 'utf8').startsWith(receipts)).toBe(true);
});

test('a run is incomplete until the trials that it plans are finished, and continues with them', async () => {
  const run = folder();
  const command = ['eval', 'domains/order-desk', '--tasks', 'lamp-variant', '--agent', 'gold', '--out', run];
  await rehearsalUntil(AbortSignal.abort(), ...command, '--trials', '2');
  expect(await rehearsal(...command, '--trials', '1')).toMatchObject({
    code: 2,
    err: expect.stringContaining('incomplete: 1 of 2 planned rollouts is not finished. Choose all tasks of the run'),
  });
  expect(await rehearsal(...command)).toMatchObject({ code: 0, out: expect.stringContaining('2 scored of 2,') });
});

test('the report of a run, for a terminal, as JSON, as JUnit and as a page', async () => {
  const run = folder();
  const desk = withEmptyScripts('mistaken-order');
  await evaluatedOn(desk, run, '--tasks', 'lamp-variant,mistaken-order', '--agent', 'scripted');
  const [html, xml] = [`${run}.html`, `${run}.xml`];
  const { code, out } = await rehearsal('report', run, '--html', html, '--junit', xml);
  expect(code).toBe(0);
  expect(out).toContain('confirm-before-write           2         1  yes');
  const json = JSON.parse((await rehearsal('report', run, '--json')).out) as { metrics: { meanReward: number } };
  expect(json.metrics.meanReward).toBe(0);
  const junit = readFileSync(xml, 'utf8');
  expect(junit).toMatch(/<testsuites name="order-desk: scripted .*tests="2" failures="2" errors="0"/);
  expect(junit).toMatch(/<failure type="agent" message="rule confirm-before-write was violated at step \d+/);
  const page = readFileSync(html, 'utf8');
  expect(page).not.toMatch(/src=|href="(?!#)|url\(|<script|@import/);
  const figures = page.split('<figure>').slice(1);
  expect(figures).toHaveLength(5);
  for (const figure of figures) {
    expect(figure).toMatch(/<svg [^>]*aria-hidden="true"/);
    expect(figure).toMatch(/<figcaption>[^<]{20,}<\/figcaption>/);
    expect(figure).toMatch(/<th scope="row">/);
  }
  expect(page).not.toContain('NaN');
  const [first = ''] = readFileSync(join(run, 'lamp-variant.0.sidecar.jsonl'), 'utf8').split('\n');
  const year = (JSON.parse(first) as { at: string }).at.slice(0, 4);
  expect(page).toMatch(new RegExp(`, 2 rollouts\\. Started on \\d+ \\w+ ${year} at \\d\\d:\\d\\d UTC</p>`));
});

/** The text of a page's part about failures, a line for each element. */
function failuresIn(page: string): string {
  const [, part = ''] = /<section aria-labelledby="what-failed">(.*?)<\/section>/s.exec(page) ?? [];
  const lines = part.replaceAll(/<\/span>/g, ' ').replaceAll(/<[^>]*>/g, '\n');
  return `${lines
    .replaceAll('&quot;', '"')
    .replaceAll(/\s*\n\s*/g, '\n')
    .trim()}\n`;
}

test('the page shows each failed task with its reason, its data, its conversation and the failing step', async () => {
  const run = folder();
  await evaluated(run, '--tasks', 'lamp-variant', '--agent', 'scripted');
  await rehearsal('report', run, '--html', `${run}.html`);
  const page = readFileSync(`${run}.html`, 'utf8');
  await expect(failuresIn(page)).toMatchFileSnapshot('golden/failedTask.txt');
  expect(failuresIn(page)).not.toMatch(/although this|db\.orders|any\(/);
  const [, step = ''] = /<a href="#([^"]+)">/.exec(page) ?? [];
  expect(page).toContain(`<li id="${step}" class="failing">`);
});

inFullSuite('a page without the domain, and of trials that infrastructure failed, says so in words', async () => {
  const run = folder();
  await evaluated(run, '--tasks', 'lamp-variant', '--agent', 'scripted');
  const file = join(run, 'run.json');
  const about = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...about, folder: join(run, 'gone') }));
  await rehearsal('report', run, '--html', `${run}.html`);
  const text = failuresIn(readFileSync(`${run}.html`, 'utf8'));
  expect(text).toContain('The agent broke the rule confirm-before-write: at step');
  expect(text).not.toContain('What the user wanted');
  const lost = folder();
  await evaluated(lost, '--tasks', 'lamp-variant', '--agent', 'openai:m@http://127.0.0.1:1/v1');
  await rehearsal('report', lost, '--html', `${lost}.html`);
  const page = readFileSync(`${lost}.html`, 'utf8');
  expect(page).not.toContain('What failed');
  expect(page).toMatch(
    /What has no reward[\s\S]*<li>1 trial of lamp-variant: http:\/\/127\.0\.0\.1:1\/v1 can't be reached/,
  );
});

inFullSuite('a page without a failure has no part about failures', async () => {
  const run = folder();
  await evaluated(run, '--tasks', 'mistaken-order');
  await rehearsal('report', run, '--html', `${run}.html`);
  expect(readFileSync(`${run}.html`, 'utf8')).not.toContain('What failed');
});

test('the page and the XML escape what a domain says', async () => {
  const run = folder();
  await evaluated(run, '--tasks', 'mistaken-order');
  const file = join(run, 'run.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"order-desk"', '"<b>&\\"desk\\""'));
  const [html, xml] = [`${run}.html`, `${run}.xml`];
  await rehearsal('report', run, '--html', html, '--junit', xml);
  for (const path of [html, xml]) {
    expect(readFileSync(path, 'utf8')).toContain('&lt;b&gt;&amp;&quot;desk&quot;');
    expect(readFileSync(path, 'utf8')).not.toContain('<b>&');
  }
});

inFullSuite(
  'an endpoint that cannot be reached is exit code 2, with the reason, and its rollouts count once',
  async () => {
    const run = folder();
    const agent = 'openai:m@http://127.0.0.1:9/v1';
    const args = ['eval', 'domains/order-desk', '--tasks', 'lamp-variant,wrong-card', '--agent', agent, '--out', run];
    const { code, out, err } = await rehearsal(...args);
    expect(code).toBe(2);
    expect(err).toMatch(/^2 of 2 rollouts could not be run: http:\/\/127\.0\.0\.1:9\/v1 can't be reached/m);
    expect(out).toMatch(/0 scored of 2, 2 not scored, no mean reward/);
    const ended = /How rollouts ended\n(?<ends>[\s\S]*?)\n\nWho failed\n(?<who>[\s\S]*?)\n\n/.exec(out)?.groups;
    for (const table of Object.values(ended ?? { none: '' })) {
      const counts = table
        .split('\n')
        .slice(1)
        .map((line) => Number(/(\d+)$/.exec(line)?.[1]));
      expect(counts.reduce((all, count) => all + count, 0)).toBe(2);
    }
  },
);

test('help says whose agent is the default', async () => {
  const help = async (command: string) => (await rehearsal(command, '--help')).out.replace(/\s+/g, ' ');
  expect(await help('run')).toContain('(default: `agent:` of the task, else of domain.yaml)');
  expect(await help('eval')).toContain('(default: `agent:` of domain.yaml; --task-agents uses those of tasks)');
});

test('with --task-agents, one run has the seats that tasks name, and continues with them', async () => {
  const run = folder();
  const played = (...options: readonly string[]) =>
    rehearsal('eval', 'domains/order-desk', '--out', run, '--task-agents', ...options);
  const { out } = await played('--tasks', 'lamp-variant,mistaken-order', '--json');
  const seatsOf = (JSON.parse(out) as { results: { task: string; reward: number }[] }).results;
  expect(seatsOf.map(({ task, reward }) => [task, reward])).toEqual([
    ['mistaken-order', 1],
    ['lamp-variant', 0],
  ]);
  await played('--tasks', 'wrong-card');
  const file = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')) as object;
  expect(file).toMatchObject({ agent: 'gold', agents: { 'lamp-variant': 'scripted' } });
  expect((await rehearsal('verify', run)).out).toBe('3 recordings verified\n');
  expect((await rehearsal('report', run)).out).toMatch(/^order-desk: gold, scripted against agenda, seed 1/m);
  expect(await rehearsal('eval', 'domains/order-desk', '--out', run, '--tasks', 'lamp-variant')).toMatchObject({
    code: 2,
    err: expect.stringContaining("the agent's seat of task lamp-variant is scripted, now it would be gold"),
  });
  expect(await played('--tasks', 'wrong-card', '--agent', 'gold')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--agent plays every task'),
  });
});

test('eval says that it does not use the agent that a task names', async () => {
  const note =
    /^note: gold plays every task, although task lamp-variant names `agent: scripted`, .*add --task-agents$/m;
  const said = async (...options: readonly string[]) =>
    (await rehearsal('eval', 'domains/order-desk', '--tasks', 'lamp-variant', '--out', folder(), ...options)).err;
  expect(await said()).toMatch(note);
  expect(await said('--task-agents')).not.toContain('note:');
});

test('two runs are compared by task, with the step at which they part', async () => {
  const [one, other] = [folder(), folder()];
  await evaluated(one, '--tasks', 'lamp-variant,mistaken-order,wrong-card');
  await evaluated(other, '--tasks', 'lamp-variant', '--agent', 'scripted');
  const { code, out } = await rehearsal('compare', one, other);
  expect(code).toBe(0);
  expect(out).toContain("differs in agent's seat: gold → scripted");
  expect(out).toMatch(
    /lamp-variant +1\.00 \(1 trial\) +0\.00 \(1 trial\) +-1\.000 +trial 0, step 15, agent: .* in A, "change_item.* in B/,
  );
  expect(out).toContain('1 task: B is better on 0, worse on 1; difference in mean reward -1.000');
  expect(out).toContain('p = 1.0000 (exact paired permutation test over tasks, two-sided): no difference is shown');
  expect(out).toContain('This does not show that the runs are equal.');
  expect(out).toContain(
    'With 1 task that differs, p is at least 1.0000: the test cannot show a difference before 6 differ',
  );
  const same: unknown = JSON.parse((await rehearsal('compare', one, one, '--json')).out);
  expect(same).toMatchObject({ pairs: [{ alike: 3, p: 1, partings: [], settings: [] }] });
  const elsewhere = folder();
  await evaluated(elsewhere, '--tasks', 'wrong-card');
  expect((await rehearsal('compare', other, elsewhere)).out).toContain('no task was finished in both runs');
  const changed = join(other, 'lamp-variant.0.traj.jsonl');
  writeFileSync(changed, readFileSync(changed, 'utf8').replace('"reward":0', '"reward":1'));
  const { err } = await rehearsal('compare', one, other);
  expect(err).toMatch(
    /left out: .*lamp-variant\.0\.traj\.jsonl:\d+: event \d+ \(rewarded\) was changed after it was recorded/,
  );
});

/** Copies a domain whose files a test may change. */
function copied(name: string): string {
  const copy = join(temporaryFolder('rehearsal'), name);
  cpSync(join('domains', name), copy, { recursive: true });
  return copy;
}

function replaceIn(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
}

inFullSuite('an old run under a new rule and new duties: new results beside the old, which stay', async () => {
  const domain = copied('parcel-desk');
  const run = folder();
  await rehearsal(
    'eval',
    domain,
    '--tasks',
    'reschedule-*,missing-*',
    '--split',
    'test',
    '--agent',
    'gold',
    '--out',
    run,
  );
  const before = files(run);
  writeFileSync(
    join(domain, 'rules.yaml'),
    '- rule: confirm-before-write\n  check: before\n  tools: [reschedule]\n  require: [report]\n  gate: true\n',
  );
  replaceIn(join(domain, 'policy.md'), 'Answer in one short sentence.', 'Answer in one sentence.');
  const { code, out } = await rehearsal('regrade', run, '--json');
  expect(code).toBe(0);
  const regraded = JSON.parse(out) as { folder: string; rollouts: { task: string; before: number; after: number }[] };
  expect(regraded.rollouts).toHaveLength(12);
  for (const { task, before: old, after } of regraded.rollouts)
    expect([task, old, after]).toEqual([task, 1, task.startsWith('reschedule') ? 0 : 1]);
  expect(files(run)).toEqual(before);
  expect((await rehearsal('verify', regraded.folder)).out).toBe('12 recordings verified\n');
  const compared = await rehearsal('compare', run, regraded.folder);
  expect(compared.out).toContain('12 of 12 pairs of rollouts (same task and trial) are identical');
  expect(compared.out).toMatch(/^differs in content of the domain without its tasks, .* the code of its tools$/m);
  expect(compared.out).toMatch(/B is better on 0, worse on 7; .*\np = 0\.0156 .*: a difference is shown/);
  expect((await rehearsal('regrade', run, '--out', regraded.folder)).code).toBe(2);
});

inFullSuite('a rollout of another database or another start is not graded again', async () => {
  const domain = copied('parcel-desk');
  const run = folder();
  await rehearsal('eval', domain, '--tasks', 'reschedule-P46,reschedule-P50', '--agent', 'gold', '--out', run);
  replaceIn(
    join(domain, 'tasks', 'test.task.yaml'),
    '- id: reschedule-P46\n',
    '- id: reschedule-P46\n  state:\n    - { path: [parcels, P46, day], value: Friday }\n',
  );
  const { code, out } = await rehearsal('regrade', run);
  expect(code).toBe(1);
  expect(out).toContain('reschedule-P46 trial 0: the task starts from another state now');
  expect(out).toContain('1 rollout graded again, 0 with another reward, 1 refused');
  rmSync(domain, { recursive: true });
});
