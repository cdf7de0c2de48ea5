import type { AgentActs } from '../dialogue/dialogue.ts';
import { factsOf, isChangeSaid, recogniserOf, tells } from '../events/facts.ts';
import { type Insistence, isTimeToChange, isTimeToInsist } from '../seats/hardBehaviour.ts';
import { type Cue, dueAt, scheduleOf } from '../seats/schedule.ts';
import type { UserView } from '../seats/seat.ts';
import { turnsOf } from './turns.ts';

/** An instruction for the next message of a model that plays the user, besides answering. */
export type Direction = Cue | { readonly type: 'omit' | 'change' | 'insist' | 'insistOnceMore' };

/** The state of a model that plays the user before its next message, as far as the conversation shows. */
export type Standing = {
  /** Its messages so far, so also the number of the reply that comes next. */
  readonly reply: number;
  readonly direction: Direction | null;
  /** Its request is the changed one: it was instructed to change its mind before, or has done so. */
  readonly isChanged: boolean;
  /** Attacks of its persona that it was not told to make yet. */
  readonly attacksLeft: readonly number[];
  /** Cues that it was instructed to act on, with the numbers of the replies. */
  readonly given: readonly { readonly reply: number; readonly direction: Direction }[];
};

type Folding = {
  readonly reply: number;
  readonly isChanged: boolean;
  readonly insistence: Insistence;
  readonly fired: readonly number[];
  readonly hasTold: boolean;
  readonly given: Standing['given'];
};

const start: Folding = { reply: 0, isChanged: false, insistence: 'none', fired: [], hasTold: false, given: [] };

/**
 * A fold over what was said: each message of the user got the direction that was due when it was its turn. So a fork,
 * a resumed rollout and a replay direct the user alike.
 */
export function standingOf(view: UserView): Standing {
  let folding = start;
  let heard = '';
  for (const { role, content } of turnsOf(view.messages)) {
    if (role === 'agent') heard = content;
    else folding = afterReply(view, folding, directionAt(view, folding, heard), content);
  }
  const direction = directionAt(view, folding, heard);
  const schedule = scheduleOf(view.persona, view.started);
  const left = schedule.flatMap(({ cue }, at) =>
    cue.type === 'attack' && !folding.fired.includes(at) && cue !== direction ? [cue.attack] : [],
  );
  return {
    reply: folding.reply,
    direction,
    isChanged: folding.isChanged,
    attacksLeft: [...new Set(left)],
    given: folding.given,
  };
}

function directionAt(view: UserView, folding: Folding, heard: string): Direction | null {
  const { persona, task, domain, started } = view;
  const { reply, isChanged, insistence, fired, hasTold } = folding;
  if (reply === 0) return persona.behaviours.omits ? { type: 'omit' } : null;
  const acts: AgentActs = recogniserOf(domain, task).agent(heard);
  if (isTimeToInsist(view, insistence, acts)) return { type: 'insist' };
  if (insistence === 'raised' && acts.refuses) return { type: 'insistOnceMore' };
  if (isTimeToChange(view, isChanged, acts)) return { type: 'change' };
  const schedule = scheduleOf(persona, started);
  return schedule[dueAt(schedule, fired, reply, { acts, hasTold })]?.cue ?? null;
}

function afterReply(view: UserView, folding: Folding, direction: Direction | null, said: string): Folding {
  const { task, persona, started } = view;
  const at = scheduleOf(persona, started).findIndex(({ cue }) => cue === direction);
  const isChanged =
    folding.isChanged || direction?.type === 'change' || isChangeSaid(task, [{ role: 'user', step: 0, content: said }]);
  return {
    reply: folding.reply + 1,
    isChanged,
    insistence:
      direction?.type === 'insist' ? 'raised' : direction?.type === 'insistOnceMore' ? 'repeated' : folding.insistence,
    fired: at < 0 ? folding.fired : [...folding.fired, at],
    hasTold: folding.hasTold || Object.values(factsOf(task, isChanged)).some((fact) => tells(said, fact)),
    given: direction === null ? folding.given : [...folding.given, { reply: folding.reply, direction }],
  };
}
