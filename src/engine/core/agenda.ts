import { onceMore, speech } from './agendaSpeech.ts';
import { wordsOf } from './dialogue/text.ts';
import { type AgentActs, namesValue } from './dialogue.ts';
import { disagreementWith, writesOf } from './disagreement.ts';
import { factsBehind, factsOf, isChangeSaid, recogniserOf, tells } from './facts.ts';
import type { PureUser, SeatView, UserReply } from './seat.ts';
import { openingOf, wishOf } from './wish.ts';

/**
 * An agenda-based user simulator (after Schatzmann et al., 2007): what is still to be said and to be had
 * follows from the conversation alone, so the reply is a function of the view and forks cost nothing.
 * It answers what it is asked, says yes to what agrees with its wishes, corrects what does not, applies its
 * persona's hard behaviours, and judges only by what the agent says.
 */
export const agendaUser: PureUser = (view) => {
  const { progress, heard } = fold(view);
  if (heard === null) return { content: openingOf(view), stop: null };
  const { move } = decide(view, progress, heard);
  return realise(view, progress, move);
};

/** What the user remembers of the conversation. */
type Progress = {
  readonly told: ReadonlySet<string>;
  /** Facts it was asked for before. */
  readonly asked: ReadonlySet<string>;
  readonly isChanged: boolean;
  /** Raised what the policy forbids, and insisted after it was refused. */
  readonly insistence: 'none' | 'raised' | 'repeated';
  /** Proposals it said yes to, and reports that something was done. */
  readonly confirmed: readonly string[];
  readonly reports: readonly string[];
  readonly refusals: number;
  readonly wasInformed: boolean;
  /** Replies in a row that led nowhere. */
  readonly fruitless: number;
  readonly wasLost: boolean;
};

type Move =
  | { readonly type: 'answer'; readonly facts: readonly string[]; readonly isYes: boolean }
  | { readonly type: 'confirm' }
  | { readonly type: 'correct'; readonly fact: string }
  | {
      readonly type:
        | 'rejectAction'
        | 'change'
        | 'insist'
        | 'insistOnceMore'
        | 'wish'
        | 'clarify'
        | 'wait'
        | 'giveIn'
        | 'declineExtra';
    }
  | { readonly type: 'volunteer' | 'remind'; readonly fact: string }
  | { readonly type: 'stop'; readonly stop: 'done' | 'transferred' | 'gaveUp' };

type Decision = { readonly move: Move; readonly isFruitful: boolean };
type Heard = { readonly text: string; readonly acts: AgentActs };

const start: Progress = {
  told: new Set(),
  asked: new Set(),
  isChanged: false,
  insistence: 'none',
  confirmed: [],
  reports: [],
  refusals: 0,
  wasInformed: false,
  fruitless: 0,
  wasLost: false,
};

/** The progress before the agent's last utterance, and that utterance; null before the user's first words. */
function fold(view: SeatView): { readonly progress: Progress; readonly heard: Heard | null } {
  const { agent } = recogniserOf(view.domain, view.task);
  let progress = start;
  let heard: Heard | null = null;
  let hasSpoken = false;
  for (const message of view.messages) {
    if (message.role === 'agent' && message.toolCalls.length === 0) {
      const text = message.content ?? '';
      heard = { text, acts: agent(text) };
    }
    if (message.role !== 'user') continue;
    if (heard && hasSpoken) progress = afterHearing(view, progress, heard);
    progress = afterSpeaking(view, progress, message.content);
    heard = null;
    hasSpoken = true;
  }
  return { progress, heard: hasSpoken ? (heard ?? { text: '', acts: agent('') }) : null };
}

function afterHearing(view: SeatView, progress: Progress, heard: Heard): Progress {
  const { move, isFruitful } = decide(view, progress, heard);
  return {
    ...progress,
    asked: new Set([...progress.asked, ...heard.acts.asks]),
    confirmed:
      move.type === 'confirm' || (move.type === 'answer' && move.isYes)
        ? [...progress.confirmed, heard.text]
        : progress.confirmed,
    reports: isReport(progress, heard) ? [...progress.reports, heard.text] : progress.reports,
    refusals: progress.refusals + (heard.acts.refuses ? 1 : 0),
    wasInformed: progress.wasInformed || heard.acts.informs,
    fruitless: isFruitful ? 0 : progress.fruitless + 1,
    wasLost: move.type === 'clarify' || (!isFruitful && progress.wasLost),
  };
}

/** What the user really said counts, also where a person took its seat. */
function afterSpeaking({ task }: SeatView, progress: Progress, text: string): Progress {
  const isChanged = progress.isChanged || isChangeSaid(task, [{ role: 'user', step: 0, content: text }]);
  const facts = factsOf(task, isChanged);
  const kept = isChanged === progress.isChanged ? progress.told : [];
  const told = Object.keys(facts).filter((name) => facts[name] && tells(text, facts[name]));
  return {
    ...progress,
    isChanged,
    told: new Set([...kept, ...told]),
    insistence: insistenceAfter(task.user.insist?.say, progress, text),
  };
}

function insistenceAfter(
  say: string | undefined,
  { insistence, refusals }: Progress,
  text: string,
): Progress['insistence'] {
  if (insistence === 'repeated' || say === undefined) return insistence;
  if (onceMore.some((line) => namesValue(text, line))) return 'repeated';
  if (!namesValue(text, say)) return insistence;
  return refusals > 0 ? 'repeated' : 'raised';
}

function decide(view: SeatView, progress: Progress, heard: Heard): Decision {
  const decision = respond(view, progress, heard);
  const isOver = !decision.isFruitful && progress.fruitless + 1 >= view.persona.patience;
  return isOver ? { move: { type: 'stop', stop: 'gaveUp' }, isFruitful: false } : decision;
}

function respond(view: SeatView, progress: Progress, heard: Heard): Decision {
  const { acts } = heard;
  if (acts.nonsense) return lost(view, progress);
  if (acts.handsOff && !acts.proposes && acts.asks.length === 0) return stop('transferred');
  if (isTimeToInsist(view, progress, heard)) return fruitful({ type: 'insist' });
  if (acts.refuses && progress.insistence === 'raised') return fruitful({ type: 'insistOnceMore' });
  if (isTimeToChange(view, progress, heard)) return fruitful({ type: 'change' });
  if (acts.proposes) return toProposal(view, progress, heard);
  if (acts.asks.length > 0) return answer(progress, acts.asks, false);
  if (acts.refuses) return toRefusal(view, progress, heard);
  if (isReport(progress, heard) || acts.offersMore || acts.saysGoodbye) return toEnding(view, progress, heard);
  if (acts.asksWish) return { move: { type: 'wish' }, isFruitful: progress.fruitless === 0 };
  if (acts.notUnderstood) return fruitless({ type: 'wish' });
  if (acts.asksOther) return toOtherQuestion(view, progress, heard);
  if (acts.informs) return toInformation(view, progress);
  if (acts.waits) return fruitless({ type: 'wait' });
  return goOn(view, progress);
}

/** A request beside others ("as well") is raised once the first is done; any other when it comes up. */
function isTimeToInsist({ domain, task, persona }: SeatView, progress: Progress, { acts }: Heard): boolean {
  const say = task.user.insist?.say;
  if (say === undefined || !persona.behaviours.insists || progress.insistence !== 'none') return false;
  if (acts.refuses || acts.reportsDone || acts.offersMore) return true;
  const comesLater = /\b(?:as well|also|too|another|besides|in addition)\b/i.test(say);
  const said = wordsOf(say);
  const { labelOf } = recogniserOf(domain, task);
  const isAsked = acts.asks.some((fact) =>
    wordsOf(labelOf(fact)).some((word) => word.length > 3 && said.includes(word)),
  );
  return !comesLater && (acts.proposes || isAsked);
}

function isTimeToChange({ task, persona }: SeatView, progress: Progress, { acts }: Heard): boolean {
  const { change } = task.user;
  if (!change || !persona.behaviours.changes || progress.isChanged) return false;
  if (acts.reportsDone) return true;
  return change.when === 'proposed' && (acts.proposes || (acts.refuses && acts.asks.length === 0));
}

function toProposal(view: SeatView, progress: Progress, { text, acts }: Heard): Decision {
  const facts = factsOf(view.task, progress.isChanged);
  const insisted = progress.insistence === 'none' ? '' : (view.task.user.insist?.say ?? '');
  const disagreement = disagreementWith(text, view.domain, view.task, facts, insisted);
  if (disagreement?.type === 'wrongValue') return fruitless({ type: 'correct', fact: disagreement.fact });
  if (disagreement?.type === 'wrongAction') return fruitless({ type: 'rejectAction' });
  const isExtra =
    progress.reports.length > 0 && isServed(view, progress) && !Object.values(facts).some((fact) => tells(text, fact));
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
    return { move: { type: 'giveIn' }, isFruitful: progress.fruitless === 0 && !acts.offersMore };
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
    return { move: { type: 'remind', fact }, isFruitful: rest.length < before.length || reports.length === 1 };
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
  return {
    move: { type: 'answer', facts: offered, isYes: !/\bor\b/i.test(text) },
    isFruitful: progress.fruitless === 0,
  };
}

/** Not understood: asks once, then goes on by itself. */
function lost(view: SeatView, progress: Progress): Decision {
  return progress.wasLost ? goOn(view, progress) : fruitless({ type: 'clarify' });
}

/** Tells the next thing that is still to be told, else says again what it wants. */
function goOn(view: SeatView, progress: Progress): Decision {
  const untold = Object.keys(factsOf(view.task, progress.isChanged)).find((name) => !progress.told.has(name));
  return fruitless(untold === undefined ? { type: 'wish' } : { type: 'volunteer', fact: untold });
}

/** A report of success, or word of what it said yes to before. */
function isReport(progress: Progress, { text, acts }: Heard): boolean {
  if (acts.reportsDone) return true;
  return acts.informs && progress.confirmed.length > 0 && !progress.confirmed.includes(text) && !acts.refuses;
}

/** Whether, by the agent's word, nothing is left that this user wants. */
function isServed(view: SeatView, progress: Progress): boolean {
  if (writesOf(view.domain, view.task).length === 0)
    return progress.wasInformed || progress.reports.length > 0 || progress.refusals > 0;
  return progress.reports.length + progress.confirmed.length > 0 && unserved(view, progress).length === 0;
}

/**
 * One telling fact for each wish that the agent has neither had confirmed nor reported. With a single wish
 * any report will do; of several, each has to be recognised by a value of its own.
 */
function unserved(view: SeatView, progress: Progress): readonly string[] {
  const facts = factsOf(view.task, progress.isChanged);
  const wishes = writesOf(view.domain, view.task).map((write) => factsBehind(facts, write));
  const evidence = [...progress.confirmed, ...progress.reports];
  if (wishes.length < 2) return evidence.length > 0 ? [] : wishes.flatMap(([fact]) => fact ?? []);
  return wishes.flatMap((names) => {
    const own = names.filter((name) => !wishes.every((other) => other.includes(name)));
    const isMet = evidence.some((text) => own.some((name) => facts[name] && tells(text, facts[name])));
    return isMet || own[0] === undefined ? [] : [own[0]];
  });
}

function realise(view: SeatView, progress: Progress, move: Move): UserReply {
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
      return say(speak.otherAction(wishOf(task, progress.isChanged)));
    case 'change':
      return say(task.user.change?.say ?? '');
    case 'insist':
      return say(task.user.insist?.say ?? '');
    case 'insistOnceMore':
      return say(speak.insistsOnceMore());
    case 'wish':
      return say(speak.repeatedly(wishOf(task, progress.isChanged)));
    case 'clarify':
      return say(speak.lost());
    case 'wait':
      return say(speak.waits());
    case 'giveIn':
      return say(`${speak.givesIn()} ${speak.goOn()}`);
    case 'declineExtra':
      return { content: speak.nothingOfThat(), stop: 'done' };
    case 'volunteer':
      return say(speak.facts([told(move.fact)], []));
    case 'remind':
      return say(speak.rest(told(move.fact)));
    case 'stop':
      return { content: lastWords(view, progress, move.stop), stop: move.stop };
    default:
      return unknownMove(move);
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

const fruitful = (move: Move): Decision => ({ move, isFruitful: true });
const fruitless = (move: Move): Decision => ({ move, isFruitful: false });
const stop = (reason: 'done' | 'transferred' | 'gaveUp'): Decision => fruitful({ type: 'stop', stop: reason });

function unknownMove(move: never): never {
  throw new Error(`unknown move ${JSON.stringify(move)}`);
}
