import { describe, expect, it } from 'vitest';
import { measureOf } from '../../../src/engine/core/evaluation/measure.ts';
import { layerMark } from '../../../src/engine/core/events/displayText.ts';
import type { EventOf, RolloutEvent } from '../../../src/engine/core/events/event.ts';
import {
  failedText,
  headingOf,
  layerText,
  noRewardText,
  stepEntry,
  stepParts,
  stepsOf,
} from '../../../src/webview/models/trajectory.ts';

const started: EventOf<'rolloutStarted'> = {
  type: 'rolloutStarted',
  format: 1,
  engine: '0.1.0',
  domain: { name: 'parcel-desk', hash: 'd' },
  policyHash: 'p',
  task: { id: 'parcel-001', hash: 't', split: 'train' },
  seed: 's',
  trial: 2,
  now: '2026-01-01T00:00:00Z',
  basis: 'train',
  turnCap: 30,
  toolErrorCap: 5,
  seats: { agent: 'gold', user: 'agenda' },
  system: 'Be kind.',
  tools: [{ name: 'find', description: 'Finds', parameters: {} }],
  database: 'h',
};
const rewarded: EventOf<'rewarded'> = { type: 'rewarded', basis: 'train', reward: 1, reason: 'database held' };

it.each([
  ['held', ['held', 'held'], 'held', '2 held'],
  ['held', ['held', 'held', 'unknown'], 'unknown', '2 held, 1 unknown'],
  ['violated', ['held', 'violated'], 'violated', '1 violated, 1 held'],
  ['unknown', ['held', 'unknown'], 'unknown', '1 held, 1 unknown'],
  ['unknown', [], null, 'nothing to check'],
] as const)('a layer that is %s with the items %j has the mark of %s and the text %j', (verdict, items, mark, text) => {
  const listed = items.map((each) => ({ verdict: each }));
  expect([layerMark(verdict, listed), layerText(listed)]).toEqual([mark, text]);
  const named = listed.map((each) => ({ name: 'database', reason: 'it says so', evidence: [], ...each }));
  const card = [{ layer: 'outcome' as const, verdict, items: named }];
  const counted = measureOf([started, { ...rewarded, card }], []).card.outcome ?? null;
  expect(counted, 'the report of a run counts what the view of the recording shows').toBe(mark);
});

it.each([
  ['a verifier', { evidence: [32] }, '(step 32)'],
  ['a verifier with two steps', { evidence: [2, 32] }, '(steps 2, 32)'],
  ['a rule', { evidence: [16], line: 4 }, '(step 16)'],
  ['a rule with evidence', { evidence: [2, 7, 16], line: 4 }, '(step 16; evidence: steps 2, 7)'],
  ['an item without steps', { evidence: [] }, ''],
])('%s names its steps in brackets, and which of them are evidence', (_, item, text) => {
  const { steps, evidence } = stepsOf(item);
  expect(stepParts(steps, evidence).join('')).toBe(text);
  expect(stepParts([], evidence).join('')).toBe(evidence.length === 0 ? '' : '(evidence: steps 2, 7)');
});

it.each([
  ['the agent', 'agenda', 'database: it differs', 'Failed by: agent'],
  [
    'a person',
    'human',
    'database: it differs',
    "Not completed: the person in the user's seat ended the conversation, and the work was not done",
  ],
  ['a person after a violation', 'human', 'rule ask was violated at step 4: unasked', 'Failed by: agent'],
])('what kept the reward from 1 is in words where the conversation was ended by %s', (_, user, reason, text) => {
  const lost = { ...rewarded, reward: 0, reason, failedBy: 'agent' as const };
  const ended = { type: 'rolloutEnded', reason: 'userStopped' } as const;
  const played = { ...started, seats: { ...started.seats, user } };
  expect(failedText({ started: played, ended, rewarded: lost })).toBe(text);
  expect(failedText({ started: played, ended, rewarded })).toBeNull();
});

describe('headingOf', () => {
  it('names the task, the seats and the reward', () => {
    expect(headingOf({ started, rewarded })).toEqual({
      task: 'parcel-001',
      facts: ['parcel-desk', 'train split', 'agent: gold', 'user: agenda', 'seed s, trial 2', 'scored for training'],
      forkOf: null,
      reward: { value: 1, reason: 'database held' },
    });
  });

  it('says where a fork comes from, and waits for a reward', () => {
    const fork = {
      ...started,
      parent: { recording: 'a.traj.jsonl', event: 7, chain: 'c', edit: 'agent message edited' },
    };
    expect(headingOf({ started: fork, rewarded: null })).toMatchObject({
      forkOf: 'Fork of a after step 7: agent message edited',
      reward: null,
    });
  });

  it('shows where a real conversation is from, without a failure', () => {
    const imported = { from: 'chats' as const, file: 'log.jsonl', line: 3, masked: true };
    const nothing = { ...rewarded, reward: null, failedBy: null, reason: 'a real conversation' };
    expect(headingOf({ started: { ...started, imported }, rewarded: nothing })).toMatchObject({
      facts: [
        'parcel-desk',
        'a real conversation, from log.jsonl, line 3',
        'personal data masked in part, without a recogniser of names',
        'its database is unknown',
      ],
      reward: { value: null, isNobodys: true },
    });
    expect(stepEntry({ n: 9, event: nothing })).toMatchObject({ tone: 'plain', title: 'No reward' });
  });

  it('is nothing before the first event', () => {
    expect(headingOf({ started: null, rewarded: null })).toBeNull();
  });
});

describe('stepEntry', () => {
  const entry = (event: RolloutEvent) => stepEntry({ n: 3, event });

  it('shows what was said, what was called and what was thought', () => {
    const toolCalls = [{ id: 'c1', name: 'find', arguments: { parcel: 'P1' } }];
    expect(
      entry({ type: 'agentReplied', content: 'One moment.', reasoning: 'Look first.', toolCalls, origin: 'edited' }),
    ).toEqual({
      n: 3,
      speaker: 'agent',
      title: 'Agent (edited)',
      tone: 'plain',
      text: 'One moment.',
      reasoning: 'Look first.',
      code: [{ label: 'Calls find', text: '{ "parcel": "P1" }' }],
    });
    expect(entry({ type: 'userReplied', content: 'Bye', stop: 'done' })).toMatchObject({
      speaker: 'user',
      title: 'User, ends: done',
      text: 'Bye',
    });
  });

  it.each([
    ['length', 'Agent (cut off at the token limit)'],
    ['filter', 'Agent (withheld by a filter)'],
    ['refusal', 'Agent (refused)'],
  ] as const)('marks an answer that is not whole: %s', (brokenEnd, title) => {
    const shown = entry({ type: 'agentReplied', content: 'It comes', toolCalls: [], brokenEnd });
    expect(shown).toMatchObject({ title, tone: 'bad', text: 'It comes' });
  });

  it('keeps malformed arguments and results as they are', () => {
    const call = { id: 'c1', name: 'find', arguments: '{"parcel": ' };
    expect(entry({ type: 'toolCalled', call }).code).toEqual([{ label: 'Arguments', text: '{"parcel": ' }]);
    expect(entry({ type: 'toolReturned', callId: 'c1', content: 'no such parcel', isError: true })).toMatchObject({
      tone: 'bad',
      code: [{ label: 'Result', text: 'no such parcel' }],
    });
  });

  it('tells what changed in the database', () => {
    const writes = [
      {
        side: 'agent' as const,
        patches: [
          { op: 'replace' as const, path: ['orders', 'W1', 'status'], value: 'cancelled', old: 'pending' },
          { op: 'add' as const, path: ['log', 0], value: { note: 'x' } },
        ],
      },
      { side: 'user' as const, patches: [{ op: 'remove' as const, path: ['wallet', 'card'], old: 1 }] },
    ];
    expect(entry({ type: 'databaseWritten', callId: 'c1', writes }).changes).toEqual([
      { side: 'agent', place: 'orders.W1.status', before: '"pending"', after: '"cancelled"' },
      { side: 'agent', place: 'log[0]', before: null, after: '{"note":"x"}' },
      { side: 'user', place: 'wallet.card', before: '1', after: null },
    ]);
  });

  it.each([
    [null, true, 'No reward yet: the rollout is still running.'],
    [null, false, 'No reward: the rollout was stopped before it ended.'],
    ['cancelled', true, 'No reward: the rollout was stopped before it ended.'],
    ['userStopped', false, 'No reward: the rollout was stopped before it was evaluated.'],
  ] as const)('tells why there is no reward after the end %s, written: %s', (reason, isWritten, text) => {
    expect(noRewardText({ ended: reason && { type: 'rolloutEnded', reason } }, isWritten)).toBe(text);
  });

  it('tells what is unknown from what was violated', () => {
    const rule = {
      rule: 'tone',
      check: 'judge' as const,
      gate: false,
      verdict: 'unknown' as const,
      reason: 'no judge',
    };
    expect(entry({ type: 'rulesChecked', callId: null, verdicts: [{ ...rule, evidence: [] }] })).toMatchObject({
      tone: 'plain',
      title: 'Rules unknown',
      verdicts: [{ name: 'tone', verdict: 'unknown', detail: 'no judge' }],
    });
    const held = { ...rule, rule: 'brief', verdict: 'held' as const, evidence: [] };
    const other = { ...rule, evidence: [] };
    expect(entry({ type: 'rulesChecked', callId: null, verdicts: [held, other] }).title).toBe(
      'Rules held, except tone (unknown)',
    );
    expect(entry({ type: 'rulesChecked', callId: null, verdicts: [{ ...held, rule: 'tone' }, other] }).title).toBe(
      'Rules unknown',
    );
    const nothing = { verifier: 'communicate', held: true, detail: 'all said', evidence: [], met: 0, of: 0 };
    const shown = entry({ type: 'verdictReached', verdict: nothing });
    expect([shown.title, shown.verdicts]).toEqual(['Verifier communicate requires nothing', undefined]);
    const judge = { verifier: 'judge', held: false, unknown: true as const, detail: 'no judge', evidence: [] };
    expect(entry({ type: 'verdictReached', verdict: judge })).toMatchObject({
      tone: 'plain',
      verdicts: [{ verdict: 'unknown' }],
    });
  });

  it("tells the user's calls from the agent's, and shows what was synced", () => {
    const call = { id: 'u1', name: 'restart', arguments: {} };
    expect(entry({ type: 'userReplied', content: '', stop: null, toolCalls: [call] })).toEqual({
      n: 3,
      speaker: 'user',
      title: 'User',
      tone: 'plain',
      code: [{ label: 'Calls restart', text: '{}' }],
    });
    expect(entry({ type: 'toolCalled', call, by: 'user' }).title).toBe('The user called restart');
    const returned = { type: 'toolReturned', callId: 'u1', content: 'up', isError: false, by: 'user' } as const;
    expect(entry(returned).title).toBe('Tool returned to the user');
    const patches = [{ op: 'replace' as const, path: ['router', 'on'], value: true, old: false }];
    expect(entry({ type: 'worldSynced', writes: [{ side: 'user', patches }] })).toMatchObject({
      title: 'Databases of agent and user synced',
      changes: [{ side: 'user', place: 'router.on', before: 'false', after: 'true' }],
    });
    expect(entry({ type: 'worldSynced', writes: [] }).title).toBe('Databases of agent and user already in sync');
  });

  it('marks a violated rule, a failed verifier and a reward of 0', () => {
    const verdict = {
      rule: 'confirm',
      check: 'confirmed' as const,
      gate: true,
      verdict: 'violated' as const,
      reason: 'no yes',
      evidence: [1],
    };
    expect(entry({ type: 'rulesChecked', callId: 'c1', verdicts: [verdict] })).toMatchObject({
      tone: 'bad',
      title: 'Violated: confirm',
      verdicts: [{ name: 'confirm', verdict: 'violated', detail: 'no yes' }],
    });
    const failed = { verifier: 'database', held: false, detail: 'orders differ', evidence: [] };
    expect(entry({ type: 'verdictReached', verdict: failed })).toMatchObject({
      tone: 'bad',
      verdicts: [{ verdict: 'violated' }],
    });
    expect(entry({ type: 'rewarded', basis: 'train', reward: null, reason: 'not scored' })).toMatchObject({
      tone: 'bad',
      title: 'No reward',
    });
  });
});
