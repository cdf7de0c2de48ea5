import * as z from 'zod';
import { issueText } from '../../engine/core/text/issueText.ts';
import { jsonOf } from '../../engine/core/values/json.ts';
import { textOf as textOfContent } from '../../engine/shell/models/chatAnswer.ts';
import { mediaLine } from '../../engine/shell/models/mediaLine.ts';

/** One message as the editor's language models take it: they know a user and an assistant, but not a system prompt. */
export type EditorMessage = { readonly role: 'user' | 'assistant'; readonly parts: readonly EditorPart[] };

type EditorPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: object }
  | { readonly type: 'result'; readonly id: string; readonly text: string };

const callSchema = z.object({ name: z.string(), arguments: z.string() });
type ChatCall = z.infer<typeof callSchema>;

/** A message of the chat completions format, as far as it can be passed on. */
const messageSchema = z.object({
  role: z.string(),
  content: z.unknown().optional(),
  tool_calls: z.array(z.object({ id: z.string(), function: callSchema })).nullish(),
  tool_call_id: z.string().optional(),
});
type ChatMessage = z.infer<typeof messageSchema>;

const requestSchema = z.looseObject({
  model: z.string(),
  messages: z.array(messageSchema),
  tools: z
    .array(
      z.object({
        function: z.object({
          name: z.string(),
          description: z.string().optional(),
          parameters: z.record(z.string(), z.unknown()).optional(),
        }),
      }),
    )
    .optional(),
});

/** A request to an editor's language model. */
export type EditorRequest = {
  readonly model: string;
  readonly messages: readonly EditorMessage[];
  readonly tools: readonly { readonly name: string; readonly description: string; readonly inputSchema?: object }[];
  /** Settings of the seat, by the names of the request; a model leaves out those that it does not know. */
  readonly modelOptions: Readonly<Record<string, unknown>>;
};

/** A model's answer: its text and its calls. */
export type EditorAnswer = {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: object }[];
};

/** Parses a request for a chat completion. Returns an error message if it is not valid. */
export function parseRequest(body: string): EditorRequest | string {
  const { data, error } = requestSchema.safeParse(jsonOf(body));
  if (!data) {
    return `a chat completion request has the form {"model": ..., "messages": [...]} (${issueText(error, 'the request')})`;
  }
  const { model, messages, tools = [], stream: _, stream_options: _options, ...modelOptions } = data;
  return {
    model,
    messages: editorMessages(messages),
    tools: tools.map(({ function: { name, description = '', parameters } }) => ({
      name,
      description,
      ...(parameters ? { inputSchema: parameters } : {}),
    })),
    modelOptions,
  };
}

/** Returns the text of the content of a message. A line replaces each picture, sound and file. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return textOfContent(content);
  const shown = content.flatMap((part: unknown) => {
    const line = mediaLine(part);
    return line === undefined ? [part] : [{ type: 'text', text: `\n${line}` }];
  });
  return textOfContent(shown);
}

/**
 * A conversation as the editor's language models take it. The system prompt is at the head of the first message of the
 * user, and what several tools returned is in one.
 */
export function editorMessages(messages: readonly ChatMessage[]): readonly EditorMessage[] {
  const system = messages.flatMap(({ role, content }) => (role === 'system' ? [textOf(content)] : [])).join('\n\n');
  const merged: { role: 'user' | 'assistant'; parts: EditorPart[] }[] = [];
  const said: EditorMessage[] = messages.filter(({ role }) => role !== 'system').map(editorMessage);
  const head: EditorMessage[] = system === '' ? [] : [{ role: 'user', parts: [{ type: 'text', text: system }] }];
  for (const { role, parts } of [...head, ...said]) {
    const last = merged.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else if (parts.length > 0) merged.push({ role, parts: [...parts] });
  }
  return merged;
}

function editorMessage({ role, content, tool_calls: calls, tool_call_id: id = '' }: ChatMessage): EditorMessage {
  const text = textOf(content);
  if (role === 'tool') return { role: 'user', parts: [{ type: 'result', id, text }] };
  const words: readonly EditorPart[] = text === '' ? [] : [{ type: 'text', text }];
  if (role !== 'assistant') return { role: 'user', parts: words };
  const made = (calls ?? []).map(
    (call): EditorPart => ({ type: 'call', id: call.id, name: call.function.name, input: inputOf(call.function) }),
  );
  return { role: 'assistant', parts: [...words, ...made] };
}

/** Returns the arguments of a call. Arguments that are not a JSON object are shown to the model as it wrote them. */
function inputOf({ arguments: text }: ChatCall): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // It is shown as it was written.
  }
  return { arguments: text };
}

/** A model's answer as a chat completion. */
export function completionOf(model: string, { text, calls }: EditorAnswer): object {
  const made = (calls ?? []).map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
  const message = {
    role: 'assistant',
    content: text === '' && made.length > 0 ? null : text,
    ...(made.length > 0 ? { tool_calls: made } : {}),
  };
  const choice = { index: 0, message, finish_reason: made.length > 0 ? 'tool_calls' : 'stop' };
  return { id: 'editor', object: 'chat.completion', created: 0, model, choices: [choice] };
}
