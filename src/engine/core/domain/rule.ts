import * as z from 'zod';

const tools = z
  .union([z.array(z.string()).min(1), z.enum(['writes', 'all'])])
  .describe('Names of tools; `writes`: every tool that changes something, `all`: every tool that is not generic.');
const condition = z.string().min(1).max(2000);
const phrases = z
  .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
  .describe('A phrase, or several of which one is enough; `...` matches up to six words.');

/** Fields of every check. */
const common = {
  rule: z.string().describe('Id of a rule in policy.md, or a quote of its text.'),
  gate: z.boolean().default(false).describe('A violation makes the reward 0.'),
  when: condition.optional().describe('An expression. If it does not hold, the check does not apply.'),
  layer: z
    .enum(['policy', 'communication', 'safety'])
    .optional()
    .describe('Where it counts in the report card; `mustSay` counts as communication, everything else as policy.'),
};

/** A machine check bound to a rule of the policy. Each kind is explained in docs/rule-language.md. */
export const ruleSchema = z.discriminatedUnion('check', [
  z.strictObject({
    ...common,
    check: z.literal('before').describe('A tool is called only after another has succeeded.'),
    tools,
    require: z.array(z.string()).min(1).describe('Tools of which one must have succeeded before.'),
    same: z
      .array(z.string())
      .optional()
      .describe('Arguments that the earlier call must share with this one, such as the order.'),
  }),
  z.strictObject({
    ...common,
    check: z.literal('confirmed').describe('The user has agreed to the call before.'),
    tools: tools.default('writes'),
    names: z
      .array(z.string())
      .default([])
      .describe(
        'Arguments whose values the proposal must name, or expressions for what it must name instead, such as db.books[args.book_id].title.',
      ),
    asks: phrases
      .optional()
      .describe(
        'Phrases with which the agent asks for a yes, for example in another language. English phrases also count.',
      ),
    yes: phrases.optional().describe('Phrases with which the user says yes. English phrases also count.'),
    no: phrases.optional().describe('Phrases that make an answer not a yes, whatever else it contains.'),
  }),
  z.strictObject({
    ...common,
    check: z.literal('oneCall').describe('One call at a time.'),
    silent: z.boolean().optional().describe('The message that makes the call says nothing else.'),
  }),
  z.strictObject({
    ...common,
    check: z.literal('onlyIf').describe('A tool is called only where a condition holds.'),
    tools,
    condition: condition.describe('An expression that must hold when one of the tools is called.'),
  }),
  z.strictObject({
    ...common,
    check: z.literal('never').describe('A tool is never called, or something never said.'),
    tools: tools.optional(),
    says: phrases.optional(),
  }),
  z.strictObject({
    ...common,
    check: z.literal('mustSay').describe('The agent says something before or after a call.'),
    says: phrases,
    before: tools.optional(),
    after: tools.optional(),
  }),
  z.strictObject({
    ...common,
    check: z.literal('handOff').describe('When a conversation is handed over, and when not.'),
    onlyWhen: condition.optional().describe('An expression that must hold when the conversation is handed over.'),
    always: condition
      .optional()
      .describe('An expression. If it holds at the end, the conversation must have been handed over.'),
  }),
  z.strictObject({
    ...common,
    check: z.literal('judge').describe('A model answers a question about the conversation.'),
    question: z
      .string()
      .min(1)
      .describe('A question about the conversation whose answer is yes if the rule was followed.'),
  }),
]);
export type Rule = z.infer<typeof ruleSchema>;
export type RuleOf<Check extends Rule['check']> = Extract<Rule, { check: Check }>;

/** The result of a check, as it is recorded. */
export const ruleVerdictSchema = z.object({
  rule: z.string().describe('Id of the rule.'),
  check: z.literal(ruleSchema.options.map(({ shape }) => shape.check.value)).describe('The kind of check.'),
  gate: z.boolean().describe('Whether a violation makes the reward 0.'),
  verdict: z
    .enum(['held', 'violated', 'unknown'])
    .describe('`unknown`: it could not be determined, for the given reason.'),
  reason: z.string().describe('A sentence for people.'),
  evidence: z.array(z.int()).describe('Numbers of the events that decide it.'),
});
export type RuleVerdict = Omit<z.infer<typeof ruleVerdictSchema>, 'evidence'> & {
  readonly evidence: readonly number[];
};
