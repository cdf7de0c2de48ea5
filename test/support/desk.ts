import { type Domain, domainFileSchema } from '../../src/engine/core/domain/domain.ts';
import { personaSchema } from '../../src/engine/core/domain/persona.ts';
import { parsePolicy } from '../../src/engine/core/domain/policy.ts';
import { type Task, taskSchema } from '../../src/engine/core/domain/task.ts';
import type { Tool } from '../../src/engine/core/domain/tool.ts';
import type { RolloutStarted } from '../../src/engine/core/events/event.ts';
import type { Setting } from '../../src/engine/core/rollout/rollout.ts';
import type { JsonObject } from '../../src/engine/core/values/json.ts';
import { draft, hashOf, openDatabase, readView } from '../../src/engine/core/world/database.ts';
import { run } from '../../src/engine/shell/rollout/driver.ts';
import type { Ports, Rollout, Step } from '../../src/engine/shell/rollout/ports.ts';
import { startOf } from '../../src/engine/shell/start.ts';

const tool = (name: string, effect: 'read' | 'write', properties: JsonObject, more: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  parameters: { type: 'object', properties, required: Object.keys(properties) },
  effect,
  owner: 'agent',
  source: { type: 'code' },
  timeoutMs: 1000,
  idempotent: effect === 'read',
  ...more,
});

const text: JsonObject = { type: 'string' };

export const task: Task = taskSchema.parse({
  id: 'repaint',
  persona: 'plain',
  user: { goal: 'Your chair A1 should be red.', known: { chair: 'A1', colour: 'red' } },
  actions: [{ tool: 'paint', arguments: { chair: 'A1', colour: 'red' } }],
});

const policy = parsePolicy('- Look first. {#look-first}\n- Ask before you paint. {#ask-first}\n').policy;

/** A small domain whose tools are functions of the test, so that the fold can be tested without a worker. */
export const domain: Domain = {
  name: 'chairs',
  file: domainFileSchema.parse({ name: 'chairs' }),
  policy,
  rules: [
    { rule: 'look-first', check: 'before', tools: ['paint'], require: ['look'], gate: true },
    { rule: 'ask-first', check: 'confirmed', tools: 'writes', names: ['colour'], gate: true },
  ],
  tools: [
    tool('look', 'read', { chair: text }),
    tool('paint', 'write', { chair: text, colour: text }),
    tool('leave', 'write', {}, { handsOff: true }),
  ],
  personas: [personaSchema.parse({ id: 'plain', description: 'A person.' })],
  tasks: [task],
  phrases: {},
  lexicon: domainFileSchema.parse({ name: 'chairs' }).lexicon,
  hash: 'chairs',
};

export const setting: Setting = {
  domain,
  world: {
    agent: openDatabase({ chairs: { A1: { colour: 'blue', coats: 0 }, B2: { colour: 'green', coats: 1 } } }),
    user: openDatabase({}),
  },
};

/** Runs a call of one of the desk's tools as a worker would. */
export const callTool: Ports['callTool'] = (called, { arguments: given }, { world }) => {
  const { chair, colour } = given as { chair?: string; colour?: string };
  const chairs = (db: JsonObject) => db['chairs'] as Record<string, { colour: string; coats: number }>;
  if (called.name === 'leave') return { content: 'ok', isError: false, writes: [] };
  if (called.name === 'look') {
    const found = chairs(readView(world.agent))[chair ?? ''];
    return found
      ? { content: JSON.stringify(found), isError: false, writes: [] }
      : { content: 'Error: no such chair', isError: true, writes: [] };
  }
  const open = draft(world.agent);
  const found = chairs(open.view)[chair ?? ''];
  if (!found || !colour) return { content: 'Error: no such chair', isError: true, writes: [] };
  found.colour = colour;
  found.coats += 1;
  return { content: 'painted', isError: false, writes: [{ side: 'agent', patches: open.finish().patches as never }] };
};

export type Line = string | { readonly [tool: string]: JsonObject };

/** Returns ports that play lists: messages and calls of the agent, and messages of the user. The last one ends it. */
export function played(agent: readonly Line[], user: readonly string[]): Ports {
  return {
    agent: ({ messages }) => {
      const turn = messages.filter(({ role }) => role === 'agent').length;
      const line = agent[turn] ?? 'Anything else?';
      if (typeof line === 'string') return { content: line, toolCalls: [] };
      return {
        content: null,
        toolCalls: Object.entries(line).map(([name, args], index) => ({
          id: `c${turn}_${index}`,
          name,
          arguments: args,
        })),
      };
    },
    user: ({ messages }) => {
      const turn = messages.filter(({ role }) => role === 'user').length;
      return turn >= user.length ? { content: 'Bye.', stop: 'done' } : { content: user[turn] ?? '', stop: null };
    },
    callTool,
    readSource: () => Promise.reject(new Error('no source here')),
  };
}

export function started(seed = '1', of: Task = task): RolloutStarted {
  return startOf(domain, hashOf(setting.world.agent), of, {
    seed,
    trial: 0,
    basis: 'evaluate',
    agent: { type: 'gold' },
    user: { type: 'agenda' },
  });
}

/** Returns all steps of a rollout on the desk. */
export async function steps(
  ports: Ports,
  from: Parameters<typeof run>[1] = started(),
  of: Task = task,
): Promise<readonly Step[]> {
  const rollout: Rollout = { setting, task: of, ports };
  return Array.fromAsync(run(rollout, from));
}
