import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from './support/until.ts';
import { Workbench } from './support/workbench.ts';

/** Creates domains, tasks and personas from the palette, in an empty folder. */
const folder = mkdtempSync(join(tmpdir(), 'rehearsal-making-'));
const memory = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-memory/package.json')),
  'dist/index.js',
);
let workbench: Workbench;

beforeAll(async () => {
  writeFileSync(join(folder, 'README.md'), 'New domains\n');
  workbench = await Workbench.open(folder, { viewport: { width: 1400, height: 900 } });
});

afterAll(async () => {
  await workbench?.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

test('an empty folder offers a new domain', async () => {
  await workbench.runCommand('Rehearsal: Focus on Domains View');
  await workbench.page.locator('.monaco-button', { hasText: 'New Domain…' }).waitFor();
  await workbench.screenshot('making-welcome');
});

test('a domain is made from a template, and its task is rehearsed', async () => {
  await workbench.runCommand('Rehearsal: New Domain…');
  await until('the templates', async () => expect((await workbench.picks()).join()).toContain('support-desk'));
  await workbench.screenshot('making-templates');
  await workbench.pick('support-desk');
  await workbench.answer('our-desk');
  await workbench.notification(/Created our-desk/);
  await workbench.screenshot('making-template-made');
  expect(readdirSync(join(folder, 'our-desk', 'tasks')).length).toBe(4);
  await rehearse('our-desk/tasks/raise-priority.task.yaml');
});

test('a domain is made from an MCP server, and a draft of it is rehearsed and accepted', async () => {
  await workbench.runCommand('Rehearsal: New Domain…');
  await workbench.pick('From an MCP server…');
  await workbench.answer(`"${process.execPath}" "${memory}"`);
  await workbench.answer('MEMORY_FILE_PATH=${instanceFolder}/memory.json');
  await workbench.confirm(/MCP server "memory" starts /, 'Approve');
  await until('the tools of the server', async () =>
    expect((await workbench.picks()).join()).toContain('create_entities'),
  );
  await workbench.screenshot('making-mcp-tools');
  await workbench.press('Enter');
  await workbench.pick('Play the drafts');
  await workbench.answer('notes');
  await workbench.confirm(/MCP server "memory" is called up to \d+ times: create_entities /, 'Approve');
  await workbench.notification(
    /Created notes\. It has 6 draft tasks: .* One of them needs work first\. add_observations: /,
  );
  await workbench.screenshot('making-mcp-made');
  const draft = 'notes/tasks/create_entities.task.yaml';
  await rehearse(draft);
  await workbench.openFile(draft);
  await workbench.runCommand('Rehearsal: Accept Draft');
  await workbench.notification(/create_entities is accepted\. Evaluations and training now use it/);
  expect(readFileSync(join(folder, draft), 'utf8')).not.toContain('draft: true');
  await workbench.screenshot('making-accepted');
});

test('a recording becomes a task that is read before it is saved', async () => {
  await workbench.runCommand('Rehearsal: New Task from Recording');
  await until('the recordings', async () => expect((await workbench.picks()).join()).toContain('raise-priority'));
  await workbench.pick('raise-priority');
  await workbench.notification(/Before this draft counts: raise-priority-2: This task says the same as raise-priority/);
  await workbench.waitForText('.editor-group-container.active .view-lines', 'Drafted from raise-priority');
  await workbench.screenshot('making-task');
  expect(readdirSync(join(folder, 'our-desk', 'tasks'))).not.toContain('raise-priority-2.task.yaml');
  const text = await workbench.editorLines();
  const line = text.findIndex((each) => each.includes('opening:')) + 1;
  await workbench.replaceLine(line, '  opening: My ticket is stuck. Who can speed it up?', { save: false });
  await workbench.save();
  const file = join(folder, 'our-desk', 'tasks', 'raise-priority-2.task.yaml');
  await until('the saved draft', async () => expect(readFileSync(file, 'utf8')).toContain('draft: true'));
  await workbench.runCommand('Rehearsal: Accept Draft');
  await workbench.notification(/raise-priority-2 is accepted/);
  expect(readFileSync(file, 'utf8')).not.toContain('draft: true');
});

test('variants and a persona are drafted without a model', async () => {
  await workbench.openFile('our-desk/tasks/close-answered.task.yaml');
  await workbench.runCommand('Rehearsal: Generate Task Variants…');
  await workbench.answer('2');
  await workbench.pick('Without a model');
  await workbench.notification(/Drafted 1 task \(1 variant of 2 is sound: there are no more rows\)\. Review it/);
  await workbench.screenshot('making-variants');
  await workbench.runCommand('Rehearsal: Generate Persona…');
  await workbench.pick('Without a model');
  await workbench.notification(/Drafted 1 persona/);
  await workbench.runCommand('Rehearsal: Focus on Domains View');
  await workbench.screenshot('making-persona');
});

const transcript = [
  { role: 'system', content: 'You are the agent of a shop.\nConfirm before you cancel.' },
  { role: 'user', content: 'I am Jane Miller, jane.miller@gmail.com, please cancel order A-17.' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get_order', arguments: '{"order_id":"A-17"}' } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: '{"order_id":"A-17","email":"jane.miller@gmail.com","status":"open"}' },
  { role: 'assistant', content: 'Shall I cancel order A-17?' },
  { role: 'user', content: 'Yes.' },
];

test('a domain is made from recorded transcripts, without their personal data', async () => {
  writeFileSync(join(folder, 'log.jsonl'), `${JSON.stringify({ messages: transcript })}\n`);
  await workbench.runCommand('Rehearsal: New Domain…');
  await workbench.pick('From recorded transcripts…');
  await workbench.pick('Chat log');
  await workbench.answerPath(join(folder, 'log.jsonl'), 'Conversations that the domain');
  await workbench.confirm('Personal data is masked in part', 'Make a Domain');
  await workbench.answer('logged-desk');
  await workbench.notification(/Created logged-desk from 1 conversation: 1 tool\. Fill in what Problems lists/);
  await workbench.waitForText('.editor-group-container.active .view-lines', 'You are the agent of a shop.');
  const made = join(folder, 'logged-desk');
  const files = readdirSync(made, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(['policy.md', 'get_order.tool.yaml']));
  const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8')).join('\n');
  expect(texts).not.toMatch(/Jane|Miller|gmail/i);
  await workbench.screenshot('making-transcripts');
});

async function rehearse(file: string): Promise<void> {
  const { debug } = workbench;
  await workbench.openFile(file);
  await debug.start();
  await debug.waitForConsole(/REWARD 1\b/);
  await workbench.screenshot(`making-rehearsed-${file.split('/')[0]}`);
  await debug.press('continue');
  await debug.ended();
}
