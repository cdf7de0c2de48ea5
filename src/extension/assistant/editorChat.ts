/** One message as the editor's language models take it: they know a user and an assistant, and no system prompt. */
export type EditorMessage = { readonly role: 'user' | 'assistant'; readonly parts: readonly EditorPart[] };

type EditorPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: object }
  | { readonly type: 'result'; readonly id: string; readonly text: string };

/** A message of the chat completions format, as far as the engine sends it. */
type ChatMessage = {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly id: string; readonly function: ChatCall }[];
  readonly tool_call_id?: string;
};
type ChatCall = { readonly name: string; readonly arguments: string };

/** What the engine asks an endpoint for, as far as an editor's language model can be told of it. */
export type ChatRequest = {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly {
    readonly function: { readonly name: string; readonly description?: string; readonly parameters?: object };
  }[];
};

/** What came back of a model: its words and its calls. */
export type EditorAnswer = {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: object }[];
};

/** A request from its JSON; a sentence where it is none. */
export function parseRequest(body: string): ChatRequest | string {
  try {
    const request = JSON.parse(body) as Partial<ChatRequest> | null;
    if (typeof request?.model === 'string' && Array.isArray(request.messages)) return request as ChatRequest;
  } catch {
    // The sentence below says what is expected, whatever is wrong with the text.
  }
  return 'a chat completion is asked for with {"model": ..., "messages": [...]}';
}

/**
 * A conversation as the editor's language models take it. The system prompt stands at the head of the first message of the
 * user, and what several tools returned stands in one.
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

function editorMessage({ role, content, tool_calls: calls = [], tool_call_id: id = '' }: ChatMessage): EditorMessage {
  const text = textOf(content);
  if (role === 'tool') return { role: 'user', parts: [{ type: 'result', id, text }] };
  const words: readonly EditorPart[] = text === '' ? [] : [{ type: 'text', text }];
  if (role !== 'assistant') return { role: 'user', parts: words };
  const made = calls.map(
    (call): EditorPart => ({ type: 'call', id: call.id, name: call.function.name, input: inputOf(call.function) }),
  );
  return { role: 'assistant', parts: [...words, ...made] };
}

/** What a call was made with; what was no JSON object is shown to the model as it wrote it. */
function inputOf({ arguments: text }: ChatCall): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // It is shown as it was written.
  }
  return { arguments: text };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { readonly text?: unknown }) => String(part?.text ?? '')).join('');
}

/** A model's answer as a chat completion. */
export function completionOf(model: string, { text, calls }: EditorAnswer): object {
  const made = calls.map(({ id, name, input }) => ({
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
