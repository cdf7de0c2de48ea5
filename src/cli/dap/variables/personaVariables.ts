import { occasionalBehaviours, type Persona } from '../../../engine/core/domain/persona.ts';
import { factsOf } from '../../../engine/core/events/facts.ts';
import { type AgendaStanding, agendaStanding } from '../../../engine/core/seats/agenda.ts';
import { unserved } from '../../../engine/core/seats/agendaProgress.ts';
import { scheduleOf } from '../../../engine/core/seats/schedule.ts';
import type { SeatView } from '../../../engine/core/seats/seat.ts';
import { standingOf } from '../../../engine/core/simulator/direction.ts';
import { viewOf } from '../../../engine/shell/rollout/driver.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import type { Debuggee } from '../rollout/debuggee.ts';
import { row, type Variable } from './rows.ts';

/** Returns who the user is and how it behaves, and below `agenda` what it has still to say and to get. */
export function personaVariables(debuggee: Debuggee, { state }: Step): readonly Variable[] {
  const { setting, task } = debuggee;
  const view = viewOf({ setting, task }, state, 'user');
  const { persona } = view;
  return [
    row('persona', `${persona.id}: ${persona.description}`),
    row('style', persona.style),
    row('wants', task.user.goal),
    ...behaviourRows(view),
    ...attackRows(view),
    {
      name: 'agenda',
      value: `of ${state.started.seats.user}, after what was said so far`,
      // Which calls are writes is known once the tools are described.
      prepare: () => debuggee.describe(),
      children: () => agendaRows(viewOf({ setting: debuggee.setting, task: debuggee.task }, state, 'user')),
    },
  ];
}

function behaviourRows(view: SeatView): readonly Variable[] {
  const { persona, started } = view;
  const schedule = scheduleOf(persona, started);
  const always = (['omits', 'changes', 'insists'] as const).map((name) =>
    row(name, persona.behaviours[name] ? 'yes' : 'no'),
  );
  const drawn = occasionalBehaviours.map((name) => {
    const found = schedule.find(({ cue }) => cue.type === 'behaviour' && cue.behaviour === name);
    return row(name, occasion(persona.behaviours[name], found?.reply));
  });
  const on = [...always, ...drawn].filter(({ value }) => value !== 'no').map(({ name }) => name);
  return [{ name: 'behaviors', value: on.join(', ') || 'none', children: () => [...always, ...drawn] }];
}

/** Returns what the seed drew for a behaviour that happens now and then. */
function occasion(given: Persona['behaviours']['interrupts'], reply: number | undefined): string {
  if (given === false) return 'no';
  const { from, to, chance } = given === true ? { from: 1, to: 3, chance: 1 } : given;
  const among = `replies ${from} to ${to}, chance ${chance}`;
  return reply === undefined ? `not in this rollout (${among})` : `from reply ${reply} on, as the seed drew (${among})`;
}

function attackRows({ persona, started }: SeatView): readonly Variable[] {
  const schedule = scheduleOf(persona, started);
  return persona.attacks.map(({ aim }, index) => {
    const replies = schedule.flatMap(({ cue, reply }) =>
      cue.type === 'attack' && cue.attack === index ? [reply] : [],
    );
    return row(`attack ${index + 1}`, `${aim} (from reply ${replies.join(', ')} on)`);
  });
}

function agendaRows(view: SeatView): readonly Variable[] {
  const { task, persona } = view;
  const { progress, next } = agendaStanding(view);
  const facts = Object.entries(factsOf(task, progress.isChanged));
  const directed = standingOf(view).direction;
  const left = unserved(view, progress);
  return [
    row('next', view.started.seats.user === 'agenda' ? nextWords(next) : `an agenda would: ${nextWords(next)}`),
    ...(view.started.seats.user.startsWith('openai:')
      ? [row('told to do next', directed === null ? 'just answer' : JSON.stringify(directed))]
      : []),
    {
      name: 'knows',
      value: `${facts.filter(([name]) => progress.told.has(name)).length} of ${facts.length} told`,
      children: () =>
        facts.map(([name, { say }]) => {
          const asked = progress.asked.has(name) ? ', was asked for it' : '';
          return row(name, `${say} (${progress.told.has(name) ? 'told' : 'not told'}${asked})`);
        }),
    },
    row('does not know', task.user.unknown.join(', ') || 'nothing'),
    row('still to get', goalsLeft(left, Object.fromEntries(facts))),
    row('said yes', `${progress.confirmed.length} times`),
    row('heard done', `${progress.reports.length} times`),
    row('heard no', `${progress.refusals} times`),
    ...(task.user.change ? [row('changed its mind', progress.isChanged ? 'yes' : 'not yet')] : []),
    ...(task.user.insist
      ? [row('insisted', { none: 'not yet', raised: 'once', repeated: 'twice' }[progress.insistence])]
      : []),
    row('patience', `${progress.fruitless} of ${persona.patience} replies without progress`),
    row('replies', String(progress.replies)),
  ];
}

/** Wishes that were neither agreed nor reported, each by a fact that tells it from the others. */
function goalsLeft(left: readonly string[], facts: Readonly<Record<string, { readonly say: string }>>): string {
  const words = left.map((name) => `${name}: ${facts[name]?.say ?? ''}`);
  return words.length === 0 ? 'nothing that it could tell' : `what is about ${words.join(', ')}`;
}

function nextWords(move: AgendaStanding['next']): string {
  switch (move.type) {
    case 'open':
      return 'says its first message';
    case 'answer':
      return `${move.isYes ? 'says yes and tells' : 'tells'} ${move.facts.join(', ')}`;
    case 'confirm':
      return 'says yes';
    case 'correct':
      return `corrects ${move.fact}`;
    case 'volunteer':
      return `tells ${move.fact} by itself`;
    case 'remind':
      return `reminds of ${move.fact}`;
    case 'contradict':
      return `contradicts itself about ${move.fact}`;
    case 'interrupt':
      return move.fact === null ? 'cuts in' : `cuts in with ${move.fact}`;
    case 'attack':
      return `attacks: ${move.say}`;
    case 'act':
      return `does ${move.asked.map(({ tool }) => tool).join(', ')}`;
    case 'stop':
      return `ends the conversation (${move.stop})`;
    case 'rejectAction':
      return 'says that it wants something else done';
    case 'change':
      return 'changes its mind';
    case 'insist':
      return 'insists on what the policy forbids';
    case 'insistOnceMore':
      return 'insists once more';
    case 'goal':
      return 'says again what it wants';
    case 'clarify':
      return 'asks what was meant';
    case 'wait':
      return 'waits';
    case 'giveIn':
      return 'gives in';
    case 'declineExtra':
      return 'declines what it did not ask for';
    case 'misunderstand':
      return 'misunderstands';
    case 'evade':
      return 'evades the question';
    default:
      return move satisfies never;
  }
}
