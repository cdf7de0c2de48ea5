import type { Json, JsonObject } from '../../../engine/core/values/json.ts';
import { objectOf } from '../saidMessage.ts';
import type { Span } from './otlp.ts';
import type { CalledTool, Exchange, Step, StepKind } from './step.ts';

/** The meaning of a span in one dialect of attributes. */
export type DialectSpan = {
  readonly kind?: StepKind | undefined;
  readonly input: Exchange;
  readonly output: Exchange;
  readonly tools?: Step['tools'];
  readonly called?: CalledTool | undefined;
};

/** The names that an instrumentation gives to what a span holds. */
export type Dialect = {
  readonly label: string;
  /** Returns whether a span has names of the dialect. */
  readonly matches: (span: Span) => boolean;
  readonly read: (span: Span) => DialectSpan;
};

/** Returns a list that is spread over attributes: `PREFIX.0.role`, `PREFIX.0.tool_calls.1.name`, or nested as it is. */
export function listAt(attributes: JsonObject, prefix: string): readonly JsonObject[] {
  const nested = nestedAt(attributes, prefix);
  const list = Array.isArray(nested) ? nested : Object.values(objectOf(nested));
  return list.map(objectOf);
}

function nestedAt(attributes: JsonObject, prefix: string): Json {
  const root: { [key: string]: unknown } = {};
  for (const [key, value] of Object.entries(attributes)) {
    if (!key.startsWith(`${prefix}.`)) continue;
    const path = key.slice(prefix.length + 1).split('.');
    let at = root;
    for (const name of path.slice(0, -1)) {
      const inner = Object.hasOwn(at, name) ? at[name] : undefined;
      const next = typeof inner === 'object' && inner !== null ? (inner as typeof root) : {};
      if (inner !== next)
        Object.defineProperty(at, name, { value: next, enumerable: true, configurable: true, writable: true });
      at = next;
    }
    Object.defineProperty(at, path.at(-1) ?? '', { value, enumerable: true, configurable: true, writable: true });
  }
  if (Object.keys(root).length > 0) return root as JsonObject;
  return prefix.split('.').reduce<Json>((value, name) => objectOf(value)[name] ?? {}, attributes);
}
