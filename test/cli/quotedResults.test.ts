import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Files, folderOf } from '../engine/shell/load/domainFolder.ts';
import { approveDomain } from '../support/approval.ts';
import { importChats, jsonl } from '../support/chatLog.ts';
import { mcpDomain } from '../support/mcpDomain.ts';
import { inFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const tools = `import { defineTools, ToolError } from 'rehearsal';
import * as z from 'zod';
const { tool } = defineTools<{ agent: { notes: Record<string, { text: string; kept?: boolean }> } }>();
export const add_note = tool({
  description: 'Keep a note.', effect: 'write', input: z.object({ text: z.string() }),
  run: ({ text }, { db, id }) => { const note_id = id('N'); db.notes[note_id] = { text }; return { note_id, text }; },
});
export const delete_note = tool({
  description: 'Delete a note.', effect: 'write', input: z.object({ note_id: z.string().startsWith('N') }),
  run: ({ note_id }, { db }) => {
    if (!db.notes[note_id]) throw new ToolError(\`there is no note \${note_id}\`);
    delete db.notes[note_id];
    return { deleted: true };
  },
});
`;

const python = `from rehearsal import ToolError, tool

@tool(effect="write")
def add_note(db, ctx, text: str):
    """Keep a note."""
    note_id = ctx.id("N")
    db["notes"][note_id] = {"text": text}
    return {"note_id": note_id, "text": text}

@tool(effect="write")
def delete_note(db, note_id: str):
    """Delete a note."""
    if note_id not in db["notes"]:
        raise ToolError(f"there is no note {note_id}")
    del db["notes"][note_id]
    return {"deleted": True}
`;

/** Returns the code with only one of its tools. */
const only = (code: string, name: string) =>
  code
    .split(/(?=^export const|^@tool)/m)
    .filter((part) => !/^(?:export const|@tool)/.test(part) || part.includes(`${name}(`) || part.includes(`${name} =`))
    .join('');

const task = (quote: string) => `id: tidy
persona: plain
user:
  goal: You want a note that says tea, then a note that says milk. Then you want the note about milk to be deleted.
  known: { text: tea, other_text: milk }
actions:
  - { tool: add_note, arguments: { text: tea } }
  - { tool: add_note, arguments: { text: milk } }
  - { tool: delete_note, arguments: { note_id: "${quote}" } }
evaluate: [database, actions]
`;

const desk = (files: Files) =>
  approveDomain(
    folderOf({
      'domain.yaml': 'name: notes\n',
      'policy.md': '# Notes\n\nKeep notes.\n',
      'database.json': '{"notes":{"N1":{"text":"salt"}}}\n',
      'personas/plain.persona.yaml': 'id: plain\ndescription: Someone.\n',
      ...files,
    }),
  );

const written = (quote: string) => desk({ 'tools.ts': tools, 'tasks/tidy.task.yaml': task(quote) });

const languages: readonly (readonly [language: string, files: Files])[] = [
  ['Python, of a tool in TypeScript', { 'tools.ts': only(tools, 'add_note'), 'tools.py': only(python, 'delete_note') }],
  ['TypeScript', { 'tools.ts': tools }],
  ['Python', { 'tools.py': python }],
  ['TypeScript, of a tool in Python', { 'tools.ts': only(tools, 'delete_note'), 'tools.py': only(python, 'add_note') }],
];

test.each(sampled(languages, 4))('a gold action gets the id that an earlier one created, in %s', async (_, code) => {
  const folder = desk({ ...code, 'tasks/tidy.task.yaml': task('{result.note_id}') });
  expect((await rehearsal('check', folder, '--audit')).out).toContain('no findings');
  const out = join(temporaryFolder('quotes'), 'run');
  const run = await rehearsal('eval', folder, '--agent', 'gold', '--out', out, '--json');
  expect(JSON.parse(run.out)).toMatchObject({ results: [{ reward: 1 }] });
  const drafted = await rehearsal(
    'draft',
    'task',
    join(out, 'tidy.0.traj.jsonl'),
    '--id',
    'again',
    '--print',
    '--json',
  );
  expect(parse(JSON.parse(drafted.out).text).actions.at(-1)).toEqual({
    tool: 'delete_note',
    arguments: { note_id: '{result.note_id}' },
  });
});

const idServer = fileURLToPath(new URL('../engine/shell/fixtures/idServer.mjs', import.meta.url));
const server = `  ids: { command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(idServer)}], state: replay, reader: { tool: list_notes }, volatile: [note_id], writes: [add_note, delete_note] }`;
const ofServer = `user:
  goal: You want a note that says tea, then a note that says milk. Then you want the note about milk to be deleted.
  known: { text: tea, other_text: milk }
actions:
  - { tool: add_note, arguments: { text: tea } }
  - { tool: add_note, arguments: { text: milk } }
  - { tool: delete_note, arguments: { note_id: "{result.note_id}" } }
assertions: [{ in: ids, sameAs: gold }]
evaluate: [assertions, actions]
train: [assertions]
script: [[{ tool: add_note, arguments: { text: tea } }, { tool: add_note, arguments: { text: milk } }], Done. I have added tea and milk and deleted the note about milk. Is there anything else?]
`;

inFullSuite(
  'a gold action gets the id that an MCP server created, in the rollout and where the state is compared',
  async () => {
    const folder = approveDomain(mcpDomain('ids', server, ofServer));
    expect((await rehearsal('check', folder)).out).toContain('no findings');
    const results = async (agent: string) =>
      JSON.parse((await rehearsal('eval', folder, '--agent', agent, '--json')).out);
    expect(await results('gold')).toMatchObject({ results: [{ reward: 1 }] });
    // Without the last call, the milk is still there.
    expect(await results('scripted')).toMatchObject({
      results: [{ reward: 0, reason: expect.stringContaining('milk') }],
    });
  },
);

inFullSuite(
  'a tool of the database cannot quote an MCP server where the gold actions are played for comparison',
  async () => {
    const files = { 'tools.ts': only(tools, 'delete_note').replaceAll('delete_note', 'file_note') };
    const desk = (evaluate: string) => {
      const text = ofServer.replace('tool: delete_note', 'tool: file_note').replace('[assertions, actions]', evaluate);
      return approveDomain(mcpDomain('ids', server, text, files));
    };
    expect((await rehearsal('check', desk('[assertions, database]'))).out.replace(/\n +/g, ' ')).toMatch(
      /:9:\d+ .*\{result\.note_id\} quotes a result that file_note does not have where the gold actions are played/,
    );
    expect((await rehearsal('check', desk('[assertions, actions]'))).out).not.toContain('quotes a result');
  },
);

test.each([
  ['a misspelt field', '{result.note_ids}', /:9:\d+ .*has no field note_ids\..*Did you mean "note_id"\?/],
  ['a literal id', 'N12345678', /gold-fails|missing-row/],
])('%s is found', async (_, quote, finding) => {
  expect((await rehearsal('check', written(quote), '--audit')).out.replace(/\n +/g, ' ')).toMatch(finding);
});

test('a text cannot be quoted: the audit says so where a tool returns one', async () => {
  const text = tools.replace('return { note_id, text };', 'return `Kept as ${note_id}.`;');
  const folder = desk({ 'tools.ts': text, 'tasks/tidy.task.yaml': task('{result.note_id}') });
  const { code, out } = await rehearsal('check', folder, '--audit');
  expect([code, out.replace(/\n +/g, ' ')]).toEqual([
    1,
    expect.stringMatching(
      /:9:\d+ error task\/unknown-name \{result\.note_id\} is passed on as this text: all results before it are texts\. Only the fields of a result in JSON can be quoted/,
    ),
  ]);
  const { err } = await rehearsal('run', folder, 'tidy', '--agent', 'gold');
  expect(err).toContain(
    'warning: tidy: the gold action delete_note got {result.note_id} itself, since no result before it',
  );
});

test('the first gold action has nothing to quote', async () => {
  const first = task('{result.note_id}').replace('text: tea } }', 'text: "{result.text}" } }');
  const { code, out } = await rehearsal('check', desk({ 'tools.ts': tools, 'tasks/tidy.task.yaml': first }));
  expect([code, out]).toEqual([
    1,
    expect.stringContaining('{result.text} quotes the result of an earlier gold action'),
  ]);
});

test('a draft from a conversation quotes the ids that its calls created', async () => {
  const call = (id: string, name: string, given: object) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(given) } }],
  });
  const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content });
  const messages = [
    { role: 'user', content: 'Please add a note that says tea, and one that says milk.' },
    call('1', 'add_note', { text: 'tea' }),
    result('1', '{"note_id":"N7001","text":"tea"}'),
    call('2', 'add_note', { text: 'milk' }),
    result('2', '{"note_id":"N7002","text":"milk"}'),
    { role: 'assistant', content: 'Done.' },
    { role: 'user', content: 'I no longer need the second, please delete it.' },
    call('3', 'delete_note', { note_id: 'N7002' }),
    result('3', '{"deleted":true}'),
    { role: 'assistant', content: 'Done.' },
  ];
  const { run } = await importChats(desk({ 'tools.ts': tools, 'tasks/.keep': '' }), jsonl({ id: 'tidy', messages }));
  const drafted = JSON.parse((await rehearsal('draft', 'from-chats', run, '--json')).out);
  expect(drafted).toMatchObject({ sound: 1, drafts: [{ findings: [] }] });
  const [file = ''] = (drafted.files as string[]).filter((name) => name.endsWith('.task.yaml'));
  const [draft] = [parse(readFileSync(file, 'utf8'))].flat();
  expect(draft.actions.at(-1)).toEqual({ tool: 'delete_note', arguments: { note_id: '{result.note_id}' } });
});
