import { factOf, type Task } from '../../engine/core/domain/task.ts';
import type { Offered } from '../../engine/core/domain/tool.ts';
import { turnFor } from '../../engine/shell/models/typedTurn.ts';
import { UsageError } from '../terminal/io.ts';

const changeTimes = {
  proposed: "after the agent's first proposal",
  done: 'after the first completed request',
} as const;

/** Returns what the person who plays the user has to know: the goal, the facts of the task, and a change of mind. */
export function userBrief({ goal, known, unknown, change }: Task['user']): string {
  const facts = (of: Task['user']['known']) =>
    Object.entries(of).map(([name, fact]) => `  ${name}: ${factText(factOf(fact))}`);
  return [
    `you play the user, with this goal: ${goal.trim()}`,
    ...(Object.keys(known).length > 0 ? ['you know:', ...facts(known)] : []),
    ...(unknown.length > 0 ? [`you do not know: ${unknown.join(', ')}`] : []),
    ...(change
      ? [`${changeTimes[change.when]}, you change your mind: ${change.say.trim()}`, ...facts(change.known)]
      : []),
  ].join('\n');
}

const factText = ({ value, say }: ReturnType<typeof factOf>) =>
  say === String(value) ? say : `${value} (you say: "${say}")`;

type Asked = {
  readonly seat: 'agent' | 'user';
  /** The tools that the seat can call. */
  readonly tools: readonly Offered[];
  readonly answer: (text: string) => void;
};

function throwUnlessTurn(text: string, { seat, tools }: Pick<Asked, 'seat' | 'tools'>): void {
  const turn = turnFor(text, seat, tools);
  if (typeof turn === 'string') throw new UsageError(turn);
}

/** A person who holds a seat and types its turns into the Debug Console. */
export class HumanSeat {
  readonly #print: (text: string) => void;
  #asked: Asked | null = null;
  /** A turn that was typed before it was requested. */
  #ready: string | null = null;
  #wasAsked = false;

  constructor(print: (text: string) => void) {
    this.#print = print;
  }

  /** The seat whose turn is awaited. */
  get awaited(): 'agent' | 'user' | null {
    return this.#asked?.seat ?? null;
  }

  /** Whether a person has been asked for a turn. */
  get wasAsked(): boolean {
    return this.#wasAsked;
  }

  /** Asks for a turn; rejects when the rollout is left meanwhile. */
  ask(seat: 'agent' | 'user', tools: readonly Offered[], signal: AbortSignal): Promise<string> {
    const ready = this.#ready;
    this.#ready = null;
    this.#wasAsked = true;
    if (ready !== null) return Promise.resolve(ready);
    const call = tools.length > 0 ? ', or /call TOOL {"argument": "value"}' : '';
    const stop = seat === 'user' ? ' (/stop ends the conversation)' : '';
    this.#print(`your turn as the ${seat}: type what you say${call}${stop}`);
    return new Promise((resolve, reject) => {
      const asked: Asked = { seat, tools, answer: resolve };
      this.#asked = asked;
      const leave = () => {
        if (this.#asked === asked) this.#asked = null;
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Takes a typed turn. What it gives lets the rollout continue. Throws what a person can read. */
  say(text: string): () => void {
    if (this.#asked) throwUnlessTurn(text, this.#asked);
    return this.#answer(text);
  }

  /** Keeps a turn of the seat that is next for its request. Throws a `UsageError` if the turn is not valid. */
  prepare(text: string, next: Pick<Asked, 'seat' | 'tools'>): void {
    throwUnlessTurn(text, next);
    this.#ready = text;
  }

  /** Ends the conversation, as a user can. */
  leave(): () => void {
    if (this.awaited !== 'user') throw new UsageError('only a user that you play can end the conversation');
    return this.#answer('/stop');
  }

  #answer(text: string): () => void {
    const asked = this.#asked;
    this.#asked = null;
    return () => asked?.answer(text);
  }
}
