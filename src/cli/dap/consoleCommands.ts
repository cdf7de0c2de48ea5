import type { DebugProtocol } from '@vscode/debugprotocol';
import { parseTurn, toolsOf } from '../../engine/shell/models/typedTurn.ts';
import { UsageError } from '../terminal/io.ts';
import type { Answer } from './answeringSession.ts';
import { type Command, help } from './console.ts';
import type { HumanSeat } from './humanSeat.ts';
import { type Inspection, stepOf } from './inspection.ts';
import type { Narrator } from './narrator.ts';
import { toolsText } from './offeredTools.ts';
import type { Forks } from './playback/forks.ts';
import type { Playback, Then } from './playback/playback.ts';

/** The answer to a command in the Debug Console, and what to do after it is sent. */
export type ConsoleAnswer = Answer<DebugProtocol.EvaluateResponse['body']>;

/** A rollout that is played, and the forks that a person asks for. */
export type Started = { readonly playback: Playback; readonly forks: Forks };

/** The session that commands are typed into. */
type CommandedSession = {
  /** Throws a `UsageError` where nothing has. */
  readonly started: () => Started;
  readonly inspection: Inspection;
  readonly human: HumanSeat;
  readonly narrator: Narrator;
  /** Moves as a request of that name would. */
  readonly moved: (move: (playback: Playback) => Then | Promise<Then>, movement: string) => Promise<Then>;
};

/**
 * Performs a command of the Debug Console, or takes the text of a person whose turn it is.
 * @param frame the selected frame, by the client's number
 */
export async function performed(
  command: Command,
  session: CommandedSession,
  frame: number | undefined,
): Promise<ConsoleAnswer> {
  if (command.type === 'help') return said(`${help}${toolHelp(session)}`);
  if (command.type === 'unknown') throw new UsageError(`there is no command ${command.name}. ${help}`);
  const { inspection, human, narrator, moved } = session;
  const { playback, forks } = session.started();
  const step = stepOf(playback.debuggee, frame);
  switch (command.type) {
    case 'why': {
      const { headline, chain } = await forks.why(step);
      narrator.tellChain(chain);
      return said(headline); // last, since a console shows its end
    }
    case 'fork':
      return said('', await forks.here(step));
    case 'take':
      return said('', await forks.take(step, command.seat));
    case 'swap':
      return said('', await forks.swap(step));
    case 'request':
      return said(inspection.request(playback.debuggee, frame, command.name).body);
    case 'back':
      return said('', await moved((of) => () => of.back(), 'stepBack'));
    case 'goTo':
      return said('', await moved(() => playback.toTurn(command.turn), 'goto'));
    case 'resample':
      return said('', await moved(() => playback.resample(frame), 'restartFrame'));
    case 'leave':
      return said('', await left(human, { playback, forks }));
    case 'turn':
      return said('', await taken(command.text, human, { playback, forks }));
    default:
      return command satisfies never;
  }
}

/** Returns what help says about the tools that a person can call whose turn is awaited; empty for anyone else. */
function toolHelp({ human, started }: CommandedSession): string {
  if (human.awaited === null) return '';
  const last = started().playback.debuggee.steps.at(-1);
  return last ? toolsText(toolsOf(human.awaited, last.state)) : '';
}

/** A typed turn goes to the seat that waits for it; without one it takes over the seat that is next, in a fork. */
async function taken(text: string, human: HumanSeat, { playback, forks }: Started): Promise<Then> {
  if (text === '') throw new UsageError('type the message: /say TEXT');
  if (human.awaited) return answered(human.say(text), playback);
  const { personNext } = forks;
  if (personNext)
    return playback.claim(() => {
      human.prepare(text, personNext);
      return () => playback.goOn();
    });
  const turn = parseTurn(text);
  if (typeof turn === 'string') throw new UsageError(turn);
  return playback.claim(() => playback.fork({ type: 'turn', ...turn }));
}

/** The conversation ends in the turn of a user that a person plays. */
async function left(human: HumanSeat, { playback, forks }: Started): Promise<Then> {
  if (human.awaited === 'user') return answered(human.leave(), playback);
  const { isLive, seatsAhead } = playback.debuggee;
  if (!isLive || seatsAhead.user.type !== 'human')
    throw new UsageError('only a user that you play can end the conversation');
  if (forks.personNext?.seat !== 'user')
    throw new UsageError("it is the agent's turn. Continue (F5), and type /stop in your turn");
  return playback.claim(() => {
    human.prepareToLeave();
    return () => playback.goOn();
  });
}

/** Gives a person's turn to the rollout, and resumes it if it was paused in the meantime. */
function answered(answer: () => void, playback: Playback): Then | Promise<Then> {
  if (playback.isRunning) return answer;
  return playback.claim(() => () => {
    answer();
    return playback.goOn();
  });
}

/** An answer in words. */
export function said(result: string, after?: Then): ConsoleAnswer {
  return { body: { result, variablesReference: 0 }, ...(after ? { after } : {}) };
}
