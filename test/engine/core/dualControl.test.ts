import { expect, test } from 'vitest';
import { type Task, taskSchema } from '../../../src/engine/core/domain/task.ts';
import { measureOf } from '../../../src/engine/core/evaluation/measure.ts';
import type { RolloutEvent } from '../../../src/engine/core/events/event.ts';
import type { Message } from '../../../src/engine/core/events/message.ts';
import { messagesOf, utterancesOf } from '../../../src/engine/core/events/message.ts';
import type { RolloutState } from '../../../src/engine/core/events/state.ts';
import { follow, resumable, type Setting, stateHash } from '../../../src/engine/core/rollout/rollout.ts';
import { callsOf } from '../../../src/engine/core/rules/calls.ts';
import { agendaUser } from '../../../src/engine/core/seats/agenda.ts';
import { goldAgent } from '../../../src/engine/core/seats/gold.ts';
import type { AgentReply, SeatView, UserReply } from '../../../src/engine/core/seats/seat.ts';
import type { JsonObject } from '../../../src/engine/core/values/json.ts';
import { draft } from '../../../src/engine/core/world/database.ts';
import type { Ports, Step } from '../../../src/engine/shell/rollout/ports.ts';
import { domain, lampOf, setting, socketOf, steps, type sync, task, written } from '../../support/lamp.ts';

/** Returns the state after some events. */
function replayed(setting: Setting, events: readonly RolloutEvent[]): RolloutState {
  const state = events.reduce<RolloutState | null>((before, event) => follow(setting, before, event), null);
  if (!state) throw new Error('there are no events');
  return state;
}

const gold = { agent: goldAgent, user: agendaUser };
const typesOf = (all: readonly Step[]) => all.map(({ event }) => event.type);
const call = (name: string, args: JsonObject = {}, id = `c_${name}`) => ({ id, name, arguments: args });
const says = (content: string): AgentReply => ({ content, toolCalls: [] });

/** Seats that play lists. */
function playing(agent: readonly AgentReply[], user: readonly UserReply[]): Pick<Ports, 'agent' | 'user'> {
  const turnOf = (role: string, { messages }: SeatView) => messages.filter((each) => each.role === role).length;
  return {
    agent: (view) => agent[turnOf('agent', view)] ?? says('Anything else?'),
    user: (view) => user[turnOf('user', view)] ?? { content: 'Bye.', stop: 'done' },
  };
}

const user = (...calls: ReturnType<typeof call>[]): UserReply => ({ content: '', stop: null, toolCalls: calls });
const hello: UserReply = { content: 'Hello.', stop: null };

test('gold instructs the user, and both sides reach the expected state', async () => {
  const all = await steps(gold);
  const last = all.at(-1)?.state;
  expect(last?.reward).toMatchObject({ value: 1 });
  expect(last && [socketOf(last.world), lampOf(last.world)]).toEqual([
    { on: true, load: 40 },
    { pressed: true, fed: true },
  ]);
  expect(utterancesOf(last?.messages ?? []).map(({ content }) => content)).toContainEqual(
    expect.stringMatching(/The power is on\. Please press the switch of the lamp\./),
  );
  expect(callsOf(last?.messages ?? []).map(({ tool, by }) => `${by} ${tool}`)).toEqual(['agent power', 'user press']);
});

test('sync runs after set-up and after each successful call, and is a separate event', async () => {
  const agent = [
    { content: null, toolCalls: [call('power', { on: true }), call('power', { on: 'yes' }, 'c_bad'), call('meter')] },
    says('Press it.'),
  ];
  const all = await steps(playing(agent, [hello, user(call('press')), { content: 'Pressed.', stop: null }]));
  const around = ['worldPrepared', 'worldSynced', 'toolCalled', 'databaseWritten', 'toolReturned'];
  const seen = all.flatMap(({ event }) =>
    around.includes(event.type)
      ? [event.type === 'worldSynced' ? `synced ${event.writes.map(({ side }) => side).join(' ')}`.trim() : event.type]
      : [],
  );
  const write = ['toolCalled', 'databaseWritten', 'toolReturned'];
  expect(seen).toEqual([
    'worldPrepared',
    'synced',
    ...write,
    'synced user',
    'toolCalled',
    'toolReturned',
    'toolCalled',
    'toolReturned',
    'synced',
    ...write,
    'synced agent',
  ]);
});

test('neither seat sees the calls of the other, nor their results', async () => {
  const views: { readonly seat: string; readonly messages: readonly Message[] }[] = [];
  await steps({
    agent: (view) => {
      views.push({ seat: 'agent', messages: view.messages });
      return goldAgent(view);
    },
    user: (view) => {
      views.push({ seat: 'user', messages: view.messages });
      return agendaUser(view);
    },
  });
  const textOf = (seat: string) => JSON.stringify(views.filter((each) => each.seat === seat));
  expect(textOf('agent')).toContain('"name":"power"');
  expect(textOf('agent')).not.toContain('"name":"press"');
  expect(textOf('agent')).not.toContain('bright\\"');
  expect(textOf('user')).toContain('"name":"press"');
  expect(textOf('user')).not.toContain('"name":"power"');
});

test('a seat sees the whole conversation if only that seat has made calls', () => {
  const messages: Message[] = [
    { role: 'user', step: 1, content: 'Hi.' },
    { role: 'agent', step: 2, content: null, toolCalls: [call('meter')] },
    { role: 'tool', step: 3, callId: 'c_meter', name: 'meter', content: '{}', isError: false },
  ];
  expect(messagesOf('agent', messages)).toBe(messages);
  expect(messagesOf('user', messages)).toEqual(messages.slice(0, 1));
});

test.each([
  ['the agent calls a tool of the user', [{ content: null, toolCalls: [call('press')] }], [hello], 'press'],
  ['the user calls a tool of the agent', [says('Go on.')], [hello, user(call('meter'))], 'meter'],
] as const)('%s: there is no such tool', async (_, agent, replies, name) => {
  const all = await steps(playing(agent, replies));
  expect(all.flatMap(({ event }) => (event.type === 'toolReturned' ? [event.content] : []))).toEqual([
    `Error: there is no tool named "${name}"`,
  ]);
  expect(all.at(-1)?.state.toolErrors).toBe(name === 'press' ? 1 : 0);
});

test("errors of the user's calls do not count against the agent", async () => {
  const wrong = Array.from({ length: 6 }, (_, at) => user(call('meter', {}, `c${at}`)));
  const all = await steps(playing([says('Go on.')], [hello, ...wrong, { content: 'No.', stop: 'gaveUp' }]));
  expect(all.at(-1)?.state.ended?.reason).toBe('userStopped');
});

test('a user that only calls and never speaks is a broken simulator, and the rollout has no reward', async () => {
  let at = 0;
  const replies = () => (at++ === 0 ? hello : user(call('look', {}, `c${at}`)));
  const all = await steps({ agent: () => says('Go on.'), user: replies });
  expect(all.at(-1)?.state.ended).toMatchObject({
    reason: 'userFailed',
    failure: { who: 'simulator', code: 'user/only-calls' },
  });
  expect(all.at(-1)?.state.reward?.value).toBeNull();
  expect(typesOf(all).filter((type) => type === 'toolReturned')).toHaveLength(20);
});

test.each([
  ['a press without power', [], ['press'], 'socket.on is false, expected true'],
  ['power without a press', ['power'], [], 'lamp.pressed is false, expected true'],
])('%s is not enough', async (_, switched, pressed, why) => {
  const agent = switched.map((name) => ({ content: null, toolCalls: [call(name, { on: true })] }));
  const all = await steps(playing(agent, [hello, ...pressed.map((name) => user(call(name)))]));
  const reward = all.at(-1)?.state.reward;
  expect(reward?.value).toBe(0);
  expect(reward?.reason).toContain(why);
});

test('a sync that never settles ends the rollout as a fault of the domain', async () => {
  const restless: typeof sync = ({ world }) => {
    const open = { agent: draft(world.agent), user: draft(world.user) };
    (open.agent.view['socket'] as { load: number }).load += 1;
    return written(open);
  };
  const all = await steps(gold, { ports: { sync: restless } });
  expect(all.at(-1)?.state.ended).toEqual({
    reason: 'environmentFailed',
    failure: {
      who: 'environment',
      code: 'sync/unsettled',
      message:
        'sync changes agent.socket.load again when it runs a second time; let it only copy what one side says to the other',
    },
  });
});

test('a replay equals the rollout, and the rollout resumes from each event to the same end', async () => {
  const all = await steps(gold);
  const events = all.map(({ event }) => event);
  for (const [at, { state }] of all.entries())
    expect(stateHash(replayed(setting, events.slice(0, at + 1)))).toBe(stateHash(state));
  for (let cut = 1; cut <= events.length; cut++) {
    const again = await steps(gold, { from: events.slice(0, cut) });
    expect(again.map(({ event }) => event)).toEqual(events);
  }
  const cut = events.findIndex(({ type }) => type === 'databaseWritten') + 1;
  expect(resumable(events.slice(0, cut)).at(-1)?.type).toBe('toolCalled');
});

test('a recording with syncs can be replayed after the domain has removed its sync', async () => {
  const all = await steps(gold);
  const without = { ...setting, domain: { ...domain, sync: false } };
  const state = replayed(
    without,
    all.map(({ event }) => event),
  );
  expect(stateHash(state)).toBe(stateHash(all.at(-1)?.state ?? state));
});

test("the measures of a rollout count the agent's calls and not the user's", async () => {
  const events = (await steps(gold)).map(({ event }) => event);
  expect(measureOf(events, domain.tools).calls.map(({ tool }) => tool)).toEqual(['power']);
});

const answering = (answers: readonly string[], of: Task = task): readonly string[] => {
  const messages: Message[] = [{ role: 'user', step: 0, content: 'My lamp is dark.' }];
  const persona = domain.personas[0];
  const said: string[] = [];
  for (const answer of [...answers, '']) {
    const random = { pick: (list: readonly unknown[]) => list[0], chance: () => false, integer: () => 0 } as never;
    const { content } = goldAgent({
      domain,
      task: of,
      persona: persona as never,
      started: {} as never,
      messages,
      random,
    });
    said.push(content ?? '');
    messages.push({ role: 'agent', step: messages.length, content: content ?? '', toolCalls: [] });
    messages.push({ role: 'user', step: messages.length, content: answer });
  }
  return said;
};

const pressed = taskSchema.parse({ ...task, actions: [{ tool: 'press', by: 'user' }] });
const instruction = 'Please press the switch of the lamp.';

test.each([
  ['told what came of it', ['The lamp is bright.'], 'Thank you, that should be all.'],
  ['only promised', ['Yes, sure.'], instruction],
  ['asked back', ['Which switch do you mean?'], instruction],
  ['told that it failed for now', ['That did not work: it is busy, try again.'], instruction],
  ['told that it cannot be done', ['That did not work: there is no switch.'], "I'm sorry, I wasn't able to do that."],
])('gold, %s, continues accordingly', (_, answers, next) => {
  const [first, second] = answering(answers, pressed);
  expect(first).toBe(instruction);
  expect(second).toContain(next);
});
