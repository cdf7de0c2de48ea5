import type { Task } from '../../core/domain/task.ts';
import { strangeTool, worksOnDatabase } from '../../core/domain/tool.ts';
import { failedGold, type GoldCall } from '../../core/evaluation/failedGold.ts';
import { numberFormsOf } from '../../core/events/message.ts';
import { withResults } from '../../core/events/quotedResults.ts';
import type { RolloutState } from '../../core/events/state.ts';
import { advance, begin, type Setting, stateHash } from '../../core/rollout/rollout.ts';
import { lineExcerpt } from '../../core/text/excerpt.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { observedStream, randomStream, rolloutKey } from '../../core/values/random.ts';
import type { Rollout } from './ports.ts';
import { syncWrites } from './sync.ts';
import type { Gold } from './verification.ts';

/** Gold worlds that no random number went into: a worker works each out once. */
const goldWorlds = new WeakMap<Setting, Map<Task, Gold & { readonly now: string }>>();
const goldWorldsKept = 256;

/**
 * The world after the task's gold actions of both seats, from the same start. A gold action that fails changes
 * nothing (tau2-bench does the same) and is named; after one that succeeds the domain's `sync` runs, as in the rollout
 * itself.
 */
export function goldWorld(rollout: Rollout, state: RolloutState): Promise<Gold> | Gold {
  const found = goldWorlds.get(rollout.setting)?.get(rollout.task);
  return found?.now === state.started.now ? found : playGold(rollout, state);
}

async function playGold(rollout: Rollout, { started, start }: RolloutState): Promise<Gold> {
  const { setting, task, ports } = rollout;
  const { hosted } = setting.domain;
  let isRandom = false;
  const steps: Gold['steps'][number][] = [];
  const callTool = ports.callGold ?? ports.callTool;
  let state: RolloutState = { ...begin(setting, started)[0], world: start };
  const results: string[] = [];
  const calls: GoldCall[] = [];
  for (const [index, written] of task.actions.entries()) {
    const action = withResults(written, results);
    const tool =
      setting.domain.tools.find(({ name, owner }) => name === action.tool && owner === action.by) ??
      (hosted && strangeTool(hosted.name, action.tool, action.by));
    // What a model would answer, and what lies outside, is not part of the gold world.
    if (!tool || !worksOnDatabase(tool)) continue;
    const random = observedStream(randomStream(...rolloutKey(started), 'gold', index), () => {
      isRandom = true;
    });
    const { tool: name } = action;
    const values = action.arguments as JsonObject;
    const call = { id: `gold_${index}`, name, arguments: values, ...numberFormsOf(action) };
    const filled = action === written ? {} : { filled: values };
    const context = { world: state.world, now: started.now, random, step: index, ...filled };
    const { writes: called, isError, content } = await callTool(tool, call, context);
    if (!isError) results.push(content);
    calls.push({ by: tool.owner, name, arguments: values, isError, content });
    [state] = advance(setting, state, { type: 'worldEdited', writes: called });
    const isSynced = setting.domain.sync && !isError && setting.domain.hosted?.goldSyncs !== false;
    const synced = isSynced ? await syncWrites(rollout, state) : [];
    [state] = advance(setting, state, { type: 'worldEdited', writes: synced });
    steps.push({ turn: action.turn ?? 0, content, world: state.world, writes: [...called, ...synced] });
  }
  const [failed] = failedGold(calls).map(
    (call) => `the gold action ${call.name} fails: ${lineExcerpt(call.content.replace(/^Error: /, ''), 200)}`,
  );
  const gold = { world: state.world, steps, failed };
  if (isRandom) return gold;
  // A world that was hashed is compared by its hash.
  stateHash(state);
  const known = goldWorlds.get(setting) ?? new Map();
  goldWorlds.set(setting, known);
  const [oldest] = known.keys();
  if (known.size >= goldWorldsKept && oldest !== undefined) known.delete(oldest);
  known.set(task, { now: started.now, ...gold });
  return gold;
}
