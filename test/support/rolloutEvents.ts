import type { RolloutEvent } from '../../src/engine/core/events/event.ts';

type Call = { readonly name: string; readonly arguments: Record<string, string> };

let calls = 0;

/** Returns the start of a rollout for a test. */
export function started(task: string, trial = 0): RolloutEvent {
  return {
    type: 'rolloutStarted',
    format: 1,
    engine: 'test',
    domain: { name: 'desk', hash: 'd' },
    policyHash: 'p',
    task: { id: task, hash: task, split: 'train' },
    seed: '1',
    trial,
    now: '2026-01-05T09:00:00Z',
    basis: 'evaluate',
    turnCap: 30,
    toolErrorCap: 10,
    seats: { agent: 'gold', user: 'agenda' },
    system: '',
    tools: [],
    database: 'b',
  };
}

export function user(content: string, stop: 'done' | null = null): RolloutEvent {
  return { type: 'userReplied', content, stop };
}

export function agent(content: string): RolloutEvent {
  return { type: 'agentReplied', content, toolCalls: [] };
}

/** Returns a message with one call, the call, and its result. */
export function called(
  call: Call,
  result: string,
  options: { isError?: boolean; writes?: boolean } = {},
): RolloutEvent[] {
  const made = { id: `random_${calls++}`, ...call };
  return [
    { type: 'agentReplied', content: null, toolCalls: [made] },
    { type: 'toolCalled', call: made },
    ...(options.writes ? [{ type: 'databaseWritten' as const, callId: made.id, writes: [] }] : []),
    { type: 'toolReturned', callId: made.id, content: result, isError: options.isError ?? false },
  ];
}

export function ruleChecked(rule: string, verdict: 'held' | 'violated', gate = false): RolloutEvent {
  const check = rule === 'confirm' ? 'confirmed' : 'oneCall';
  return { type: 'rulesChecked', callId: 'c', verdicts: [{ rule, check, gate, verdict, reason: '', evidence: [] }] };
}

const outcomeLayer = (verdict: 'held' | 'violated') => ({
  layer: 'outcome' as const,
  verdict,
  items: [{ name: 'end', verdict, reason: '', evidence: [0] }],
});

/** Returns the end, the verdicts by verifier, and the reward with its completion and card. */
export function ended(
  end: Extract<RolloutEvent, { type: 'rolloutEnded' }>['reason'],
  reward: number | null,
  held: Readonly<Record<string, boolean>> = {},
): RolloutEvent[] {
  const verdicts = Object.entries(held);
  return [
    { type: 'rolloutEnded', reason: end },
    ...verdicts.map(
      ([verifier, holds]): RolloutEvent => ({
        type: 'verdictReached',
        verdict: { verifier, held: holds, detail: '', evidence: [] },
      }),
    ),
    {
      type: 'rewarded',
      basis: 'evaluate',
      reward,
      reason: 'because',
      completion: { met: verdicts.filter(([, holds]) => holds).length, of: verdicts.length },
      card: [
        outcomeLayer(reward === 1 ? 'held' : 'violated'),
        { layer: 'communication', verdict: 'unknown', items: [] },
      ],
    },
  ];
}
