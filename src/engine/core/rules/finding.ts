import type { RuleVerdict } from '../domain/rule.ts';
import type { ToolCall } from '../events/message.ts';

/** When rules are checked. */
export type Moment =
  /** Before a call is made. `isFirst` of the calls of its message. */
  | { readonly type: 'call'; readonly call: ToolCall; readonly isFirst: boolean }
  /** After the agent spoke to the user. */
  | { readonly type: 'utterance'; readonly text: string; readonly step: number }
  | { readonly type: 'end' };

export type Finding = Pick<RuleVerdict, 'verdict' | 'reason' | 'evidence'>;

type Make = (reason: string, evidence?: readonly number[]) => Finding;
export const held: Make = (reason, evidence = []) => ({ verdict: 'held', reason, evidence });
/** Expressions of several lines are one line in a reason, as a person reads it in a list. */
export const violated: Make = (reason, evidence = []) => ({
  verdict: 'violated',
  reason: reason.replace(/\s+/g, ' '),
  evidence,
});
export const unknown: Make = (reason, evidence = []) => ({ verdict: 'unknown', reason, evidence });
