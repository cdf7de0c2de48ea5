import { callsIn, type Message, type Utterance } from '../events/message.ts';

/** Replaces the message of an agent that said nothing, so that the turns of the user's view never lose their order. */
export const silence = '...';

/**
 * Returns what the two seats said to each other, strictly in turns: an agent that said nothing has its turn too, and
 * what one seat said in a row, as an edit may leave it, is one turn. Every word of the user's own is in it.
 */
export function turnsOf(messages: readonly Message[]): readonly Utterance[] {
  const turns: Utterance[] = [];
  for (const message of messages) {
    if (message.role === 'tool' || callsIn(message).length > 0) continue;
    const { role, step } = message;
    const content = message.role === 'agent' && !message.content?.trim() ? silence : (message.content ?? '');
    const last = turns.at(-1);
    if (last?.role === role) turns[turns.length - 1] = { role, step, content: `${last.content}\n${content}` };
    else turns.push({ role, step, content });
  }
  return turns;
}
