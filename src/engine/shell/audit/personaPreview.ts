import type { Task } from '../../core/domain/task.ts';
import type { RolloutEvent } from '../../core/events/event.ts';
import type { AgentReply } from '../../core/seats/seat.ts';
import type { ExternalSeats } from '../externalSeats.ts';
import { Fault } from '../files/fault.ts';
import type { LoadedDomain } from '../load/loadedDomain.ts';
import { openStage } from './stage.ts';

/** One message of a preview; a note says what was called, or that the user leaves. */
export type PreviewLine = { readonly who: 'user' | 'agent' | 'note'; readonly text: string };

export type Preview = {
  readonly persona: string;
  readonly task: Task;
  /** The agent's replies, turn by turn; the gold seat speaks if they are left out. */
  readonly replies?: readonly AgentReply[];
  /** Plays the user in place of the agenda seat. */
  readonly user?: ExternalSeats['user'];
  readonly messages: number;
  readonly seed: string;
  readonly signal: AbortSignal;
};

/** No task of a domain is likely to have this id. */
const previewed = 'rehearsal-preview';

/**
 * The first messages of a persona in a task, from a fresh database. Nothing is recorded. Throws a `Fault` where the
 * conversation broke before the user had said anything.
 */
export async function previewPersona(loaded: LoadedDomain, preview: Preview): Promise<readonly PreviewLine[]> {
  const { persona, messages, replies, user, seed, signal } = preview;
  const { under: _, ...base } = preview.task;
  const isOwn = preview.task.persona === persona && preview.task.under === undefined;
  const task: Task = isOwn ? preview.task : { ...base, id: previewed, persona };
  const stage = await openStage(loaded, signal, isOwn ? [] : [task]);
  let spoken = 0;
  const until = (event: RolloutEvent): boolean => {
    if (event.type === 'userReplied' && !event.toolCalls) spoken += 1;
    return spoken >= messages;
  };
  try {
    const agent = replies
      ? (turn: number) => replies[turn] ?? { content: 'Thank you, goodbye.', toolCalls: [] }
      : 'gold';
    const { arrived, failure } = await stage.play({
      task,
      agent,
      seed,
      until,
      ...(user ? { externalSeats: { user } } : {}),
    });
    const lines = linesOf(
      arrived.map(({ event }) => event),
      messages,
    );
    if (lines.length === 0 && failure) throw new Fault(failure);
    return failure && spoken < messages ? [...lines, { who: 'note', text: `It broke off: ${failure.message}` }] : lines;
  } finally {
    await stage.close();
  }
}

function linesOf(events: readonly RolloutEvent[], messages: number): readonly PreviewLine[] {
  const lines: PreviewLine[] = [];
  for (const event of events) {
    if (lines.filter(({ who }) => who === 'user').length >= messages) break;
    if (event.type === 'agentReplied' && event.content && event.toolCalls.length === 0)
      lines.push({ who: 'agent', text: event.content });
    else if (event.type === 'toolCalled')
      lines.push({ who: 'note', text: `${event.by ?? 'agent'} calls ${event.call.name}` });
    else if (event.type === 'userReplied' && !event.toolCalls) {
      lines.push({ who: 'user', text: event.content });
      if (event.stop) lines.push({ who: 'note', text: `The user ends the conversation (${event.stop}).` });
    }
  }
  return lines;
}

/** The turns of the agent in a recording. */
export function agentRepliesIn(events: readonly RolloutEvent[]): readonly AgentReply[] {
  return events.flatMap((event): AgentReply[] =>
    event.type === 'agentReplied'
      ? [{ content: event.content, toolCalls: event.toolCalls as AgentReply['toolCalls'] }]
      : [],
  );
}
