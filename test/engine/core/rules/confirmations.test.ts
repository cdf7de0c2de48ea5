import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Domain } from '../../../../src/engine/core/domain.ts';
import type { Message } from '../../../../src/engine/core/message.ts';
import { confirmed } from '../../../../src/engine/core/rules/confirmed.ts';
import type { Seen } from '../../../../src/engine/core/rules/seen.ts';
import type { RolloutState } from '../../../../src/engine/core/state.ts';

type Row = {
  readonly agent: string;
  readonly user: string;
  readonly values: readonly string[];
  /** What stands beside the values in a tool's result. */
  readonly rivals?: readonly string[];
  readonly before?: readonly ({ readonly agent: string } | { readonly user: string })[];
  readonly confirmed: boolean;
};
const rows = parse(readFileSync(join(import.meta.dirname, 'confirmations.yaml'), 'utf8')) as readonly Row[];

it('has enough of both labels, each conversation once', () => {
  const yes = rows.filter((row) => row.confirmed).length;
  expect([yes >= 40, rows.length - yes >= 40]).toEqual([true, true]);
  expect(new Set(rows.map(({ agent, user }) => `${agent}\n${user}`)).size).toBe(rows.length);
});

it.each(rows)('$user / to: $agent', (row) => {
  const [finding] = verdictOn(row);
  expect(finding?.verdict, finding?.reason).toBe(row.confirmed ? 'held' : 'violated');
});

function verdictOn({ agent, user, values, rivals = [], before = [] }: Row) {
  const spoken = [...before, { agent }, { user }].map((line, step) => {
    const [role, content] = 'agent' in line ? (['agent', line.agent] as const) : (['user', line.user] as const);
    return { role, content, toolCalls: [], step } as unknown as Message;
  });
  const args = Object.fromEntries(values.map((value, at) => [`value${at}`, value]));
  const call = { id: 'c', name: 'write', arguments: args };
  const seen = {
    domain: { tools: [{ name: 'write', effect: 'write', owner: 'agent', parameters: {} }], lexicon: { facts: {} } } as unknown as Domain,
    state: { messages: spoken } as unknown as RolloutState,
    calls: () => [
      { tool: 'list', args: {}, result: [values.at(-1) ?? '', ...rivals], failed: false, by: 'agent', step: 0 },
    ],
    holds: () => true,
  } satisfies Seen;
  const rule = { rule: 'ask', check: 'confirmed', tools: ['write'], names: Object.keys(args) } as const;
  return confirmed(rule as never, { type: 'call', call, isFirst: true }, seen);
}
