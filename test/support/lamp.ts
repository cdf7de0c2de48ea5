import { lexiconSchema } from '../../src/engine/core/dialogue/lexicon.ts';
import { type Domain, domainFileSchema, type World } from '../../src/engine/core/domain/domain.ts';
import { personaSchema } from '../../src/engine/core/domain/persona.ts';
import { parsePolicy } from '../../src/engine/core/domain/policy.ts';
import { type Task, taskSchema } from '../../src/engine/core/domain/task.ts';
import type { Side, Tool } from '../../src/engine/core/domain/tool.ts';
import type { RolloutEvent, Writes } from '../../src/engine/core/events/event.ts';
import { baseHash } from '../../src/engine/core/events/world.ts';
import type { Setting } from '../../src/engine/core/rollout/rollout.ts';
import type { JsonObject } from '../../src/engine/core/values/json.ts';
import { draft, openDatabase, readView } from '../../src/engine/core/world/database.ts';
import { run } from '../../src/engine/shell/rollout/driver.ts';
import type { Ports, Step } from '../../src/engine/shell/rollout/ports.ts';
import { startOf } from '../../src/engine/shell/start.ts';

const tool = (name: string, owner: Side, effect: Tool['effect'], properties: JsonObject = {}): Tool => ({
  name,
  description: name,
  parameters: { type: 'object', properties, required: Object.keys(properties) },
  effect,
  owner,
  source: { type: 'code' },
  timeoutMs: 1000,
  idempotent: effect === 'read',
});

/** The agent switches the socket, the user switches the lamp on it, and `sync` lights the lamp. */
export const task: Task = taskSchema.parse({
  id: 'light',
  persona: 'plain',
  user: { goal: 'You want your lamp to shine.', opening: 'My lamp is dark.' },
  actions: [
    { tool: 'power', arguments: { on: true } },
    { tool: 'press', by: 'user' },
  ],
});

export const domain: Domain = {
  name: 'lamp',
  file: domainFileSchema.parse({ name: 'lamp', toolErrorCap: 3 }),
  policy: parsePolicy('Help with the lamp.\n').policy,
  rules: [],
  tools: [
    tool('power', 'agent', 'write', { on: { type: 'boolean' } }),
    tool('meter', 'agent', 'read'),
    tool('press', 'user', 'write'),
    tool('look', 'user', 'read'),
  ],
  sync: true,
  personas: [personaSchema.parse({ id: 'plain', description: 'Someone.', patience: 3 })],
  tasks: [task],
  phrases: {},
  lexicon: lexiconSchema.parse({
    tools: {
      power: { propose: ['Shall I switch the power on?'], done: ['The power is on.'] },
      press: {
        instruct: ['Please press the switch of the lamp.'],
        synonyms: ['press switch'],
        tell: ['The lamp is {lamp}.'],
      },
      look: { instruct: ['What does the lamp look like?'], synonyms: ['lamp look like'] },
    },
  }),
  hash: 'lamp',
};

export const setting: Setting = {
  domain,
  world: {
    agent: openDatabase({ socket: { on: false, load: 0 } }),
    user: openDatabase({ lamp: { pressed: false, fed: false } }),
  },
};

type Socket = { on: boolean; load: number };
type Lamp = { pressed: boolean; fed: boolean };
const socketIn = (view: JsonObject) => view['socket'] as Socket;
const lampIn = (view: JsonObject) => view['lamp'] as Lamp;

/** Calls the tools of this domain, as a worker does. */
export const callTool: Ports['callTool'] = (called, { arguments: given }, { world }) => {
  const open = { agent: draft(world.agent), user: draft(world.user) };
  const [socket, lamp] = [socketIn(open.agent.view), lampIn(open.user.view)];
  const done = (side: Side, result: object) => ({
    content: JSON.stringify(result),
    isError: false,
    writes: [{ side, patches: open[side].finish().patches as never }],
  });
  switch (called.name) {
    case 'power':
      if (typeof (given as JsonObject)['on'] !== 'boolean')
        return { content: 'Error: on or off?', isError: true, writes: [] };
      socket.on = (given as { on: boolean }).on;
      return done('agent', { on: socket.on });
    case 'press':
      lamp.pressed = true;
      return done('user', { lamp: lamp.fed ? 'bright' : 'dark' });
    case 'look':
      return { content: JSON.stringify({ lamp: 'dark' }), isError: false, writes: [] };
    default:
      return { content: JSON.stringify(socketIn(readView(world.agent))), isError: false, writes: [] };
  }
};

/** Runs the domain's `sync`: the socket powers the lamp, and the lamp loads the socket. */
export const sync: NonNullable<Ports['sync']> = ({ world }) => {
  const open = { agent: draft(world.agent), user: draft(world.user) };
  const [socket, lamp] = [socketIn(open.agent.view), lampIn(open.user.view)];
  if (lamp.fed !== socket.on) lamp.fed = socket.on;
  const load = lamp.fed && lamp.pressed ? 40 : 0;
  if (socket.load !== load) socket.load = load;
  return written(open);
};

export function written(open: Record<Side, ReturnType<typeof draft>>): Writes {
  return (['agent', 'user'] as const).flatMap((side) => {
    const { patches } = open[side].finish();
    return patches.length > 0 ? [{ side, patches: patches as never }] : [];
  });
}

type Options = {
  readonly of?: Task;
  readonly ports?: Partial<Ports>;
  readonly within?: Setting;
  /** The events of a rollout to resume. */
  readonly from?: readonly RolloutEvent[];
};

/** Returns all steps of a rollout between these seats. */
export async function steps(
  seats: Pick<Ports, 'agent' | 'user'>,
  { of = task, ports = {}, within = setting, from }: Options = {},
): Promise<readonly Step[]> {
  const start = startOf(within.domain, baseHash(within.world), of, {
    seed: '1',
    trial: 0,
    basis: 'evaluate',
    agent: { type: 'gold' },
    user: { type: 'agenda' },
  });
  const readSource = () => Promise.reject(new Error('no source here'));
  const all: Ports = { ...seats, callTool, sync, readSource, ...ports };
  return Array.fromAsync(run({ setting: within, task: of, ports: all }, from ?? start));
}

export const lampOf = ({ user }: World): Lamp => lampIn(readView(user));
export const socketOf = ({ agent }: World): Socket => socketIn(readView(agent));
