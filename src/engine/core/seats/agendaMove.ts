import { factsOf, recogniserOf } from '../events/facts.ts';
import { impossible } from '../values/impossible.ts';
import type { Progress } from './agendaProgress.ts';
import { speech } from './agendaSpeech.ts';
import type { Instruction } from './instruction.ts';
import { doingOf } from './ownTools.ts';
import type { SeatView, UserReply } from './seat.ts';
import { userGoalOf } from './userGoal.ts';

/** The user's next move. */
export type Move =
  | { readonly type: 'answer'; readonly facts: readonly string[]; readonly isYes: boolean }
  | { readonly type: 'confirm' }
  | { readonly type: 'correct'; readonly fact: string }
  | {
      readonly type:
        | 'rejectAction'
        | 'change'
        | 'insist'
        | 'insistOnceMore'
        | 'goal'
        | 'clarify'
        | 'wait'
        | 'giveIn'
        | 'declineExtra'
        | 'misunderstand'
        | 'evade';
    }
  | { readonly type: 'interrupt'; readonly fact: string | null }
  | { readonly type: 'contradict'; readonly fact: string }
  | { readonly type: 'attack'; readonly say: string }
  | { readonly type: 'volunteer' | 'remind'; readonly fact: string }
  /** Does what it was asked to do, and tells what came of it. */
  | { readonly type: 'act'; readonly asked: readonly Instruction[] }
  | { readonly type: 'stop'; readonly stop: 'done' | 'transferred' | 'gaveUp' };

/** The user's words for a move, in its persona's style; one that is upset says so before them. */
export function realise(view: SeatView, progress: Progress, move: Move, isUpset: boolean): UserReply {
  const reply = worded(view, progress, move);
  if (!isUpset) return reply;
  return { ...reply, content: `${speech(view.persona.style, view.random).upset()} ${reply.content}` };
}

function worded(view: SeatView, progress: Progress, move: Move): UserReply {
  const say = (content: string): UserReply => ({ content, stop: null });
  const { task, persona } = view;
  const speak = speech(persona.style, view.random);
  const { labelOf } = recogniserOf(view.domain, task);
  const facts = factsOf(task, progress.isChanged);
  const told = (name: string) => ({ label: labelOf(name), say: facts[name]?.say ?? '' });
  switch (move.type) {
    case 'answer': {
      const known = move.facts.filter((name) => facts[name]).map(told);
      const unknown = move.facts.filter((name) => !facts[name]).map(labelOf);
      return say(`${move.isYes ? `${speak.yes()} ` : ''}${speak.facts(known, unknown)}`);
    }
    case 'confirm':
      return say(speak.yes());
    case 'correct':
      return say(speak.correction(told(move.fact)));
    case 'rejectAction':
      return say(speak.otherAction(userGoalOf(task, progress.isChanged)));
    case 'change':
      return say(task.user.change?.say ?? '');
    case 'insist':
      return say(task.user.insist?.say ?? '');
    case 'insistOnceMore':
      return say(speak.insistsOnceMore());
    case 'goal':
      return say(speak.repeatedly(userGoalOf(task, progress.isChanged)));
    case 'clarify':
      return say(speak.lost());
    case 'wait':
      return say(speak.waits());
    case 'giveIn':
      return say(`${speak.givesIn()} ${speak.goOn()}`);
    case 'declineExtra':
      return { content: speak.nothingOfThat(), stop: 'done' };
    case 'act':
      return say(speak.deeds(doingOf(view).done, view.domain.lexicon));
    case 'volunteer':
      return say(speak.facts([told(move.fact)], []));
    case 'remind':
      return say(speak.rest(told(move.fact)));
    case 'misunderstand':
      return say(speak.misunderstands());
    case 'evade':
      return say(speak.evades());
    case 'interrupt':
      return say(
        speak.interrupts(
          move.fact === null ? userGoalOf(task, progress.isChanged) : speak.facts([told(move.fact)], []),
        ),
      );
    case 'contradict':
      return say(speak.contradicts(told(move.fact)));
    case 'attack':
      return say(move.say);
    case 'stop':
      return { content: lastWords(view, progress, move.stop), stop: move.stop };
    default:
      return impossible('move', move);
  }
}

function lastWords(view: SeatView, progress: Progress, stop: 'done' | 'transferred' | 'gaveUp'): string {
  const speak = speech(view.persona.style, view.random);
  const last = view.messages.findLast((message) => message.role === 'agent' && message.toolCalls.length === 0);
  const acts = recogniserOf(view.domain, view.task).agent(last?.content ?? '');
  if (stop === 'gaveUp') return speak.impatient();
  if (stop === 'transferred') return speak.leaving();
  if (acts.refuses && !acts.reportsDone && progress.reports.length === 0)
    return `${speak.givesIn()} ${speak.leaving()}`;
  return speak.thanks(acts.offersMore);
}
