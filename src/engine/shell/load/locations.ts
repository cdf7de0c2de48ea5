import type { Task } from '../../core/domain/task.ts';
import { startOf } from '../files/diagnostic.ts';
import { type Placed, placeOf } from '../source/items.ts';
import { remembered } from '../source/source.ts';
import type { Locations, Parts, TaskLocation } from './loadedDomain.ts';

/** Tasks of files that have not changed keep their places: with thousands of them, working them out takes seconds. */
const tasks = new WeakMap<Placed<Task>, TaskLocation>();

/** Returns where the parts of a domain are. Of two parts with one id, the first. */
export function locationsOf(parts: Parts): Locations {
  const byId = <T extends { readonly id: string }, L>(items: readonly Placed<T>[], of: (item: Placed<T>) => L) =>
    new Map(items.toReversed().map((item) => [item.value.id, of(item)] as const));
  const policyRules = parts.policy.policy.rules.map(({ id, line, endLine }) => {
    const block = parts.policy.blocks.find((each) => each.line === line);
    return [
      id,
      { file: parts.policyFile, line, column: block?.column ?? 1, endLine, endColumn: block?.endColumn ?? 1 },
    ] as const;
  });
  return {
    domain: startOf(parts.file.file),
    tasks: byId(parts.tasks, taskLocation),
    personas: byId(parts.personas, (item) => placeOf(item)),
    tools: parts.scan.tools,
    mcpServers: new Map(
      Object.keys(parts.file.value.mcpServers).map((name) => [name, placeOf(parts.file, 'mcpServers', name)] as const),
    ),
    policyRules: new Map(policyRules),
    rules: parts.rules.map((item) => placeOf(item)),
  };
}

/** Returns where the parts of a task are. */
export function taskLocation(item: Placed<Task>): TaskLocation {
  return remembered(tasks, item, () => located(item));
}

function located(item: Placed<Task>): TaskLocation {
  const each = (key: 'actions' | 'assertions' | 'communicate' | 'script') =>
    (item.value[key] ?? []).map((_, index) => placeOf(item, key, index));
  return {
    ...placeOf(item),
    actions: each('actions'),
    assertions: each('assertions'),
    communicate: each('communicate'),
    script: each('script'),
  };
}
