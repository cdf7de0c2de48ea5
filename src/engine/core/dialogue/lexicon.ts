import * as z from 'zod';

/**
 * Words of a domain: how people refer to its facts and tools. The seats without a model speak with them, and the
 * recogniser of dialogue acts understands with them. Everything has a default derived from the names.
 */
export const lexiconSchema = z.strictObject({
  facts: z
    .record(
      z.string(),
      z.strictObject({
        label: z.string().optional().describe('What it is called, for example "order number".'),
        synonyms: z.array(z.string()).default([]).describe('Other words that ask for it.'),
        ask: z.array(z.string()).default([]).describe('Questions with which the gold seat asks for it.'),
      }),
    )
    .default({})
    .describe('What people call the facts that users know, by the name of the fact.'),
  tools: z
    .record(
      z.string(),
      z.strictObject({
        propose: z
          .array(z.string())
          .default([])
          .describe('How the gold seat proposes the call; {argument} is the value of an argument.'),
        done: z
          .array(z.string())
          .default([])
          .describe(
            'How the gold seat reports that the call was made; {argument} as above, {result.field} for a field of the result.',
          ),
        instruct: z
          .array(z.string())
          .default([])
          .describe('For a tool of the user: how the gold seat asks the user to call it; {argument} as above.'),
        synonyms: z
          .array(z.string())
          .default([])
          .describe('For a tool of the user: other words that ask for it, in their order: restart router.'),
        tell: z
          .array(z.string())
          .default([])
          .describe(
            'For a tool of the user: how the user reports the result; {argument}, a {field} of the result, or {result}, as above.',
          ),
      }),
    )
    .default({})
    .describe('How people talk about the calls of tools, by the name of the tool.'),
  refusals: z
    .array(z.string().min(1))
    .default([])
    .describe('Sentences with which the agent of this domain refuses; {anything} matches a few words.'),
  handOffs: z
    .array(z.string().min(1))
    .default([])
    .describe('Sentences with which the agent of this domain hands over to a person; {anything} as above.'),
});
export type Lexicon = z.infer<typeof lexiconSchema>;
