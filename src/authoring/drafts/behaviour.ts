import { demandsIn, type Recogniser, saysMore } from '../../engine/core/dialogue/dialogue.ts';
import { type Persona, personaSchema } from '../../engine/core/domain/persona.ts';
import { textsBy, type Utterance } from '../../engine/core/events/message.ts';

/** Returns what a user insisted on after a refusal: the refused request, or the next message where that was the opening. */
export function insistenceIn(spoken: readonly Utterance[], { agent, user }: Recogniser): string | null {
  const refused = spoken.findIndex(({ role, content }) => role === 'agent' && agent(content).refuses);
  const [request, answer] = [spoken[refused - 1], spoken[refused + 1]];
  if (refused < 1 || request?.role !== 'user') return null;
  const { closes = true, confirms = true, thanks = true } = answer ? user(answer.content) : {};
  const isBareYes = confirms && !saysMore(demandsIn(answer?.content ?? ''));
  const again = spoken.slice(refused + 2).some(({ role, content }) => role === 'agent' && agent(content).refuses);
  if (!again || closes || isBareYes || thanks) return null;
  const isOpening = spoken.findIndex(({ role }) => role === 'user') === refused - 1;
  return isOpening && answer?.role === 'user' ? answer.content : request.content;
}

/** Returns the style of the user's messages: their length and formality. */
export function styleOf(spoken: readonly Utterance[]): Persona['style'] {
  const own = textsBy('user', spoken);
  const words = own.map((text) => text.split(/\s+/).length);
  const mean = words.reduce((sum, each) => sum + each, 0) / Math.max(1, words.length);
  if (
    own.some((text) =>
      /\b(?:good (?:day|morning|afternoon|evening)|dear|kindly|i would like to|sincerely)\b/i.test(text),
    )
  )
    return 'formal';
  if (mean <= 6) return 'brief';
  return mean >= 18 || own.some((text) => /!.*!/.test(text)) ? 'chatty' : 'plain';
}

type Traits = Pick<Persona['behaviours'], 'omits' | 'changes' | 'insists'>;

/**
 * A persona of the domain who behaves as somebody did, or one that has still to be made.
 * @param mayBeNew else it is the one of the domain who comes nearest
 * @param isTaken whether a new persona cannot have an id
 */
export function personaFor(
  personas: readonly Persona[],
  style: Persona['style'],
  traits: Traits,
  mayBeNew = true,
  isTaken: (id: string) => boolean = () => false,
): { readonly persona: Persona; readonly isNew: boolean } {
  const alike = personas.filter(
    ({ behaviours, attacks }) =>
      attacks.length === 0 &&
      Object.entries(behaviours).every(([name, value]) => value === (traits[name as keyof Traits] ?? false)),
  );
  const found = alike.find((each) => each.style === style) ?? alike[0];
  if (found) return { persona: found, isNew: false };
  const differing = ({ behaviours }: Persona) =>
    Object.entries(behaviours).filter(([name, value]) => value !== (traits[name as keyof Traits] ?? false)).length;
  const nearest = personas.toSorted((one, other) => differing(one) - differing(other))[0];
  if (!mayBeNew && nearest) return { persona: nearest, isNew: false };
  const shown = (['omits', 'changes', 'insists'] as const).filter((name) => traits[name]);
  const wanted = ['seen', style, ...shown].join('-');
  let id = wanted;
  for (let number = 2; isTaken(id); number++) id = `${wanted}-${number}`;
  const description = `Seen in real conversations. ${[stylePhrases[style], ...shown.map((name) => traitPhrases[name])].join(' ')}`;
  return { persona: personaSchema.parse({ id, description, style, behaviours: traits }), isNew: true };
}

const stylePhrases: Readonly<Record<Persona['style'], string>> = {
  plain: 'Writes plainly.',
  brief: 'Writes a few words at a time.',
  chatty: 'Writes much, and warmly.',
  formal: 'Writes formally.',
};
const traitPhrases: Readonly<Record<keyof Traits, string>> = {
  omits: 'Leaves out what is needed, and tells it when asked.',
  changes: 'Wants something else on hearing the offer.',
  insists: 'Asks once more for what was refused.',
};
