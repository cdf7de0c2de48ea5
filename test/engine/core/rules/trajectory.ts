import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { ToolCall } from '../../../../src/engine/core/events/message.ts';
import type { AgentReply } from '../../../../src/engine/core/seats/seat.ts';
import type { JsonObject } from '../../../../src/engine/core/values/json.ts';
import { hashOf, openDatabase } from '../../../../src/engine/core/world/database.ts';
import { startOf } from '../../../../src/engine/shell/start.ts';
import type { Supervisor } from '../../../../src/engine/shell/supervisor.ts';

/**
 * A conversation as data. A line is `user: text`, `agent: text`, or calls of one message: `tool: arguments`, and
 * `says:` for a text beside them. The last line of the user ends it, unless it was handed over.
 */
export type Trajectory = {
  readonly name: string;
  readonly task: string;
  /** Ids of the rules that are violated. */
  readonly violates?: readonly string[];
  readonly script: readonly Readonly<Record<string, string | JsonObject>>[];
};

/** A set of conversations. Their author and labeller knew the policy, but neither the rules nor the checks. */
export function conversationsIn(set: string): readonly Trajectory[] {
  return parse(readFileSync(join(import.meta.dirname, `conversations/${set}.yaml`), 'utf8')) as readonly Trajectory[];
}

/** Plays both sides of a trajectory against the domain's own tools, and returns the verdicts on its rules. */
export async function played(supervisor: Supervisor, { task: id, script }: Trajectory, n: number) {
  const task = supervisor.domain.tasks.find((each) => each.id === id);
  if (!task) throw new Error(`there is no task ${id}`);
  const turns = script
    .filter((line) => line['user'] === undefined)
    .map((line, index) => agentTurn(line, `${n}_${index}`));
  const texts = script.flatMap((line) => (typeof line['user'] === 'string' ? [line['user']] : []));
  const isUserLast = script.at(-1)?.['user'] !== undefined;
  const seat = { type: 'human' } as const;
  const database = hashOf(openDatabase(supervisor.loaded.world.agent));
  const options = { seed: '1', trial: 0, basis: 'evaluate', agent: seat, user: seat } as const;
  const live = supervisor.start({
    task,
    from: startOf(supervisor.domain, database, task, options),
    seats: { agent: 'remote', user: 'remote' },
    recording: null,
    externalSeats: {
      simulate: () => Promise.reject(new Error('no tool is simulated')),
      agent: async ({ messages }) => ({
        reply: turns[messages.filter(({ role }) => role === 'agent').length] ?? { content: 'Goodbye.', toolCalls: [] },
      }),
      user: async ({ messages }) => {
        const at = messages.filter(({ role }) => role === 'user').length;
        return { reply: { content: texts[at] ?? 'Bye.', stop: isUserLast && at >= texts.length - 1 ? 'done' : null } };
      },
    },
  });
  const { events } = await live.closed;
  const verdicts = events.flatMap((event) => (event.type === 'rulesChecked' ? event.verdicts : []));
  const rewarded = events.find((event) => event.type === 'rewarded');
  return {
    violations: verdicts.filter(({ verdict }) => verdict === 'violated'),
    unknown: verdicts.filter(({ verdict, check }) => verdict === 'unknown' && check !== 'judge'),
    rewarded: rewarded?.type === 'rewarded' ? rewarded : null,
    played: events.filter(({ type }) => type === 'agentReplied').length === turns.length,
  };
}

function agentTurn({ agent, says, ...calls }: Trajectory['script'][number], id: string): AgentReply {
  if (typeof agent === 'string') return { content: agent, toolCalls: [] };
  const toolCalls = Object.entries(calls)
    .flatMap(([name, given]) => [given].flat().map((each) => ({ name, arguments: each as JsonObject })))
    .map((call, index): ToolCall => ({ id: `c${id}_${index}`, ...call }));
  return { content: typeof says === 'string' ? says : null, toolCalls };
}
