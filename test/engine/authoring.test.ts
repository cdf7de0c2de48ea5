import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { codeTools, defineTools, describeTools, ToolError } from '../../src/engine/authoring.ts';

const { tool } = defineTools<{ agent: { orders: Record<string, { status: string }> } }>();

const find_order = tool({
  description: 'Find an order.',
  effect: 'read',
  input: z.object({ order: z.string().describe('Its number.'), full: z.boolean().default(false) }),
  run: ({ order, full }, { db }) => {
    if (!db.orders[order]) throw new ToolError(`there is no order ${order}`);
    return full ? db.orders[order] : db.orders[order].status;
  },
});
const cancel = tool({
  description: 'Cancel.',
  effect: 'write',
  input: z.object({}),
  run: () => undefined,
  handsOff: true,
  timeoutMs: 5,
  owner: 'user',
});

describe('tools of a domain', () => {
  it('are what its module exports and nothing else', () => {
    expect([...codeTools({ find_order, days: ['Monday'], default: null, helper: () => 1 }).keys()]).toEqual([
      'find_order',
    ]);
  });

  it('are described by their JSON Schema', () => {
    expect(describeTools({ find_order, cancel }, 700)).toEqual([
      {
        name: 'find_order',
        description: 'Find an order.',
        parameters: {
          type: 'object',
          properties: {
            order: { type: 'string', description: 'Its number.' },
            full: { type: 'boolean', default: false },
          },
          required: ['order'],
          additionalProperties: false,
        },
        effect: 'read',
        owner: 'agent',
        source: { type: 'code' },
        timeoutMs: 700,
        idempotent: true,
      },
      {
        name: 'cancel',
        description: 'Cancel.',
        parameters: { type: 'object', properties: {}, additionalProperties: false },
        effect: 'write',
        owner: 'user',
        source: { type: 'code' },
        handsOff: true,
        timeoutMs: 5,
        idempotent: false,
      },
    ]);
  });

  it('refuse arguments that they do not have', () => {
    expect(find_order.input.safeParse({ order: 'W1', extra: 1 }).success).toBe(false);
    expect(find_order.input.parse({ order: 'W1' })).toEqual({ order: 'W1', full: false });
  });

  it('take any argument where they say so', () => {
    const open = tool({ description: '', effect: 'read', input: z.looseObject({}), run: () => 1 });
    expect(open.input.parse({ more: 1 })).toEqual({ more: 1 });
  });

  it('say which input has no JSON Schema', () => {
    const wrong = tool({ description: '', effect: 'read', input: z.object({ when: z.date() }), run: () => 1 });
    expect(() => describeTools({ wrong })).toThrow(/input of the tool wrong has no JSON Schema/);
  });

  it('get their database in the type that the domain gave it', () => {
    const context = {
      db: { orders: { W1: { status: 'pending' } } },
      userDb: {},
      now: '',
      random: { integer: () => 0, chance: () => false, pick: <T>(from: readonly T[]) => from[0] as T },
      id: () => '',
    };
    expect(find_order.run({ order: 'W1', full: false }, context)).toBe('pending');
    expect(() => find_order.run({ order: 'W2', full: false }, context)).toThrow(new ToolError('there is no order W2'));
  });
});

describe('a tool that TypeScript would reject', () => {
  const good = { description: 'Find.', effect: 'read', input: z.object({}), run: () => 1 };
  const cases: readonly [string, object, RegExp][] = [
    ['another effect', { effect: 'reads' }, /its effect must be 'read' or 'write'/],
    ['no input', { input: undefined }, /its input must be a z\.object/],
    ['nothing to run', { run: undefined }, /its run must be a function/],
    ['a description that is not a text', { description: 3 }, /its description must be a text/],
    ['no description', { description: undefined }, /its description is missing: write what the tool does/],
    ['a misspelt option', { idempotnt: true }, /a tool has no idempotnt\. It has description, effect/],
    ...[-1, 0, Number.NaN, 3e9].map((timeoutMs): [string, object, RegExp] => [
      `a time-out of ${timeoutMs}`,
      { timeoutMs },
      /its timeoutMs must be a whole number of milliseconds, from 1 to 2147483647/,
    ]),
  ];
  it.each(cases)('%s', (_name, change, message) => {
    const declare = tool as (definition: object) => unknown;
    expect(() => declare({ ...good, ...change })).toThrow(message);
    expect(() => declare(good)).not.toThrow();
  });
});
