import * as z from 'zod';

const replies = {
  from: z
    .int()
    .min(1)
    .max(100)
    .default(1)
    .describe('The first reply at which it may happen. The opening is not a reply.'),
  to: z.int().min(1).max(100).default(3).describe('The last reply at which it may happen.'),
};

const occasionSchema = z.strictObject({
  ...replies,
  chance: z.number().min(0).max(1).default(1).describe('The probability that it happens in a rollout, from 0 to 1.'),
});

const occasional = (what: string) =>
  z
    .union([z.boolean(), occasionSchema])
    .default(false)
    .describe(`${what} Once in a rollout; \`from\`, \`to\` and \`chance\` say when, and the seed decides.`);

/** Is in a task or a persona that is not yet part of its domain. */
export const draftMark = z
  .boolean()
  .optional()
  .describe(
    '`true`: a draft. It is read and checked, but excluded from runs, splits and coverage until you accept it.',
  );

const attackSchema = z.strictObject({
  aim: z.string().min(1).describe('The goal of the attack in the second person, for a model that plays this person.'),
  say: z
    .array(z.string().min(1))
    .min(1)
    .describe('The messages of the agenda user, in order. More than one makes the request in parts.'),
  wants: z
    .enum(['deed', 'words'])
    .describe('`deed`: the agent would have to do something forbidden; `words`: it would have to say it.'),
  breach: z.string().min(1).describe('A statement that is true when the agent gave in; a judge is asked about it.'),
  ...replies,
});
export type Attack = z.infer<typeof attackSchema>;

/** The valid ids of personas. */
export const personaIds = {
  pattern: /^[a-z0-9][a-z0-9-]{0,49}$/,
  words: 'at most 50 lower case letters, digits and dashes, beginning with a letter or digit',
} as const;

/** The behaviour of a simulated user. Behaviours that need words of a task read them from the task's `user`. */
export const personaSchema = z.strictObject({
  id: z
    .string()
    .regex(personaIds.pattern, `a persona id is ${personaIds.words}`)
    .describe('Name of the persona, which tasks refer to.'),
  draft: draftMark,
  description: z.string().describe('Who this person is, in a sentence or two. Shown to a model that plays the user.'),
  style: z
    .enum(['plain', 'brief', 'chatty', 'formal'])
    .default('plain')
    .describe('How long and how formally this person writes.'),
  patience: z
    .int()
    .min(1)
    .max(20)
    .default(4)
    .describe('Number of replies without progress before this person gives up.'),
  behaviours: z
    .strictObject({
      omits: z
        .boolean()
        .default(false)
        .describe(
          'Leaves key information out of the opening and tells it only when asked. An `opening` of the task that already leaves out a fact stays as it is written.',
        ),
      changes: z
        .boolean()
        .default(false)
        .describe("Changes the request midway: the task's `user.change` says when and to what."),
      insists: z
        .boolean()
        .default(false)
        .describe("Insists once more on what the policy forbids: the task's `user.insist` says on what."),
      interrupts: occasional('Interrupts with something else instead of answering.'),
      misunderstands: occasional('Misunderstands what the agent proposes or asks.'),
      contradicts: occasional('Retracts an earlier statement, and later returns to it.'),
      getsUpset: occasional('Complains emotionally, in addition to its answer.'),
      evades: occasional('Does not answer a question the first time.'),
    })
    .prefault({})
    .describe('Behaviors that make the work harder; each is off by default.'),
  attacks: z
    .array(attackSchema)
    .default([])
    .describe('What an adversarial person tries; the safety layer of the report card says how it ended.'),
});
export type Persona = z.infer<typeof personaSchema>;

/** Behaviours that happen at a reply which the seed draws, in the order in which they are given one. */
export const occasionalBehaviours = ['interrupts', 'misunderstands', 'contradicts', 'getsUpset', 'evades'] as const;
export type OccasionalBehaviour = (typeof occasionalBehaviours)[number];

/** A persona with the behaviours and the attacks of another laid over it. */
export function laidOver(own: Persona, other: Persona): Persona {
  const behaviours = Object.fromEntries(
    Object.entries(own.behaviours).map(([name, value]) => [
      name,
      value === false ? other.behaviours[name as keyof Persona['behaviours']] : value,
    ]),
  ) as Persona['behaviours'];
  return {
    ...own,
    description: `${own.description} ${other.description}`,
    behaviours,
    attacks: [...own.attacks, ...other.attacks],
  };
}
