import type { RuleVerdict } from '../domain/rule.ts';
import type { Side } from '../domain/tool.ts';
import type { EndReason, Failure } from '../events/event.ts';
import type { ToolCall } from '../events/message.ts';
import type { JudgeQuestion } from './judgement.ts';

/** The next action of the shell. Values only: `advance` decides, the shell performs. */
export type Effect =
  | { readonly type: 'prepareWorld' }
  | { readonly type: 'sync' }
  | { readonly type: 'askUser' }
  | { readonly type: 'askAgent' }
  /** The verdicts are decided already; performing it is recording them. */
  | { readonly type: 'noteRules'; readonly callId: string | null; readonly verdicts: readonly RuleVerdict[] }
  | { readonly type: 'callTool'; readonly call: ToolCall; readonly by: Side }
  /** The call was begun in an earlier process and its result is not known. */
  | { readonly type: 'finishCall'; readonly call: ToolCall; readonly by: Side }
  | { readonly type: 'stop'; readonly reason: EndReason; readonly failure?: Failure }
  | { readonly type: 'askJudge'; readonly question: JudgeQuestion }
  | { readonly type: 'verify' };
