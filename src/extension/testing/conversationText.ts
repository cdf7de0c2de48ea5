import { endReasonText } from '../../engine/core/events/displayText.ts';
import type { RolloutEvent } from '../../engine/core/events/event.ts';
import { callText } from '../../engine/core/events/message.ts';
import { lineExcerpt } from '../../engine/core/text/excerpt.ts';
import { terminalText } from '../../engine/core/text/terminalText.ts';
import { readableText } from '../../engine/core/values/json.ts';
import { readBoundedTextAsync } from '../../engine/shell/files/boundedFile.ts';
import { parseRecording } from '../../engine/shell/records/recording.ts';

/** Characters of a step that are shown. */
const most = 300;

/** Reads a recording as the text of its conversation. */
export async function readConversation(path: string): Promise<string> {
  const { lines } = parseRecording(path, await readBoundedTextAsync(path));
  return conversationText(lines.map(({ event }) => event));
}

/** Returns a conversation as text. Each step is one line, empty where nothing is to be read, so that step n is line n. */
export function conversationText(events: readonly RolloutEvent[]): string {
  return events
    .map((event) => {
      const [speaker, said] = lineOf(event) ?? ['', ''];
      return `${speaker.padEnd(10)}${lineExcerpt(terminalText(said), most)}`.trimEnd();
    })
    .join('\n');
}

type Line = readonly [speaker: string, text: string];

function lineOf(event: RolloutEvent): Line | null {
  switch (event.type) {
    case 'userReplied':
      return event.toolCalls ? callsOf('user', event.toolCalls) : ['user', event.content];
    case 'agentReplied':
      return event.toolCalls.length > 0 ? callsOf('agent', event.toolCalls) : ['agent', event.content ?? ''];
    case 'toolReturned':
      return [event.isError ? 'error' : 'result', readableText(event.content)];
    case 'rulesChecked': {
      const violated = event.verdicts.filter(({ verdict }) => verdict === 'violated');
      return violated.length === 0
        ? null
        : ['VIOLATED', violated.map(({ rule, reason }) => `${rule}: ${reason}`).join('; ')];
    }
    case 'rolloutEnded':
      return ['end', endReasonText(event.reason)];
    case 'rewarded':
      return ['reward', `${event.reward ?? 'none'}: ${event.reason}`];
    default:
      return null;
  }
}

const callsOf = (speaker: string, calls: readonly object[]): Line => [
  speaker,
  `calls ${calls.map((call) => callText(call as never)).join(', ')}`,
];
