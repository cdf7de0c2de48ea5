import type { Tool } from '../../core/domain/tool.ts';
import { isObject, type Json, type JsonObject, valueAt } from '../../core/values/json.ts';
import { keysOfPointer } from '../../core/values/jsonPointer.ts';
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
  const root = (tool?.parameters ?? {}) as JsonObject;
  const schema = (root['properties'] as JsonObject | undefined)?.[argument];
  if (isOfText(schema, root)) return typeof saved === 'string' ? saved : JSON.stringify(saved);
  return typeof saved === 'string' && losesDigits(saved) ? (rawJson(saved) as Json) : saved;
}

/** Returns whether a schema takes texts and, besides null, no other value. */
function isOfText(schema: Json | undefined, root: JsonObject, depth = 0): boolean {
  if (!isObject(schema) || depth > deepestReference) return false;
  const { type, anyOf, oneOf, $ref } = schema;
  if (typeof $ref === 'string' && $ref.startsWith('#'))
    return isOfText(valueAt(root, keysOfPointer($ref.slice(1))), root, depth + 1);
  const types = Array.isArray(type) ? type : [type];
  const choices = [anyOf, oneOf].find(Array.isArray) as readonly Json[] | undefined;
  const others = choices
    ? choices.filter((each) => !isObject(each) || each['type'] !== 'null')
    : types.filter((each) => each !== 'null');
  return others.length > 0 && others.every((each) => (choices ? isOfText(each, root, depth + 1) : each === 'string'));
}

/** References that are followed, since they may lead back to themselves. */
const deepestReference = 8;
