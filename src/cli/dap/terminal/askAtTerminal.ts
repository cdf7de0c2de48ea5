import type { Task } from '../../../engine/core/domain/task.ts';
import type { Offered } from '../../../engine/core/domain/tool.ts';
import type { AskPerson } from '../../../engine/shell/externalSeats.ts';
import { Fault, personGone } from '../../../engine/shell/files/fault.ts';
import { toolsOf, turnFor } from '../../../engine/shell/models/typedTurn.ts';
import type { Io } from '../../terminal/io.ts';
import { parseCommand } from '../console.ts';
import { userBrief } from '../humanSeat.ts';
import { toolsText } from '../offeredTools.ts';

type Seat = Parameters<AskPerson>[0];

/**
 * Asks a person at this terminal for the turns of a seat, a line each, and again after a line that is not a turn. Rejects
 * with a `Fault` when the person quits, and for every later turn.
 * @param user what a person who plays the user has to know
 */
export function askAtTerminal(io: Io, user?: Task['user']): AskPerson {
  let hasQuit = false;
  let isFirst = true;
  return async (seat, view, signal) => {
    const tools = toolsOf(seat, view);
    if (isFirst && io.interactive) {
      if (seat === 'user' && user) io.err(`${userBrief(user)}\n`);
      io.err(`type what the ${seat} says; /help lists the commands, and /quit leaves\n`);
    }
    isFirst = false;
    for (;;) {
      if (hasQuit) throw quitFault();
      const line = await io.readLine(`${seat}> `, signal);
      const typed = turnOf(line, seat, tools);
      if ('turn' in typed) return typed.turn;
      if ('quits' in typed) hasQuit = true;
      else if (typed.reply !== '') io.err(`${typed.reply}\n`);
    }
  };
}

function quitFault(): Fault {
  const message = 'you left with /quit, so the rollout is unfinished; what was recorded is kept';
  return new Fault({ who: 'infrastructure', code: personGone, message });
}

type Typed = { readonly turn: string } | { readonly quits: true } | { readonly reply: string };

/** Reads a line as the text of a turn, or returns the reply to a line that is not one; a blank line has no reply. */
function turnOf(line: string, seat: Seat, tools: readonly Offered[]): Typed {
  const command = parseCommand(line.trim());
  switch (command.type) {
    case 'turn': {
      if (command.text === '') return { reply: line.trim() === '' ? '' : 'type the message: /say TEXT' };
      const turn = turnFor(command.text, seat, tools);
      return typeof turn === 'string' ? { reply: turn } : { turn: command.text };
    }
    case 'leave':
      return seat === 'user'
        ? { turn: '/stop' }
        : { reply: 'only a user that you play can end the conversation; /quit leaves it unfinished' };
    case 'help':
      return { reply: helpFor(seat, tools) };
    case 'unknown':
      if (command.name === '/quit') return { quits: true };
      return { reply: `there is no command ${command.name}\n${helpFor(seat, tools)}` };
    default:
      return { reply: `that command works in the Debug Console only\n${helpFor(seat, tools)}` };
  }
}

function helpFor(seat: Seat, tools: readonly Offered[]): string {
  const offered = toolsText(tools);
  return [
    'TEXT        one line is one turn; /say TEXT does the same',
    ...(tools.length > 0 ? ['/call TOOL {"argument": "value"}   the turn as a call'] : []),
    ...(seat === 'user' ? ['/stop       ends the conversation'] : []),
    '/quit       leaves the conversation unfinished; what was recorded is kept',
    '/help       this text',
    ...(offered === '' ? [] : [offered]),
  ].join('\n');
}
