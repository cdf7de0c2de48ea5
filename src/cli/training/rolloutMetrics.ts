import type { Task } from '../../engine/core/domain/task.ts';
import type { Measure } from '../../engine/core/evaluation/measure.ts';
import { sum } from '../../engine/core/values/statistics.ts';

/** A model may call what no tool is named, a new name each time: such calls are counted together. */
const unknownTool = 'unknown';

/** Returns what the trainer's metrics and alarms need to know of a rollout; a fact that it does not have is absent. */
export function rolloutMetrics(
  measure: Measure,
  { actions }: Task,
  tools: readonly { readonly name: string }[],
): object {
  const named = Map.groupBy(measure.calls, ({ tool }) =>
    tools.some(({ name }) => name === tool) ? tool : unknownTool,
  );
  const gold = actions.filter(({ by }) => by === 'agent');
  const wanted = Map.groupBy(gold, ({ tool }) => tool);
  const madeOf = (tool: string) => sum(measure.calls.map((each) => (each.tool === tool ? each.calls : 0)));
  const matched = sum([...wanted].map(([tool, rows]) => Math.min(rows.length, madeOf(tool))));
  return {
    calls: Object.fromEntries([...named].map(([tool, rows]) => [tool, sum(rows.map(({ calls }) => calls))])),
    generic_calls: sum(measure.calls.map(({ isGeneric, calls }) => (isGeneric ? calls : 0))),
    longest_repeat: measure.longestRepeat,
    handed_off: measure.isHandedOff,
    ...(measure.checks.declared > 0 ? { completion: measure.checks.met / measure.checks.declared } : {}),
    ...(gold.length > 0 ? { matched_tools: matched / gold.length } : {}),
  };
}
