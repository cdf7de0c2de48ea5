import { getAt } from '../../engine/core/database.ts';
import type { Json } from '../../engine/core/json.ts';
import type { DebugStep } from './edit.ts';

/** Roots that an expression of the Debug Console, a watch or a hover can start with. */
export const roots = ['db', 'user', 'messages', 'turn', 'reward', 'rules', 'event', 'task'] as const;

/**
 * Reads `db.orders.W1.status`, `messages[3].content`, `orders["#W1"]` and the like at a step. Only paths: nothing
 * is called and nothing changes.
 * @returns the value, or a sentence why there is none
 */
export function evaluate(text: string, step: DebugStep): { readonly value: Json } | string {
  const path = pathOf(text.trim());
  if (!path) return `"${text}" is no path: write for example db.orders.W1.status, messages[0] or turn. /help says more`;
  const [root, ...rest] = path;
  const { state, event } = step;
  const value = rootValue(root, rest, step);
  if (value !== undefined) return { value };
  const first = typeof root === 'string' && roots.includes(root as (typeof roots)[number]);
  return first
    ? `there is no ${text} at step ${step.n}`
    : `"${root}" is unknown; a path starts with ${roots.join(', ')} (${event.type}, turn ${state.turn})`;
}

function rootValue(
  root: string | number | undefined,
  rest: readonly (string | number)[],
  { state, event }: DebugStep,
): Json | undefined {
  switch (root) {
    case 'db':
      return getAt(state.world.agent, rest);
    case 'user':
      return getAt(state.world.user, rest);
    case 'messages':
      return inside(state.messages as unknown as Json, rest);
    case 'turn':
      return state.turn;
    case 'reward':
      return inside(state.reward as unknown as Json, rest);
    case 'rules':
      return inside(state.ruleVerdicts as unknown as Json, rest);
    case 'event':
      return inside(event as unknown as Json, rest);
    case 'task':
      return inside(state.started.task as unknown as Json, rest);
    default:
      return getAt(state.world.agent, root === undefined ? [] : [root, ...rest]);
  }
}

function inside(value: Json | undefined, path: readonly (string | number)[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (node, key) =>
      typeof node === 'object' && node !== null && Object.hasOwn(node, key)
        ? (node as Record<string, Json>)[key]
        : undefined,
    value,
  );
}

/** The keys of a path, or null when the text is none. */
function pathOf(text: string): readonly (string | number)[] | null {
  const part = /\.?([A-Za-z_$][\w$-]*)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|\['([^']*)'\]|\.(\d+)/y;
  const path: (string | number)[] = [];
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (!match) return null;
    const [, name, index, quoted, single, dotted] = match;
    path.push(name ?? (index === undefined ? (quoted ?? single ?? dotted ?? '') : Number(index)));
  }
  return path.length > 0 ? path : null;
}
