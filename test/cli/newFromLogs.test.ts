import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { jsonl } from '../support/chatLog.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsalIn } from '../support/terminal.ts';

const fresh = () => temporaryFolder('from-logs');
const called = (id: string, name: string, given: object) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(given) } }],
});
const returned = (id: string, result: object) => ({ role: 'tool', tool_call_id: id, content: JSON.stringify(result) });

const system = {
  role: 'system',
  content: 'You are the agent of a shop.\nConfirm before you cancel. In doubt write to maria.lopez@shopmail.com.',
};
const cancels = {
  messages: [
    system,
    { role: 'user', content: 'I am Jane Miller, jane.miller@gmail.com, please cancel order A-17.' },
    called('c1', 'get_order', { order_id: 'A-17' }),
    returned('c1', { order_id: 'A-17', email: 'jane.miller@gmail.com', status: 'open' }),
    { role: 'assistant', content: 'Shall I cancel order A-17?' },
    { role: 'user', content: 'Yes.' },
    called('c2', 'cancel_order', { order_id: 'A-17', why: { note: 'Jane Miller asked' } }),
    returned('c2', { ok: true }),
    { role: 'assistant', content: 'It is cancelled.' },
  ],
};
const asks = {
  messages: [
    { ...system, content: system.content.replace('\n', '  ') },
    { role: 'user', content: 'Where is order B-2?' },
    called('c1', 'get_order', { order_id: 'B-2', verbose: true }),
    returned('c1', { order_id: 'B-2', status: 'sent' }),
    { role: 'assistant', content: 'It is on its way.' },
  ],
};
const greets = {
  messages: [
    { role: 'system', content: 'You greet.' },
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hello!' },
  ],
};
const planted = ['Jane', 'Miller', 'jane.miller', 'gmail', 'maria.lopez', 'shopmail'];

/** Creates a folder with a log to run commands in. */
function withLog(...conversations: readonly unknown[]): string {
  const cwd = fresh();
  writeFileSync(join(cwd, 'log.jsonl'), jsonl(...conversations));
  return cwd;
}

const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name));
const textOf = (...path: readonly string[]) => readFileSync(join(...path), 'utf8');

describe('a domain from recorded chats', () => {
  const cwd = withLog(cancels, asks, greets);
  const desk = join(cwd, 'desk');

  test('has the policy and the tools of the log but no personal data, and says what to fill in and what comes next', async () => {
    const made = await rehearsalIn(cwd, 'new', 'desk', '--chats', 'log.jsonl', '--seed', 'x', '--yes');
    expect([made.code, made.err]).toEqual([0, '']);
    expect(made.out).toMatch(
      /^log\.jsonl: read as OpenAI chat completions\nmade desk in desk of 3 conversations: 2 tools, 2 of them from calls alone\npolicy\.md is the system message of 2 conversations\nmasked: /,
    );
    expect(made.out.split('to fill in:\n')[1]).toMatch(
      /desk\/domain\.yaml: simulator[\s\S]*desk\/tools: [\s\S]*desk\/database\.json: [\s\S]*next:\n {2}npx rehearsal check desk\n {2}npx rehearsal import chats log\.jsonl --domain desk --out (\S+)\n {2}npx rehearsal draft from-chats \1\n$/,
    );
    const policy = textOf(desk, 'policy.md');
    expect(policy).toMatch(
      /^You are the agent of a shop\.\nConfirm before you cancel\. In doubt write to \S+@example\.\w+\.\n$/,
    );
    expect(parse(textOf(desk, 'tools/get_order.tool.yaml'))).toMatchObject({
      effect: 'read',
      parameters: {
        properties: { order_id: { type: 'string' }, verbose: { type: 'boolean' } },
        required: ['order_id'],
        additionalProperties: false,
      },
      behaviour: expect.stringContaining('"status":"sent"'),
    });
    expect(textOf(desk, 'tools/cancel_order.tool.yaml')).toMatch(/^effect: write # review: /m);
    expect(parse(textOf(desk, 'tools/cancel_order.tool.yaml'))).toMatchObject({
      parameters: { properties: { why: { type: 'object', properties: { note: { type: 'string' } } } } },
    });
    expect([parse(textOf(desk, 'rules.yaml')), textOf(desk, 'database.json')]).toEqual([{ rules: [] }, '{}\n']);
    const all = filesOf(desk).map((file) => readFileSync(file, 'utf8'));
    expect(planted.filter((word) => all.join('\n').includes(word))).toEqual([]);
  });

  test('is checked with warnings alone, which say what to fill in', async () => {
    const { code, out } = await rehearsalIn(cwd, 'check', 'desk', '--json');
    const { diagnostics } = JSON.parse(out) as { diagnostics: { severity: string; code: string }[] };
    expect(code).toBe(0);
    expect(diagnostics.map(({ severity, code }) => `${severity} ${code}`)).toEqual([
      'warning task/none',
      'warning tool/no-simulator',
    ]);
  });

  test('takes the conversations that it is made of, and tasks drafted from them', async () => {
    const put = ['--domain', 'desk', '--out', 'run', '--seed', 'x'];
    const read = await rehearsalIn(cwd, 'import', 'chats', 'log.jsonl', ...put, '--yes', '--json');
    expect(JSON.parse(read.out)).toMatchObject({ problems: [], system: { same: 2, differs: 1, none: 0 } });
    const drafted = await rehearsalIn(cwd, 'draft', 'from-chats', 'run', '--json');
    const { drafts } = JSON.parse(drafted.out) as { drafts: readonly { id: string }[] };
    expect([drafted.code, drafts.length]).toEqual([1, 3]);
    const tasks = textOf(desk, 'tasks/from-chats.task.yaml');
    expect(tasks).toMatch(/tool: cancel_order/);
    expect(planted.filter((word) => tasks.includes(word))).toEqual([]);
  });
});

test('tools that the log defines are taken as they are, and their descriptions have no names of people', async () => {
  const parameters = {
    type: 'object',
    properties: { q: { type: 'string', description: 'As maria.lopez@shopmail.com says.' } },
    required: ['q'],
  };
  const tools = [
    { type: 'function', function: { name: 'find', description: 'Finds. Of maria.lopez@shopmail.com.', parameters } },
    { type: 'function', function: { name: 'bad name', parameters } },
  ];
  const cwd = withLog({ ...greets, tools });
  const more = ['--simulator', 'openai:some-model', '--name', 'Our desk', '--now', '2026-05-04T08:00:00Z'];
  const made = await rehearsalIn(cwd, 'new', 'desk', '--chats', 'log.jsonl', ...more, '--json', '--yes');
  expect(made.code).toBe(1);
  expect(JSON.parse(made.out)).toMatchObject({ name: 'Our desk', tools: 1, misnamed: ['bad name'], policyOf: 1 });
  const text = textOf(cwd, 'desk/tools/find.tool.yaml');
  expect(parse(text)).toMatchObject({ parameters: { properties: { q: { type: 'string' } }, required: ['q'] } });
  expect(text).not.toMatch(/maria|shopmail/);
  expect(parse(textOf(cwd, 'desk/domain.yaml'))).toMatchObject({ simulator: 'openai:some-model', name: 'Our desk' });
  const checked = await rehearsalIn(cwd, 'check', 'desk');
  expect(checked).toMatchObject({ code: 0, out: expect.stringMatching(/^desk\/domain\.yaml\S+ warning task\/none/) });
});

test('a tool of a log reads only where its name says so', async () => {
  const calls = ['get_order', 'return_item', 'charge_card'].map((name) => called(name, name, {}));
  const cwd = withLog({ messages: [...greets.messages, ...calls] });
  await rehearsalIn(cwd, 'new', 'desk', '--chats', 'log.jsonl', '--yes');
  const effects = ['get_order', 'return_item', 'charge_card'].map((name) =>
    textOf(cwd, `desk/tools/${name}.tool.yaml`),
  );
  expect(effects.map((text) => /^effect: (\w+) # review/m.exec(text)?.[1])).toEqual(['read', 'write', 'write']);
});

test('a log that has neither system message nor tools leaves both to be written; personal data stays on demand', async () => {
  const cwd = withLog({ messages: greets.messages.slice(1) });
  const made = await rehearsalIn(cwd, 'new', 'desk', '--chats', 'log.jsonl', '--keep-personal-data');
  expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/personal data was kept[\s\S]*desk\/tools\.ts: /) });
  expect(made.out).toContain('desk/policy.md: no conversation has a system message');
  expect((await rehearsalIn(cwd, 'check', 'desk')).code).toBe(0);
});

test('files can follow the folder, and a line that can not be read leaves the others', async () => {
  const cwd = withLog(greets);
  writeFileSync(join(cwd, 'more.jsonl'), `not json\n${JSON.stringify(asks)}\n`);
  const made = await rehearsalIn(cwd, 'new', 'desk', 'more.jsonl', '--chats', 'log.jsonl', '--yes');
  expect([made.code, made.out]).toEqual([
    1,
    expect.stringMatching(
      /^log\.jsonl: read as [^\n]*\nmore\.jsonl: read as [^\n]*\nmore\.jsonl:1: [^\n]*JSON[^\n]*\nmade desk in desk of 2 conversations: 1 tool/,
    ),
  ]);
});

test('messages that can not be read are named', async () => {
  const cwd = withLog({ messages: [...greets.messages, { role: 'robot', content: 'Beep' }] });
  const made = await rehearsalIn(cwd, 'new', 'desk', '--chats', 'log.jsonl', '--yes');
  expect(made).toMatchObject({
    code: 1,
    out: expect.stringContaining('log.jsonl:1: messages.3: role: "robot" is unknown'),
  });
});

test('a domain from spans', async () => {
  const cwd = fresh();
  const attribute = (key: string, value: unknown) => ({ key, value: { stringValue: JSON.stringify(value) } });
  const part = (role: string, content: string) => ({ role, parts: [{ type: 'text', content }] });
  const span = {
    traceId: '1'.repeat(32),
    spanId: '2'.repeat(16),
    name: 'chat some-model',
    startTimeUnixNano: '1',
    endTimeUnixNano: '2',
    attributes: [
      { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
      attribute('gen_ai.system_instructions', [{ type: 'text', content: 'You greet.' }]),
      attribute('gen_ai.input.messages', [part('user', 'Hello')]),
      attribute('gen_ai.output.messages', [{ ...part('assistant', 'Hello!'), finish_reason: 'stop' }]),
    ],
  };
  writeFileSync(join(cwd, 'spans.json'), JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }));
  const made = await rehearsalIn(cwd, 'new', 'desk', '--spans', 'spans.json', '--yes');
  expect(made).toMatchObject({ code: 0, out: expect.stringContaining('rehearsal import spans spans.json') });
  expect(textOf(cwd, 'desk/policy.md')).toBe('You greet.\n');
});

describe('bad input has one clear message, and nothing is written', () => {
  const cwd = withLog(greets);
  writeFileSync(join(cwd, 'words.txt'), 'once upon a time\n');
  writeFileSync(join(cwd, 'silent.jsonl'), '{"messages": []}\n');
  writeFileSync(join(cwd, 'empty.jsonl'), '');
  const log = ['desk', '--chats', 'log.jsonl'];

  test.each<[string, readonly string[], RegExp]>([
    ['no such file', ['desk', '--chats', 'gone.jsonl'], /gone\.jsonl: there is no such file/],
    ['no JSON', ['desk', '--chats', 'words.txt'], /no conversation to make a domain from: words\.txt:1: .*JSON/],
    ['no messages', ['desk', '--chats', 'silent.jsonl'], /no conversation to make a domain from: silent\.jsonl:1: /],
    ['an empty file', ['desk', '--chats', 'empty.jsonl'], /no conversation to make a domain from: /],
    ['no folder', ['--chats', 'log.jsonl'], /name the folder of the new domain/],
    ['a folder that is not empty', ['.', '--chats', 'log.jsonl'], /is not empty/],
    ['chats and spans', [...log, '--spans', 'log.jsonl'], /source for the domain: --template/],
    ['an invalid simulator', [...log, '--simulator', 'gold'], /--simulator is a model, .*, not "gold"/],
    ['a seed where nothing is masked', [...log, '--seed', 'x', '--keep-personal-data'], /choose one/],
  ])('%s', async (_, args, message) => {
    const { code, out, err } = await rehearsalIn(cwd, 'new', ...args);
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)]);
    expect(existsSync(join(cwd, 'desk'))).toBe(false);
  });
});
