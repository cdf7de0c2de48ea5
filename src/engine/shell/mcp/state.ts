import type { Tool } from '../../core/domain/tool.ts';
import { canonicalJson, isObject, type Json, type JsonObject, valueAt } from '../../core/values/json.ts';
import { keysOfPointer } from '../../core/values/jsonPointer.ts';
import { hasExactNumber, withDigits, writtenJson } from '../../core/values/largeIntegers.ts';
import { linearPattern } from '../../core/values/linearPattern.ts';
import { pythonLiteral } from '../../core/values/pythonLiteral.ts';
import { type Data, dataOf, exactDataOf, isCollection } from './result.ts';

/** The declaration of a reader about its result. */
type Shape = { readonly lines?: string | undefined; readonly rows?: boolean | undefined };

/**
 * Returns the result of a reader as a state.
 * @param outputSchema the schema that its tool declares
 */
export function stateOf(result: Data, { lines, rows }: Shape, outputSchema?: JsonObject): Json {
  // Lines are of the text, also where it is JSON, and whatever the server has as data.
  if (lines !== undefined) return matchesIn(textsOf(result).join('\n'), lines);
  return rows === true ? rowsOf(result, outputSchema) : plainState(dataOf(result, outputSchema));
}

/** Returns why a result may be a list of rows, where its reader does not declare that; null where it is clear. */
export function unclearRows({ texts, data }: Data, { lines, rows }: Shape): string | null {
  if (texts === undefined || data !== undefined || lines !== undefined || rows !== undefined) return null;
  if (texts.length === 0) return 'an empty result';
  return texts.length > 1 && texts.every(isCollection) ? `${texts.length} texts` : null;
}

export const rowsAdvice =
  'Write rows: true under its reader in domain.yaml if each text of the result is a row, otherwise rows: false';

/** A text may be a list of Python. */
const plainState = (data: Json): Json => (typeof data === 'string' ? (pythonLiteral(data) ?? data) : data);

const textsOf = ({ content, texts = [content] }: Data): readonly string[] => texts;

/** Returns each text of a result as a row. A list that a server gives as a whole has the rows itself. */
function rowsOf(result: Data, outputSchema: JsonObject | undefined): Json {
  const texts = textsOf(result);
  const rows =
    result.data === undefined
      ? (texts.length === 1 ? texts.filter((text) => text !== '') : texts).map((text) =>
          plainState(dataOf({ content: text })),
        )
      : [dataOf(result, outputSchema)];
  const [first] = rows;
  return rows.length === 1 && Array.isArray(first) ? first : rows;
}

/** Returns the named groups of each line that a pattern matches. */
function matchesIn(text: string, lines: string): Json {
  const pattern = linearPattern(lines);
  return text.split(/\r?\n/).flatMap((line) => {
    const row = pattern.groups(line);
    return row ? [row] : [];
  });
}

/**
 * Returns the result of a snapshot's tool as recordings have it. It goes back to the server, so it is the server's own text
 * wherever its data would be written in another way.
 */
export function snapshotOf(result: Data, outputSchema: JsonObject | undefined): Json {
  const exact = exactDataOf(result, outputSchema);
  const own = ownText(result, exact);
  const written = JSON.stringify(exact);
  if (own !== undefined && (own !== written || typeof exact === 'string')) return own;
  return hasExactNumber(exact) ? written : withDigits(exact);
}

/** Returns the text in which the server wrote the data of a result; undefined where it has no such text. */
function ownText(result: Data, exact: Json): string | undefined {
  const [text, ...others] = textsOf(result);
  if (text === undefined || others.length > 0) return undefined;
  if (result.data === undefined) return text;
  const read = exactDataOf({ content: text });
  return canonicalJson(withDigits(read)) === canonicalJson(withDigits(exact)) ? text : undefined;
}

/** Returns a snapshot as the argument of a tool that takes it back. */
export function snapshotArgument(saved: Json, tool: Tool | undefined, argument: string): Json {
  const root = (tool?.parameters ?? {}) as JsonObject;
  const schema = (root['properties'] as JsonObject | undefined)?.[argument];
  if (isOfText(schema, root)) return typeof saved === 'string' ? saved : JSON.stringify(saved);
  return typeof saved === 'string' ? asWritten(saved) : saved;
}

/** Returns the value of a JSON text, whose numbers `JSON.stringify` writes as the text has them; any other text itself. */
function asWritten(text: string): Json {
  try {
    return writtenJson(text) as Json;
  } catch {
    return text;
  }
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
