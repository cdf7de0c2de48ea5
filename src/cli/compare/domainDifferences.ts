import type { RolloutStarted } from '../../engine/core/events/event.ts';
import { canonicalJson } from '../../engine/core/values/json.ts';

/** Returns how the domains of two rollouts differ, apart from the policy and the task, in words. */
export function domainDifferences(one: RolloutStarted, other: RolloutStarted): readonly string[] {
  return [
    ...toolDifferences("the agent's tools", one.tools, other.tools),
    ...toolDifferences("the user's tools", one.userTools ?? [], other.userTools ?? []),
    ...(one.database === other.database ? [] : ['database at the start']),
    ...(one.domain.hash === other.domain.hash
      ? []
      : ['content of the domain without its tasks, such as rules.yaml and the code of its tools']),
  ];
}

/** Returns a text about the tools that only one rollout offered, or described in another way; empty without one. */
function toolDifferences(
  label: string,
  one: RolloutStarted['tools'],
  other: RolloutStarted['tools'],
): readonly string[] {
  const [first, second] = [one, other].map((tools) => new Map(tools.map((tool) => [tool.name, canonicalJson(tool)])));
  const names = new Set([...one, ...other].map(({ name }) => name));
  const found = [...names].flatMap((name) => {
    const [left, right] = [first?.get(name), second?.get(name)];
    if (left === right) return [];
    return [`${name} ${left === undefined ? 'only in B' : right === undefined ? 'only in A' : 'changed'}`];
  });
  return found.length === 0 ? [] : [`${label}: ${found.join(', ')}`];
}
