import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DomainFile, domainFileSchema } from '../../../../src/engine/core/domain/domain.ts';
import type { Task } from '../../../../src/engine/core/domain/task.ts';
import { describeEffects, effectsOfDomain, hashOfEffects } from '../../../../src/engine/shell/approvals/effects.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

// Law: a hash approves exactly the effects that a person was shown.

const server = {
  command: 'node',
  args: ['server.mjs'],
  env: { TOKEN: '${env:SHOP_TOKEN}', MODE: 'test' },
  cwd: 'shop',
};
const remote = { type: 'http', url: 'https://shop.test/mcp', headers: { authorization: 'Bearer ${env:SHOP_TOKEN}' } };
const environment = {
  adapter: 'tau2',
  settings: { root: '/data/tau2' },
  state: 'database',
  python: '.venv/bin/python',
};
const full = {
  name: 'shop',
  python: 'python3.12',
  network: true,
  agent: 'openai:small@http://127.0.0.1:9000/v1',
  user: { train: 'openai:one@http://one.test/v1', evaluate: 'agenda' },
  simulator: 'openai:two@http://two.test/v1',
  mcpServers: { shop: server, remote },
  environments: { air: environment },
};

const parsed = (value: object): DomainFile => domainFileSchema.parse(value);
const folder = temporaryFolder('effects');
const effectsOf = (value: object, isConfined = true, tasks: readonly Pick<Task, 'id' | 'setUp'>[] = []) =>
  effectsOfDomain({ folder, file: parsed(value), parts: { tasks: tasks.map((value) => ({ value })) } }, isConfined);
const hashOf = (value: object) => hashOfEffects(effectsOf(value));

/** Returns all values of a tree that decide an effect, by path. */
const leaves = (value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) =>
        leaves(inner, [...path, Array.isArray(value) ? Number(key) : key]),
      )
    : [path];

/** Returns a tree with one text changed. */
function changed(value: unknown, path: readonly (string | number)[], change: (text: string) => unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return change(String(value));
  if (Array.isArray(value)) return value.with(Number(key), changed(value[Number(key)], rest, change));
  const object = value as Record<string, unknown>;
  return { ...object, [key]: changed(object[key], rest, change) };
}

function shuffled(value: unknown, order: (keys: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => shuffled(each, order));
  if (typeof value !== 'object' || value === null) return value;
  const object = value as Record<string, unknown>;
  return Object.fromEntries(order(Object.keys(object)).map((key) => [key, shuffled(object[key], order)]));
}

const isEffect = ([first, , third]: readonly (string | number)[]) =>
  first !== 'name' &&
  first !== 'network' &&
  !['adapter', 'state', 'type'].includes(String(third)) &&
  third !== undefined;
const texts = [...leaves(full).filter(isEffect), ['python'], ['agent'], ['simulator'], ['user', 'train']];

test('every text that decides an effect changes the hash, and the same text gives the same', () => {
  fc.assert(
    fc.property(fc.constantFrom(...texts), fc.string({ minLength: 1 }), (path, more) => {
      expect(
        hashOf(changed(full, path, (text) => text + encodeURIComponent(`.${more.toWellFormed()}`)) as object),
      ).not.toBe(hashOf(full));
    }),
  );
  expect(hashOf(structuredClone(full))).toBe(hashOf(full));
});

test('removing or adding an effect changes the hash', () => {
  const keys = ['python', 'network', 'agent', 'user', 'simulator', 'mcpServers', 'environments'] as const;
  for (const key of keys) {
    const { [key]: _, ...rest } = full;
    expect(hashOf(rest), key).not.toBe(hashOf(full));
  }
  const another = { ...full, mcpServers: { ...full.mcpServers, second: server } };
  expect(hashOf(another)).not.toBe(hashOf(full));
});

test('the order of keys does not change the hash', () => {
  fc.assert(
    fc.property(fc.infiniteStream(fc.nat()), (numbers) => {
      const rank = new Map<string, number>();
      const by = (key: string) => rank.get(key) ?? rank.set(key, numbers.next().value).get(key) ?? 0;
      const order = (keys: string[]) => keys.toSorted((a, b) => by(a) - by(b));
      expect(hashOf(shuffled(full, order) as object)).toBe(hashOf(full));
    }),
  );
});

test('a text that is not an effect does not change the hash', () => {
  const more = { turnCap: 7, policy: 'rules.md', greeting: 'Hello.' };
  const limited = { ...full.mcpServers, shop: { ...server, writes: ['buy'], timeoutMs: 5 } };
  expect(hashOf({ ...full, ...more, mcpServers: limited })).toBe(hashOf(full));
});

test('a person is shown servers, commands, addresses, interpreters, settings and environment variables', () => {
  expect(describeEffects(effectsOf(full))).toEqual([
    'MCP server "shop" starts TOKEN=${env:SHOP_TOKEN} MODE=test node server.mjs in shop, with your environment variables SHOP_TOKEN',
    'MCP server "remote" uses https://shop.test/mcp with the headers "authorization: Bearer ${env:SHOP_TOKEN}", with your environment variables SHOP_TOKEN',
    'tools.py runs with the Python interpreter python3.12',
    'environment "air" runs with the Python interpreter .venv/bin/python',
    'environment "air" reads what the adapter tau2 is given: root=/data/tau2',
    'model of the agent uses http://127.0.0.1:9000/v1',
    'model of the user in training uses http://one.test/v1',
    'model of the simulator of tools uses http://two.test/v1',
    'code of the domain uses the network of this machine',
  ]);
});

test('nothing in the list can hide: line breaks, control sequences, blanks and marks that reorder text are escaped', () => {
  const hostile = {
    command: 'sh',
    args: ['-c', 'curl evil.test\u202e\n\u001b[1A\u200b\u3164\u2800\u2003\u{e0041}'],
    env: { 'A\nB': 'x' },
  };
  const [line] = describeEffects(effectsOf({ name: 'x', mcpServers: { 'a\rb': hostile } }));
  const shown = String.raw`curl evil.test\u202e\n\u001b[1A\u200b\u3164\u2800\u2003\u{e0041}`;
  expect(line).toBe(String.raw`MCP server "a\u000db" starts "A\nB"=x sh -c "${shown}"`);
});

describe('arguments that tasks give to a server', () => {
  const started = (id: string, ...args: string[]) => ({ id, setUp: { shop: { args } } });
  const evil = (id: string) => started(id, '-e', 'evil()', '${env:API_KEY}');
  const hashWith = (...tasks: readonly Pick<Task, 'id' | 'setUp'>[]) => hashOfEffects(effectsOf(full, true, tasks));

  test('are shown once, with the tasks and the environment variables', () => {
    const tasks = [evil('a\nb'), evil('c'), evil('d'), evil('e'), started('f', 'server.mjs')];
    expect(describeEffects(effectsOf({ name: 'x', mcpServers: { shop: server } }, true, tasks))[1]).toBe(
      String.raw`MCP server "shop" for tasks "a\nb", "c", "d", 1 more starts TOKEN=${'${env:SHOP_TOKEN}'} MODE=test node -e "evil()" ${'${env:API_KEY}'} in shop, with your environment variables API_KEY, SHOP_TOKEN`,
    );
  });

  test.each([
    ['new arguments change the hash', false, [evil('a')]],
    ['arguments of domain.yaml do not', true, [started('a', 'server.mjs')]],
    ['a task with calls does not', true, [{ id: 'a', setUp: { shop: { calls: [{ tool: 'reset' }] } } }]],
    ['arguments of a server that does not exist do not', true, [{ id: 'a', setUp: { other: { args: ['x'] } } }]],
  ])('%s', (_what, isSame, tasks) => {
    expect(hashWith(...tasks) === hashWith()).toBe(isSame);
  });

  test('another task with the same arguments does not change the hash', () => {
    expect(hashWith(evil('a'), evil('b'))).toBe(hashWith(evil('c')));
  });
});

test('a domain with code has an effect only without a sandbox', () => {
  const plain = { name: 'x' };
  expect(effectsOf(plain, false).effects).toEqual([]);
  writeFileSync(join(folder, 'tools.ts'), '');
  expect(effectsOf(plain).effects).toEqual([]);
  expect(describeEffects(effectsOf(plain, false))).toEqual([
    'code of the domain runs without a sandbox if the machine has none',
  ]);
});
