import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { lexiconSchema } from '../../../../src/engine/core/dialogue/lexicon.ts';
import type { Domain } from '../../../../src/engine/core/domain/domain.ts';
import type { Message } from '../../../../src/engine/core/events/message.ts';
import type { RolloutState } from '../../../../src/engine/core/events/state.ts';
import { confirmed } from '../../../../src/engine/core/rules/confirmed.ts';
import type { Seen } from '../../../../src/engine/core/rules/seen.ts';
import { openDatabase } from '../../../../src/engine/core/world/database.ts';

type Line = { readonly agent: string } | { readonly user: string };
type Arguments = Readonly<Record<string, string>>;
type Row = {
  readonly agent: string;
  readonly user: string;
  readonly values: readonly string[] | Arguments;
  /** Other values in the same result of a tool. */
  readonly rivals?: readonly string[];
  readonly before?: readonly Line[];
  readonly confirmed: boolean;
};
type Told = Pick<Row, 'values' | 'rivals'>;
type Proposal = string | { readonly before: readonly Line[]; readonly agent: string };

const rows = read<readonly Row[]>('confirmations.yaml');
const replies =
  read<readonly (Told & { agent: string; yes: readonly string[]; no: readonly string[] })[]>('replies.yaml');
const proposals =
  read<readonly (Told & Readonly<Record<'confirmed' | 'unconfirmed', readonly Proposal[]>>)[]>('proposals.yaml');
const world = { agent: openDatabase({}), user: openDatabase({}) };
const lexicon = lexiconSchema.parse({
  facts: { address: { synonyms: ['where to'] }, refund_to: { label: 'refund card' } },
  tools: { write: { propose: ['Shall I put you on the list?'] } },
});

it('has enough of both labels, each conversation once', () => {
  const yes = rows.filter((row) => row.confirmed).length;
  expect([yes >= 40, rows.length - yes >= 40]).toEqual([true, true]);
  expect(new Set(rows.map(({ agent, user }) => `${agent}\n${user}`)).size).toBe(rows.length);
});

it('is a proposal where the lexicon has its sentence', () =>
  check({ agent: 'Shall I put you on the list?', user: 'Yes.', values: [], confirmed: true }));

it.each(rows)('$user / to: $agent', check);

describe.each(replies)('an answer to: $agent', ({ yes, no, ...told }) => {
  it.each(yes)('yes: %s', (user) => check({ ...told, user, confirmed: true }));
  it.each(no)('no: %s', (user) => check({ ...told, user, confirmed: false }));
});

describe.each(proposals)('a proposal of $values', ({ confirmed: good, unconfirmed: bad, ...told }) => {
  const rowOf = (proposal: Proposal) => (typeof proposal === 'string' ? { agent: proposal } : proposal);
  it.each(good.map(rowOf))('$agent', (row) => check({ ...told, ...row, user: 'Yes.', confirmed: true }));
  it.each(bad.map(rowOf))('not $agent', (row) => check({ ...told, ...row, user: 'Yes.', confirmed: false }));
});

function check(row: Row): void {
  const [finding] = verdictOn(row);
  expect(finding?.verdict, finding?.reason).toBe(row.confirmed ? 'held' : 'violated');
}

function verdictOn({ agent, user, values, rivals = [], before = [] }: Row) {
  const spoken = [...before, { agent }, { user }].map((line, step) => {
    const [role, content] = 'agent' in line ? (['agent', line.agent] as const) : (['user', line.user] as const);
    return { role, content, toolCalls: [], step } as unknown as Message;
  });
  const named = Array.isArray(values) ? values.map((value, at) => [`value${at}`, value]) : Object.entries(values);
  const args = Object.fromEntries(named) as Arguments;
  const call = { id: 'c', name: 'write', arguments: args };
  const seen = {
    domain: {
      tools: [{ name: 'write', effect: 'write', owner: 'agent', parameters: {} }],
      lexicon,
    } as unknown as Domain,
    state: { messages: spoken, world } as unknown as RolloutState,
    calls: () => [
      {
        tool: 'list',
        args: {},
        result: [Object.values(args).at(-1) ?? '', ...rivals],
        failed: false,
        by: 'agent',
        step: 0,
      },
    ],
    holds: () => true,
    valueOf: () => ({ value: null }),
  } satisfies Seen;
  const rule = { rule: 'ask', check: 'confirmed', tools: ['write'], names: Object.keys(args) } as const;
  return confirmed(rule as never, { type: 'call', call, isFirst: true }, seen);
}

function read<Table>(file: string): Table {
  return parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Table;
}
