import * as z from 'zod';
import type { Domain } from '../../engine/core/domain/domain.ts';
import type { Utterance } from '../../engine/core/events/message.ts';
import type { JsonObject } from '../../engine/core/values/json.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import { misfitOf } from '../../engine/shell/load/arguments.ts';
import { askForData, type Drafter } from './askedModel.ts';

/** The actions that a model reads in a conversation, or why it returned none. */
export type ModelActions =
  | {
      readonly actions: readonly { readonly tool: string; readonly arguments: JsonObject }[];
      readonly communicate: readonly string[];
    }
  | { readonly problem: string };

const answerSchema = z.object({
  actions: z.array(z.object({ tool: z.string(), arguments: z.record(z.string(), z.json()).default({}) })),
  communicate: z.array(z.string().regex(/\S/)).default([]),
});

const instructions = `You read a conversation in which an agent served a user, and write down the calls of tools that a right agent makes for this user, in order. Answer with one JSON object {"actions": [{"tool": "...", "arguments": {...}}], "communicate": ["..."]} and nothing else.
Follow the policy: look up what it wants looked up first, and change only what the user agreed to. The tools of the owner "user" are those that the user called when the agent asked for it; write these calls, too, where they were made. Use only the tools that you are given, and only values that appear in the conversation. "communicate" has short texts that the agent must have told the user, word for word; leave it empty where a call changes something. "begun" is what is known of the calls already, and "missing" what is not.`;

/** Asks a model for the gold actions of a conversation that does not tell them by itself. Only the words go to it. */
export async function modelActions(
  spoken: readonly Utterance[],
  { begun, missing }: { readonly begun: readonly object[]; readonly missing: readonly string[] },
  domain: Domain,
  drafter: Drafter,
): Promise<ModelActions> {
  const { tools } = domain;
  const request = {
    policy: domain.policy.text,
    tools: tools.map(({ name, owner, description, parameters, effect }) => ({
      name,
      owner,
      description,
      parameters,
      effect,
    })),
    conversation: spoken.map(({ role, content }) => ({ role, content })),
    begun,
    missing,
  };
  try {
    const { actions, communicate } = await askForData(
      drafter,
      instructions,
      JSON.stringify(request),
      answerSchema,
      async ({ actions: given, communicate: told }) => {
        if (given.length === 0 && told.length === 0) return 'it has neither actions nor anything to communicate';
        const misfits = given.map((action) => {
          const tool = tools.find(({ name }) => name === action.tool);
          return tool ? misfitOf(tool, action.arguments as JsonObject) : `there is no tool ${action.tool}`;
        });
        return misfits.find((misfit) => misfit !== null) ?? null;
      },
    );
    return { actions: actions as readonly { readonly tool: string; readonly arguments: JsonObject }[], communicate };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}
