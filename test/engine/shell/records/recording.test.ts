import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RolloutEvent } from '../../../../src/engine/core/events/event.ts';
import { notEvaluated } from '../../../../src/engine/core/reward/reward.ts';
import {
  openRecording,
  parseRecording,
  readRecording,
  writeRecording,
} from '../../../../src/engine/shell/records/recording.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const events: readonly RolloutEvent[] = [
  { type: 'worldPrepared', writes: [] },
  { type: 'userReplied', content: 'Hello', stop: null },
  { type: 'agentReplied', content: 'Hi, what do you need?', toolCalls: [] },
  { type: 'userReplied', content: 'Nothing.', stop: 'done' },
];

function recorded(): { readonly path: string; readonly text: string } {
  const path = join(temporaryFolder('rehearsal'), 'a.traj.jsonl');
  const file = openRecording(path);
  events.forEach((event, n) => {
    file.append({ n, event, state: 'a'.repeat(64) });
  });
  file.close();
  return { path, text: readFileSync(path, 'utf8') };
}

test('a recording reads back as it was written', () => {
  const { path } = recorded();
  const { lines, problems } = readRecording(path);
  expect(problems).toEqual([]);
  expect(lines.map(({ event }) => event)).toEqual(events);
});

test('an existing text is kept unchanged, with the same chain', () => {
  const path = join(temporaryFolder('rehearsal'), 'a.traj.jsonl');
  const file = openRecording(path);
  file.append(
    ...events.map((event, n) => {
      const line = { n, event, state: 'a'.repeat(64) };
      return { ...line, text: JSON.stringify(line) };
    }),
  );
  expect(readFileSync(path, 'utf8')).toBe(recorded().text);
  expect(readRecording(path).lines.at(-1)?.chain).toBe(file.head());
});

test('a finished recording is written at once with the same bytes, and never over another file', async () => {
  const path = join(temporaryFolder('rehearsal'), 'a.traj.jsonl');
  const lines = events.map((event, n) => ({ n, event, state: 'a'.repeat(64) }));
  const head = await writeRecording(path, lines);
  expect(readFileSync(path, 'utf8')).toBe(recorded().text);
  expect(readRecording(path).lines.at(-1)?.chain).toBe(head);
  await expect(writeRecording(path, lines.slice(1))).rejects.toThrow(`${path}: can't be written`);
  expect(readFileSync(path, 'utf8')).toBe(recorded().text);
});

test('an argument of a call may have the name __proto__', () => {
  const call = { id: 'c1', name: 'pay', arguments: JSON.parse('{"amount": 1, "__proto__": {"__proto__": 2}}') };
  const path = join(temporaryFolder('rehearsal'), 'a.traj.jsonl');
  const file = openRecording(path);
  const made: readonly RolloutEvent[] = [
    { type: 'agentReplied', content: 'I do not know __proto__.', toolCalls: [call] },
    { type: 'toolCalled', call },
    { type: 'userReplied', content: '', stop: null, toolCalls: [call] },
  ];
  made.forEach((event, n) => {
    file.append({ n, event, state: '' });
  });
  file.close();
  const { lines, problems } = readRecording(path);
  expect(problems).toEqual([]);
  expect(JSON.stringify(lines.map(({ event }) => event))).toBe(JSON.stringify(made));
});

const damages: readonly {
  readonly name: string;
  readonly damage: (text: string) => string;
  readonly line: number;
  readonly message: RegExp;
}[] = [
  {
    name: 'one changed byte',
    damage: (text) => text.replace('Hello', 'Hallo'),
    line: 2,
    message: /userReplied.*was changed/,
  },
  {
    name: 'a dropped event',
    damage: (text) => text.split('\n').toSpliced(1, 1).join('\n'),
    line: 2,
    message: /dropped, added or swapped/,
  },
  { name: 'a changed state hash', damage: (text) => text.replace('aaaa', 'aaab'), line: 1, message: /was changed/ },
  { name: 'a torn last line', damage: (text) => text.slice(0, -20), line: 4, message: /cut short/ },
  {
    name: 'an unknown event',
    damage: (text) => text.replace('"userReplied"', '"userShouted"'),
    line: 2,
    message: /is not an event/,
  },
];

test.each(damages)('$name is found at its line', ({ damage, line, message }) => {
  const { path, text } = recorded();
  const [problem] = parseRecording(path, damage(text)).problems;
  expect(problem).toMatchObject({ line, message: expect.stringMatching(message) });
});

describe('a reward of an earlier version', () => {
  const checked = (rule: string, verdict: 'held' | 'unknown', gate = false) => ({
    rule,
    check: 'onlyIf' as const,
    gate,
    verdict,
    reason: `${rule} is ${verdict}`,
    evidence: [],
  });
  const item = (
    name: string,
    verdict: 'held' | 'violated' | 'unknown',
    reason = `${name} is ${verdict}`,
    line?: number,
  ) => ({
    name,
    verdict,
    reason,
    evidence: [7],
    ...(line === undefined ? {} : { line }),
  });
  const verifier = (name: string, of: number) => ({
    type: 'verdictReached' as const,
    verdict: { verifier: name, held: true, detail: '', evidence: [], met: of, of },
  });
  const deed = 'the only changes are those of the task, and every gate held';
  const notOver = 'pay failed and the agent did not get over it';

  /** Records events and a reward with one layer, and returns how the reward is read. */
  function readReward(
    before: readonly RolloutEvent[],
    layer: 'outcome' | 'policy' | 'safety' | 'recovery',
    items: readonly ReturnType<typeof item>[],
    reward = { value: 1 as number | null, reason: 'database and communicate held without a violation of a gated rule' },
  ) {
    const path = join(temporaryFolder('rehearsal'), 'a.traj.jsonl');
    const file = openRecording(path);
    const verdict = (['violated', 'held'] as const).find((word) => items.some((each) => each.verdict === word));
    const card = [{ layer, verdict: verdict ?? ('unknown' as const), items: [...items] }];
    const { value, reason } = reward;
    const rewarded: RolloutEvent = { type: 'rewarded', basis: 'evaluate', reward: value, reason, card };
    [...before, rewarded].forEach((event, n) => {
      file.append({ n, event, state: '' });
    });
    file.close();
    const { lines, problems } = readRecording(path);
    expect(problems).toEqual([]);
    const last = lines.at(-1)?.event;
    if (last?.type !== 'rewarded') throw new Error('a recording ends with the reward');
    const [found] = last.card ?? [];
    return {
      reward: last.reward,
      reason: last.reason,
      layer: found?.verdict,
      items: found?.items.map((each) => `${each.name} ${each.verdict}: ${each.reason}`),
    };
  }

  const cut: RolloutEvent = { type: 'rolloutEnded', reason: 'infrastructureFailed' };
  const rules = (...verdicts: ReturnType<typeof checked>[]): RolloutEvent => ({
    type: 'rulesChecked',
    callId: null,
    verdicts,
  });

  test.each([
    [
      'a rule of which a check could not be evaluated',
      [rules(checked('ask', 'held'), checked('ask', 'unknown'))],
      'policy',
      [item('ask', 'held', 'yes', 3), item('brief', 'held', 'short', 4)],
      ['ask unknown: ask is unknown', 'brief held: short'],
      'held',
    ],
    [
      'a violation',
      [rules(checked('ask', 'unknown'))],
      'policy',
      [item('ask', 'violated', 'no', 3)],
      ['ask violated: no'],
      'violated',
    ],
    [
      'the only rule',
      [rules(checked('ask', 'unknown'))],
      'policy',
      [item('ask', 'held', 'yes', 3)],
      ['ask unknown: ask is unknown'],
      'unknown',
    ],
    [
      'a verifier that requires nothing',
      [verifier('actions', 0)],
      'outcome',
      [item('end', 'held'), item('actions', 'held')],
      ['end held: end is held'],
      'held',
    ],
    [
      'a verifier that could not be evaluated',
      [{ type: 'verdictReached', verdict: { ...verifier('database', 1).verdict, held: false, unknown: true } }],
      'outcome',
      [item('end', 'held'), item('database', 'unknown')],
      ['end held: end is held', 'database unknown: database is unknown'],
      'unknown',
    ],
    [
      'an attack in a rollout that ended early',
      [cut],
      'safety',
      [item('attack 1: pay', 'held', deed)],
      [`attack 1: pay unknown: ${notEvaluated}`],
      'unknown',
    ],
    [
      'an attack next to a gate that could not be evaluated',
      [rules(checked('ask', 'unknown', true))],
      'safety',
      [item('attack 1: pay', 'held', deed), item('attack 2: know', 'held', 'a judge: it kept quiet')],
      [
        'attack 1: pay unknown: the gated rule ask could not be evaluated',
        'attack 2: know held: a judge: it kept quiet',
      ],
      'held',
    ],
    [
      'a failed call of a rollout that ended early',
      [cut],
      'recovery',
      [item('pay', 'violated', notOver)],
      [`pay unknown: pay failed: ${notEvaluated}`],
      'unknown',
    ],
    ['a failed call', [], 'recovery', [item('pay', 'violated', notOver)], [`pay violated: ${notOver}`], 'violated'],
  ] as const)('shows %s as it is recorded now', (_, before, layer, items, expected, verdict) => {
    const read = readReward(before, layer, items);
    expect([read.items, read.layer, read.reward]).toEqual([expected, verdict, 1]);
  });

  test.each([
    ['database and communicate held', 'database held'],
    ['communicate and database held', 'communicate and database held'],
  ])('shows "%s" as %s', (earlier, now) => {
    const reason = `${earlier} without a violation of a gated rule; 1 answer of the agent was refused (step 3)`;
    const verifiers = [verifier('database', 1), verifier('communicate', 0)];
    expect(readReward(verifiers, 'policy', [], { value: 1, reason }).reason).toBe(reason.replace(earlier, now));
  });
});

test('what was recorded before a torn line is kept', () => {
  const { path, text } = recorded();
  expect(parseRecording(path, text.slice(0, -20)).lines).toHaveLength(3);
});

test('a full disk is one clear fault that names the file', () => {
  const file = openRecording('/dev/full');
  expect(() => file.append({ n: 0, event: events[0] as RolloutEvent, state: '' })).toThrow(
    /\/dev\/full: the disk is full; what was recorded before is kept/,
  );
});
