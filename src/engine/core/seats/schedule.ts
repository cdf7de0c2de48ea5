import type { AgentActs } from '../dialogue/dialogue.ts';
import { type OccasionalBehaviour, occasionalBehaviours, type Persona } from '../domain/persona.ts';
import type { RolloutStarted } from '../events/event.ts';
import { impossible } from '../values/impossible.ts';
import { randomStream, rolloutKey } from '../values/random.ts';

/** Something that the user does at a reply which the seed has drawn. */
export type Cue =
  | { readonly type: 'behaviour'; readonly behaviour: OccasionalBehaviour }
  /** One message of an attack; its words and its aim are in the persona. */
  | { readonly type: 'attack'; readonly attack: number; readonly part: number };

/** A cue, and the reply from which on it is due. The opening is reply 0. */
export type Scheduled = { readonly reply: number; readonly cue: Cue };

const none: readonly Scheduled[] = [];
const schedules = new WeakMap<RolloutStarted, { readonly persona: Persona; readonly made: readonly Scheduled[] }>();

/**
 * When the user of a rollout does what its persona does now and then. Each behaviour and each attack draws its reply
 * from its own stream, named by it, so that switching one on shifts no other. No two cues share a reply.
 */
export function scheduleOf(persona: Persona, started: RolloutStarted): readonly Scheduled[] {
  const known = schedules.get(started);
  if (known?.persona === persona) return known.made;
  const made = drawn(persona, started);
  schedules.set(started, { persona, made });
  return made;
}

function drawn({ behaviours, attacks }: Persona, started: RolloutStarted): readonly Scheduled[] {
  const taken = new Map<number, Cue>();
  const place = (wanted: number, cue: Cue): number => {
    let reply = wanted;
    while (taken.has(reply)) reply += 1;
    taken.set(reply, cue);
    return reply;
  };
  for (const [index, { say, from, to }] of attacks.entries()) {
    const random = randomStream(...rolloutKey(started), `attack:${index}`);
    let reply = from + random.integer(Math.max(to - from, 0) + 1);
    for (const part of say.keys()) reply = place(reply, { type: 'attack', attack: index, part }) + 1;
  }
  for (const behaviour of occasionalBehaviours) {
    const given = behaviours[behaviour];
    if (given === false) continue;
    const { from, to, chance } = given === true ? { from: 1, to: 3, chance: 1 } : given;
    const random = randomStream(...rolloutKey(started), `behaviour:${behaviour}`);
    const reply = from + random.integer(Math.max(to - from, 0) + 1);
    if (random.chance(chance)) place(reply, { type: 'behaviour', behaviour });
  }
  if (taken.size === 0) return none;
  return [...taken].toSorted(([one], [other]) => one - other).map(([reply, cue]) => ({ reply, cue }));
}

/**
 * The place in the schedule of the cue that is due at a reply and fits what the agent said; -1 without such a cue.
 * A cue that finds no occasion waits for the next reply.
 */
export function dueAt(
  schedule: readonly Scheduled[],
  fired: readonly number[],
  reply: number,
  occasion: { readonly acts: AgentActs; readonly hasTold: boolean },
): number {
  return schedule.findIndex((each, at) => each.reply <= reply && !fired.includes(at) && isFitting(each.cue, occasion));
}

function isFitting(cue: Cue, { acts, hasTold }: { readonly acts: AgentActs; readonly hasTold: boolean }): boolean {
  if (cue.type === 'attack') return true;
  const isOpen = acts.proposes || acts.asks.length > 0;
  switch (cue.behaviour) {
    case 'interrupts':
    case 'misunderstands':
      return isOpen;
    case 'contradicts':
      return isOpen && hasTold;
    case 'evades':
      return acts.asks.length > 0 && !acts.proposes;
    case 'getsUpset':
      return true;
    default:
      return impossible('behaviour', cue.behaviour);
  }
}
