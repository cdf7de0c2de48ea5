import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { formatNames } from '../../src/authoring/conversations/readConversations.ts';
import { systemPrompt } from '../../src/engine/core/domain/policy.ts';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { readRecording } from '../../src/engine/shell/records/recording.ts';
import { readSelection } from '../../src/synthesis/synthesisFolder.ts';
import { importChats, jsonl } from '../support/chatLog.ts';
import { declaring, email, first, plantedPattern as found, person, plantedLogs } from '../support/planted.ts';
import { inFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsalIn } from '../support/terminal.ts';

const desk = resolve('domains/order-desk');

const schema = {
  type: 'object',
  title: person,
  description: person,
  required: ['order_id', first],
  properties: {
    order_id: { type: 'string', description: person, enum: ['W1', person], default: person, examples: [person] },
    [first]: { type: 'string', const: person },
  },
};
const policy = readFileSync(join(desk, 'policy.md'), 'utf8').replace(/ ?\{#[\w-]+\}/g, '');

const chat = {
  id: email,
  task: person,
  user: person,
  metadata: { name: person },
  tools: [
    { type: 'function', function: { name: 'get_order', description: person, parameters: schema } },
    { type: 'function', function: { name: `find_${first}`, description: person, parameters: schema } },
  ],
  messages: [
    { role: 'system', content: `${policy}\n\nYou are talking with ${person}. Her account manager is ${first}.` },
    { role: 'assistant', content: `Hello ${person}`, reasoning_content: person },
    {
      role: 'user',
      name: first,
      content: [
        { type: 'text', text: person },
        { type: 'image_url', text: person },
      ],
    },
    {
      role: 'assistant',
      content: person,
      reasoning_content: person,
      tool_calls: [
        {
          id: email,
          type: 'function',
          function: { name: 'get_order', arguments: JSON.stringify({ order_id: person, [first]: [person] }) },
        },
        { id: 'torn', type: 'function', function: { name: `find_${first}`, arguments: `{"order_id":"${person}` } },
        { id: `open ${email}`, type: 'function', function: { name: `find_${first}`, arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: email, name: first, content: declaring },
    { role: 'tool', tool_call_id: 'torn', content: `Error: ${person}` },
    { role: 'tool', tool_call_id: `stray ${email}`, content: person },
    { role: person, content: person },
    { role: 'assistant', content: `Thanks, ${first}` },
  ],
};

const attribute = (key: string, value: unknown) => ({
  key,
  value: { stringValue: typeof value === 'string' ? value : JSON.stringify(value) },
});
const text = (role: string, content: string) => ({ role, name: first, parts: [{ type: 'text', content }] });
const span = (attributes: Readonly<Record<string, unknown>>) => ({
  traceId: email,
  spanId: person,
  name: person,
  startTimeUnixNano: '1700000000000000000',
  attributes: Object.entries(attributes).map(([key, value]) => attribute(key, value)),
});
const spans = {
  resourceSpans: [
    {
      resource: { attributes: [attribute('service.name', person)] },
      scopeSpans: [
        {
          scope: { name: person },
          spans: [
            span({
              'gen_ai.conversation.id': email,
              'gen_ai.agent.name': person,
              'user.id': person,
              'gen_ai.system_instructions': [{ type: 'text', content: `${policy}\n\nAbout ${person}` }],
              'gen_ai.tool.definitions': [
                { type: 'function', name: `find_${first}`, description: person, parameters: schema },
              ],
              'gen_ai.input.messages': [
                text('user', person),
                {
                  role: 'assistant',
                  parts: [
                    { type: 'reasoning', content: person },
                    {
                      type: 'tool_call',
                      id: email,
                      name: `find_${first}`,
                      arguments: { order_id: person, [first]: 1 },
                    },
                  ],
                },
                { role: 'tool', parts: [{ type: 'tool_call_response', id: email, response: JSON.parse(declaring) }] },
              ],
              'gen_ai.output.messages': [text('assistant', `Thanks, ${person}`)],
            }),
          ],
        },
      ],
    },
  ],
};

/** Commands of the debugger that show what was said, called and recorded. */
const debugScript = 'where\nstep\nnext\nstep\nprint messages\nshow messages\n/why\nback\nwhere\nquit\n';

/** Replaces the trainer: it renders a recording as its text. */
const trainer = `#!/bin/sh
case "$1" in *setup_environment.py) echo '{"python": "python3", "ready": true}'; exit ;; esac
test "$4" = preview || exit 0
exec python3 -c '
import json, sys
print(json.dumps({"pieces": [{"text": open(sys.argv[1]).read(), "tokens": 1, "trained": True}]}))
' "$6"
`;

const filesIn = (...folders: readonly string[]) =>
  folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => join(each.parentPath, each.name)),
  );

inFullSuite.each([
  ['chats', 'chats', jsonl(chat)],
  ['rows of chats', 'chats', jsonl(...chat.messages.map((each) => ({ conversation_id: email, ...each })))],
  ['spans', 'spans', jsonl(spans)],
] as const)(
  'personal data planted in every field of %s is in no file and no output of a command',
  async (_, from, log) => {
    const cwd = temporaryFolder('planted');
    const domain = join(cwd, 'order-desk');
    cpSync(desk, domain, { recursive: true });
    const imported = await importChats(domain, log, from);
    const { run } = imported;
    const recording = join(run, readdirSync(run).find((name) => name.endsWith('.traj.jsonl')) ?? 'none');
    expect(readRecording(recording).problems).toEqual([]);
    writeFileSync(join(cwd, 'log.jsonl'), log);
    const commands = [
      ['new', 'made', `--${from}`, 'log.jsonl', '--seed', 'x', '--yes'],
      ['new', 'told', `--${from}`, 'log.jsonl', '--seed', 'x', '--yes', '--json'],
      ['draft', 'from-chats', run],
      ['draft', 'from-chats', run, '--json'],
      ['report', run, '--html', 'report.html'],
      ['report', run, '--json'],
      ['verify', run],
      ['replay', recording],
      ['shadow', domain, run, '--agent', 'gold'],
      ['coverage', 'chats', run],
      ['coverage', 'chats', run, '--json'],
      ['report', run, '--junit', 'report.xml'],
      ['debug', recording, '--script', 'script.txt'],
      ['debug', recording, '--script', 'script.txt', '--json'],
      ['preview', domain, 'patient', '--recording', recording],
      ['synth', 'preview', recording, '--python', './python'],
      ['synth', 'preview', recording, '--python', './python', '--json'],
    ];
    writeFileSync(join(cwd, 'script.txt'), debugScript);
    writeFileSync(join(cwd, 'python'), trainer, { mode: 0o755 });
    const told = [imported];
    for (const each of commands) told.push({ ...(await rehearsalIn(cwd, ...each)), run });
    told.push({ ...(await rehearsalIn(cwd, 'synth', domain, '--count', '1', '--out', 'synth')), run });
    const [chosen] = readSelection(join(cwd, 'synth')).filter(({ accepted }) => accepted);
    cpSync(recording, join(cwd, 'synth', chosen?.recording ?? 'none'));
    told.push({ ...(await rehearsalIn(cwd, 'synth', 'export', 'synth', '--out', 'export.jsonl')), run });
    expect(readFileSync(join(cwd, 'export.jsonl'), 'utf8')).toContain('Thanks');
    writeFileSync(join(cwd, 'log.jsonl'), '');
    expect(told.filter(({ code }) => code > 1)).toEqual([]);
    // A real conversation has no task; what refuses it names the recording.
    const refused = [[run], [recording], [recording, '--json']];
    for (const each of refused) told.push({ ...(await rehearsalIn(cwd, 'explain', ...each)), run });
    expect(told.slice(-3).map(({ code }) => code)).toEqual([2, 2, 2]);
    expect(told.map((each) => `${each.out}${each.err}`).filter((each) => found.test(each))).toEqual([]);
    const written = filesIn(cwd, run);
    for (const kind of [
      '.traj.jsonl',
      '.sidecar.jsonl',
      'run.json',
      'from-chats.task.yaml',
      'report.html',
      '.tool.yaml',
      'report.xml',
    ])
      expect(
        written.filter((path) => path.endsWith(kind)),
        kind,
      ).not.toEqual([]);
    expect(written.filter((path) => found.test(path) || found.test(readFileSync(path, 'utf8')))).toEqual([]);
  },
);

test('each format has a log in which personal data is planted', () => {
  const planted = plantedLogs.map(([format]) => format);
  // Spans of OpenTelemetry are in the test above.
  expect([...planted, 'opentelemetry'].toSorted()).toEqual(
    [...formatNames('chats'), ...formatNames('spans')].toSorted(),
  );
});

test.each(sampled(plantedLogs, 3))(
  'personal data in every field of %s is in no file and no output',
  async (format, from, log) => {
    const cwd = temporaryFolder('planted');
    writeFileSync(join(cwd, 'log.json'), log);
    const at = ['--seed', 'x', '--yes', '--format', format];
    const told = [
      await rehearsalIn(cwd, 'import', from, 'log.json', '--domain', desk, '--out', 'run', ...at),
      await rehearsalIn(cwd, 'import', from, 'log.json', '--domain', desk, '--out', 'again', ...at, '--json'),
      await rehearsalIn(cwd, 'new', 'made', `--${from}`, 'log.json', ...at),
    ];
    writeFileSync(join(cwd, 'log.json'), '');
    expect(told.filter(({ code }) => code > 1)).toEqual([]);
    expect(told.map((each) => `${each.out}${each.err}`).filter((each) => found.test(each))).toEqual([]);
    const written = filesIn(cwd);
    expect(written.some((path) => path.endsWith('.traj.jsonl'))).toBe(true);
    expect(written.filter((path) => found.test(path) || found.test(readFileSync(path, 'utf8')))).toEqual([]);
  },
);

test.each([
  ['the policy alone', (own: string) => own, 'same'],
  ['the system prompt of the domain', () => systemPrompt(loadDomain(desk).domain, {} as never), 'same'],
  ['the policy and a paragraph', (own: string) => `${own}\n\nYou talk with Mr Ostrobrand.`, 'differs'],
] as const)('a system message is %s: the policy stays word for word', async (_, written, kind) => {
  const system = { role: 'system', content: written(policy) };
  const { out, run } = await importChats(desk, jsonl({ messages: [system, { role: 'user', content: 'Hello' }] }));
  expect(JSON.parse(out).system).toEqual({ same: 0, differs: 0, none: 0, [kind]: 1 });
  const [start] = readRecording(join(run, 'chat-1.0.traj.jsonl')).lines;
  const masked = start?.event.type === 'rolloutStarted' ? start.event.system : '';
  expect(masked).toContain(policy.trim());
  expect(masked).not.toContain('Ostrobrand');
});
