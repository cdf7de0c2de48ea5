import type { Domain } from '../../engine/core/domain/domain.ts';
import type { Task } from '../../engine/core/domain/task.ts';
import { taskIn } from '../../engine/core/domain/taskVariant.ts';
import type { RolloutEvent } from '../../engine/core/events/event.ts';
import { readRecording } from '../../engine/shell/records/recording.ts';
import {
  type Conversation,
  eventsOf,
  type ImportProblem,
  type PlacedEvent,
  type ReadConversations,
} from './conversation.ts';
import { startOfConversation, withoutGreeting } from './recordedStart.ts';

/** A recorded conversation as another agent is shown it, turn by turn. */
export type Traffic = {
  readonly name: string;
  /** The task that was played; null for a conversation without a task. */
  readonly task: string | null;
  /** The task that is in the rollout's start. */
  readonly under: Task;
  readonly events: readonly RolloutEvent[];
  /** Returns the position of an event in its source. */
  readonly sourceNumberOf: (n: number) => number;
  /** Whether the events hold the whole state of the world, so that a read has something to read. */
  readonly hasState: boolean;
};

/** The domain for which traffic is read. */
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
  const [any] = domain.tasks;
  // Of a real conversation no task is known, nor what its world was like; agents are never shown which task it is.
  if (started.imported && any)
    return {
      name: path,
      task: task?.id ?? null,
      under: task ?? any,
      events,
      sourceNumberOf: (n) => n,
      hasState: false,
    };
  if (!task) return `${path}:1: the domain no longer has a task "${started.task.id}"`;
  return { name: path, task: task.id, under: task, events, sourceNumberOf: (n) => n, hasState: true };
}

/**
 * Returns chats as traffic. A chat that has messages which cannot be read is a sentence with its line, as is everything
 * else that cannot be read.
 */
export function trafficOfChats(
  { conversations, problems }: ReadConversations,
  stage: Stage,
): readonly (Traffic | string)[] {
  const sentence = ({ file, line, message }: ImportProblem) => `${file}:${line}: ${message}`;
  return [...conversations.map((each) => trafficOfChat(each, stage)), ...problems.map(sentence)];
}

function trafficOfChat(conversation: Conversation, { domain, database }: Stage): Traffic | string {
  const { file, line, task, lost } = conversation;
  const at = `${file}:${line}`;
  const [problem] = lost;
  // An agent that is shown less than the recorded one was is not compared with it.
  if (problem) return `${file}:${problem.line}: ${problem.message}`;
  const id = conversation.id ?? at;
  const named = taskIn(domain, task ?? '');
  if (task !== undefined && !named) return `${at}: the domain has no task "${task}"`;
  // A start names a task; models and agents are never shown which.
  const under = named ?? domain.tasks[0];
  if (!under) return `${at}: the domain has no task to lay the conversation over`;
  const begun = startOfConversation(domain, database, conversation, {
    ...{ id: named?.id ?? id, trial: 0, seed: id },
    task: named ?? null,
  });
  const placed = answered(eventsOf(withoutGreeting(conversation)));
  return {
    name: id,
    task: named?.id ?? null,
    under,
    events: [begun, { type: 'worldPrepared', writes: [] }, ...placed.map(({ event }) => event)],
    sourceNumberOf: (n) => placed[n - 2]?.place ?? 0,
    hasState: false,
  };
}

/** The events before the first call that was never answered: no model takes a conversation with one. */
function answered(placed: readonly PlacedEvent[]): readonly PlacedEvent[] {
  const open = placed.findIndex(
    ({ event }, index) => event.type === 'toolCalled' && placed[index + 1]?.event.type !== 'toolReturned',
  );
  return open < 0 ? placed : placed.slice(0, open);
}
