import type { RolloutStarted } from '../../engine/core/events/event.ts';
import { type Message, offeredNow } from '../../engine/core/events/message.ts';
import { argumentsOf } from '../../engine/shell/source/note.ts';

/** Returns what help says about the tools that a seat can call at this point of the conversation; empty without one. */
export function toolsText(
  seat: 'agent' | 'user',
  { started, messages }: { readonly started: RolloutStarted; readonly messages: readonly Message[] },
): string {
  const tools = seat === 'agent' ? offeredNow(started.tools, messages) : (started.userTools ?? []);
  const lines = tools.map((tool) =>
    `  ${tool.name}(${argumentsOf(tool).join(', ')})  ${firstLine(tool.description)}`.trimEnd(),
  );
  return lines.length === 0 ? '' : `tools that you can call:\n${lines.join('\n')}`;
}

const firstLine = (text: string) => text.trim().split('\n', 1)[0] ?? '';
