import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { slotsIn } from '../../src/engine/core/dialogue/phrase.ts';
import { parsePolicy } from '../../src/engine/core/domain/policy.ts';
import { taskSchema } from '../../src/engine/core/domain/task.ts';
import type { Json, JsonObject } from '../../src/engine/core/values/json.ts';
import { compileOutputSchema, compileSchema } from '../../src/engine/shell/load/schemaCompiler.ts';
import { parseItems } from '../../src/engine/shell/source/items.ts';
import { readYaml } from '../../src/engine/shell/source/yaml.ts';
import { WorkerReader } from '../../src/engine/shell/workers/workerChannel.ts';
import { smallDomain } from '../support/smallDomain.ts';
import { rehearsal } from '../support/terminal.ts';

// Small inputs that would take hours, or exhaust the stack.

const twice = (name: string) => ({ $ref: `#/$defs/${name}` });

/** Returns a schema in which each definition refers twice to the one before. */
function doubling(levels: number, first: JsonObject = { type: 'object' }): JsonObject {
  const defs: Record<string, JsonObject> = { a0: first };
  for (let at = 1; at <= levels; at++) defs[`a${at}`] = { allOf: [twice(`a${at - 1}`), twice(`a${at - 1}`)] };
  return { type: 'object', $defs: defs, ...twice(`a${levels}`) };
}

/** Returns a value of this depth, and a schema that checks each level of it twice. */
const nested = (levels: number): Json => (levels === 0 ? {} : { a: nested(levels - 1) });
const tree = {
  $defs: { node: { allOf: [{ properties: { a: twice('node') } }, { properties: { a: twice('node') } }] } },
  ...twice('node'),
};

test.each([
  ['definitions', doubling(32), {}],
  ['definitions, where every one fails', doubling(32, { type: 'object', required: ['b'] }), {}],
  ['levels of the value', tree, nested(40)],
])('a schema that doubles with its %s is refused for a value', (_, schema, value) => {
  for (const compile of [compileSchema, compileOutputSchema]) {
    const compiled = compile(schema as JsonObject);
    const errors = 'errorsOf' in compiled ? compiled.errorsOf(value) : [];
    expect(errors.length).toBeGreaterThan(0);
  }
});

test.each([
  ['definitions', doubling(10), {}],
  ['levels of the value', tree, nested(10)],
])('a schema that doubles a few times with its %s is checked', (_, schema, value) => {
  const compiled = compileSchema(schema as JsonObject);
  expect('errorsOf' in compiled && compiled.errorsOf(value)).toEqual([]);
});

test.each([
  ['lists on one line', '- '.repeat(4000)],
  ['quotes on one line', '> '.repeat(4000)],
  ['quotes without spaces', '>'.repeat(4000)],
  ['numbers on one line', '1. '.repeat(4000)],
  ['lists on separate lines', Array.from({ length: 1000 }, (_, at) => `${'  '.repeat(at)}- a`).join('\n')],
])('a policy of thousands of nested %s is a finding', (_, source) => {
  const { problems } = parsePolicy(`# Policy\n\n${source}\n`);
  expect(problems).toMatchObject([{ code: 'policy/too-deep' }]);
});

test.each([
  ['emphasis', '*_'.repeat(200_000)],
  ['emphasis on many lines', '*_*_\n    - '.repeat(50_000)],
  ['words between emphasis', 'a *b_ '.repeat(20_000)],
  ['emphasis in many blocks', `${'*_'.repeat(1000)}\n\n`.repeat(1000)],
  ['links', '[a]'.repeat(50_000)],
  ['code', Array.from({ length: 1000 }, (_, at) => `${'`'.repeat(at + 1)}a`).join('')],
])('a policy with thousands of marks of %s in a block is a finding', (_, source) => {
  const { problems } = parsePolicy(`# Policy\n\n${source}\n`);
  expect(problems).toMatchObject([{ code: 'policy/too-intricate' }]);
});

test('a policy with thousands of marks in many blocks is read', () => {
  const item = (at: number) => `- **Rule** ${at} _of_ [all](https://example.com) with \`code\` {#r${at}}`;
  const source = Array.from({ length: 1000 }, (_, at) => item(at)).join('\n');
  const { problems, policy } = parsePolicy(`# Policy\n\n${source}\n`);
  expect(problems).toEqual([]);
  expect(policy.rules).toHaveLength(1000);
});

test('a map with 150,000 keys is read in linear time', () => {
  const text = Array.from({ length: 150_000 }, (_, at) => `k${at}: 1\n`).join('');
  const { problem } = readYaml({ file: 'a.yaml', text: `${text}k0: 2\n` }, 'domain');
  expect(problem).toMatchObject({ code: 'domain/duplicate-key', line: 150_001 });
});

/** Returns a word without digits for a number. */
const letters = (at: number) => [...String(at)].map((digit) => 'abcdefghij'[Number(digit)]).join('');

test('thousands of unknown keys are listed in linear time', () => {
  const count = 20_000;
  const keys = Array.from({ length: count }, (_, at) => `${letters(at + count)}:\n`).join('');
  const text = `id: one\npersona: plain\nuser: { goal: Go. }\n${keys}`;
  const of = { kind: 'task', schema: 'task', item: taskSchema } as const;
  const { diagnostics } = parseItems({ file: 'a.task.yaml', text }, of);
  expect(diagnostics).toHaveLength(count);
  expect(diagnostics.at(-1)).toMatchObject({ code: 'task/unknown-key', line: count + 3 });
});

test('thousands of gold actions are checked in linear time', async () => {
  const action = (at: number) => `  - { tool: look, arguments: { name: "${letters(at + 10_000).repeat(8)}" } }\n`;
  const actions = Array.from({ length: 5000 }, (_, at) => action(at)).join('');
  const folder = smallDomain(
    { look: { effect: 'read', run: 'return {};' } },
    `id: one\npersona: plain\nuser: { goal: Go. }\nactions:\n${actions}`,
  );
  const { out } = await rehearsal('check', folder, '--static');
  expect(out).toContain('hall: 1 task, ');
});

test.each([
  [30, 30],
  [3000, 0],
])('of a task with %d facts, %d names are compared', async (count, warnings) => {
  const known = Object.fromEntries(Array.from({ length: count }, (_, at) => [`fact_${letters(at + 1000)}`, 'x']));
  const folder = smallDomain({}, `id: one\npersona: plain\nuser: ${JSON.stringify({ goal: 'Go.', known })}\n`);
  const { out } = await rehearsal('check', folder, '--static');
  expect(out.match(/task\/unknown-fact/g)?.length ?? 0).toBe(warnings);
});

test('a template of many slots is looked for in linear time', () => {
  const template = `${Array.from({ length: 12 }, (_, at) => `{slot${at}}`).join(' a ')} b`;
  expect(slotsIn(template, 'a '.repeat(2000))).toBeNull();
});

test.each([
  ['Shall I cancel {order_id}?', 'Sure. shall I cancel A-1? Or not?', { order_id: 'A-1' }],
  ['{a} for {b} (now)', 'A lamp for Ada (now)', { a: 'A lamp', b: 'Ada' }],
  ['Done, {a}.', 'Done, a\nlamp', null],
])('the slots of %j in %j', (template, text, found) => {
  expect(slotsIn(template, text)).toEqual(found);
});

test('a policy with ten levels of lists is read', () => {
  const source = Array.from({ length: 10 }, (_, at) => `${'    '.repeat(at)}1. Rule ${at} {#r${at}}`).join('\n');
  const { problems, policy } = parsePolicy(`${source}\n\n---\n\n- - -\n\n**Bold** ---------- text\n`);
  expect(problems).toEqual([]);
  expect(policy.rules).toHaveLength(10);
});

test('a line of a worker in 100 times as many parts takes about as long to read', () => {
  const took = (parts: number, size: number) => {
    const reader = new WorkerReader(() => undefined);
    const from = performance.now();
    for (let at = 0; at < parts; at++) reader.read(`${at}`.padEnd(size, 'x'));
    expect(() => reader.read('\n')).toThrow(/it sent an unknown message/);
    return performance.now() - from;
  };
  took(10, 1 << 16);
  expect(took(8000, 512)).toBeLessThan(20 * took(62, 1 << 16) + 500);
});

test.each([
  ['to itself', { 'tasks/a': '.' }],
  ['to itself twice', { 'tasks/a': '.', 'tasks/b': '.' }],
  ['to the folder above', { 'personas/a': '..', 'tasks/b': '..' }],
])('a folder of a domain with links that lead %s is read once', async (_, links) => {
  const folder = smallDomain({}, 'id: one\npersona: plain\nuser: { goal: Go. }\n');
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(folder, name));
  const { out } = await rehearsal('check', folder, '--static');
  expect(out).not.toMatch(/duplicate|not-a-file|unreadable/);
  expect(out).toMatch(/1 task/);
});

test('a folder of a domain that is a link to the root folder is refused, and one below it is not read', async () => {
  const folder = smallDomain({}, 'id: one\npersona: plain\nuser: { goal: Go. }\n');
  symlinkSync('/', join(folder, 'tasks', 'root'));
  symlinkSync('/', join(folder, 'tools'));
  const { code, out } = await rehearsal('check', folder, '--static');
  expect(out).toContain(
    'tasks/root:1:1 warning task/ignored-file This folder is not read: it is a link that leads out',
  );
  expect(out).toContain('tools:1:1 error tool/refused-file tools is a link to /, outside of');
  expect(code).toBe(1);
});
