import { contentHash } from '../values/hash.ts';
import type { Json } from '../values/json.ts';
import { endReasonText } from './displayText.ts';
import type { EventOf, RolloutEvent } from './event.ts';
import { callText, type ToolCall } from './message.ts';

/** An utterance or act of one event, with what the comparison of two rollouts of a task needs. */
export type Said = {
  /** Number of the event. */
  readonly n: number;
  readonly what: 'user' | 'agent' | 'result' | 'end';
  readonly text: string;
  /** Whether the call failed. */
  readonly isError: boolean;
  /** Equal for equal content, whatever ids an endpoint generated. */
  readonly key: string;
};

/**
 * Returns what was said, called, answered, and how it ended. Ids of calls and messages are the endpoint's own and
 * differ between rollouts that are otherwise the same.
 */
export function saidIn(events: readonly RolloutEvent[]): readonly Said[] {
  return events.flatMap((event, n): Said[] => {
    const said = (what: Said['what'], text: string, key: Json = text) => [
      { n, what, text, isError: event.type === 'toolReturned' && event.isError, key: contentHash([what, key]) },
    ];
    switch (event.type) {
      case 'userReplied': {
        const { calls, shown } = called(event.toolCalls ?? []);
        const text = [event.content, ...shown].filter(Boolean).join(' ') || `(ends: ${event.stop})`;
        return said('user', text, [event.content, event.stop, ...calls]);
      }
      case 'agentReplied': {
        const { calls, shown } = called(event.toolCalls);
        return said('agent', [event.content ?? '', ...shown].filter(Boolean).join(' '), [event.content, calls]);
      }
      case 'toolReturned':
        return said('result', event.content);
      case 'rolloutEnded':
        return said('end', endReasonText(event.reason), event.reason);
      default:
        return [];
    }
  });
}

function called(toolCalls: EventOf<'agentReplied'>['toolCalls']) {
  const calls = toolCalls.map(({ name, arguments: values }) => [name, values] as Json[]);
  return { calls, shown: (toolCalls as readonly ToolCall[]).map(callText) };
}
