import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';

/** The content of a part of a message: words, thoughts, a call, a result, a call with its result, or nothing that was said. */
type PartKind = 'text' | 'thought' | 'call' | 'result' | 'invocation' | 'step' | 'silent' | 'file';

/** The formats that are known by the types of their parts. */
export type PartFormat = 'anthropic-messages' | 'vercel-ui';

/** The types of parts in all formats, and the formats that a type is a sign of. */
const types: ReadonlyMap<string, readonly [kind: PartKind, of?: PartFormat]> = new Map([
  ['text', ['text', 'vercel-ui']],
  ['input_text', ['text']],
  ['output_text', ['text']],
  ['refusal', ['text']],
  ['thinking', ['thought', 'anthropic-messages']],
  ['reasoning', ['thought', 'vercel-ui']],
  ['thought', ['thought']],
  ['tool_use', ['call', 'anthropic-messages']],
  ['server_tool_use', ['call']],
  ['mcp_tool_use', ['call']],
  ['tool-call', ['call']],
  ['tool_call', ['call']],
  ['function_call', ['call']],
  ['tool_result', ['result', 'anthropic-messages']],
  ['tool-result', ['result']],
  ['tool_call_response', ['result']],
  ['dynamic-tool', ['invocation', 'vercel-ui']],
  ['tool-invocation', ['invocation', 'vercel-ui']],
  ['step-start', ['step', 'vercel-ui']],
  // Thoughts that a provider hides, and the pages behind an answer, say nothing.
  ['redacted_thinking', ['silent', 'anthropic-messages']],
  ['source-url', ['silent']],
  ['source-document', ['silent']],
  ['file', ['file', 'vercel-ui']],
]);

/** Returns what a part of a type holds; undefined for a type that no format has. */
export const partKind = (type: string): PartKind | undefined => types.get(type)?.[0];

/** Returns whether a part of a type shows that its message is of a format. */
export const isPartOf = (type: string, format: PartFormat): boolean => types.get(type)?.[1] === format;

/** The types of parts that hold a picture, a sound or a file, without the directions `input` and `output`. */
const mediaType =
  /^(?:(?:in|out)put_)?(?:image|image_url|audio|video|file|document)$|^(?:image|file|audio)-(?:data|url)$|^media$/;

/** The fields that a part of a picture, a sound or a file has next to its type. Data of a program has others. */
const mediaFields = new Set(
  `type source data image image_url audio input_audio video file file_data file_id filename detail mimeType mime_type
  mediaType media_type cache_control annotations _meta`.split(/\s+/),
);

/** Returns what a part without words is, such as `image`; undefined for words and for data of a program. */
export function mediaIn(part: JsonObject): string | undefined {
  const { type } = part;
  const keys = Object.keys(part);
  const [only = ''] = keys;
  // Bedrock names a part by its only key.
  const inner = part[only];
  if (keys.length === 1 && /^(?:image|video|document)$/.test(only) && isObject(inner) && isObject(inner['source']))
    return only;
  if (typeof type !== 'string' || !mediaType.test(type) || !keys.every((key) => mediaFields.has(key))) return undefined;
  const isText = isObject(part['source']) && part['source']['type'] === 'text';
  const isOfApi = /_|-/.test(type) || keys.some((key) => /^m(?:ime|edia)_?type$/i.test(key));
  return !isText && (isOfApi || Object.values(part).some(isEncoded)) ? type : undefined;
}

/** Returns whether a value is the bytes or the address of a file, and not its name. */
const isEncoded = (value: Json) =>
  isObject(value) || (typeof value === 'string' && /^data:|^[\w+/=-]{200,}$/.test(value));

/** Returns whether a part of a type has words, thoughts, a call or a result. */
export function hasContent(type: string): boolean {
  const kind = partKind(type);
  return kind === 'text' || kind === 'thought' || kind === 'call' || kind === 'result';
}
