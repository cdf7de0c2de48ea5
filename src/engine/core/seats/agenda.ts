import { factsBehind, factsOf, recogniserOf, tells } from '../events/facts.ts';
import type { Message } from '../events/message.ts';
import { type Move, realise } from './agendaMove.ts';
import { afterSpeaking, type Heard, isReport, isServed, type Progress, start, unserved } from './agendaProgress.ts';
import { disagreementWith, withdrawnIn, writesOf } from './disagreement.ts';
import { isTimeToChange, isTimeToInsist } from './hardBehaviour.ts';
import { instructionsIn } from './instruction.ts';
import { doingOf } from './ownTools.ts';
import { type Cue, dueAt, scheduleOf } from './schedule.ts';
import type { PureUser, SeatView, UserReply } from './seat.ts';
import { openingOf } from './userGoal.ts';

/**
 * An agenda-based user simulator (after Schatzmann et al., 2007): what is still to be said and obtained
 * follows from the conversation alone, so the reply is a function of the view and forks cost nothing.
 * It answers what it is asked, says yes to what agrees with its requests, corrects what does not, applies its
 * persona's hard behaviours, and judges only by what the agent says.
 */
export const agendaUser: PureUser = (view) => {
  const { progress, heard, hasSpoken, decision } = folded(view);
  if (!hasSpoken) return { content: openingOf(view), stop: null };
  const { move, isUpset = false } = decision ?? decide(view, progress, heard ?? hear(view, ''));
  return (move.type === 'act' ? acting(view) : null) ?? realise(view, progress, move, isUpset);
};

/** The state of the agenda: the progress of the conversation so far, and the move it would make in its next turn. */
export type AgendaStanding = { readonly progress: Progress; readonly next: Move | { readonly type: 'open' } };

/** The agenda of a conversation, also of one whose user somebody else plays: it follows from what was said alone. */
export function agendaStanding(view: SeatView): AgendaStanding {
  const { progress, heard, hasSpoken, decision } = folded(view);
  if (!hasSpoken) return { progress, next: { type: 'open' } };
  return { progress, next: (decision ?? decide(view, progress, heard ?? hear(view, ''))).move };
}

/** The next call that the agent has asked for, or null when all of them are made and it is time to tell. */
function acting(view: SeatView): UserReply | null {
  const { next } = doingOf(view);
  if (next === null) return null;
  const call = { id: `user_call_${view.messages.length}`, name: next.tool, arguments: next.arguments };
  return { content: '', stop: null, toolCalls: [call] };
}

type Decision = {
  readonly move: Move;
  readonly isFruitful: boolean;
  /** Place of the cue in the persona's schedule that this comes of. */
  readonly fired?: number;
  readonly isUpset?: boolean;
};

/** The progress before the agent's last utterance, and that utterance where there is one. */
type Folding = {
  readonly progress: Progress;
  readonly heard: Heard | null;
  /** The decision on the utterance, once it was needed. */
  readonly decision: Decision | null;
  readonly hasSpoken: boolean;
};

const unfolded: Folding = { progress: start, heard: null, decision: null, hasSpoken: false };

/** The state of a conversation folded so far. It only saves work: the result is the same without it. */
type Remembered = Folding & Pick<SeatView, 'domain' | 'task' | 'persona' | 'messages'>;

/** Keyed by the first message, which belongs to one conversation. */
const remembered = new WeakMap<Message, Remembered>();

function folded(view: SeatView): Folding {
  const { domain, task, persona, messages } = view;
  const [first] = messages;
  if (first === undefined) return unfolded;
  const known = remembered.get(first);
  const goesOn = known !== undefined && isContinued(known, view);
  let folding: Folding = goesOn ? known : unfolded;
  for (const message of goesOn ? messages.slice(known.messages.length) : messages)
    folding = after(view, folding, message);
  if (folding.heard && folding.hasSpoken && !folding.decision)
    folding = { ...folding, decision: decide(view, folding.progress, folding.heard) };
  remembered.set(first, { ...folding, domain, task, persona, messages: [...messages] });
  return folding;
}

function isContinued(known: Remembered, { domain, task, persona, messages }: SeatView): boolean {
  return (
    known.domain === domain && known.task === task && known.persona === persona && beginsWith(messages, known.messages)
  );
}

function beginsWith(messages: readonly Message[], known: readonly Message[]): boolean {
  for (let at = 0; at < known.length; at++) if (known[at] !== messages[at]) return false;
  return true;
}

function after(view: SeatView, folding: Folding, message: Message): Folding {
  if (message.role === 'agent' && message.toolCalls.length === 0)
    return { ...folding, heard: hear(view, message.content ?? ''), decision: null };
  if (message.role !== 'user' || message.toolCalls) return folding;
  const { heard, hasSpoken, decision } = folding;
  const before =
    heard && hasSpoken
      ? afterHearing(folding.progress, heard, decision ?? decide(view, folding.progress, heard))
      : folding.progress;
  return { progress: afterSpeaking(view, before, message.content), heard: null, decision: null, hasSpoken: true };
}

function hear({ domain, task }: SeatView, text: string): Heard {
  return { text, acts: recogniserOf(domain, task).agent(text), asked: instructionsIn(text, domain) };
}

function afterHearing(
  progress: Progress,
  heard: Heard,
  { move, isFruitful, fired, isUpset = false }: Decision,
): Progress {
  return {
    ...progress,
    fired: fired === undefined ? progress.fired : [...progress.fired, fired],
    unanswered: fired === undefined || isUpset ? null : heard.text,
    asked: withAll(progress.asked, heard.acts.asks),
    confirmed:
      move.type === 'confirm' || (move.type === 'answer' && move.isYes)
        ? [...progress.confirmed, heard.text]
        : progress.confirmed,
    reports: isReport(progress, heard) ? [...progress.reports, heard.text] : progress.reports,
    refusals: progress.refusals + (heard.acts.refuses ? 1 : 0),
    wasInformed: progress.wasInformed || heard.acts.informs,
    fruitless: isFruitful ? 0 : progress.fruitless + 1,
    wasLost: move.type === 'clarify' || (!isFruitful && progress.wasLost),
    hasActed: progress.hasActed || move.type === 'act',
    tried: withAll(progress.tried, [keyOf(progress, move)]),
  };
}

function withAll<T>(set: ReadonlySet<T>, items: readonly T[]): ReadonlySet<T> {
  return items.every((item) => set.has(item)) ? set : new Set([...set, ...items]);
}

function decide(view: SeatView, progress: Progress, heard: Heard): Decision {
  const decision = respond(view, progress, heard);
  const isOver = !decision.isFruitful && progress.fruitless + 1 >= view.persona.patience;
  return isOver ? { move: { type: 'stop', stop: 'gaveUp' }, isFruitful: false } : cued(view, progress, heard, decision);
}

/** Moves that nothing is put in place of: requests of the task, and what the user does with its own tools. */
const kept: readonly Move['type'][] = ['change', 'insist', 'insistOnceMore', 'act'];

/** The decision, or in its place what the persona's schedule has for this reply. */
function cued(view: SeatView, progress: Progress, { acts }: Heard, decision: Decision): Decision {
  const schedule = scheduleOf(view.persona, view.started);
  const { move } = decision;
  if (schedule.length === 0 || kept.some((type) => type === move.type)) return decision;
  const isLeaving = (move.type === 'stop' && move.stop === 'done') || move.type === 'declineExtra';
  if (move.type === 'stop' && !isLeaving) return decision;
  const at = isLeaving
    ? schedule.findIndex(({ cue }, index) => cue.type === 'attack' && !progress.fired.includes(index))
    : dueAt(schedule, progress.fired, progress.replies, { acts, hasTold: progress.told.size > 0 });
  const cue = schedule[at]?.cue;
  if (!cue) return decision;
  if (cue.type === 'behaviour' && cue.behaviour === 'getsUpset') return { ...decision, fired: at, isUpset: true };
  return { move: moveOf(view, progress, cue), isFruitful: true, fired: at };
}

function moveOf(view: SeatView, progress: Progress, cue: Cue): Move {
  if (cue.type === 'attack') return { type: 'attack', say: view.persona.attacks[cue.attack]?.say[cue.part] ?? '' };
  const facts = Object.keys(factsOf(view.task, progress.isChanged));
  switch (cue.behaviour) {
    case 'interrupts':
      return { type: 'interrupt', fact: facts.find((name) => !progress.told.has(name)) ?? null };
    case 'contradicts':
      return { type: 'contradict', fact: facts.find((name) => progress.told.has(name)) ?? '' };
    case 'misunderstands':
      return { type: 'misunderstand' };
    case 'evades':
      return { type: 'evade' };
    case 'getsUpset':
      throw new Error('being upset accompanies a move and is not a move');
    default:
      throw new Error(`unknown behaviour ${String(cue.behaviour satisfies never)}`);
  }
}

function respond(view: SeatView, progress: Progress, heard: Heard): Decision {
  const { acts } = heard;
  if (acts.nonsense) return lost(view, progress);
  if (heard.asked.length > 0) return hopeful(progress, { type: 'act', asked: heard.asked });
  if (acts.handsOff && !acts.proposes && acts.asks.length === 0) return stop('transferred');
  if (isTimeToInsist(view, progress.insistence, acts)) return fruitful({ type: 'insist' });
  if (acts.refuses && progress.insistence === 'raised') return fruitful({ type: 'insistOnceMore' });
  if (isTimeToChange(view, progress.isChanged, acts)) return fruitful({ type: 'change' });
  if (acts.proposes) return toProposal(view, progress, heard);
  if (acts.asks.length > 0) return answer(progress, acts.asks, false);
  if (acts.refuses) return toRefusal(view, progress, heard);
  if (isReport(progress, heard) || acts.offersMore || acts.saysGoodbye) return toEnding(view, progress, heard);
  if (acts.asksWish) return hopeful(progress, { type: 'goal' });
  if (acts.notUnderstood) return fruitless({ type: 'goal' });
  if (acts.asksOther) return toOtherQuestion(view, progress, heard);
  if (acts.informs) return toInformation(view, progress);
  if (acts.waits) return fruitless({ type: 'wait' });
  return goOn(view, progress);
}

function toProposal(view: SeatView, progress: Progress, { text, acts }: Heard): Decision {
  const facts = factsOf(view.task, progress.isChanged);
  const withdrawn = progress.isChanged ? withdrawnIn(text, view.task, facts) : undefined;
  if (withdrawn !== undefined) return fruitless({ type: 'correct', fact: withdrawn });
  const insisted = progress.insistence === 'none' ? '' : (view.task.user.insist?.say ?? '');
  const disagreement = disagreementWith(text, view, facts, insisted);
  if (disagreement?.type === 'wrongValue') return fruitless({ type: 'correct', fact: disagreement.fact });
  if (disagreement?.type === 'wrongAction') return fruitless({ type: 'rejectAction' });
  // A step that the user has no own word for is known by its report alone.
  const unnamed = writesOf(view.domain, view.task).filter((write) => factsBehind(facts, write).length === 0);
  // What it gave no answer to comes again, and is then no report beside a proposal of something more.
  const known = { ...progress, reports: progress.reports.filter((report) => report !== progress.unanswered) };
  const isExtra =
    known.reports.length >= Math.max(1, unnamed.length) &&
    isServed(view, known) &&
    !Object.values(facts).some((fact) => tells(text, fact));
  if (isExtra) return fruitful({ type: 'declineExtra' });
  const isNew =
    !progress.confirmed.includes(text) && progress.confirmed.length < 2 * writesOf(view.domain, view.task).length + 3;
  const asks = acts.asks.filter((fact) => facts[fact]);
  const move: Move = asks.length > 0 ? { type: 'answer', facts: asks, isYes: true } : { type: 'confirm' };
  return { move, isFruitful: isNew };
}

function answer(progress: Progress, asks: readonly string[], isYes: boolean): Decision {
  return { move: { type: 'answer', facts: asks, isYes }, isFruitful: asks.some((fact) => !progress.asked.has(fact)) };
}

function toRefusal(view: SeatView, progress: Progress, { acts }: Heard): Decision {
  const hasWrites = writesOf(view.domain, view.task).length > 0;
  if (!hasWrites || isServed(view, progress)) return stop('done');
  if (progress.insistence === 'repeated')
    return acts.offersMore ? fruitless({ type: 'giveIn' }) : hopeful(progress, { type: 'giveIn' });
  return goOn(view, progress);
}

function toEnding(view: SeatView, progress: Progress, heard: Heard): Decision {
  const reports = isReport(progress, heard) ? [...progress.reports, heard.text] : progress.reports;
  const now = { ...progress, reports, wasInformed: progress.wasInformed || heard.acts.informs };
  if (isServed(view, now)) return stop('done');
  const rest = unserved(view, now);
  const before = unserved(view, progress);
  const [fact] = rest;
  if (fact !== undefined && reports.length > 0) {
    const isFirst = reports.length === 1 && !wasTried(progress, { type: 'remind', fact });
    return { move: { type: 'remind', fact }, isFruitful: rest.length < before.length || isFirst };
  }
  return goOn(view, progress);
}

function toInformation(view: SeatView, progress: Progress): Decision {
  return writesOf(view.domain, view.task).length === 0 ? stop('done') : goOn(view, progress);
}

/** A question about something it has no name for: "the blue one or the red one?" */
function toOtherQuestion(view: SeatView, progress: Progress, { text }: Heard): Decision {
  const facts = factsOf(view.task, progress.isChanged);
  const offered = Object.keys(facts).filter((name) => facts[name] && tells(text, facts[name]));
  if (offered.length === 0) return lost(view, progress);
  return hopeful(progress, { type: 'answer', facts: offered, isYes: !/\bor\b/i.test(text) });
}

/** Not understood: asks once, then continues by itself. */
function lost(view: SeatView, progress: Progress): Decision {
  return progress.wasLost ? goOn(view, progress) : fruitless({ type: 'clarify' });
}

/** Gives the next piece of information that is still missing, else says again what it wants. */
function goOn(view: SeatView, progress: Progress): Decision {
  const untold = Object.keys(factsOf(view.task, progress.isChanged)).find((name) => !progress.told.has(name));
  return fruitless(untold === undefined ? { type: 'goal' } : { type: 'volunteer', fact: untold });
}

const fruitful = (move: Move): Decision => ({ move, isFruitful: true });
const fruitless = (move: Move): Decision => ({ move, isFruitful: false });
const stop = (reason: 'done' | 'transferred' | 'gaveUp'): Decision => fruitful({ type: 'stop', stop: reason });

/** A move that may help the first time it is made, and while nothing else was in vain. */
const hopeful = (progress: Progress, move: Move): Decision => ({
  move,
  isFruitful: progress.fruitless === 0 && !wasTried(progress, move),
});
const wasTried = (progress: Progress, move: Move) => progress.tried.has(keyOf(progress, move));
/** Equal for moves that say the same; after a change of mind they say something else. */
const keyOf = ({ isChanged }: Progress, move: Move) => `${isChanged} ${JSON.stringify(move)}`;
