import type { Tool } from '../../core/domain/tool.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { hasExactNumber, losesDigits, rawJson, withDigits } from '../../core/values/largeIntegers.ts';
import { linearPattern } from '../../core/values/linearPattern.ts';
import { pythonLiteral } from '../../core/values/pythonLiteral.ts';
import { type Data, exactDataOf } from './result.ts';

/** Returns what a reader's result is as a state. A text may be a list of Python. */
export const stateIn = (data: Json): Json => (typeof data === 'string' ? (pythonLiteral(data) ?? data) : data);

/** Returns the rows of a state in text: the named groups of each line that the pattern matches. */
export function rowsIn(text: string, lines: string): Json {
  const pattern = linearPattern(lines);
  return text.split(/\r?\n/).flatMap((line) => {
    const row = pattern.groups(line);
    return row ? [row] : [];
  });
}

/**
 * Returns the result of a snapshot's tool as recordings have it. It goes back to the server, so it is a text where a number
 * would change: that of the server, if it gave one.
 */
export function snapshotOf(result: Data, outputSchema: JsonObject | undefined): Json {
  const exact = exactDataOf(result, outputSchema);
  if (!hasExactNumber(exact)) return withDigits(exact);
  return result.data === undefined && losesDigits(result.content) ? result.content : JSON.stringify(exact);
}

/** Returns a snapshot as the argument of a tool that takes it back. */
export function snapshotArgument(saved: Json, tool: Tool | undefined, argument: string): Json {
  const { properties } = tool?.parameters ?? {};
  const schema = (properties as JsonObject | undefined)?.[argument] as JsonObject | undefined;
  if (schema?.type === 'string') return typeof saved === 'string' ? saved : JSON.stringify(saved);
  return typeof saved === 'string' && losesDigits(saved) ? (rawJson(saved) as Json) : saved;
}
