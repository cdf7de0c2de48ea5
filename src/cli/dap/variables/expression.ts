import { callsIn, type ToolCall } from '../../../engine/core/events/message.ts';
import { evaluate as evaluateNode, type Scope } from '../../../engine/core/expression/evaluate.ts';
import { evaluateExpression, parseExpression, pathsIn } from '../../../engine/core/expression/expression.ts';
import type { Expression } from '../../../engine/core/expression/syntax.ts';
import { callsOf } from '../../../engine/core/rules/calls.ts';
import { stateValue } from '../../../engine/core/rules/seen.ts';
import type { Json } from '../../../engine/core/values/json.ts';
import { getAt } from '../../../engine/core/world/database.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import { suggestion } from '../../../engine/shell/source/nearest.ts';

/** Roots that an expression of the Debug Console, a watch or a hover can start with. */
export const roots = [
  'db',
  'user',
  'messages',
  'calls',
  'args',
  'tool',
  'now',
  'timeZone',
  'turn',
  'reward',
  'rules',
  'event',
  'task',
] as const;

/**
 * Reads an expression at a step: `db.orders.W1.status`, `messages[3].content`, `count(messages, it.role == 'tool')`.
 * It is the language of rules and assertions, so nothing changes and no code of the domain is called.
 * @returns the value, or a sentence why there is none
 */
export function evaluate(text: string, step: Step): { readonly value: Json } | string {
  const asked = text.trim();
  const parsed = parseExpression(asked);
  if ('problem' in parsed)
    return `"${text}" is not an expression: ${parsed.problem}. Write for example db.orders.W1.status, messages[0] or turn. /help says more`;
  const scope = scopeAt(step);
  const unknown = pathsIn(parsed.expression).find(({ name }) => scope(name) === undefined);
  if (unknown) {
    return isRoot(unknown.name)
      ? `there is no ${unknown.name} at step ${step.n}`
      : `"${unknown.name}" is unknown; a path starts with ${roots.join(', ')}${suggestion(unknown.name, roots)}`;
  }
  const found = evaluateExpression(asked, scope);
  if ('problem' in found) return `"${text}" has no value: ${found.problem}`;
  const missing = missingKey(parsed.expression, scope);
  if (missing === null) return found;
  return `there is no ${asked} at step ${step.n}${suggestion(missing.key, missing.known)}`;
}

/** Returns what the names of an expression mean at a step. */
export const scopeAt =
  (step: Step): Scope =>
  (name) =>
    namedAt(name, step);

export const isRoot = (name: string) => roots.some((root) => root === name);

/** Returns the key that a value does not have, with those it has. Rules see null there; a person gets an error. */
function missingKey(
  expression: Expression,
  scope: Scope,
): { readonly key: string; readonly known: readonly string[] } | null {
  if (expression.type !== 'member') return null;
  const [of, key] = [expression.of, expression.key].map((each) => evaluateNode(each, scope));
  if (!of || !key || 'problem' in of || 'problem' in key) return null;
  const name = String(key.value);
  if (typeof of.value !== 'object' || of.value === null) return { key: name, known: [] };
  const index = Array.isArray(of.value) && typeof key.value === 'number' && key.value < 0 ? of.value.length : 0;
  if (Object.hasOwn(of.value, typeof key.value === 'number' ? key.value + index : name)) return null;
  return { key: name, known: Array.isArray(of.value) ? [] : Object.keys(of.value) };
}

/** The call that a step is about: its own, else the one that is checked or made next, else the last one. */
function callAt({ state, event }: Step): ToolCall | undefined {
  const calls = state.messages.flatMap(callsIn);
  if (event.type === 'toolCalled') return event.call as ToolCall;
  if (event.type === 'toolReturned') return calls.find(({ id }) => id === event.callId);
  const answered = new Set(state.messages.flatMap((message) => (message.role === 'tool' ? message.callId : [])));
  return calls.find(({ id }) => !answered.has(id)) ?? calls.at(-1);
}

function namedAt(name: string, step: Step): Json | undefined {
  const { state, event } = step;
  switch (name) {
    case 'db':
    case 'user':
    case 'messages':
    case 'now':
    case 'timeZone':
    case 'turn':
      return stateValue(name, state);
    case 'calls':
      return callsOf(state.messages);
    case 'args':
      return callAt(step)?.arguments as Json | undefined;
    case 'tool':
      return callAt(step)?.name;
    case 'reward':
      return (state.reward ?? undefined) as unknown as Json | undefined;
    case 'rules':
      return state.ruleVerdicts as unknown as Json;
    case 'event':
      return event as unknown as Json;
    case 'task':
      return state.started.task as unknown as Json;
    default:
      return getAt(state.world.agent, [name]);
  }
}
