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

/** Returns whether a part of a type has words, thoughts, a call or a result. */
export function hasContent(type: string): boolean {
  const kind = partKind(type);
  return kind === 'text' || kind === 'thought' || kind === 'call' || kind === 'result';
}
