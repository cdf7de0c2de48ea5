import * as z from 'zod';
import type { Task, VerifierName } from '../engine/core/domain/task.ts';

const text = z.string().nullish();
const floats = z.array(z.string()).optional();
const requestor = z.enum(['assistant', 'user']);

const functionSchema = z.strictObject({
  env_type: requestor,
  func_name: z.string(),
  arguments: z.record(z.string(), z.json()),
  floats,
});

const actionSchema = z.strictObject({
  action_id: z.string(),
  requestor: requestor.default('assistant'),
  name: z.string(),
  arguments: z.record(z.string(), z.json()),
  floats,
  info: text,
  compare_args: z.array(z.string()).nullish(),
});

const rewardTypes = ['DB', 'ENV_ASSERTION', 'NL_ASSERTION', 'ACTION', 'COMMUNICATE'] as const;

const criteriaSchema = z.strictObject({
  actions: z.array(actionSchema).nullish(),
  env_assertions: z.array(functionSchema.extend({ assert_value: z.boolean().default(true), message: text })).nullish(),
  communicate_info: z.array(z.string()).nullish(),
  nl_assertions: z.array(z.string()).nullish(),
  reward_basis: z.array(z.enum(rewardTypes)).default(['DB', 'COMMUNICATE']),
});

/** A task of tau2's tasks.json, as every version that is known lays it out. */
export const tau2TaskSchema = z.strictObject({
  id: z.string(),
  description: z.strictObject({ purpose: text, relevant_policies: text, notes: text }).nullish(),
  user_scenario: z.strictObject({ persona: text, instructions: z.union([z.string(), z.record(z.string(), z.json())]) }),
  ticket: text,
  initial_state: z
    .strictObject({
      initialization_data: z.strictObject({ agent_data: z.json().nullish(), user_data: z.json().nullish() }).nullish(),
      initialization_actions: z.array(functionSchema).nullish(),
      message_history: z.array(z.json()).nullish(),
    })
    .nullish(),
  evaluation_criteria: criteriaSchema.nullish(),
  annotations: z.json().nullish(),
  issues: z.json().nullish(),
  required_documents: z.json().nullish(),
  user_tools: z.array(z.string()).nullish(),
});
export type Tau2Task = z.infer<typeof tau2TaskSchema>;
type Criteria = z.infer<typeof criteriaSchema>;
type Action = z.infer<typeof actionSchema>;

const owner = { assistant: 'agent', user: 'user' } as const;

/** A domain of tau2 that is not imported, and why. */
export const knowledge = 'banking_knowledge';
export const notKnowledge =
  'is not imported: its agent searches documents in an index that tau2 builds with embedding models';

/** Why a task can't be one of ours, or null. */
export function obstacleOf({ initial_state: start, evaluation_criteria: criteria, ...task }: Tau2Task): string | null {
  if ((start?.message_history?.length ?? 0) > 0)
    return 'it begins in the middle of a conversation (initial_state.message_history)';
  if ((task.required_documents ?? null) !== null) return 'it needs documents of a knowledge base (required_documents)';
  if (criteria && basisOf(criteria).length > 0) return null;
  return 'tau2 gives it the reward 1 whatever happens: nothing of it is in its reward basis';
}

/** Returns what of a task is kept and counts for nothing, or is not kept at all. */
export function notCarriedIn(task: Tau2Task): readonly string[] {
  const criteria = task.evaluation_criteria;
  const basis = criteria?.reward_basis ?? [];
  const restricted = task.user_tools ? ['user_tools: the user of this task is offered every tool of its side'] : [];
  const commas = (criteria?.communicate_info ?? []).filter((info) => info.includes(','));
  return [
    ...(task.ticket ? ['ticket: only for agents without a user (solo mode)'] : []),
    ...(task.annotations ? ['annotations'] : []),
    ...(task.issues ? ['issues'] : []),
    ...restricted,
    ...(task.description?.relevant_policies ? ['description.relevant_policies'] : []),
    ...((criteria?.nl_assertions?.length ?? 0) > 0 && !basis.includes('NL_ASSERTION')
      ? ['nl_assertions: outside of the reward basis, kept under `judge`']
      : []),
    ...(commas.length > 0 ? ['communicate_info with a comma: tau2 never finds it, so neither does this engine'] : []),
  ];
}

/** The task in this engine's words; `goal` is what tau2 tells its simulated user. */
export function taskFrom(task: Tau2Task, split: Task['split'], goal: string): Record<string, unknown> {
  const criteria = task.evaluation_criteria as Criteria;
  const actions = criteria.actions ?? [];
  const evaluate = basisOf(criteria);
  const train = evaluate.filter((name) => name !== 'communicate' && name !== 'judge');
  const start = task.initial_state;
  const setUp = {
    ...(start?.initialization_data ? { initialization_data: start.initialization_data } : {}),
    ...(start?.initialization_actions?.length ? { initialization_actions: start.initialization_actions } : {}),
  };
  const about = [task.description?.purpose, task.description?.notes].filter((each) => each).join(' ');
  const rehearsal = scriptsOf(actions, criteria.communicate_info ?? []);
  return {
    ...(about === '' ? {} : { description: about }),
    split,
    persona: 'customer',
    user: { goal, script: rehearsal.user },
    ...(Object.keys(setUp).length > 0 ? { setUp: { tau2: setUp } } : {}),
    actions: actions.map(goldAction),
    ...(criteria.env_assertions?.length ? { assertions: criteria.env_assertions.map(assertionFrom) } : {}),
    ...(criteria.communicate_info?.length ? { communicate: criteria.communicate_info, communicateBy: 'tau2' } : {}),
    ...(criteria.nl_assertions?.length ? { judge: criteria.nl_assertions } : {}),
    script: rehearsal.agent,
    evaluate,
    train: train.length > 0 ? train : evaluate,
  };
}

/**
 * The verifiers of the official reward. What has nothing to verify holds for everybody, so it is left out; without
 * actions and assertions tau2 does not look at the database.
 */
function basisOf({ reward_basis: basis, ...criteria }: Criteria): readonly VerifierName[] {
  const { actions, env_assertions: assertions, communicate_info: texts, nl_assertions: statements } = criteria;
  const looksAtState = (actions ?? null) !== null || (assertions ?? null) !== null;
  const stands: Readonly<Record<(typeof rewardTypes)[number], VerifierName | false>> = {
    DB: looksAtState && 'database',
    ENV_ASSERTION: (assertions?.length ?? 0) > 0 && 'assertions',
    ACTION: (actions?.length ?? 0) > 0 && 'actions',
    COMMUNICATE: (texts?.length ?? 0) > 0 && 'communicate',
    NL_ASSERTION: (statements?.length ?? 0) > 0 && 'judge',
  };
  return rewardTypes.flatMap((type) => (basis.includes(type) && stands[type] ? [stands[type]] : []));
}

function goldAction({ requestor: by, compare_args: compare, ...action }: Action) {
  return {
    ...(by === 'user' ? { by: 'user' as const } : {}),
    ...callOf(action),
    ...(compare ? { compare } : {}),
  };
}

function callOf({ name: tool, arguments: values, floats: places }: Pick<Action, 'name' | 'arguments' | 'floats'>) {
  return { tool, arguments: values, ...(places ? { floats: places } : {}) };
}

function assertionFrom(assertion: NonNullable<Criteria['env_assertions']>[number]) {
  const { env_type: side, func_name: tool, arguments: values, assert_value: equals } = assertion;
  return { in: 'tau2', call: { tool, by: owner[side], arguments: values }, equals };
}

type Turn = string | readonly ReturnType<typeof callOf>[];

/** Turns of both seats that make the gold actions in their order, so that a task can be stepped through without a model. */
function scriptsOf(
  actions: readonly Action[],
  texts: readonly string[],
): { readonly agent: Turn[]; readonly user: Turn[] } {
  const agent: Turn[] = [];
  const user: Turn[] = ['Hello, I need your help.'];
  for (const [at, { requestor: by, ...action }] of actions.entries()) {
    const turn = [callOf(action)];
    if (by === 'assistant') agent.push(turn);
    else {
      if (actions[at - 1]?.requestor !== 'user') agent.push('Please do the next step on your side.');
      user.push(turn);
      if (actions[at + 1]?.requestor !== 'user') user.push('I have done that.');
    }
  }
  agent.push(texts.length > 0 ? `This is what I can tell you: ${texts.join('; ')}` : 'That is done.');
  return { agent, user };
}
