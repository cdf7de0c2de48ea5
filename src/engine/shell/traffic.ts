import { readFileSync } from 'node:fs';
import * as z from 'zod';
import type { Domain } from '../core/domain.ts';
import type { RolloutEvent, RolloutStarted } from '../core/event.ts';
import { parsedArguments } from '../core/message.ts';
import type { Task } from '../core/task.ts';
import { taskIn } from '../core/underPersona.ts';
import { readRecording } from './recording.ts';
import { startOf } from './start.ts';

/** A recorded conversation as another agent is shown it, turn by turn. */
export type Traffic = {
  readonly name: string;
  /** The task that was played; null for a conversation that is none's. */
  readonly task: string | null;
  /** The task that stands in the rollout's start. */
  readonly under: Task;
  readonly events: readonly RolloutEvent[];
  /** Where an event stands in its source. */
  readonly placeOf: (n: number) => number;
  /** Whether the events hold the whole state of the world, so that a read has something to read. */
  readonly hasState: boolean;
};

/** What traffic is read for. */
export type Stage = {
  readonly domain: Domain;
  /** Hash of the domain's base database. */
  readonly database: string;
};

/** Reads a recording as traffic, or says in a sentence why it can't be one. */
export function trafficOfRecording(path: string, { domain, database }: Stage): Traffic | string {
  const { lines, problems } = readRecording(path);
  const [problem] = problems;
  if (problem) return `${path}:${problem.line}: ${problem.message}`;
  const events = lines.map(({ event }) => event);
  const [started] = events;
  if (started?.type !== 'rolloutStarted') return `${path}:1: a recording begins with rolloutStarted`;
  if (started.domain.name !== domain.name)
    return `${path}:1: was recorded in the domain "${started.domain.name}", and this one is "${domain.name}"`;
  if (started.database !== database) return `${path}:1: was recorded on another database than the domain's`;
  const task = taskIn(domain, started.task.id);
  if (!task) return `${path}:1: the domain has no task "${started.task.id}" any more`;
  return { name: path, task: task.id, under: task, events, placeOf: (n) => n, hasState: true };
}

const contentSchema = z
  .union([z.string(), z.array(z.looseObject({ text: z.string().optional() })), z.null()])
  .optional()
  .transform((content) => (Array.isArray(content) ? content.map(({ text = '' }) => text).join('') : (content ?? null)));

const callSchema = z.looseObject({
  id: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const messageSchema = z.discriminatedUnion('role', [
  z.looseObject({ role: z.enum(['system', 'developer']), content: contentSchema }),
  z.looseObject({ role: z.literal('user'), content: contentSchema }),
  z.looseObject({ role: z.literal('assistant'), content: contentSchema, tool_calls: z.array(callSchema).nullish() }),
  z.looseObject({ role: z.literal('tool'), content: contentSchema, tool_call_id: z.string() }),
]);
type ChatMessage = z.infer<typeof messageSchema>;

/** One line of a file of chats. */
const chatSchema = z.looseObject({
  id: z.string().optional(),
  task: z.string().optional(),
  messages: z.array(messageSchema).min(1),
  tools: z
    .array(
      z.looseObject({
        function: z.looseObject({
          name: z.string(),
          description: z.string().default(''),
          parameters: z.record(z.string(), z.json()).default({ type: 'object' }),
        }),
      }),
    )
    .optional(),
});

/**
 * Reads conversations in OpenAI's message format, one JSON object a line: `{"id", "task", "messages", "tools"}`, all
 * but the messages optional. What can't be read is a sentence with its line.
 */
export function trafficOfChats(path: string, stage: Stage): readonly (Traffic | string)[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [trafficOfChat(path, index + 1, line, stage)]));
}

function trafficOfChat(path: string, line: number, text: string, { domain, database }: Stage): Traffic | string {
  const at = `${path}:${line}`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `${at}: is not JSON; each line is one conversation`;
  }
  const parsed = chatSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `${at}: ${issue?.path.join('.') || 'the line'}: ${issue?.message}`;
  }
  const { id = at, task, messages, tools } = parsed.data;
  const named = taskIn(domain, task ?? '');
  if (task !== undefined && !named) return `${at}: the domain has no task "${task}"`;
  // A start names a task; models and agents are never shown which.
  const under = named ?? domain.tasks[0];
  if (!under) return `${at}: the domain has no task to lay the conversation over`;
  const system = messages.flatMap((each) =>
    each.role === 'system' || each.role === 'developer' ? [each.content ?? ''] : [],
  );
  const seats = { agent: { type: 'human' }, user: { type: 'human' } } as const;
  const started = startOf(domain, database, under, { seed: id, trial: 0, basis: 'evaluate', ...seats });
  const begun: RolloutStarted = {
    ...started,
    turnCap: messages.length + 1,
    toolErrorCap: messages.length + 1,
    seats: { agent: 'recorded', user: 'recorded' },
    ...(system.length > 0 ? { system: system.join('\n\n') } : {}),
    ...(tools
      ? { tools: tools.map(({ function: { name, description, parameters } }) => ({ name, description, parameters })) }
      : {}),
  };
  const placed = eventsOfChat(messages);
  return {
    name: id,
    task: named?.id ?? null,
    under,
    events: [begun, { type: 'worldPrepared', writes: [] }, ...placed.map(({ event }) => event)],
    placeOf: (n) => placed[n - 2]?.place ?? 0,
    hasState: false,
  };
}

type PlacedEvent = { readonly event: RolloutEvent; readonly place: number };

/** The events of a chat, each with the number of its message. Calls that were never answered end it. */
function eventsOfChat(messages: readonly ChatMessage[]): readonly PlacedEvent[] {
  const events: PlacedEvent[] = [];
  for (const [index, message] of messages.entries()) {
    const place = index + 1;
    if (message.role === 'user')
      events.push({ place, event: { type: 'userReplied', content: message.content ?? '', stop: null } });
    if (message.role !== 'assistant') continue;
    const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: text } }) => ({
      id,
      name,
      arguments: parsedArguments(text) as never,
    }));
    const content = message.content ?? (calls.length > 0 ? null : '');
    events.push({ place, event: { type: 'agentReplied', content, toolCalls: calls } });
    for (const call of calls) {
      const at = messages.findIndex((each, n) => n > index && each.role === 'tool' && each.tool_call_id === call.id);
      const answer = messages[at]?.content;
      if (answer === undefined) return events;
      events.push({ place, event: { type: 'toolCalled', call } });
      const result = { type: 'toolReturned' as const, callId: call.id, content: answer ?? '', isError: false };
      events.push({ place: at + 1, event: result });
    }
  }
  return events;
}
