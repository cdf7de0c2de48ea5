import { canonicalJson, finiteText, isObject, type Json, type JsonObject, textOrJson } from '../../core/values/json.ts';
import { isExactNumber, rawJson, withDigits } from '../../core/values/largeIntegers.ts';
import {
  type Attachments,
  attachmentsOf,
  type Media,
  mediaText,
  partsOf,
  type ResourceLine,
  type ResultPart,
  type TextPart,
} from '../../core/values/media.ts';
import { withTexts } from '../../core/values/texts.ts';
import { ResultTooLong } from './errors.ts';
import { exactResult } from './message.ts';

/** The result of a call. */
export type ReadResult = Attachments & {
  /** The text that the agent sees. */
  readonly content: string;
  readonly isError: boolean;
  /** The texts of its parts, including those of embedded files; left out if it also has another kind of part. */
  readonly texts?: readonly string[];
  /** The structured content, where there is some. `JSON.stringify` writes all digits of its numbers. */
  readonly data?: Json;
};

/** The fields of a result that can carry data. */
export type Data = Attachments & Pick<ReadResult, 'content' | 'texts' | 'data'>;

/**
 * Reads a result as a server sent it: what is null counts as absent, and a part of an unknown kind is shown as JSON. Throws
 * `ResultTooLong` where it has more characters than `longest`.
 */
export function readResult(sent: object, longest = Number.POSITIVE_INFINITY): ReadResult {
  const { content, structuredContent, toolResult, isError, ...others } = exactResult(sent);
  const given = [content ?? []].flat().filter((part) => part !== null);
  // Some servers return the data itself in place of a result.
  const isBare = (content ?? null) === null && Object.keys(others).length > 0;
  const data = structuredContent ?? toolResult ?? (isBare ? others : undefined);
  // Data is shown only where the server does not also write it as a text, as it should.
  const parts = given.map(readPart);
  const isNeeded = data !== undefined && !given.some((part) => textOf(part)) && !isRepeated(data, given);
  const shown = isNeeded ? [JSON.stringify(withoutBytes(data, parts, mediaText)), ...parts] : parts;
  const { text, media, resourceLines, textParts } = joinParts(shown);
  if (media.reduce((length, { data: bytes }) => length + bytes.length, text.length) > longest)
    throw new ResultTooLong(longest);
  const texts = given.map((part) => textOf(part) ?? embeddedText(part));
  return {
    content: text,
    isError: isError === true || isError === 1 || isError === 'true',
    ...(texts.includes(undefined) ? {} : { texts: texts as string[] }),
    ...(media.length === 0 ? {} : { media }),
    ...(resourceLines.length === 0 ? {} : { resourceLines }),
    ...(textParts.length > 1 || textParts.some(({ annotations }) => annotations) ? { textParts } : {}),
    ...(isStructured(structuredContent) ? { structured: JSON.stringify(structuredContent) } : {}),
    ...(data === undefined ? {} : { data }),
  };
}

/** Returns whether structured content has one field, which repeats the parts of the result. */
function isRepeated(data: Json, parts: readonly Json[]): boolean {
  const [value, ...others] = isObject(data) ? Object.values(data) : [];
  return parts.length > 0 && value !== undefined && others.length === 0 && isEqual([value].flat(), parts);
}

const isEqual = (one: Json, other: Json) => canonicalJson(withDigits(one)) === canonicalJson(withDigits(other));

/**
 * Returns data with a text in place of the bytes of the media that its result has.
 * @param textFor gives that text
 */
export function withoutBytes(data: Json, parts: readonly unknown[], textFor: (media: Media) => string): Json {
  const media = parts.filter((part) => typeof part === 'object' && part !== null && 'mimeType' in part) as Media[];
  if (media.length === 0) return data;
  return withTexts(data, (text) => {
    const found = media.find((each) => each.data === text || each.data === base64Of(text));
    return found ? textFor(found) : text;
  });
}

/** Returns a result that an event has as data. */
export function recordedData({ content, ...attached }: Attachments & Pick<ReadResult, 'content'>): Data {
  const texts = partsOf(content, attached).map(textInPart);
  return {
    content,
    ...attachmentsOf(attached),
    ...(texts.includes(undefined) ? {} : { texts: texts as string[] }),
    ...(attached.structured === undefined ? {} : { data: rawJson(attached.structured) as Json }),
  };
}

function textInPart(part: ResultPart): string | undefined {
  if (typeof part === 'string') return part;
  if ('text' in part) return part.text;
  return 'json' in part ? embeddedText(rawJsonOf(part.json) ?? null) : undefined;
}

/** Returns whether a value is the structured content that clients take. */
const isStructured = (value: Json | undefined): boolean => isObject(value ?? null) && !isExactNumber(value);

/** A text of a server, with what it says about it. */
type SentText = { readonly text: string; readonly annotations?: TextPart['annotations'] };
type ShownPart = string | SentText | Media | ResourceLine;

/** Returns a part as it is shown: as a text, as media, or as the JSON of a file with a text or of a link to a file. */
function readPart(part: Json): ShownPart {
  const annotations = isObject(part) && isObject(part['annotations'] ?? null) ? part['annotations'] : undefined;
  const said = annotations === undefined ? {} : { annotations: withDigits(annotations) as never };
  const media = mediaOf(part);
  if (media !== undefined) return { ...media, ...said };
  const text = textOf(part);
  if (text !== undefined) return { text, ...said };
  const json = JSON.stringify(part);
  return isObject(part) && (part['type'] === 'resource' || part['type'] === 'resource_link') ? { json } : json;
}

/** Returns the parts of a result as one text, with the lines in it that are media and resources, and where texts begin. */
function joinParts(parts: readonly ShownPart[]) {
  const texts: string[] = [];
  const media: Media[] = [];
  const resourceLines: number[] = [];
  const textParts: TextPart[] = [];
  let line = 0;
  for (const part of parts) {
    const text = shownText(part);
    if (typeof part === 'string') textParts.push({ line });
    else if ('json' in part) resourceLines.push(line);
    else if ('text' in part) textParts.push({ line, ...(part.annotations ? { annotations: part.annotations } : {}) });
    else media.push({ ...part, line });
    texts.push(text);
    line += text.split('\n').length;
  }
  return { text: texts.join('\n'), media, resourceLines, textParts };
}

function shownText(part: ShownPart): string {
  if (typeof part === 'string') return part;
  if ('text' in part) return part.text;
  return 'json' in part ? part.json : mediaText(part);
}

/**
 * Returns a result as data: the structured content if there is some, otherwise the text. Several texts that are all objects
 * or lists are the rows of a list. `JSON.stringify` writes all digits of its numbers.
 * @param outputSchema the schema that the tool declares
 */
export function exactDataOf({ content, texts = [content], data }: Data, outputSchema: JsonObject = {}): Json {
  if (data === undefined) return rowsIn(texts) ?? valueIn(texts.join('\n'));
  const value = unwrap(data, content, outputSchema);
  return typeof value === 'string' ? (collectionIn(value) ?? value) : value;
}

/**
 * Returns the value that a text is as JSON. A number that JSON writes in another way, such as 1.10, and a text in quotes are
 * texts, because their value is not the same as the text.
 */
function valueIn(text: string): Json {
  const value = rawJsonOf(text);
  if (value === undefined || typeof value === 'string') return text;
  const isSame = isCollection(text) || JSON.stringify(value) === text.trim();
  return isSame ? value : text;
}

/** Returns the list or object that a text is as JSON, or undefined. */
const collectionIn = (text: string): Json | undefined => (isCollection(text) ? rawJsonOf(text) : undefined);

/** Returns whether a text begins as a list or object of JSON. */
export const isCollection = (text: string): boolean => /^\s*[[{]/.test(text);

/** Returns a result as data, as recordings and states have it. */
export const dataOf = (result: Data, outputSchema?: JsonObject): Json => withDigits(exactDataOf(result, outputSchema));

/** Returns the objects or lists that several texts are as JSON, or undefined. */
function rowsIn(texts: readonly string[]): Json | undefined {
  if (texts.length < 2 || !texts.every(isCollection)) return undefined;
  const rows = texts.map(rawJsonOf);
  return rows.includes(undefined) ? undefined : (rows as Json);
}

function rawJsonOf(text: string): Json | undefined {
  try {
    return rawJson(finiteText(text)) as Json;
  } catch {
    return undefined;
  }
}

/**
 * Structured content is an object, so servers put other values under a key of one. The SDK for Python does that for
 * lists, whose items are separate texts. Others repeat the text.
 */
function unwrap(data: Json, content: string, { title, properties, ...schema }: JsonObject): Json {
  if (!isObject(data) || isExactNumber(data)) return data;
  const [[key, value] = ['', null], ...others] = Object.entries(data);
  if (others.length > 0) return data;
  const isPythons =
    schema['x-fastmcp-wrap-result'] === true ||
    (String(title).endsWith('Output') && isObject(properties) && Object.keys(properties).join() === 'result');
  return value === content || (key === 'result' && isPythons) ? value : data;
}

/** The bytes of a part as a server wrote them. */
type SentBytes = {
  readonly data: Json | undefined;
  readonly mimeType?: Json | undefined;
  readonly uri?: Json | undefined;
};

/**
 * Returns the picture, sound or file of a part, also where its bytes cannot be read; undefined for a part of another kind.
 * Neither a type nor data can end the line in its place.
 */
function mediaOf(part: Json): Media | undefined {
  const { data, mimeType, uri } = (isObject(part) && bytesIn(part)) || {};
  if (typeof data !== 'string') return undefined;
  // Some servers name the type only in a data URI.
  const [start = '', named] = /^data:([^,]{0,200});base64,/.exec(data) ?? [];
  const type = typeOf(mimeType ?? named);
  const address = typeof uri === 'string' ? { uri } : {};
  const bytes = base64Of(data.slice(start.length));
  if (bytes !== undefined) return { mimeType: type, data: bytes, ...address };
  return data.length > longestShown ? { mimeType: type, data, problem: 'not valid Base64', ...address } : undefined;
}

/** The longest text that is shown in place of bytes which cannot be read. It may be an address or a message. */
const longestShown = 500;

/** Returns the bytes of a part, in the forms of MCP and of the messages that models are sent; null for another kind. */
function bytesIn(part: JsonObject): SentBytes | null {
  const { type, data, mimeType, source, resource, image_url: image, input_audio: audio, file } = part;
  if (isObject(source) && source['type'] === 'base64')
    return { data: source['data'], mimeType: source['media_type'] ?? source['mimeType'] };
  if (type === 'image' || type === 'audio') return { data, mimeType };
  if (type === 'resource' && isObject(resource))
    return { data: resource['blob'], mimeType: resource['mimeType'], uri: resource['uri'] };
  if (type === 'image_url') return dataUrl(isObject(image) ? image['url'] : image);
  if (type === 'input_audio' && isObject(audio)) return { data: audio['data'], mimeType: `audio/${audio['format']}` };
  return type === 'file' && isObject(file) ? dataUrl(file['file_data']) : null;
}

const dataUrl = (url: Json | undefined): SentBytes | null =>
  typeof url === 'string' && url.startsWith('data:') ? { data: url } : null;

/** Returns base64 in the form that clients and models take; undefined for another text. */
function base64Of(text: string): string | undefined {
  const plain = text
    .replace(/\s+/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '');
  if (plain === '' || plain.length % 4 === 1 || !/^[A-Za-z0-9+/]+$/.test(plain)) return undefined;
  return plain.padEnd(Math.ceil(plain.length / 4) * 4, '=');
}

/** Other names of types that models take. */
const aliases: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'audio/mp3': 'audio/mpeg',
  'audio/wave': 'audio/wav',
  'audio/x-wav': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
};

/** Returns a media type without its parameters. */
function typeOf(mimeType: Json | undefined): string {
  const [type = ''] = typeof mimeType === 'string' ? mimeType.toLowerCase().split(';') : [];
  const plain = type.trim();
  if (!/^[\w.+-]{1,60}\/[\w.+-]{1,100}$/.test(plain)) return 'application/octet-stream';
  return Object.hasOwn(aliases, plain) ? (aliases[plain] as string) : plain;
}

/** Returns the text of a part; undefined for a part of another kind. */
function textOf(part: Json): string | undefined {
  if (typeof part === 'string') return part;
  if (!isObject(part) || part['type'] !== 'text') return undefined;
  const text = part['text'] ?? '';
  return textOrJson(text);
}

/** Returns the text of a file that a part embeds; undefined for a part of another kind. */
function embeddedText(part: Json): string | undefined {
  if (!isObject(part) || part['type'] !== 'resource' || !isObject(part['resource'])) return undefined;
  const { text } = part['resource'];
  return typeof text === 'string' ? text : undefined;
}
