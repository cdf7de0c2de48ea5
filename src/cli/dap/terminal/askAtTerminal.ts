import type { AskPerson } from '../../../engine/shell/externalSeats.ts';
import { turnFor } from '../../../engine/shell/models/typedTurn.ts';
import type { Io } from '../../terminal/io.ts';
import { parseCommand } from '../console.ts';
import { toolsText } from '../offeredTools.ts';

type Seat = Parameters<AskPerson>[0];

/** Asks a person at this terminal for the turns of a seat, a line each, and again after a line that is not a turn. */
export function askAtTerminal(io: Io): AskPerson {
  return async (seat, view, signal) => {
    const { started } = view;
    const canCall = seat === 'agent' || started.userTools !== undefined;
    for (;;) {
      const line = await io.readLine(`${seat}> `, signal);
      const typed = turnOf(line, seat, canCall, () => helpFor(seat, canCall, toolsText(seat, view)));
      if ('turn' in typed) return typed.turn;
      if (typed.reply !== '') io.err(`${typed.reply}\n`);
    }
  };
}

/** Reads a line as the text of a turn, or returns the reply to a line that is not one; a blank line has no reply. */
function turnOf(
  line: string,
  seat: Seat,
  canCall: boolean,
  help: () => string,
): { readonly turn: string } | { readonly reply: string } {
  const command = parseCommand(line.trim());
  switch (command.type) {
    case 'turn': {
      if (command.text === '') return { reply: line.trim() === '' ? '' : 'type the message: /say TEXT' };
      const turn = turnFor(command.text, seat, canCall);
      return typeof turn === 'string' ? { reply: turn } : { turn: command.text };
    }
    case 'leave':
      return seat === 'user' ? { turn: '/stop' } : { reply: 'only a user that you play can end the conversation' };
    case 'help':
      return { reply: help() };
    case 'unknown':
      return { reply: `there is no command ${command.name}\n${help()}` };
    default:
      return { reply: `that command works in the Debug Console only\n${help()}` };
  }
}

function helpFor(seat: Seat, canCall: boolean, tools: string): string {
  return [
    'TEXT        one line is one turn; /say TEXT does the same',
    ...(canCall ? ['/call TOOL {"argument": "value"}   the turn as a call'] : []),
    ...(seat === 'user' ? ['/stop       ends the conversation'] : []),
    '/help       this text',
    ...(tools === '' ? [] : [tools]),
  ].join('\n');
}
