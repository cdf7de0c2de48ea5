import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ConversationsReport } from '../../src/authoring/conversations/importConversations.ts';
import type { RolloutEvent } from '../../src/engine/core/events/event.ts';
import { openSidecar, readRecording } from '../../src/engine/shell/records/recording.ts';
import { importChats, jsonl } from '../support/chatLog.ts';
import { inFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { atTerminal, type Printed, rehearsal, rehearsalUntil } from '../support/terminal.ts';
import { session } from './dap/harness.ts';

const desk = 'domains/order-desk';
const fresh = () => temporaryFolder('chats');
const latin = join(fresh(), 'latin.jsonl');
writeFileSync(latin, Buffer.from(`{"messages": [{"role": "user", "content": "lat\xe9in"}]}\n`, 'latin1'));

type Imported = Printed & { readonly report: ConversationsReport; readonly folder: string };

/** Imports a text as a file of chats or spans. */
async function imported(from: 'chats' | 'spans', text: string): Promise<Imported> {
  const { run, ...printed } = await importChats(desk, text, from);
  return { ...printed, report: JSON.parse(printed.out) as ConversationsReport, folder: run };
}

function eventsAt({ report }: Imported, index = 0): readonly RolloutEvent[] {
  const { lines, problems } = readRecording(report.recordings[index]?.recording ?? '');
  expect(problems).toEqual([]);
  return lines.map(({ event }) => event);
}

const typesOf = (events: readonly RolloutEvent[]) => events.map(({ type }) => type);

const chat = {
  id: 'call-17',
  messages: [
    { role: 'assistant', content: 'Hello! How can I help?' },
    { role: 'user', content: [{ type: 'text', text: 'I am Clara Vogt, clara.vogt@gmx.de. Where is my order W4711?' }] },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'toolu_9', type: 'function', function: { name: 'get_order', arguments: '{"order_id":"W4711"}' } },
      ],
    },
    {
      role: 'tool',
      tool_call_id: 'toolu_9',
      content: '{"customer":{"name":"Clara Vogt","phone":"+49 170 1234567"},"status":"shipped"}',
    },
    { role: 'assistant', content: '<think>She asks for it.</think>It has shipped, Clara.' },
    { role: 'user', content: 'Thanks.' },
  ],
};

test('a chat is complete where a customer has the name of one of its fields', async () => {
  const messages = [
    { role: 'user', content: 'Where is my order?' },
    { role: 'assistant', content: 'Thank you, Mrs Messages.' },
  ];
  const found = await imported('chats', jsonl({ messages }));
  expect(found).toMatchObject({ code: 0, err: '' });
  const said = eventsAt(found).find(({ type }) => type === 'agentReplied');
  expect(said).toMatchObject({ content: expect.stringMatching(/^Thank you, Mrs (?!Messages)\p{Lu}\p{Ll}+\.$/u) });
});

test('a chat becomes a recording that is whole, masked, and vouched for', async () => {
  const found = await imported('chats', jsonl(chat));
  expect(found).toMatchObject({ code: 0, err: '' });
  expect(found.report).toMatchObject({
    domain: 'order-desk',
    problems: [],
    system: { same: 0, differs: 0, none: 1 },
    recordings: [{ messages: 6, calls: 1 }],
    masked: { name: 2, email: 1, phone: 1, id: 1 },
  });
  const events = eventsAt(found);
  expect(typesOf(events)).toEqual([
    'rolloutStarted',
    'worldPrepared',
    'userReplied',
    'agentReplied',
    'toolCalled',
    'toolReturned',
    'agentReplied',
    'userReplied',
    'rolloutEnded',
    'rewarded',
  ]);
  expect(events[0]).toMatchObject({
    greeting: 'Hello! How can I help?',
    task: { id: 'call-17' },
    seats: { agent: 'recorded', user: 'recorded' },
    imported: { from: 'chats', file: 'log.jsonl', line: 1, masked: true },
  });
  expect(events[4]).toMatchObject({ call: { id: 'call_0', name: 'get_order' } });
  expect(events[6]).toMatchObject({ content: expect.stringMatching(/^It has shipped/), reasoning: 'She asks for it.' });
  expect(events.at(-1)).toMatchObject({ reward: null, reason: expect.stringMatching(/^a real conversation/) });
  for (const name of readdirSync(found.folder))
    expect(readFileSync(join(found.folder, name), 'utf8')).not.toMatch(/Clara|Vogt|gmx|W4711|1234567|toolu/i);
  expect(readdirSync(found.folder).sort()).toEqual(['call-17.0.traj.jsonl', 'ledger.jsonl', 'run.json']);
  expect(await rehearsal('verify', found.folder)).toMatchObject({ code: 0 });
  const [recording = ''] = found.report.recordings.map((each) => each.recording);
  expect((await rehearsal('replay', recording, '--quiet')).out).toBe(
    '10 steps replayed, every state, verdict and reward as recorded\n',
  );
  const reported = await rehearsal('report', found.folder);
  openSidecar(join(found.folder, 'call-17.0.sidecar.jsonl')).append({ n: 0, at: '2026-01-01T00:00:00Z' });
  const added = await rehearsal('verify', found.folder);
  expect([added.code, added.out + added.err]).toMatchObject([1, expect.stringContaining('call-17.0.sidecar.jsonl')]);
  expect(reported.out).toMatch(
    /^order-desk: 1 imported conversation, personal data masked in part, without a recogniser of names$/m,
  );
});

test('every form of report says that imported conversations have no reward, and reports no failure', async () => {
  const { folder } = await imported('chats', jsonl(...[1, 2, 3].map((number) => ({ ...chat, id: `call-${number}` }))));
  const [html, xml] = [`${folder}.html`, `${folder}.xml`];
  const { code, out } = await rehearsal('report', folder, '--html', html, '--junit', xml);
  expect(code).toBe(0);
  expect(out).toMatch(/^Tool calls\n.*\n +get_order +3 /m);
  expect(out).toMatch(/^imported conversations are not verified, so they have no reward$/m);
  const junit = readFileSync(xml, 'utf8');
  expect(junit).toMatch(/<testsuites .*tests="3" failures="0" errors="0" skipped="3"/);
  expect(junit.match(/<skipped message="a real conversation[^>]*\/>/g)).toHaveLength(3);
  const page = readFileSync(html, 'utf8');
  expect(page).toContain('<dt>Conversations</dt><dd>3</dd>');
  for (const each of [out, junit, page]) {
    expect(each).not.toMatch(/<error|<failure|failed in at least|trial failed|What failed|Who failed|pass\^|violated/);
    expect(each.match(/a real conversation|not verified/gi)?.length ?? 0).toBeLessThanOrEqual(3);
  }
  const { metrics, rollouts } = JSON.parse((await rehearsal('report', folder, '--json')).out);
  expect(metrics).toMatchObject({ scored: 0, failedBy: { agent: 0 } });
  expect(rollouts.map(({ failedBy }: { readonly failedBy: unknown }) => failedBy)).toEqual([null, null, null]);
});

test('a name that answers what the agent opens with is masked', async () => {
  const found = await imported(
    'chats',
    jsonl({
      messages: [
        { role: 'assistant', content: 'Can I have your full name please?' },
        { role: 'user', content: 'Philippa Ackerley' },
        { role: 'assistant', content: 'And the four digit PIN?' },
        { role: 'user', content: '4821' },
      ],
    }),
  );
  expect(found.report.masked).toEqual({ name: 2, id: 1 });
  expect(JSON.stringify(eventsAt(found))).not.toMatch(/Philippa|Ackerley|"4821"/);
});

test('the same log has the same stand-ins, and every conversation of one person the same', async () => {
  const twice = jsonl(chat, { ...chat, id: 'call-18', messages: chat.messages.slice(0, 2) });
  const [one, other] = [await imported('chats', twice), await imported('chats', twice)];
  expect(eventsAt(one)).toEqual(eventsAt(other));
  const opening = (events: readonly RolloutEvent[]) => events.find(({ type }) => type === 'userReplied');
  expect(opening(eventsAt(one, 0))).toEqual(opening(eventsAt(one, 1)));
});

inFullSuite('personal data is kept on request, with a warning', async () => {
  const found = await imported('chats', jsonl(chat));
  const folder = fresh();
  const file = join(folder, 'log.jsonl');
  writeFileSync(file, jsonl(chat));
  const kept = await rehearsal(
    'import',
    'chats',
    file,
    '--domain',
    desk,
    '--out',
    join(folder, 'run'),
    '--keep-personal-data',
  );
  expect(kept.code).toBe(0);
  expect(kept.err).toMatch(/WARNING: personal data was NOT masked/);
  expect(kept.out).toMatch(/personal data was kept/);
  expect(readFileSync(join(folder, 'run', 'call-17.0.traj.jsonl'), 'utf8')).toMatch(/clara\.vogt@gmx\.de/);
  expect(found.err).toBe('');
});

test('a message a line, a list, one value over many lines, and the function calls of old', async () => {
  const lines = [
    { conversation_id: 7, role: 'user', content: 'Hello' },
    { conversation_id: 'b', role: 'customer', content: 'Cancel it.' },
    { conversation_id: 7, role: 'assistant', content: null, function_call: { name: 'get_order', arguments: '{}' } },
    { conversation_id: 7, role: 'function', name: 'get_order', content: 'Error: there is no order' },
    { conversation_id: 'b', role: 'agent', content: 'Done.' },
  ];
  for (const text of [jsonl(...lines), JSON.stringify(lines), JSON.stringify(lines, null, 2)]) {
    const found = await imported('chats', text);
    expect(found.report.problems).toEqual([]);
    expect(found.report.recordings.map(({ messages, calls }) => [messages, calls])).toEqual([
      [3, 1],
      [2, 0],
    ]);
    expect(eventsAt(found)[5]).toMatchObject({ type: 'toolReturned', isError: true });
  }
  const one = await imported('chats', JSON.stringify(chat, null, 2));
  expect(one.report.recordings).toHaveLength(1);
});

inFullSuite('system messages are compared with the policy', async () => {
  const policy = readFileSync(join(desk, 'policy.md'), 'utf8').replace(/ ?\{#[\w-]+\}/g, '');
  const user = { role: 'user', content: 'Hello' };
  const found = await imported(
    'chats',
    jsonl(
      { messages: [{ role: 'system', content: policy }, user] },
      { messages: [{ role: 'system', content: 'Be brief.' }, user] },
      { messages: [user] },
    ),
  );
  expect(found.report.system).toEqual({ same: 1, differs: 1, none: 1 });
  expect(eventsAt(found, 1)[0]).toMatchObject({ system: 'Be brief.' });
});

const wrong: readonly { readonly what: string; readonly text: string; readonly said: RegExp; readonly kept: number }[] =
  [
    { what: 'a line that is not JSON', text: `${jsonl(chat)}{\n`, said: /log\.jsonl:2: is not JSON/, kept: 1 },
    { what: 'a conversation without messages', text: jsonl(chat, { messages: [] }), said: /:2: messages: /, kept: 1 },
    {
      what: 'something else',
      text: jsonl(chat, { hello: 1 }, 7),
      said: /:2: is not of the format OpenAI chat completions \(objects with hello\)/,
      kept: 1,
    },
    {
      what: 'a message with an unknown role',
      text: jsonl({
        messages: [
          { role: 'user', content: 'x' },
          { role: 'robot', content: 'y' },
        ],
      }),
      said: /:1: messages\.1: role: "robot" is unknown/,
      kept: 1,
    },
    {
      what: 'a conversation with unknown roles only',
      text: jsonl(chat, { messages: [{ role: 'alien', content: 'x' }] }),
      said: /:2: messages\.0: role: "alien" is unknown/,
      kept: 1,
    },
    {
      what: 'a message of a person',
      text: jsonl({
        messages: [
          { role: 'user', content: 'x' },
          { role: 'Zarbina Quoxley', content: 'y' },
        ],
      }),
      said: /^(?!.*Zarbina).*:1: messages\.1: role: its value is unknown/s,
      kept: 1,
    },
    {
      what: 'a picture',
      text: jsonl({ messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }, { type: 'image_url' }] }] }),
      said: /:1: messages\.0: has parts that are not text/,
      kept: 1,
    },
    {
      what: 'a call without a result',
      text: jsonl({ messages: chat.messages.slice(0, 3) }),
      said: /:1: the call of get_order has no result in the log/,
      kept: 1,
    },
    {
      what: 'a result without a call',
      text: jsonl({
        messages: [
          { role: 'user', content: 'x' },
          { role: 'tool', tool_call_id: 'q', content: 'y' },
        ],
      }),
      said: /:1: message 2 is the result of a call that is not in the log/,
      kept: 1,
    },
    {
      what: 'a result that names no call',
      text: jsonl({
        messages: [
          { role: 'user', content: 'x' },
          { role: 'tool', content: 'y' },
        ],
      }),
      said: /:1: messages\.1: a result needs the id of its call/,
      kept: 1,
    },
    {
      what: 'a message of no conversation',
      text: jsonl(chat, { role: 'user', content: 'x' }),
      said: /:2: a message needs the id/,
      kept: 1,
    },
    {
      what: 'an unknown task',
      text: jsonl({ ...chat, task: 'none' }),
      said: /:1: the domain has no task "none"/,
      kept: 1,
    },
  ];

test.each(sampled(wrong, 3))(
  'the import reports $what with its line and imports the rest',
  async ({ text, said, kept }) => {
    const found = await imported('chats', text);
    expect(found.code).toBe(1);
    expect(found.report.recordings).toHaveLength(kept);
    const told = found.report.problems.map(({ file, line, message }) => `${file}:${line}: ${message}`);
    expect(told[0]).toMatch(said);
  },
);

test.each([
  ['no file', ['chats', '--domain', desk], /name the files: npx rehearsal import chats FILE/],
  ['a file that is not there', ['chats', 'nowhere.jsonl', '--domain', desk], /nowhere\.jsonl: there is no such file/],
  [
    'a folder without a log',
    ['chats', 'docs/contributing', '--domain', desk],
    /docs\/contributing: the folder has no file that ends/,
  ],
  ['no domain', ['spans', 'package.json'], /name the domain of the conversations: --domain FOLDER/],
  ['a folder that is not a domain', ['chats', 'package.json', '--domain', 'docs'], /docs.*domain\.yaml/],
  ['another encoding', ['chats', latin, '--domain', desk], /latin\.jsonl:1: is not a text in UTF-8/],
  ['nothing in it', ['chats', 'LICENSE', '--domain', desk], /LICENSE:1: is neither JSON nor a table/],
  [
    'a format that is unknown',
    ['chats', 'package.json', '--domain', desk, '--format', 'shargpt'],
    /--format is one of .*Did you mean "sharegpt"\?/,
  ],
  [
    'no conversation in it',
    ['chats', 'package.json', '--domain', desk],
    /package\.json:1: the format is not known: the file has objects with name, /,
  ],
  [
    'no spans in it',
    ['spans', 'package.json', '--domain', desk],
    /package\.json:1: the format is not known.*Supported are .*OpenTelemetry spans/,
  ],
  ['both ways', ['chats', 'package.json', '--domain', desk, '--keep-personal-data', '--mask-database'], /choose one/],
  [
    'a seed for nothing',
    ['chats', 'package.json', '--domain', desk, '--keep-personal-data', '--seed', 'x'],
    /choose one/,
  ],
])('import of %s is refused in one message', async (_, args, message) => {
  const { code, out, err } = await rehearsal('import', ...args, '--out', join(fresh(), 'run'));
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(message);
});

inFullSuite('a folder that holds a run is left as it is', async () => {
  const { folder } = await imported('chats', jsonl(chat));
  const before = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const file = join(fresh(), 'log.jsonl');
  writeFileSync(file, jsonl(chat));
  const again = await rehearsal('import', 'chats', file, '--domain', desk, '--out', folder, '--yes');
  expect(again).toMatchObject({ code: 2, err: expect.stringMatching(/already contains a run\. Choose another --out/) });
  expect(readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual(before);
});

inFullSuite('an agent is put against an imported conversation', async () => {
  const { folder } = await imported('chats', jsonl(chat));
  const shadowed = JSON.parse((await rehearsal('shadow', desk, folder, '--agent', 'gold', '--json')).out);
  expect(shadowed).toMatchObject({ problems: [], agreement: { turns: 2 } });
});

const attribute = (key: string, value: unknown) => ({
  key,
  value: { stringValue: typeof value === 'string' ? value : JSON.stringify(value) },
});
const text = (role: string, content: string) => ({ role, parts: [{ type: 'text', content }] });
let spans = 0;
const span = (attributes: Readonly<Record<string, unknown>>, more: object = {}) => ({
  traceId: 'aa11',
  // Spans with one id are copies of each other.
  spanId: `bb${spans++}`,
  startTimeUnixNano: '1700000000000000000',
  attributes: Object.entries(attributes).map(([key, value]) => attribute(key, value)),
  ...more,
});
const exported = (...spans: readonly object[]) => ({
  resourceSpans: [{ resource: {}, scopeSpans: [{ scope: {}, spans }] }],
});

const opening = text('user', 'I am Clara Vogt. Where is W4711?');
const calling = {
  role: 'assistant',
  parts: [{ type: 'tool_call', id: 't1', name: 'get_order', arguments: { order_id: 'W4711' } }],
  finish_reason: 'tool_call',
};
const answer = { role: 'tool', parts: [{ type: 'tool_call_response', id: 't1', response: { status: 'shipped' } }] };
const closing = text('assistant', 'It has shipped, Clara.');

test('spans with messages in their attributes are one conversation, told once', async () => {
  const system = [{ type: 'text', content: 'Be brief.' }];
  const ask = (input: readonly object[], output: object, at: string) =>
    span(
      {
        'gen_ai.conversation.id': 'conv-9',
        'gen_ai.system_instructions': system,
        'gen_ai.input.messages': input,
        'gen_ai.output.messages': [output],
      },
      { startTimeUnixNano: at },
    );
  const found = await imported(
    'spans',
    jsonl(
      exported(ask([opening, calling, answer], closing, '1700000000000000900')),
      exported(ask([opening], calling, '1700000000000000100')),
    ),
  );
  expect(found.report.problems).toEqual([]);
  expect(found.report).toMatchObject({ recordings: [{ messages: 5, calls: 1 }], system: { differs: 1 } });
  const events = eventsAt(found);
  expect(typesOf(events).slice(2, -2)).toEqual([
    'userReplied',
    'agentReplied',
    'toolCalled',
    'toolReturned',
    'agentReplied',
  ]);
  expect(events[0]).toMatchObject({ task: { id: 'conv-9' }, system: 'Be brief.', imported: { from: 'spans' } });
  expect(JSON.stringify(events)).not.toMatch(/Clara|Vogt|W4711/);
});

inFullSuite('spans with messages in events of older versions, and results in the spans of the tools', async () => {
  const event = (name: string, attributes: Readonly<Record<string, unknown>>) => ({
    name,
    timeUnixNano: '1',
    attributes: Object.entries(attributes).map(([key, value]) => attribute(key, value)),
  });
  const toolCalls = [
    { id: 't1', type: 'function', function: { name: 'get_order', arguments: '{"order_id":"W4711"}' } },
  ];
  const first = span(
    {},
    {
      events: [
        event('gen_ai.user.message', { content: 'Where is W4711?' }),
        event('gen_ai.choice', { index: '0', message: { role: 'assistant', tool_calls: toolCalls } }),
      ],
    },
  );
  const tool = span({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.call.id': 't1',
    'gen_ai.tool.call.result': '{"status":"shipped"}',
  });
  const second = span(
    {},
    {
      startTimeUnixNano: '1700000000000000500',
      events: [event('gen_ai.choice', { message: { role: 'assistant', content: 'It has shipped.' } })],
    },
  );
  const found = await imported('spans', jsonl(exported(first, tool, second)));
  expect(found.report.problems).toEqual([]);
  expect(typesOf(eventsAt(found)).slice(2, -2)).toEqual([
    'userReplied',
    'agentReplied',
    'toolCalled',
    'toolReturned',
    'agentReplied',
  ]);
});

test('spans without content say how to record it', async () => {
  const good = span({ 'gen_ai.input.messages': [opening], 'gen_ai.output.messages': [closing] });
  const silent = { ...span({ 'gen_ai.request.model': 'm' }), traceId: 'cc33' };
  const found = await imported('spans', jsonl(exported(good, silent)));
  expect(found.code).toBe(1);
  expect(found.report.problems[0]?.message).toMatch(/the spans of cc33 hold no messages; .*CAPTURE_MESSAGE_CONTENT/);
});

test('an imported conversation is stepped through, and says what it has not', async () => {
  const { report } = await imported('chats', jsonl(chat));
  const [recording = ''] = report.recordings.map((each) => each.recording);
  const run = session();
  const { stop } = await run.begin({ recording, domain: resolve(desk) });
  expect(stop.body).toMatchObject({ reason: 'entry' });
  expect(await run.finish()).toMatch(/^not scored: .*a real conversation/);
  expect(await run.value('Rollout', 'imported')).toBe(
    'from log.jsonl, line 1 (chats), personal data masked in part, without a recogniser of names; its database is unknown',
  );
  const [said] = (await run.variables('Persona')).found;
  expect(said?.value).toMatch(/has no task "call-17".*Draft a task from it/);
});

const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;

inFullSuite('what is nested too deep is named with its line, and the rest is read', async () => {
  const text = `{"messages":[{"role":"user","content":"Hi","extra":${deep}}]}\n${jsonl({
    messages: [
      { role: 'user', content: deep },
      {
        role: 'assistant',
        tool_calls: [{ id: 'a', function: { name: 'get_order', arguments: `{"order_id":${deep}}` } }],
      },
      { role: 'tool', tool_call_id: 'a', content: deep },
    ],
  })}`;
  const found = await imported('chats', text);
  expect(found.report.problems).toMatchObject([{ line: 1, message: 'is nested deeper than 200 levels' }]);
  expect(found.report.recordings).toMatchObject([{ messages: 3, calls: 1 }]);
  const called = eventsAt(found).find(({ type }) => type === 'toolCalled');
  expect(called).toMatchObject({ call: { arguments: `{"order_id":${deep}}` } });
});

test('no key or name of a log reaches what objects inherit', async () => {
  const found = await imported(
    'chats',
    `{"id":"__proto__","messages":[{"role":"user","content":"Hi"},{"role":"assistant","tool_calls":[{"id":"__proto__","function":{"name":"constructor","arguments":"{\\"__proto__\\":{\\"isAdmin\\":true},\\"email\\":\\"anna.berg@gmx.de\\"}"}}]},{"role":"tool","tool_call_id":"__proto__","content":"done"}]}\n`,
  );
  expect(found.report).toMatchObject({ problems: [], recordings: [{ messages: 3, calls: 1 }] });
  const called = eventsAt(found).find((event) => event.type === 'toolCalled');
  expect(called).toMatchObject({
    call: { name: 'constructor', arguments: { email: expect.stringMatching(/@example\./) } },
  });
  expect(called?.call.arguments).not.toHaveProperty('isAdmin');
});

test('a folder is imported with the folders in it, and what has no id is named after its file', async () => {
  const folder = fresh();
  for (const inner of ['logs/a', 'logs/b', 'logs/.hidden']) mkdirSync(join(folder, inner), { recursive: true });
  const plain = jsonl({ messages: chat.messages.slice(0, 2) });
  writeFileSync(join(folder, 'logs', 'a', 'day-one.json'), plain);
  writeFileSync(join(folder, 'logs', 'a', 'Day-One.jsonl'), jsonl(chat));
  writeFileSync(join(folder, 'logs', 'b', 'day-one.jsonl.gz'), gzipSync(`${plain}${plain}`));
  writeFileSync(join(folder, 'logs', 'b', 'torn.json'), plain.slice(0, 40));
  writeFileSync(join(folder, 'logs', 'b', 'readme.txt'), 'Hello');
  writeFileSync(join(folder, 'logs', '.hidden', 'x.json'), plain);
  symlinkSync(join(folder, 'logs', 'a', 'day-one.json'), join(folder, 'logs', 'link.json'));
  const out = join(folder, 'run');
  const put = ['--domain', desk, '--out', out, '--seed', 'x', '--yes', '--json'];
  const printed = await rehearsal('import', 'chats', join(folder, 'logs'), ...put);
  expect(printed.err).toMatch(/logs: 2 other files left out; a log ends with \.json, /);
  const report = JSON.parse(printed.out) as ConversationsReport;
  expect(report.problems).toMatchObject([{ file: join(folder, 'logs', 'b', 'torn.json'), line: 1 }]);
  const found = report.recordings.map(({ recording, file, line }) => [
    basename(recording, '.traj.jsonl'),
    relative(join(folder, 'logs'), file),
    line,
  ]);
  expect(found).toEqual([
    ['call-17.0', 'a/Day-One.jsonl', 1],
    ['a-day-one.0', 'a/day-one.json', 1],
    ['b-day-one-1.0', 'b/day-one.jsonl.gz', 1],
    ['b-day-one-2.0', 'b/day-one.jsonl.gz', 2],
  ]);
  const [start] = readRecording(report.recordings[2]?.recording ?? '').lines;
  expect(start?.event).toMatchObject({ imported: { file: 'b/day-one.jsonl.gz', line: 1 } });
});

test('an import that is stopped before anything is written says so', async () => {
  const folder = fresh();
  writeFileSync(join(folder, 'log.jsonl'), jsonl(chat));
  const put = ['--domain', desk, '--out', join(folder, 'run'), '--yes'];
  const stopped = await rehearsalUntil(AbortSignal.abort(), 'import', 'chats', join(folder, 'log.jsonl'), ...put);
  expect(stopped).toMatchObject({ code: 2, err: expect.stringMatching(/stopped: nothing was written/) });
  expect(existsSync(join(folder, 'run', 'run.json'))).toBe(false);
});

test('ids that differ in their case alone have a file each on every disk', async () => {
  const found = await imported('chats', jsonl({ ...chat, id: 'Call' }, { ...chat, id: 'call' }));
  const names = found.report.recordings.map(({ recording }) => basename(recording).toLowerCase());
  expect(new Set(names).size).toBe(2);
});

test('an id of a conversation is never a way out of the folder of the run', async () => {
  const found = await imported('chats', jsonl({ ...chat, id: '../../../escaped/../x' }));
  expect(found.report.recordings[0]?.recording.startsWith(`${found.folder}/`)).toBe(true);
  expect(readdirSync(found.folder).filter((name) => name.endsWith('.traj.jsonl'))).toHaveLength(1);
});

describe('masking in part is asked about before anything is written', () => {
  const file = join(fresh(), 'log.jsonl');
  writeFileSync(file, jsonl(chat));
  const question = /names in free text are masked in part: the patterns find \d\d % of the names/;
  const commands = [
    ['import', (out: string) => ['import', 'chats', file, '--domain', desk, '--out', out]],
    ['new', (out: string) => ['new', out, '--chats', file]],
  ] as const;

  test.each(commands)('%s without a terminal names the option', async (_, argv) => {
    const out = join(fresh(), 'out');
    const { code, err } = await rehearsal(...argv(out));
    expect({ code, isWritten: existsSync(out) }).toEqual({ code: 2, isWritten: false });
    expect(err).toMatch(question);
    expect(err).toMatch(/repeat the command with --yes/);
  });

  test.each(commands.flatMap(([name, argv]) => [[name, 'n', 2, argv] as const, [name, 'y', 0, argv] as const]))(
    '%s at a terminal after the answer %s has exit code %i',
    async (_, answer, expected, argv) => {
      const out = join(fresh(), 'out');
      const { code, asked } = await atTerminal({}, [answer], ...argv(out));
      expect(asked).toEqual([expect.stringMatching(question)]);
      expect({ code, isWritten: existsSync(out) }).toEqual({ code: expected, isWritten: expected === 0 });
    },
  );

  test('nothing is asked where there is nothing to import or nothing is masked', async () => {
    const empty = join(fresh(), 'empty.jsonl');
    writeFileSync(empty, '');
    const put = ['--domain', desk, '--out', join(fresh(), 'out')];
    const unread = await rehearsal('import', 'chats', empty, ...put);
    expect(unread).toMatchObject({ code: 2, err: expect.stringMatching(/is empty/) });
    expect(await rehearsal('import', 'chats', file, ...put, '--keep-personal-data')).toMatchObject({ code: 0 });
  });
});
