import * as z from 'zod';

const tools = z
  .union([z.array(z.string()).min(1), z.enum(['writes', 'all'])])
  .describe('Names of tools; `writes`: every tool that changes something, `all`: every tool that is not generic.');
const condition = z.string().min(1).max(2000);
const phrases = z
  .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
  .describe('A phrase, or several of which one is enough; `...` stands for up to six words.');

/** What every check has. */
const common = {
  rule: z.string().describe('Id of a rule in policy.md, or a quote of its text.'),
  gate: z.boolean().default(false).describe('A violation makes the reward 0.'),
  when: condition.optional().describe('An expression; where it does not hold, the check does not apply.'),
  layer: z
    .enum(['policy', 'communication', 'safety'])
    .optional()
    .describe('Where it counts in the report card; `mustSay` counts as communication, everything else as policy.'),
};

/** A machine check bound to a rule of the policy. Each kind is explained in docs/rule-language.md. */
export const ruleSchema = z.discriminatedUnion('check', [
  z.strictObject({
    ...common,
    check: z.literal('before'),
    tools,
    require: z.array(z.string()).min(1).describe('Tools of which one must have succeeded before.'),
    same: z
      .array(z.string())
      .optional()
      .describe('Arguments that the earlier call must share with this one, such as the order.'),
  }),
  z.strictObject({
    ...common,
    check: z.literal('confirmed'),
    tools: tools.default('writes'),
    names: z.array(z.string()).default([]).describe('Arguments whose values the proposal must name.'),
  }),
  z.strictObject({
    ...common,
    check: z.literal('oneCall'),
    silent: z.boolean().optional().describe('The message that makes the call says nothing else.'),
  }),
  z.strictObject({
    ...common,
    check: z.literal('onlyIf'),
    tools,
    condition: condition.describe('An expression that must hold when one of the tools is called.'),
  }),
  z.strictObject({
    ...common,
    check: z.literal('never'),
    tools: tools.optional(),
    says: phrases.optional(),
  }),
  z.strictObject({
    ...common,
    check: z.literal('mustSay'),
    says: phrases,
    before: tools.optional(),
    after: tools.optional(),
  }),
  z.strictObject({
    ...common,
    check: z.literal('handOff'),
    onlyWhen: condition.optional().describe('An expression that must hold when the conversation is handed over.'),
    always: condition.optional().describe('An expression; where it holds at the end, it must have been handed over.'),
  }),
  z.strictObject({
    ...common,
    check: z.literal('judge'),
    question: z.string().min(1).describe('A question about the conversation that yes answers when the rule was kept.'),
  }),
]);
export type Rule = z.infer<typeof ruleSchema>;
export type RuleOf<Check extends Rule['check']> = Extract<Rule, { check: Check }>;

const ruleChecks = ['before', 'confirmed', 'oneCall', 'onlyIf', 'never', 'mustSay', 'handOff', 'judge'] as const;

/** What a check came to, as it is recorded. */
export const ruleVerdictSchema = z.object({
  rule: z.string(),
  check: z.enum(ruleChecks),
  gate: z.boolean(),
  /** `unknown`: it could not be told, for the reason that is given. */
  verdict: z.enum(['held', 'violated', 'unknown']),
  reason: z.string(),
  /** Numbers of the events that decide it. */
  evidence: z.array(z.int()),
});
export type RuleVerdict = Omit<z.infer<typeof ruleVerdictSchema>, 'evidence'> & {
  readonly evidence: readonly number[];
};
