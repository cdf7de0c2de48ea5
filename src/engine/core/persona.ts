import * as z from 'zod';

/** How a simulated user behaves. Behaviours that need words of a task read them from the task's `user`. */
export const personaSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, 'a persona id is lower case letters, digits and dashes'),
  description: z.string().describe('Who this person is, in a sentence or two. Shown to a model that plays the user.'),
  style: z
    .enum(['plain', 'brief', 'chatty', 'formal'])
    .default('plain')
    .describe('How long and how formally this person writes.'),
  patience: z.int().min(1).max(20).default(4).describe('Replies that lead nowhere before this person gives up.'),
  behaviours: z
    .strictObject({
      omits: z
        .boolean()
        .default(false)
        .describe('Leaves key information out of the opening and tells it only when asked.'),
      changes: z
        .boolean()
        .default(false)
        .describe("Changes the request midway: the task's `user.change` says when and to what."),
      insists: z
        .boolean()
        .default(false)
        .describe("Insists once more on what the policy forbids: the task's `user.insist` says on what."),
    })
    .prefault({}),
});
export type Persona = z.infer<typeof personaSchema>;
