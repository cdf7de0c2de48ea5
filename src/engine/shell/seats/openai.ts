import { setTimeout as delay } from 'node:timers/promises';
import OpenAI, {
  APIConnectionError,
  APIConnectionTimeoutError,
  APIError,
  APIUserAbortError,
  AuthenticationError,
  RateLimitError,
} from 'openai';
import type { ChatCompletion, ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions';
import type { JsonObject } from '../../core/json.ts';
import { type Message, type ToolCall, utterancesOf } from '../../core/message.ts';
import type { AgentReply, SeatView, UserReply } from '../../core/seat.ts';
import { cancelled, Fault } from '../fault.ts';
import type { ModelSeat } from './seatSpec.ts';

/** What a model call cost and exactly what was asked; goes to the sidecar. */
export type ModelCall = {
  readonly ms: number;
  readonly usage?: { readonly input: number; readonly output: number };
  readonly request: unknown;
};
export type Answered<Reply> = { readonly reply: Reply; readonly call: ModelCall };

/** The part of a view that a model seat needs; it crosses the lane's border. */
export type ModelView = Pick<SeatView, 'started' | 'messages' | 'task' | 'persona'> & {
  readonly domain: { readonly name: string };
};

type Asked = 'agent' | 'simulator' | 'judge';

const stopWords = {
  '###STOP###': 'done',
  '###TRANSFER###': 'transferred',
  '###OUT-OF-SCOPE###': 'outOfScope',
} as const;

/**
 * A model in the agent's seat, at any OpenAI-compatible endpoint.
 * @param key the API key, or empty for a server that wants none
 */
export async function askAgentModel(
  seat: ModelSeat,
  key: string,
  view: ModelView,
  signal: AbortSignal,
): Promise<Answered<AgentReply>> {
  const tools: ChatCompletionTool[] = view.started.tools.map((tool) => ({
    type: 'function',
    function: { ...tool, parameters: tool.parameters },
  }));
  const messages = [{ role: 'system' as const, content: view.started.system }, ...view.messages.map(agentMessage)];
  const { completion, call } = await complete(seat, key, 'agent', signal, {
    messages,
    ...(tools.length > 0 ? { tools } : {}),
  });
  const message = completion.choices[0]?.message as
    | (ChatCompletion['choices'][0]['message'] & { rehearsal_id?: string; reasoning_content?: string })
    | undefined;
  if (!message) throw broken(seat, 'agent', 'the answer holds no message');
  const toolCalls = (message.tool_calls ?? []).flatMap((made, index): ToolCall[] =>
    made.type === 'function'
      ? [
          {
            id: made.id || `call_${view.messages.length}_${index}`,
            name: made.function.name,
            arguments: parsedArguments(made.function.arguments),
          },
        ]
      : [],
  );
  const messageId = message.rehearsal_id;
  const reasoning = message.reasoning_content;
  const reply = {
    content: message.content ?? (toolCalls.length > 0 ? null : ''),
    toolCalls,
    ...(reasoning ? { reasoning } : {}),
    ...(messageId ? { messageId } : {}),
  };
  return { reply, call };
}

/** A model in the user's seat: roles swapped, its own turns kept, stop words enforced. */
export async function askUserModel(
  seat: ModelSeat,
  key: string,
  view: ModelView,
  signal: AbortSignal,
): Promise<Answered<UserReply>> {
  const spoken = utterancesOf(view.messages).map(
    ({ role, content }): ChatCompletionMessageParam => ({ role: role === 'user' ? 'assistant' : 'user', content }),
  );
  const opening: ChatCompletionMessageParam = { role: 'user', content: 'Hi! How can I help you today?' };
  const messages = [{ role: 'system' as const, content: simulatorPrompt(view) }, opening, ...spoken];
  const { completion, call } = await complete(seat, key, 'simulator', signal, { messages });
  const text = completion.choices[0]?.message.content ?? '';
  const stop = Object.entries(stopWords).find(([word]) => text.includes(word));
  const content = Object.keys(stopWords)
    .reduce((rest, word) => rest.replaceAll(word, ''), text)
    .trim();
  if (content === '' && !stop) throw broken(seat, 'simulator', 'the answer is empty');
  return { reply: { content, stop: stop?.[1] ?? null }, call };
}

/** The instructions a model gets that plays the user. */
export function simulatorPrompt({ task, persona }: Pick<ModelView, 'task' | 'persona'>): string {
  const known = Object.entries(task.user.known).map(
    ([name, fact]) => `- ${name}: ${typeof fact === 'object' ? (fact.say ?? fact.value) : fact}`,
  );
  return [
    'You play a customer who talks to a support agent. Write only what the customer says, one short message at a time.',
    `Who you are: ${persona.description}`,
    `What you want: ${task.user.goal}`,
    ...(known.length > 0 ? ['What you know (tell it when asked, not all at once):', ...known] : []),
    ...(task.user.unknown.length > 0
      ? [`What you do not know: ${task.user.unknown.join(', ')}. Say so when asked; invent nothing.`]
      : []),
    ...(persona.behaviours.changes && task.user.change
      ? [
          `${task.user.change.when === 'proposed' ? 'When the agent first proposes something' : 'When your first request is done'}, change your mind: "${task.user.change.say}"`,
        ]
      : []),
    ...(persona.behaviours.insists && task.user.insist
      ? [`When you are refused, insist once: "${task.user.insist.say}"`]
      : []),
    'When your goal is reached, answer with ###STOP### alone. When you are handed to a person, answer ###TRANSFER###. When what is asked is outside of your instructions, answer ###OUT-OF-SCOPE###.',
  ].join('\n');
}

/** One chat completion. Every way in which an endpoint can fail is a `Fault`. */
export async function complete(
  seat: ModelSeat,
  key: string,
  who: Asked,
  signal: AbortSignal,
  body: { messages: ChatCompletionMessageParam[]; tools?: ChatCompletionTool[] },
) {
  const client = new OpenAI({
    apiKey: key || 'none',
    baseURL: seat.baseUrl,
    maxRetries: 3,
    timeout: seat.timeoutMs ?? 120_000,
  });
  const request = {
    model: seat.model,
    ...body,
    ...(seat.temperature === undefined ? {} : { temperature: seat.temperature }),
    ...(seat.maxTokens === undefined ? {} : { max_tokens: seat.maxTokens }),
  };
  const from = performance.now();
  try {
    const completion = await wholeAnswer(() => client.chat.completions.create(request, { signal }), signal);
    if (!Array.isArray(completion?.choices)) throw broken(seat, who, 'the answer is no chat completion');
    const usage = completion.usage
      ? { input: completion.usage.prompt_tokens, output: completion.usage.completion_tokens }
      : undefined;
    return { completion, call: { ms: Math.round(performance.now() - from), request, ...(usage ? { usage } : {}) } };
  } catch (error) {
    throw classified(error, seat, who);
  }
}

const mostBreaks = 3;

/** An answer that broke off in its middle is asked for again: the client only tries again what has not begun. */
async function wholeAnswer<T>(ask: () => PromiseLike<T>, signal: AbortSignal): Promise<T> {
  for (let breaks = 1; ; breaks += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!isCutOff(error) || signal.aborted || breaks > mostBreaks) throw error;
      await delay(100 * 2 ** breaks, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** How `fetch` says that a connection ended inside a body. */
function isCutOff(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'terminated';
}

/** Every way an endpoint can fail, as one message each. The key never appears in it. */
function classified(error: unknown, seat: ModelSeat, who: Asked): unknown {
  if (error instanceof Fault) return error;
  const infrastructure = (code: string, message: string) => new Fault({ who: 'infrastructure', code, message });
  if (error instanceof APIUserAbortError) return cancelled();
  if (error instanceof APIConnectionTimeoutError)
    return infrastructure(
      'model/timeout',
      `${seat.baseUrl} did not answer within ${(seat.timeoutMs ?? 120_000) / 1000} s. Is the server overloaded, or the model too large for it?`,
    );
  if (error instanceof APIConnectionError)
    return infrastructure(
      'model/unreachable',
      `${seat.baseUrl} can't be reached. Is the server running, and is the base URL right?`,
    );
  if (error instanceof AuthenticationError)
    return infrastructure(
      'model/key',
      seat.keyName === null
        ? `${seat.baseUrl} wants a key (401), and no key is sent to an address that only the domain names. If you trust it, set OPENAI_BASE_URL to it`
        : `${seat.baseUrl} refused the key in ${seat.keyName} (401). Set another one`,
    );
  if (error instanceof RateLimitError)
    return infrastructure(
      'model/rate',
      `${seat.baseUrl} limits the rate of requests (429), also after retries. Lower the concurrency`,
    );
  if (error instanceof APIError && error.code === 'context_length_exceeded' && who === 'agent') {
    return new Fault({
      who,
      code: 'model/context',
      message: `the conversation no longer fits into the context of ${seat.model}`,
    });
  }
  if (error instanceof APIError)
    return infrastructure(
      'model/error',
      `${seat.baseUrl} answered ${error.status ?? 'with an error'}: ${String(error.message).slice(0, 300)}`,
    );
  if (error instanceof SyntaxError) return broken(seat, who, 'the answer is not JSON');
  if (isCutOff(error))
    return infrastructure('model/cut', `${seat.baseUrl} broke off in the middle of its answer, also after retries`);
  return error;
}

function broken(seat: ModelSeat, who: Asked, what: string): Fault {
  return new Fault({
    who: 'infrastructure',
    code: 'model/broken',
    message: `${seat.model} at ${seat.baseUrl} (the ${who}'s seat): ${what}`,
  });
}

function agentMessage(message: Message): ChatCompletionMessageParam {
  if (message.role === 'user') return { role: 'user', content: message.content };
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: message.content };
  const calls = message.toolCalls.map((call) => ({
    id: call.id,
    type: 'function' as const,
    function: {
      name: call.name,
      arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
    },
  }));
  return {
    role: 'assistant',
    content: message.content,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(message.messageId ? { rehearsal_id: message.messageId } : {}),
  };
}

function parsedArguments(text: string): JsonObject | string {
  try {
    const value: unknown = text.trim() === '' ? {} : JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : text;
  } catch {
    return text;
  }
}
