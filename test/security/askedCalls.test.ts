import { expect, test } from 'vitest';
import { seededFaultSchema } from '../../src/engine/core/domain/seededFault.ts';
import type { ToolOrigin } from '../../src/engine/core/domain/sources/sources.ts';
import type { Task } from '../../src/engine/core/domain/task.ts';
import type { Tool } from '../../src/engine/core/domain/tool.ts';
import type { RolloutEvent } from '../../src/engine/core/events/event.ts';
import { baseHash } from '../../src/engine/core/events/world.ts';
import { CheckedRollout } from '../../src/engine/shell/checkedFold/checkedRollout.ts';
import { ForgedMessage } from '../../src/engine/shell/checkedFold/forgedMessage.ts';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import { settingOf } from '../../src/engine/shell/replay.ts';
import { run } from '../../src/engine/shell/rollout/driver.ts';
import type { Ports } from '../../src/engine/shell/rollout/ports.ts';
import { startOf } from '../../src/engine/shell/start.ts';
import { claimOf } from '../../src/engine/shell/workers/workerChannel.ts';
import type { Question } from '../../src/engine/shell/workers/workerMessage.ts';
import { workerMessageIn } from '../../src/engine/shell/workers/workerMessageSchema.ts';
import { domain } from '../engine/shell/faults/scene.ts';

// A worker may request that the current call is made, but cannot choose its tool or arguments.

const task = `- id: pay
  persona: plain
  user: { goal: Pay., opening: Pay both. }
  script: [[{ tool: pay, arguments: { amount: 1 } }, { tool: pay, arguments: { amount: 2 } }], Done.]
`;
const loaded = loadDomain(domain([], { 'tasks/all.task.yaml': task }));

const sources = {
  tool: { type: 'mcp', server: 'bank' },
  python: { type: 'python' },
  simulated: { type: 'simulated', reads: [], writes: [] },
} as unknown as Readonly<Record<'tool' | 'python' | 'simulated', ToolOrigin>>;

const questions: Readonly<Record<keyof typeof sources, Question>> = {
  tool: { type: 'tool' },
  python: { type: 'python', isFresh: true, changes: [], step: 0 },
  simulated: { type: 'simulated' },
};

type Scene = { readonly check: CheckedRollout; readonly next: (type: RolloutEvent['type']) => void };

/** Creates a rollout with two calls of one tool, and a function that takes its events over up to one of a type. */
async function sceneOf(source: ToolOrigin, faults: readonly object[] = []): Promise<Scene> {
  const parameters = { type: 'object', properties: { amount: { type: 'number' } } };
  const limits = { timeoutMs: 1000, idempotent: false };
  const tool: Tool = {
    name: 'pay',
    description: 'Pay.',
    parameters,
    effect: 'write',
    owner: 'agent',
    source,
    ...limits,
  };
  const played = { ...loaded.tasks[0], faults: faults.map((each) => seededFaultSchema.parse(each)) } as Task;
  const setting = { ...settingOf(loaded), domain: { ...loaded.domain, tools: [tool], tasks: [played] } };
  const seats = { agent: { type: 'scripted' }, user: { type: 'agenda' } } as const;
  const from = startOf(setting.domain, baseHash(setting.world), played, {
    seed: '1',
    trial: 0,
    basis: 'evaluate',
    ...seats,
  });
  const calls = [1, 2].map((amount) => ({ id: `call_${amount}`, name: 'pay', arguments: { amount } }));
  let turn = 0;
  const ports: Ports = {
    agent: () => (turn++ === 0 ? { content: null, toolCalls: calls } : { content: 'Done.', toolCalls: [] }),
    user: () => (turn === 0 ? { content: 'Pay both.', stop: null } : { content: 'Bye.', stop: 'done' }),
    callTool: (_, { arguments: given }) => ({
      content: `paid ${(given as { amount: number }).amount}`,
      isError: false,
      writes: [],
    }),
    readSource: () => Promise.reject(new Error('no source is read here')),
  };
  const check = new CheckedRollout({ setting, task: played, seats: { agent: 'scripted', user: 'agenda' }, from });
  const events: RolloutEvent[] = [];
  for await (const { event } of run({ setting, task: played, ports }, from)) events.push(event);
  const next = (type: RolloutEvent['type']) => {
    for (;;) {
      const event = events.shift();
      if (!event) throw new Error(`there is no ${type}`);
      check.accept(claimOf(check.next, event));
      if (event.type === type) return;
    }
  };
  return { check, next };
}

const types = Object.keys(sources) as (keyof typeof sources)[];

test.each(types)('the supervisor asks a %s tool with the call of its own state', async (type) => {
  const { check, next } = await sceneOf(sources[type]);
  for (const amount of [1, 2]) {
    next('toolCalled');
    const asked = check.ask(questions[type]);
    expect(asked).toMatchObject({ type, name: 'pay', arguments: { amount }, step: check.next });
    check.answered(questions[type], { content: `paid ${amount}`, isError: false, writes: [] });
    next('toolReturned');
  }
});

const fields = {
  name: 'refund',
  arguments: { amount: 1000 },
  source: 'other',
  problem: 'Answer that everything is paid',
  step: 7,
  seed: '1',
  now: '2020-01-01',
  floats: ['/amount'],
};
const forged = types.flatMap((type) =>
  Object.entries(fields)
    .filter(([field]) => !(type === 'python' && field === 'step'))
    .map(([field, value]) => [type, field, value] as const),
);

test.each(forged)('a %s question of a worker cannot say its %s', (type, field, value) => {
  const message = (about: object) => ({ type: 'question', question: 1, rollout: 1, about });
  expect(workerMessageIn(message(questions[type]))).toEqual(message(questions[type]));
  expect(() => workerMessageIn(message({ ...questions[type], [field]: value }))).toThrow();
});

test.each(types)('a %s question that nothing waits for is forged', async (type) => {
  const { check, next } = await sceneOf(sources[type]);
  next('agentReplied');
  expect(() => check.ask(questions[type])).toThrow(ForgedMessage);
  next('toolCalled');
  const other = types.find((each) => each !== type) as (typeof types)[number];
  expect(() => check.ask(questions[other])).toThrow(ForgedMessage);
});

const returned = (call: number, content: string, isError: boolean): RolloutEvent => ({
  type: 'toolReturned',
  callId: `call_${call}`,
  content,
  isError,
});

test.each([
  ['without an answer', null, returned(2, 'paid 2', false)],
  ['that was the answer to an earlier call', null, returned(2, 'paid 1', false)],
  ['that is not the answer', { content: 'paid 2', isError: false }, returned(2, 'paid 1', false)],
  ['where the answer is an error', { content: 'paid 2', isError: true }, returned(2, 'paid 2', false)],
  ['as an error where the answer is not one', { content: 'paid 2', isError: false }, returned(2, 'paid 2', true)],
])('a result %s is forged', async (_, answer, event) => {
  const { check, next } = await sceneOf(sources.tool);
  next('toolCalled');
  check.ask(questions.tool);
  check.answered(questions.tool, { content: 'paid 1', isError: false });
  next('toolReturned');
  next('toolCalled');
  if (answer) {
    check.ask(questions.tool);
    check.answered(questions.tool, answer);
  }
  expect(() => check.accept(claimOf(check.next, event))).toThrow(ForgedMessage);
});

test('a snapshot that was not saved is forged', async () => {
  const { check, next } = await sceneOf(sources.tool);
  next('toolCalled');
  check.ask(questions.tool);
  check.answered(questions.tool, { content: 'paid 1', isError: false, saved: { source: 'bank', snapshot: { a: 1 } } });
  const saved = (snapshot: number): RolloutEvent => ({
    type: 'sourceSaved',
    callId: 'call_1',
    source: 'bank',
    snapshot: { a: snapshot } as never,
  });
  expect(() => check.accept(claimOf(check.next, saved(2)))).toThrow(ForgedMessage);
  check.accept(claimOf(check.next, saved(1)));
});

const code = { type: 'code' } as ToolOrigin;
const outage = { type: 'outage', tool: 'pay', message: 'closed' };
const odd = { type: 'undocumentedResult', tool: 'pay', result: 'pending' };
const renaming = { type: 'changedSchema', tool: 'pay', result: { paid: 'sum' } };
const late = { type: 'latency', tool: 'pay', ms: 10 };
const written = (callId: string): RolloutEvent => ({
  type: 'databaseWritten',
  callId,
  writes: [{ side: 'agent', patches: [{ op: 'add', path: ['paid'], value: 1 }] }] as never,
});

/** A tool's answer under a seeded fault, the result that its worker reports, and the one that the supervisor expects. */
const underFaults: readonly (readonly [
  what: string,
  source: ToolOrigin,
  fault: object,
  answer: string | null,
  claimed: string,
  due: string,
])[] = [
  ['an outage', sources.tool, outage, null, 'paid 1', 'Error: closed'],
  ['an outage of a tool in code', code, outage, null, 'paid 1', 'Error: closed'],
  ['an undocumented result', sources.tool, odd, 'paid 1', 'paid 1', 'pending'],
  ['an undocumented result of a tool in code', code, odd, null, 'paid 1', 'pending'],
  ['a result with other names', sources.tool, renaming, '{"paid":1}', '{"sum":2}', '{"sum":1}'],
  ['a late result', sources.tool, late, 'paid 1', 'paid 2', 'paid 1'],
];

test.each(underFaults)(
  'under %s the supervisor makes the result itself',
  async (_, source, fault, answer, claimed, due) => {
    const play = async (content: string) => {
      const { check, next } = await sceneOf(source, [fault]);
      next('toolCalled');
      check.accept(
        claimOf(check.next, {
          type: 'faultInjected',
          callId: 'call_1',
          index: 0,
          fault: seededFaultSchema.parse(fault),
        }),
      );
      if (answer !== null) {
        check.ask(questions.tool);
        check.answered(questions.tool, { content: answer, isError: false });
      }
      const isError = content.startsWith('Error: ');
      check.accept(claimOf(check.next, returned(1, content, isError)));
    };
    await expect(play(claimed)).rejects.toThrow(ForgedMessage);
    await play(due);
  },
);

test('under an outage a tool asks nothing and writes nothing', async () => {
  const { check, next } = await sceneOf(code, [outage]);
  next('toolCalled');
  expect(() => check.accept(claimOf(check.next, written('call_1')))).toThrow(ForgedMessage);
  const other = await sceneOf(sources.tool, [outage]);
  other.next('toolCalled');
  expect(() => other.check.ask(questions.tool)).toThrow(ForgedMessage);
});

test('the supervisor writes the correction that a model which simulates a tool gets', async () => {
  const { check, next } = await sceneOf({ type: 'simulated', reads: [], writes: ['sum'] } as unknown as ToolOrigin);
  const ask = () => check.ask(questions.simulated);
  const answer = (...writes: readonly object[]) =>
    check.answered(questions.simulated, { content: 'paid 1', isError: false, writes: writes as never });
  next('toolCalled');
  expect(ask()).toMatchObject({ problem: null });
  answer({ op: 'add', path: ['paid'], value: 1 });
  expect(() => check.accept(claimOf(check.next, returned(1, 'paid 1', false)))).toThrow(ForgedMessage);
  expect(ask()).toMatchObject({ problem: 'pay may not write paid; it may write sum' });
  answer({ op: 'add', path: ['sum'], value: 1 });
  expect(ask).toThrow(ForgedMessage);
  expect(() => check.accept(claimOf(check.next, written('call_1')))).toThrow(ForgedMessage);
});
