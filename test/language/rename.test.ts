import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { expect, it } from 'vitest';
import type { Tool } from '../../src/engine/core/domain/tool.ts';
import { edited } from '../../src/engine/shell/domain/fixes.ts';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { renamableAt, renameAt } from '../../src/language/rename.ts';
import { deskTools } from '../engine/shell/load/domainFolder.ts';
import { type Marked, marked, markedAt, office } from './marked.ts';

/** Returns the texts after a rename, by path, and its description. */
function renamed({ domain, at }: Marked, name: string) {
  const renaming = renameAt(domain, at, name);
  if ('refusal' in renaming) throw new Error(renaming.refusal);
  const byFile = Map.groupBy(renaming.edits, ({ file }) => file);
  const texts = [...byFile].map(([file, edits]) => [file, edited(readFileSync(file, 'utf8'), edits)] as const);
  const { folder } = domain.loaded;
  const after = loadDomain(folder, { overlay: new Map(texts) });
  const paths = Object.fromEntries(texts.map(([file, text]) => [relative(folder, file), text]));
  return {
    paths,
    notes: [...(renaming.unfollowed === null ? [] : [renaming.unfollowed]), ...renaming.notes],
    member: renaming.member,
    found: after.diagnostics.map(({ code, message }) => `${code} ${message}`),
  };
}

function refusal({ domain, at }: Marked, name?: string): string {
  const answer = name === undefined ? renamableAt(domain, at) : renameAt(domain, at, name);
  return 'refusal' in answer ? answer.refusal : 'not refused';
}

const before = () =>
  loadDomain(markedAt('tools.ts', 'cancel_order').domain.loaded.folder).diagnostics.map(
    ({ code, message }) => `${code} ${message}`,
  );

it.each([
  ['a tool, from a task', 'tasks/second.task.yaml', 'cancel_order', 'stop_order', 6],
  ['a tool, from its export', 'tools.ts', 'cancel_order', 'stop_order', 6],
  ['a tool that a model simulates', 'tools/weather.tool.yaml', 'find_weather', 'see_weather', 1],
  ['a rule', 'policy.md', 'look-up}', 'see-first', 2],
  ['a persona', 'tasks/second.task.yaml', 'plain', 'simple', 3],
  ['a task', 'tasks/second.task.yaml', 'second', 'other', 1],
  ['a list of phrases', 'rules.yaml', 'soon)', 'early', 2],
  ['a verifier', 'tasks/second.task.yaml', 'tidy', 'neat', 2],
  ['a fact', 'domain.yaml', 'order: {', 'number', 3],
  ['a field of the database', 'rules.yaml', 'status ==', 'stage', 4],
  ['a field of the user', 'tasks/second.task.yaml', 'battery', 'charge', 2],
])('renames %s everywhere, and nothing is found afterwards that was not before', (_, path, words, name, files) => {
  const { paths, found } = renamed(markedAt(path, words, 1), name);
  expect(Object.keys(paths)).toHaveLength(files);
  expect(found.map((each) => each.replaceAll(name, words.split(/\W/)[0] ?? ''))).toEqual(before());
});

it('a rename in code changes identifiers, and neither texts nor members nor comments', () => {
  const text = `import { defineTools } from 'rehearsal';
import * as z from 'zod';
const { tool } = defineTools<{ agent: object }>();
// cancel_order is below.
export const cancel_order = tool({ description: 'Not cancel_order.', effect: 'write', input: z.object({ order: z.string() }), run: () => 1 });
export const find_order = tool({ description: 'F.', effect: 'read', input: z.object({ order: z.string() }), run: () => [cancel_order, undo.cancel_order] });
`;
  const mark = text.indexOf('cancel_order = tool');
  const { paths, notes } = renamed(marked('tools.ts', `${text.slice(0, mark)}|${text.slice(mark)}`), 'stop_order');
  expect(paths['tools.ts']).toBe(
    text.replace('const cancel_order', 'const stop_order').replace('[cancel_order', '[stop_order'),
  );
  expect(notes).toEqual(['tools.ts says cancel_order as a word too, and code is not followed there.']);
});

it('an export under another name is renamed where it gets that name', () => {
  const text = `import { defineTools } from 'rehearsal';
import * as z from 'zod';
const { tool } = defineTools<{ agent: object }>();
const inner = tool({ description: 'C.', effect: 'write', input: z.object({ order: z.string() }), run: () => 1 });
export const find_order = tool({ description: 'F.', effect: 'read', input: z.object({ order: z.string() }), run: () => 1 });
export { inner as cancel_order };
`;
  const { paths } = renamed(
    markedAt('tasks/first.task.yaml', 'cancel_order', 1, { ...office, 'tools.ts': text }),
    'stop_order',
  );
  expect(paths['tools.ts']).toBe(text.replace('as cancel_order', 'as stop_order'));
});

it('a tool in Python is renamed with its function', () => {
  const python = `from rehearsal import tool\n\n@tool(effect="write")\ndef refund(order: str):\n    """refund it"""\n    return order\n`;
  const task = 'id: a\npersona: plain\nuser: { goal: G. }\nactions:\n  - { tool: refund, arguments: { order: W1 } }\n';
  const files = { ...office, 'tools.py': python, 'tasks/a.task.yaml': task };
  const { paths } = renamed(markedAt('tasks/a.task.yaml', 'refund', 1, files), 'pay_back');
  expect(paths['tools.py']).toBe(python.replace('def refund', 'def pay_back'));
});

it('says what a rename of a field does not follow', () => {
  const { notes } = renamed(markedAt('rules.yaml', 'status ==', 1), 'stage');
  expect(notes).toEqual([
    'What tools return is not followed: results that have status, and expressions on them, keep it.',
  ]);
});

it('says where the types of the tools declare a field that is renamed', () => {
  const typed = `type Order = { status: string };\n${String(office['tools.ts']).replace('agent: object', 'agent: { orders: Record<string, Order> }')}`;
  const { member, notes } = renamed(markedAt('rules.yaml', 'status ==', 1, { ...office, 'tools.ts': typed }), 'stage');
  expect(member).toMatchObject({ line: 1, column: 16, endColumn: 22 });
  expect(notes[0]).toMatch(/^tools.ts says status as a word too/);
});

it('says that a fact keeps the arguments of its name', () => {
  expect(renamed(markedAt('domain.yaml', 'order: {', 1), 'number').notes.join()).toMatch(
    /find_order, cancel_order keep the argument order/,
  );
});

const remote: Tool = { ...(deskTools[0] as Tool), name: 'ship_order', source: { type: 'mcp', server: 'post' } };

it('refuses what can not be renamed here, and says where it can', () => {
  const task =
    'id: a\npersona: plain\nuser: { goal: G. }\nactions:\n  - { tool: ship|_order, arguments: { order: W1 } }\n';
  expect(refusal(marked('tasks/a.task.yaml', task, office, [...deskTools, remote]))).toBe(
    'ship_order is a tool of the server post. Write rename: { "ship_order": NAME } under the server in domain.yaml.',
  );
  expect(refusal(markedAt('tasks/second.task.yaml', 'W2, status', 1))).toMatch(/key of a row/);
  expect(refusal(markedAt('tasks/second.task.yaml', 'order: W2 } }', 1))).toMatch(/schema of its tool/);
  expect(refusal(markedAt('tasks/second.task.yaml', 'Cancel order', 1))).toMatch(/nothing to rename here/);
  expect(
    refusal(
      markedAt('rules.yaml', 'Ask', 1, { ...office, 'rules.yaml': '- { rule: Ask for a yes, check: oneCall }\n' }),
    ),
  ).toMatch(/quotes the policy/);
});

it('renames a tool of a server where rename: names it, and in the files that use it', () => {
  const domain = `${office['domain.yaml']}mcpServers:\n  post: { command: x, rename: { "ship.order": ship|_order } }\n`;
  const task =
    'id: b\npersona: plain\nuser: { goal: G. }\nactions:\n  - { tool: ship_order, arguments: { order: W1 } }\n';
  const tool: Tool = { ...remote, source: { type: 'mcp', server: 'post', tool: 'ship.order' } };
  const files = { ...office, 'tasks/b.task.yaml': task };
  const { paths } = renamed(marked('domain.yaml', domain, files, [...deskTools, tool]), 'send_order');
  expect(paths['domain.yaml']).toContain('rename: { "ship.order": send_order }');
  expect(paths['tasks/b.task.yaml']).toContain('tool: send_order');
});

it.each([
  ['tools.ts', 'cancel_order', 'find_order', /There is a tool find_order already/],
  ['tools.ts', 'cancel_order', 'stop order', /can't name a tool/],
  ['policy.md', 'confirm}', 'look-up', /There is a rule look-up already/],
  ['tasks/second.task.yaml', 'second', 'cancel', /There is a task cancel already/],
  ['tasks/second.task.yaml', 'plain', 'Plain Man', /can't name a persona/],
  ['domain.yaml', 'order: {', 'reason', /There is a fact reason already/],
  ['tools.ts', 'cancel_order', 'delete', /delete means something else in tools.ts/],
  ['rules.yaml', 'cancel_order', 'tool', /tools.ts uses the name tool already/],
  ['domain.yaml', 'order: {', 'null', /null means something else in expressions/],
  ['rules.yaml', 'status ==', 'in', /in means something else in expressions/],
  ['rules.yaml', 'status ==', '__proto__', /__proto__ means something else/],
])('refuses in %s to call %s %s', (path, words, name, expected) => {
  expect(refusal(markedAt(path, words, 1), name)).toMatch(expected);
});

it('a name that YAML would read as something else is put in quotes', () => {
  const { paths } = renamed(markedAt('tasks/second.task.yaml', 'second', 1), '42');
  expect(paths['tasks/second.task.yaml']).toMatch(/^- id: "42"\n/);
  const persona = renamed(markedAt('tasks/second.task.yaml', 'plain', 1), 'y');
  expect(persona.paths['tasks/second.task.yaml']).toContain('persona: "y"\n');
});
