import { occasionalBehaviours, type Persona, personaSchema } from '../../engine/core/domain/persona.ts';
import { randomStream } from '../../engine/core/values/random.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { askForData, type Drafter } from './askedModel.ts';
import { sift } from './soundDrafts.ts';

/** A persona as the data of its file. */
export type PersonaData = Readonly<Record<string, unknown>> & { readonly id: string; readonly draft: true };

const styles: Readonly<Record<Persona['style'], string>> = {
  plain: 'Says what they want in plain words',
  brief: 'Writes in a few words, without greetings',
  chatty: 'Tells more than is needed, with a word about their day',
  formal: 'Writes in full and polite sentences',
};

const traits = {
  omits: 'leaves out what the agent needs until it is asked for',
  interrupts: 'cuts in with something else once',
  misunderstands: 'takes something that the agent says for something else',
  contradicts: 'takes back what they said, and comes back to it',
  getsUpset: 'loses their temper once',
  evades: 'does not answer a question the first time',
} as const;
type Trait = keyof typeof traits;

/** Draws of which none is new before it is given up. */
const mostDraws = 200;

/**
 * A persona drawn by seed, without a model: a style, patience and one or two hard behaviours that no persona of the domain
 * has together yet. Behaviours that need words of the task are left out.
 * @returns a sentence where every combination is there already
 */
export function drawnPersona({ parts }: LoadedDomain, seed: string, wanted?: string): PersonaData | string {
  const random = randomStream(seed, 'persona');
  const known = new Set(parts.personas.map(({ value }) => signature(value)));
  const names = Object.keys(traits) as Trait[];
  for (let draw = 0; draw < mostDraws; draw++) {
    const style = random.pick(Object.keys(styles) as Persona['style'][]);
    const first = random.pick(names);
    const second = random.chance(0.5) ? random.pick(names) : first;
    const own = names.filter((name) => name === first || name === second);
    const behaviours = Object.fromEntries(own.map((name) => [name, true]));
    const patience = 4 + random.integer(3);
    const persona = personaSchema.parse({ id: 'drawn', description: '', style, patience, behaviours });
    if (known.has(signature(persona))) continue;
    const id = freePersonaId(
      parts.personas.map(({ value }) => value.id),
      wanted ??
        `${style}-${own.map((name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)).join('-')}`,
    );
    return {
      id,
      draft: true,
      description: `${styles[style]}; ${own.map((name) => traits[name]).join(', and ')}.`,
      style,
      patience,
      behaviours,
    };
  }
  return 'every combination that can be drawn is a persona of this domain already. Draft one with a model (--model)';
}

function signature({ style, behaviours }: Persona): string {
  const own = ['omits', 'changes', 'insists', ...occasionalBehaviours].filter(
    (name) => behaviours[name as keyof Persona['behaviours']] !== false,
  );
  return [style, ...own].join(' ');
}

function freePersonaId(taken: readonly string[], wanted: string): string {
  const base =
    wanted
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 45) || 'persona';
  let id = base;
  for (let number = 2; taken.includes(id); number++) id = `${base}-${number}`;
  return id;
}

/** A persona that a model writes, after a person's words where there are some. It receives what it gets wrong. */
export async function modelPersona(
  loaded: LoadedDomain,
  words: string | undefined,
  drafter: Drafter,
  wanted?: string,
): Promise<PersonaData> {
  const taken = loaded.parts.personas.map(({ value }) => value.id);
  let made: PersonaData | null = null;
  await askForData(drafter, instructions, requestFor(loaded, words), personaSchema, async (persona) => {
    const id = freePersonaId(taken, wanted ?? persona.id);
    const { attacks, draft: _, ...rest } = persona;
    const behaviours = Object.fromEntries(Object.entries(persona.behaviours).filter(([, value]) => value !== false));
    const data: PersonaData = { ...rest, behaviours, ...(attacks.length > 0 ? { attacks } : {}), id, draft: true };
    const { sound, refused } = await sift(loaded, 'persona', [data], drafter.signal);
    made = sound[0] ?? null;
    return made ? null : (refused[0]?.why ?? 'it is not sound');
  });
  if (made === null) throw new Error('a persona that can be used was not kept');
  const { id, draft, ...rest } = made as PersonaData;
  return { id, draft, ...rest };
}

const instructions = `You write personas: how a simulated user of a support domain behaves. Answer with one JSON object and nothing else, with these keys:
id: lower case letters, digits and dashes; description: who this person is, in a sentence or two, in the third person;
style: plain, brief, chatty or formal; patience: 1 to 20, the replies that lead nowhere before they give up;
behaviours: an object with any of omits, interrupts, misunderstands, contradicts, getsUpset, evades, each true or false.
Tasks state what the person wants, so the description must not mention it. The persona must differ from those that are there.`;

function requestFor({ domain }: LoadedDomain, words: string | undefined): string {
  return JSON.stringify(
    {
      domain: domain.file.description || domain.name,
      policy: domain.policy.text,
      personas: domain.personas.map(({ id, description, style, behaviours }) => ({
        id,
        description,
        style,
        behaviours,
      })),
      wanted: words ?? 'somebody whom this domain does not have yet',
    },
    null,
    1,
  );
}
