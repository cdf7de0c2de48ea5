import * as z from 'zod';

const toolNames = z.union([z.array(z.string()).min(1), z.literal('writes')]);

/**
 * A machine check bound to a rule of the policy.
 * `before`: a call of `tools` needs an earlier successful call of one of `require`.
 * `confirmed`: the last thing the user did before a call of `tools` is a yes to a proposal that named the
 * values of the arguments `names`, and the call has those same values.
 */
export const ruleSchema = z.discriminatedUnion('check', [
  z.strictObject({
    rule: z.string().describe('Id of a rule in policy.md, or a quote of its text.'),
    check: z.literal('before'),
    tools: toolNames,
    require: z.array(z.string()).min(1),
    gate: z.boolean().default(false).describe('A violation makes the reward 0.'),
  }),
  z.strictObject({
    rule: z.string(),
    check: z.literal('confirmed'),
    tools: toolNames.default('writes'),
    names: z.array(z.string()).default([]).describe('Arguments whose values the proposal must name.'),
    gate: z.boolean().default(false),
  }),
  z.strictObject({
    rule: z.string(),
    check: z.literal('oneCall'),
    gate: z.boolean().default(false),
  }),
]);
export type Rule = z.infer<typeof ruleSchema>;

export type RuleVerdict = {
  readonly rule: string;
  readonly check: Rule['check'];
  readonly gate: boolean;
  readonly verdict: 'held' | 'violated';
  readonly reason: string;
  /** Numbers of the events that decide it. */
  readonly evidence: readonly number[];
};
