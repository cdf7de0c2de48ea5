import type { Tool } from '../../core/domain/tool.ts';
import { numberFormsOf, type ToolCall } from '../../core/events/message.ts';
import type { JudgeQuestion } from '../../core/rollout/judgement.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Random } from '../../core/values/random.ts';
import type { GivenArguments, Question, RemoteView } from '../workers/workerMessage.ts';

/** A question of a worker, with everything that decides what is asked taken from the supervisor's own state. */
export type CheckedQuestion =
  | { readonly type: 'agent' | 'user'; readonly view: RemoteView }
  | { readonly type: 'judge'; readonly question: JudgeQuestion }
  | ({ readonly type: 'tool'; readonly source: string } & AskedCall)
  | (Extract<Question, { readonly type: 'python' }> & { readonly now: string; readonly seed: string } & AskedCall)
  | ({
      readonly type: 'simulated';
      /** The problem with the previous answer. */
      readonly problem: string | null;
      readonly now: string;
      readonly visible: JsonObject;
    } & AskedCall)
  | Extract<Question, { readonly type: 'hosted' | 'source' }>;

/** A call of a tool that the supervisor makes; `step` is the same for every attempt of it. */
export type AskedCall = { readonly name: string; readonly step: number } & GivenArguments;

/** A call with its tool, and the random numbers that the tool gets. */
export type CalledTool = { readonly tool: Tool; readonly asked: AskedCall; readonly random: Random };

export const askedCall = (call: ToolCall, step: number): AskedCall => ({
  name: call.name,
  step,
  arguments: call.arguments as JsonObject,
  ...numberFormsOf(call),
});
