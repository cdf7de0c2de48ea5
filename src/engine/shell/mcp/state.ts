import { argumentOf } from '../../core/domain/listRestored.ts';
import type { Tool } from '../../core/domain/tool.ts';
import { excerpt } from '../../core/text/excerpt.ts';
import {
  canonicalJson,
  isObject,
  type Json,
  type JsonObject,
  jsonOf,
  textOrJson,
  valueAt,
} from '../../core/values/json.ts';
import { keysOfPointer } from '../../core/values/jsonPointer.ts';
import { hasExactNumber, withDigits, writtenJson } from '../../core/values/largeIntegers.ts';
import { linearPattern, mostSteps } from '../../core/values/linearPattern.ts';
import { type Media, mediaText, partsOf } from '../../core/values/media.ts';
import { pythonLiteral } from '../../core/values/pythonLiteral.ts';
import { Fault } from '../files/fault.ts';
import { mediaHash } from './mediaHash.ts';
import { type Data, dataOf, exactDataOf, isCollection, withoutBytes } from './result.ts';

/** The declaration of a reader about its result. */
type Shape = { readonly lines?: string | undefined; readonly rows?: boolean | undefined };

/**
 * Returns the result of a reader as a state.
 * @param outputSchema the schema that its tool declares
 */
export function stateOf(sent: Data, { lines, rows }: Shape, outputSchema?: JsonObject): Json {
  const result = withHashes(sent);
  // Lines are of the text, also where it is JSON, and whatever the server has as data.
  if (lines !== undefined) return matchesIn(textsOf(result).join('\n'), lines);
  const whole = () => dataOf(result, outputSchema);
  return rows === true ? rowsOf(result, (text) => plainState(dataOf({ content: text })), whole) : plainState(whole());
}

/** Returns a result with a hash in the line of each of its media, which would otherwise be equal for others of their size. */
function withHashes(result: Data): Data {
  const { content, media = [], data } = result;
  if (media.length === 0) return result;
  const texts = partsOf(content, result).map((part) => {
    if (typeof part === 'string') return part;
    if ('text' in part) return part.text;
    return 'json' in part ? part.json : mediaText(part, mediaHash(part));
  });
  const own = data === undefined ? {} : { data: withoutBytes(data, media, mediaHash) };
  return { ...result, content: texts.join('\n'), texts, ...own };
}

/**
 * Returns why a result may be a list of rows, where its reader or snapshot does not declare that; null where it is clear.
 * @param reason what takes it as a list of rows, in a clause; null if nothing is known to
 */
export function unclearRows({ texts, data }: Data, { lines, rows }: Shape, reason: string | null): string | null {
  if (texts === undefined || data !== undefined || lines !== undefined || rows !== undefined) return null;
  const [first, ...others] = texts;
  if (first === undefined) return 'an empty result';
  if (others.length > 0) return texts.every(isCollection) ? `${texts.length} texts` : null;
  return reason !== null && isSingle(plainState(dataOf({ content: first }))) ? `an object, ${reason}` : null;
}

/** Returns whether a state is an object that is not a table: the values of a table are its rows. */
const isSingle = (state: Json): boolean => isObject(state) && !Object.values(state).every(isObject);

/** @param key the key of the server that names the tool */
export const rowsAdvice = (key: 'reader' | 'snapshot') =>
  `Write rows: true under ${key} in domain.yaml if each text of the result is a row, otherwise rows: false`;

/** A text may be a list of Python. */
const plainState = (data: Json): Json => (typeof data === 'string' ? (pythonLiteral(data) ?? data) : data);

const textsOf = ({ content, texts = [content] }: Data): readonly string[] => texts;

/**
 * Returns each text of a result as a row. A list that a server gives as a whole has the rows itself.
 * @param row reads a text
 * @param whole reads the result as a whole
 */
const rowsOf = (result: Data, row: (text: string) => Json, whole: () => Json): Json =>
  listOf(result.data === undefined ? rowTexts(result).map(row) : [whole()]);

/** Returns the texts of a result that are rows. A single empty text means that there are no rows. */
const rowTexts = (result: Data): readonly string[] => {
  const texts = textsOf(result);
  return texts.length === 1 ? texts.filter((text) => text !== '') : texts;
};

function listOf(rows: readonly Json[]): readonly Json[] {
  const [first] = rows;
  return rows.length === 1 && Array.isArray(first) ? first : rows;
}

/** Returns the named groups of each line that a pattern matches. */
function matchesIn(text: string, lines: string): Json {
  const pattern = linearPattern(lines);
  if (pattern.stepsFor(text) > mostSteps)
    throw new Fault({
      who: 'environment',
      code: 'mcp/slow-pattern',
      message: `the pattern ${excerpt(lines)} takes too long for a result of ${text.length} characters. Let the tool of the reader return less, or shorten \`lines\` in domain.yaml`,
    });
  return text.split(/\r?\n/).flatMap((line) => {
    const row = pattern.groups(line);
    return row ? [row] : [];
  });
}

/**
 * Returns the result of a snapshot's tool as a value that goes back to the server. It is the server's own text wherever its
 * data would be written in another way, and the Base64 of a file.
 */
export function snapshotOf(result: Data, { rows }: Shape = {}, outputSchema?: JsonObject): Json {
  const file = fileOf(result);
  if (file !== undefined) return file.data;
  const exact = rows === true ? exactRows(result, outputSchema) : exactDataOf(result, outputSchema);
  const own = rows === true ? ownRows(result, exact) : ownText(result, exact);
  const written = JSON.stringify(exact);
  if (own !== undefined && (own !== written || typeof exact === 'string')) return own;
  return hasExactNumber(exact) ? written : withDigits(exact);
}

/** Returns the media that a snapshot cannot have, because they are not its only part; null where it has everything. */
export function lostMedia(result: Data): string | null {
  const { media = [], data } = result;
  if (media.length === 0 || data !== undefined || fileOf(result)) return null;
  return media.map((each) => mediaText(each)).join(', ');
}

/** Returns the file or picture that is the only part of a result. */
function fileOf({ media = [], data, content }: Data): Media | undefined {
  const [file, ...others] = media;
  const isAlone = others.length === 0 && data === undefined && file?.line === 0 && !content.includes('\n');
  return isAlone ? file : undefined;
}

const exactRows = (result: Data, outputSchema: JsonObject | undefined): Json =>
  rowsOf(
    result,
    (text) => exactDataOf({ content: text }),
    () => exactDataOf(result, outputSchema),
  );

/** Returns the rows of a result as the server wrote them, in one JSON text. */
function ownRows(result: Data, exact: Json): string | undefined {
  const texts = rowTexts(result);
  if (result.data !== undefined || (texts.length === 1 && Array.isArray(exactDataOf({ content: texts[0] ?? '' }))))
    return ownText(result, exact);
  const rows = texts.map((text) =>
    isCollection(text) && jsonOf(text) !== undefined ? text : JSON.stringify(exactDataOf({ content: text })),
  );
  return `[${rows.join(',')}]`;
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
  if (isOfText(argumentOf(tool, argument), (tool?.parameters ?? {}) as JsonObject)) return textOrJson(saved);
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
