import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterEach, expect, test } from 'vitest';
import { modelServer } from '../../support/modelServer.ts';
import { inFullSuite, sampled } from '../../support/suite.ts';
import { rehearsal } from '../../support/terminal.ts';
import {
  domain,
  lineOf,
  policy,
  reason,
  ruleLine,
  type Session,
  session,
  sharedSession,
  text,
  tools,
} from './harness.ts';

const atRule = () => ({ breakpoints: { [policy]: ruleLine() } });
type Recorded = {
  readonly type: string;
  readonly content?: string;
  readonly callId?: string;
  readonly policyHash?: string;
  readonly system?: string;
  readonly seats?: object;
  readonly parent?: { readonly recording: string; readonly event: number; readonly edit: string };
};
const events = (path = ''): readonly Recorded[] =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).event as Recorded);
const frameAt = async (run: Session, name: string) => {
  const { body } = await run.client.request<DebugProtocol.StackTraceResponse['body']>('stackTrace', { threadId: 1 });
  return body.stackFrames.find((frame) => frame.name.includes(name))?.id;
};
const typeAt = async (run: Session, expression: string, frameId: number | undefined) => {
  const args = { expression, context: 'repl', frameId };
  type Answer = { result?: string; error?: DebugProtocol.Message };
  const { success, body } = await run.client.request<Answer>('evaluate', args);
  return success ? body.result : `refused: ${body.error?.format}`;
};

const files = [policy, tools, join(domain, 'personas', 'changeable.persona.yaml')];
const originals = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
afterEach(() => {
  for (const [file, original] of originals) writeFileSync(file, original);
});

test('/fork continues live from the selected frame, also of a finished recording', async () => {
  const live = sharedSession();
  await live.begin({ task: 'lamp-variant', noDebug: true });
  const [recording = ''] = live.recordings();
  const before = readFileSync(recording, 'utf8');
  const run = sharedSession();
  await run.begin({ recording, domain });
  await run.finish();
  expect(await run.type('/fork')).toBe(
    'refused: the rollout is over here: step back before its end, or choose an earlier turn in the call stack',
  );
  const frame = await frameAt(run, 'turn 2: agent calls get_order');
  const stop = await run.client.stop(() => typeAt(run, '/fork', frame));
  expect([reason(stop), text(stop)]).toEqual(['fork', `forked: continues from step ${(frame ?? 0) - 1}`]);
  expect(await run.top()).toMatch(/agent calls get_order$/);
  const console = run.client.output;
  expect(console.slice(console.indexOf('--- fork:')).trim().split('\n')).toEqual([
    expect.stringMatching(/^--- fork: nothing was edited/),
    'from here the gold seat plays the agent: without a model, it makes the gold actions for what the user has asked for',
  ]);
  expect(await run.finish()).toMatch(/^reward 1/);
  const fork = events(recording.replace('.traj', '.fork-1.traj'));
  expect(fork[0]).toMatchObject({
    seats: { agent: 'gold', user: 'agenda' },
    parent: { event: (frame ?? 0) - 1, edit: `nothing was edited, it continues from step ${(frame ?? 0) - 1}` },
  });
  expect(readFileSync(recording, 'utf8')).toBe(before);
});

test('what the agent says is edited where the rollout stopped, and the rule stays in view', async () => {
  type Answer = { readonly reply: { name: string; text: string; isCall: boolean; variablesReference: number } | null };
  const replyOf = async (run: Session) =>
    (await run.client.request<Answer>('rehearsal/reply', { frameId: 0 })).body.reply;
  const entry = sharedSession();
  await entry.begin({ task: 'lamp-variant', stopOnEntry: true });
  expect(await replyOf(entry)).toBeNull();
  const run = sharedSession();
  await run.begin({ task: 'lamp-variant' }, { filters: ['violation'] });
  const { variablesReference, name, ...call } = (await replyOf(run)) ?? { variablesReference: 0, name: '' };
  expect(call).toMatchObject({ text: '', isCall: true });
  const value = 'Let me look at that order.';
  const stop = await run.client.stop(() => run.client.request('setVariable', { variablesReference, name, value }));
  expect(text(stop)).toBe('forked: continues from the edited message');
  expect(await run.top()).toBe(`policy.md:${ruleLine()} agent: ${value}`);
  expect(await replyOf(run)).toMatchObject({ text: value, isCall: false });
  await run.finish();
  const last = await replyOf(run);
  expect(last, 'at the reward, the last message before it').toMatchObject({ isCall: false });
  const ended = { variablesReference: last?.variablesReference, name: last?.name, value: 'Anything else?' };
  expect(text(await run.client.stop(() => run.client.request('setVariable', ended)))).toBe(
    'forked: continues from the edited message',
  );
});

test('the rules are decided again after a row was edited where they stopped the rollout', async () => {
  const run = sharedSession();
  const { stop } = await run.begin({ task: 'lamp-variant' }, { filters: ['violation'] });
  expect(text(stop)).not.toContain('pending-only');
  await run.client.stop(() => run.type('db.orders.W1138.status = "shipped"'));
  const again = await run.client.stop(() => run.client.request('continue', { threadId: 1 }));
  expect(text(again)).toMatch(/rule pending-only violated: /);
});

test('a fork in the middle of a call makes the call again', async () => {
  const run = sharedSession();
  await run.begin({ task: 'lamp-variant' }, { breakpoints: { [tools]: lineOf(tools, 'export const change_item') } });
  await run.step('stepIn');
  expect(await run.top()).toMatch(/the database is written$/);
  await run.client.stop(() => run.type('/fork'));
  await run.finish();
  const fork = events(run.recordings()[1]);
  const writes = fork.flatMap(({ type, callId }) => (type === 'databaseWritten' ? [callId] : []));
  expect(writes[0]).toBeDefined();
  expect(new Set(writes).size).toBe(writes.length);
  expect((await rehearsal('verify', join(run.recordings()[1] ?? '', '..'))).out).not.toMatch(/is not the one/);
});

test('a person takes over the user, and keeps the seat in forks of it', async () => {
  const run = sharedSession();
  await run.begin({ task: 'lamp-variant' }, atRule());
  expect(await run.type('/take lamp')).toBe('refused: name the seat: /take agent or /take user');
  await run.step('stepBack');
  await run.rewrite('Shall I change the desk lamp in W1138 to white? It can be changed only once.');
  await run.client.request('setBreakpoints', { source: { path: policy }, breakpoints: [] });
  expect(await run.type('/take user')).toBe('');
  await run.shows('your turn as the user');
  expect(await run.type('No, leave it as it is.')).toBe('');
  await run.shows(/user {6}No, leave it as it is\./);
  const [, , taken = ''] = run.recordings();
  expect(events(taken)[0]).toMatchObject({
    seats: { agent: 'gold', user: 'human' },
    parent: { edit: expect.stringMatching(/^a person took the user's seat at step \d+$/) },
  });
  expect(
    events(taken)
      .filter(({ type }) => type === 'userReplied')
      .at(-1)?.content,
  ).toBe('No, leave it as it is.');
});

test('a person who took over the agent speaks the next turn at the current step, without another fork', async () => {
  const run = sharedSession();
  await run.begin({ task: 'lamp-variant', stopOnEntry: true });
  await run.type('/take agent');
  await run.shows('your turn as the agent');
  const stop = await run.client.stop(() => run.client.request('pause', { threadId: 1 }));
  expect(text(stop)).toBe('paused in the turn of the agent');
  // The turn resumes the paused rollout, which stops at its next step.
  await run.client.stop(() => run.type('/call find_customer_by_email {"email": "hugo.okafor@example.com"}'));
  const result = /result {4}.*Hugo Okafor/;
  while (!result.test(run.client.output)) await run.step('stepIn');
  while ((await run.value('Rollout', 'next')) !== 'the agent responds') await run.step('stepIn');
  expect(await run.value('Next request', 'none')).toBe("human has the agent's seat and does not ask a model");
  await run.client.stop(() => run.type('/say Hello Hugo.'));
  expect(await run.top()).toMatch(/agent: Hello Hugo\.$/);
  expect(run.recordings()).toHaveLength(2);
});

test('an edited policy, persona and tool are reported, and take effect only in a fork', async () => {
  const { url, bodies } = await modelServer(() => 'Which order is it about?');
  const run = session();
  await run.begin({ task: 'lamp-variant', agent: `openai:m@${url}`, stopOnEntry: true });
  const untilAgent = async () => {
    do await run.step('stepIn');
    while ((await run.value('Rollout', 'next')) !== 'the agent responds');
  };
  await untilAgent();
  expect(await run.type('/swap')).toMatch(/^refused: the files have not changed since the rollout began/);
  const at = await run.type('event.type');
  expect(at).toBe('"userReplied"');
  appendFileSync(policy, '\n- Speak like a pirate. {#pirate}\n');
  writeFileSync(tools, (originals.get(tools) ?? '').replace("'get_order'", "'get_order'"));
  const { body } = await run.client.request<{ files: { file: string; line: number }[] }>('rehearsal/changes');
  expect(body.files).toEqual([{ file: policy, line: lineOf(policy, 'pirate'), since: expect.any(Number) }]);
  await run.shows(/policy\.md changed since step \d+; the rollout continues with the files that it started with/);
  const told = run.client.events.filter(({ event }) => event === 'rehearsal/filesChanged');
  expect(told).toHaveLength(1);
  await run.step('stepIn');
  expect(bodies.at(-1)).not.toContain('pirate');
  await run.step('stepBack');
  const [parent = ''] = run.recordings();
  const before = readFileSync(parent, 'utf8');
  expect(text(await run.client.stop(() => run.type('/swap')))).toMatch(/^forked: continues from step \d+$/);
  expect(await run.value('Agent sees', 'instructions')).toContain('Speak like a pirate.');
  await run.step('stepIn');
  expect(bodies.at(-1)).toContain('Speak like a pirate.');
  const [first, fork] = run.recordings().map((path) => events(path)[0]);
  expect(fork?.parent?.edit).toMatch(/^policy\.md swapped at step \d+$/);
  expect(fork?.policyHash).not.toBe(first?.policyHash);
  expect(readFileSync(parent, 'utf8')).toBe(before);
  expect((await rehearsal('verify', join(parent, '..'))).out).not.toMatch(/is not the one|another chain|policy/);
});

test('each notice of an edit names every file that differs, with the step after which it changed first', async () => {
  const run = sharedSession();
  await run.begin({ task: 'lamp-variant' }, atRule());
  type Edits = { readonly files: readonly { readonly file: string; readonly since: number }[] };
  const named = ({ files: all }: Edits) => all.map(({ file, since }) => [basename(file), since]);
  const changes = async () => named((await run.client.request<Edits>('rehearsal/changes')).body);
  const told = () =>
    run.client.events.flatMap(({ event, body }) => (event === 'rehearsal/filesChanged' ? [named(body as Edits)] : []));
  expect(await changes()).toEqual([]);
  writeFileSync(policy, `${originals.get(policy)}\n- Be brief.\n`);
  const [[, first] = []] = await changes();
  await run.step('stepIn');
  writeFileSync(tools, `${originals.get(tools)}\n// Edited.\n`);
  const both = [
    ['policy.md', first],
    ['tools.ts', (first as number) + 1],
  ];
  expect(await changes()).toEqual(both);
  expect(told()).toEqual([[['policy.md', first]], both]);
  writeFileSync(policy, originals.get(policy) ?? '');
  expect(await changes()).toEqual(both.slice(1));
});

inFullSuite('a tool and a persona that were edited are used by the fork', async () => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, { breakpoints: { [tools]: lineOf(tools, 'export const get_order') } });
  const persona = files[2] ?? '';
  writeFileSync(
    tools,
    (originals.get(tools) ?? '')
      .replace('export const get_order', '// slower\nexport const get_order')
      .replace(/there is no order/i, 'NOT FOUND: no order'),
  );
  writeFileSync(persona, (originals.get(persona) ?? '').replace(/^description: .*$/m, 'description: A pirate.'));
  await run.client.stop(() => run.type('/swap'));
  expect(await run.value('Persona', 'persona')).toBe('changeable: A pirate.');
  expect(events(run.recordings()[1])[0]?.parent?.edit).toMatch(/tools\.ts/);
  expect(events(run.recordings()[1])[0]?.parent?.edit).toMatch(/changeable\.persona\.yaml/);
  // The tool is now one line lower.
  expect(await run.top()).toMatch(new RegExp(`^tools\\.ts:${lineOf(tools, 'export const get_order')} `));
});

test.each(
  sampled(
    [
      {
        what: 'a policy with two rules of one name',
        file: policy,
        change: (before: string) => `${before}\n- Twice. {#small-talk}\n`,
        says: /^refused: .*policy\.md:\d+:\d+ error policy\/duplicate-rule/s,
      },
      {
        what: 'a tools file that is not a program',
        file: tools,
        change: (before: string) => `${before}\nthis is not a program\n`,
        says: /^refused: .*tools\.ts:\d+/s,
      },
    ],
    2,
  ),
)('$what refuses the swap with its line, and the session stays where it was', async ({ file, change, says }) => {
  const run = session();
  await run.begin({ task: 'lamp-variant' }, atRule());
  const here = await run.top();
  writeFileSync(file, change(originals.get(file) ?? ''));
  expect(await run.type('/swap')).toMatch(says);
  expect(await run.top()).toBe(here);
  expect(run.recordings()).toHaveLength(1);
  writeFileSync(file, originals.get(file) ?? '');
  expect(await run.finish()).toMatch(/^reward 0/);
});

test('/why leads from the verdict to the steps, the words of the rule and the values of the database', async () => {
  const run = sharedSession();
  await run.begin({ task: 'lamp-variant' }, atRule());
  const why = async () => {
    const after = run.client.events.length;
    const headline = await run.type('/why');
    // The whole chain is above the answer.
    const lines = run.client.events
      .slice(after)
      .flatMap(({ event, body }) => (event === 'output' ? [body as DebugProtocol.OutputEvent['body']] : []));
    return [
      ...lines.map(({ output, source, line }) => `${output.trimEnd()}${source ? `  -> ${source.name}:${line}` : ''}`),
      headline,
    ];
  };
  const here = await why();
  await run.finish();
  const chain = `${[...here, '', ...(await why())].join('\n')}\n`;
  await expect(chain).toMatchFileSnapshot('golden/why.txt');
});

test('a long value is opened whole, and what is saved makes a fork; what has moved on is refused', async () => {
  const run = sharedSession();
  await run.begin({ task: 'lamp-variant' }, atRule());
  type Opened = { text: string; language: string; isReadOnly: boolean; variablesReference: number; name: string };
  const open = async (...path: string[]) => {
    const { reference } = await run.variables(...path.slice(0, -1));
    const { body, success } = await run.client.request<Opened & { error?: DebugProtocol.Message }>('rehearsal/value', {
      variablesReference: reference,
      name: path.at(-1),
    });
    return success ? body : body.error?.format;
  };
  const save = async (opened: Opened, value: string) => {
    const { variablesReference, name } = opened;
    const after = run.client.events.length;
    type Answer = { error?: DebugProtocol.Message };
    const { success, body } = await run.client.request<Answer>('setVariable', { variablesReference, name, value });
    return success ? text(await run.client.event('stopped', after)) : `refused: ${body.error?.format}`;
  };
  const message = (await open('Messages', '1 user')) as Opened;
  expect(message).toMatchObject({ language: 'markdown', isReadOnly: false });
  expect(message.text).toMatch(/^Hello, I'm Hugo Okafor/);
  const order = (await open('Database', 'orders', 'W1101', 'W1138')) as Opened;
  expect(order.language).toBe('json');
  expect(await save(order, order.text.replace('}', ''))).toMatch(/^refused: W1138 is not JSON: /);
  expect(await save(order, order.text.replace('"pending"', '"shipped"'))).toBe(
    'forked: continues from the edited value',
  );
  expect(await run.type('db.orders.W1138.status')).toBe('"shipped"');
  expect(await save(order, order.text), 'it is edited on in its fork').toBe('forked: continues from the edited value');
  expect(await run.type('db.orders.W1138.status')).toBe('"pending"');
  const { reference } = await run.variables('Database', 'orders', 'W1101', 'W1138');
  await run.client.stop(() =>
    run.client.request('setVariable', { variablesReference: reference, name: 'status', value: 'lost' }),
  );
  expect(await save(order, order.text.replace('pending', 'late'))).toMatch(
    /^refused: W1138 has another value where the rollout is now/,
  );
  expect(await save(message, 'Hi,\n\nI am Hugo Okafor.')).toBe('forked: continues from the edited message');
  expect(await run.value('Messages', '1 user')).toBe('Hi,\n\nI am Hugo Okafor.');
  expect(await open('Rollout', 'seed')).toBe('seed has no text to open: edit it in VARIABLES');
  expect(await open('Agent sees', 'instructions')).toMatchObject({ isReadOnly: true, language: 'markdown' });
});
