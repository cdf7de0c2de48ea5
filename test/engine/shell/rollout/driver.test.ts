import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RolloutEvent } from '../../../../src/engine/core/events/event.ts';
import { stateHash } from '../../../../src/engine/core/rollout/rollout.ts';
import { toJson } from '../../../../src/engine/core/world/database.ts';
import { Fault } from '../../../../src/engine/shell/files/fault.ts';
import { run } from '../../../../src/engine/shell/rollout/driver.ts';
import type { Ports } from '../../../../src/engine/shell/rollout/ports.ts';
import { callTool, type Line, played, setting, started, steps, task } from '../../../support/desk.ts';
import { replay } from '../../../support/replay.ts';
import { runs } from '../../../support/runs.ts';

const look: Line = { look: { chair: 'A1' } };
const paint: Line = { paint: { chair: 'A1', colour: 'red' } };
const ask = 'I will paint chair A1 red. Shall I go ahead?';

const outcome = (all: Awaited<ReturnType<typeof steps>>) => {
  const { reward, ended } = all.at(-1)?.state ?? {};
  return { reward: reward?.value, end: ended?.reason, why: reward?.reason };
};

const stories: readonly {
  readonly name: string;
  readonly agent: readonly Line[];
  readonly user: readonly string[];
  readonly reward: number;
  readonly why: RegExp;
  readonly end?: string;
}[] = [
  {
    name: 'looks, asks, paints',
    agent: [look, ask, paint, 'Done.'],
    user: ['Red please.', 'Yes.'],
    reward: 1,
    why: /database held/,
  },
  {
    name: 'paints without asking',
    agent: [look, paint, 'Done.'],
    user: ['Red please.'],
    reward: 0,
    why: /rule ask-first was violated at step 7: paint was called before anything was proposed/,
  },
  {
    name: 'paints after a no',
    agent: [look, ask, paint, 'Done.'],
    user: ['Red please.', 'No, wait.'],
    reward: 0,
    why: /ask-first.*says no: "No, wait/,
  },
  {
    name: 'names another colour than it paints',
    agent: [look, 'I will paint it green. Shall I go ahead?', paint, 'Done.'],
    user: ['Red.', 'Yes.'],
    reward: 0,
    why: /did not name colour/,
  },
  {
    name: 'never looks',
    agent: [ask, paint, 'Done.'],
    user: ['Red please.', 'Yes.'],
    reward: 0,
    why: /look-first.*before any successful look/,
  },
  {
    name: 'does nothing',
    agent: ['Hello.'],
    user: ['Red please.'],
    reward: 0,
    why: /chairs\.A1\.colour is "blue", expected "red"/,
  },
  {
    name: 'paints the wrong chair',
    agent: [{ look: { chair: 'B2' } }, 'I will paint chair B2 red. OK?', { paint: { chair: 'B2', colour: 'red' } }],
    user: ['Red.', 'Yes.'],
    reward: 0,
    why: /database/,
  },
  {
    name: 'talks for ever',
    agent: [],
    user: Array.from({ length: 99 }, () => 'Go on.'),
    reward: 0,
    why: /cap on turns/,
    end: 'turnCap',
  },
  {
    name: 'calls what does not exist',
    agent: Array.from({ length: 20 }, () => ({ fly: {} })),
    user: ['Red.'],
    reward: 0,
    why: /cap on tool errors/,
    end: 'toolErrorCap',
  },
  { name: 'hands over', agent: [{ leave: {} }], user: ['Red.'], reward: 0, why: /database/, end: 'handedOff' },
];

test.each(stories)('an agent that $name', async ({ agent, user, reward, why, end = 'userStopped' }) => {
  expect(outcome(await steps(played(agent, user)))).toMatchObject({ reward, end, why: expect.stringMatching(why) });
});

type Unread = readonly [unreadableCalls: 'fail' | 'failAll' | 'endTurn' | 'endRollout' | undefined, said: unknown];
const unread: readonly Unread[] = [
  [undefined, { end: 'userStopped', roles: 'user agent tool tool agent user', color: 'red' }],
  ['fail', { end: 'userStopped', roles: 'user agent tool tool agent user', color: 'red' }],
  ['failAll', { end: 'userStopped', roles: 'user agent tool tool agent user', color: 'blue' }],
  ['endTurn', { end: 'userStopped', roles: 'user agent tool tool user', color: 'blue' }],
  ['endRollout', { end: 'agentFailed', roles: 'user agent', color: 'blue', reward: 0 }],
];

test.each(unread)('a call whose arguments are not a JSON object, with unreadableCalls %s', async (way, expected) => {
  const replies = [
    {
      content: null,
      toolCalls: [
        { id: 'a', name: 'paint', arguments: { chair: 'A1', colour: 'red' } },
        { id: 'b', name: 'look', arguments: '{"chair": ' },
      ],
    },
    { content: 'Done.', toolCalls: [] },
  ];
  const ports = { ...played([], ['Red.']), agent: () => replies.shift() ?? { content: 'Bye.', toolCalls: [] } };
  const from = { ...started(), ...(way === undefined ? {} : { unreadableCalls: way }) };
  const { state } = (await steps(ports, from)).at(-1) ?? {};
  const { chairs } = toJson(state?.world.agent as never) as { chairs: { A1: { colour: string } } };
  expect({
    end: state?.ended?.reason,
    roles: state?.messages.map(({ role }) => role).join(' '),
    color: chairs.A1.colour,
    reward: state?.reward?.value,
  }).toMatchObject(expected as object);
});

test('a failed write leaves no trace, and raw arguments come back as an error', async () => {
  const all = await steps(played([{ paint: { chair: 'Z9', colour: 'red' } }], ['Red.']));
  expect(all.some(({ event }) => event.type === 'databaseWritten')).toBe(false);
  const ports = {
    ...played([], ['Red.']),
    agent: () => ({ content: null, toolCalls: [{ id: 'c', name: 'paint', arguments: '{"chair": ' }] }),
  };
  const [answer] = (await steps(ports)).flatMap(({ event }) => (event.type === 'toolReturned' ? [event.content] : []));
  expect(answer).toBe('Error: the arguments of paint are not a JSON object: {"chair": ');
});

test.each([
  ['once', false],
  ['again for each rollout if it depends on chance', true],
])('the gold end state of a task is computed %s', async (_, isRandom) => {
  let calls = 0;
  const ports: Ports = {
    ...played([look, ask, paint, 'Done.'], ['Red please.', 'Yes.']),
    callTool: (tool, call, context) => {
      if (call.id.startsWith('gold')) calls += 1;
      if (isRandom) context.random.integer(2);
      return callTool(tool, call, context);
    },
  };
  const own = { ...setting };
  const play = async () => (await Array.fromAsync(run({ setting: own, task, ports }, started()))).at(-1)?.state.reward;
  const [first, second] = [await play(), await play()];
  expect(first?.value).toBe(1);
  expect(second).toEqual(first);
  expect(calls).toBe(task.actions.length * (isRandom ? 2 : 1));
});

test.each(['infrastructure', 'environment', 'simulator'] as const)(
  'a failure of the %s is never reward 0',
  async (who) => {
    const agent = () => {
      throw new Fault({ who, code: 'x', message: 'it broke' });
    };
    expect(outcome(await steps({ ...played([], ['Red.']), agent }))).toMatchObject({
      reward: null,
      why: 'not scored: it broke',
    });
  },
);

// Any conversation of these lines, whether it makes sense or not.
const line = fc.oneof(
  fc.constantFrom<Line>(look, paint, ask, 'Hm.', { fly: {} }),
  fc.record({ paint: fc.record({ chair: fc.constantFrom('A1', 'B2'), colour: fc.string() }) }) as fc.Arbitrary<Line>,
);
const conversation = fc.record({
  agent: fc.array(line, { maxLength: 8 }),
  user: fc.array(fc.constantFrom('Yes.', 'No.', 'Red please.'), { maxLength: 6 }),
});

test('replay equals record: the same state after every event', async () => {
  await fc.assert(
    fc.asyncProperty(conversation, async ({ agent, user }) => {
      const all = await steps(played(agent, user));
      const events = all.map(({ event }) => event);
      for (const { n, state } of all) expect(stateHash(replay(setting, events.slice(0, n + 1)))).toBe(stateHash(state));
    }),
    { numRuns: runs(25) },
  );
});

test('the same conversation gives the same bytes, and a recording survives JSON', async () => {
  await fc.assert(
    fc.asyncProperty(conversation, async ({ agent, user }) => {
      const text = async () => JSON.stringify((await steps(played(agent, user))).map(({ event }) => event));
      const first = await text();
      expect(await text()).toBe(first);
      expect(stateHash(replay(setting, JSON.parse(first) as RolloutEvent[]))).toBe(
        stateHash(
          replay(
            setting,
            (await steps(played(agent, user))).map(({ event }) => event),
          ),
        ),
      );
    }),
    { numRuns: runs(15) },
  );
});

test('a fork continues from its prefix and never changes its parent', async () => {
  await fc.assert(
    fc.asyncProperty(conversation, fc.nat(), async ({ agent, user }, at) => {
      const parent = await steps(played(agent, user));
      const before = JSON.stringify(parent.map(({ event, state }) => [event, toJson(state.world.agent)]));
      const prefix = parent.slice(0, 1 + (at % parent.length)).map(({ event }) => event);
      const fork = await steps(played([look, ask, paint], ['Red.', 'Yes.', 'Yes.', 'Yes.']), prefix);
      expect(fork.slice(0, prefix.length).map(({ event }) => event)).toEqual(prefix);
      expect(JSON.stringify(parent.map(({ event, state }) => [event, toJson(state.world.agent)]))).toBe(before);
    }),
    { numRuns: runs(25) },
  );
});

test('a rollout resumes to the same end after a crash between any two events', async () => {
  const agent = [look, ask, paint, 'Done.'];
  const user = ['Red please.', 'Yes.'];
  const whole = await steps(played(agent, user));
  for (let n = 1; n < whole.length; n += 1) {
    const resumed = await steps(
      played(agent, user),
      whole.slice(0, n).map(({ event }) => event),
    );
    expect(resumed.map(({ event }) => event)).toEqual(whole.map(({ event }) => event));
  }
});
