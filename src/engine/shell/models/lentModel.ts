import * as z from 'zod';
import type { ModelSeat } from '../../core/domain/seatSpec.ts';
import { Fault } from '../files/fault.ts';
import { type ChatAnswer, type Completion, textOf } from './chatAnswer.ts';
import { type SentMessage, sentMessageSchema } from './chatMessage.ts';
import type { OnRetry } from './endpointAttempts.ts';
import type { ModelCall } from './modelCall.ts';
import { completeWhole } from './openai.ts';

const requestSchema = z.looseObject({ messages: z.array(sentMessageSchema).min(1) });

/** The answer to an agent's request to its model: a status and a body in OpenAI's form. */
export type ModelAnswer =
  | { readonly status: 200; readonly body: Completion }
  | { readonly status: 400 | 502; readonly body: object };

/** Makes a request of the lent model with the real key, and lets anyone who waits know. */
export type AskLentModel = <Answer>(
  make: (key: string, onRetry: OnRetry, model?: ModelSeat) => Promise<Answer>,
) => Promise<Answer>;

type Given = { readonly id: string; readonly text: string };

/**
 * The model that is lent to an agent for one rollout. Requests are answered one after the other, so that what is
 * recorded has one order. The model's name, the key and the settings of the seat are the engine's; everything else is
 * as the agent sent it.
 */
export class LentModel {
  readonly #model: ModelSeat;
  readonly #ask: AskLentModel;
  readonly #onAnswer: (answer: ChatAnswer, call: ModelCall) => void;
  #tail: Promise<unknown> = Promise.resolve();
  /** Texts with an identity, in the order in which they were given. */
  readonly #given: Given[] = [];

  /** @param onAnswer receives every answer before the agent does */
  constructor(model: ModelSeat, ask: AskLentModel, onAnswer: (answer: ChatAnswer, call: ModelCall) => void) {
    this.#model = model;
    this.#ask = ask;
    this.#onAnswer = onAnswer;
  }

  /** Throws a `Fault` for what says nothing about the agent: the rollout can't continue. */
  answer(request: unknown, signal: AbortSignal): Promise<ModelAnswer> {
    const answered = this.#tail.then(() => this.#answer(request, signal));
    this.#tail = answered.catch(() => undefined);
    return answered;
  }

  async #answer(request: unknown, signal: AbortSignal): Promise<ModelAnswer> {
    const parsed = requestSchema.safeParse(request);
    if (!parsed.success) return refused(misfitIn(parsed.error));
    const { model: _, stream: _stream, stream_options: _options, messages, ...rest } = parsed.data;
    const body = { messages: this.#withIdentities(messages), ...rest };
    try {
      const { answer, call } = await this.#ask((key, onRetry, lent = this.#model) =>
        completeWhole(lent, key, 'agent', signal, body, onRetry, Object.keys(body)),
      );
      const { messageId, toolCalls, raw } = answer;
      if (messageId !== null && toolCalls.length === 0)
        this.#given.push({ id: messageId, text: textOf(raw.choices[0]?.message?.content) });
      this.#onAnswer(answer, call);
      return { status: 200, body: raw };
    } catch (error) {
      if (error instanceof Fault && error.failure.code === 'model/refused') return refused(error.message);
      throw error;
    }
  }

  /**
   * A client that drops fields it does not know loses the identity by which a gateway knows its own messages; calls
   * carry their own ids, texts get theirs back by their words, in order.
   */
  #withIdentities(messages: readonly SentMessage[]): readonly SentMessage[] {
    let from = 0;
    return messages.map((message) => {
      if (message.role !== 'assistant' || message.tool_calls?.length || 'rehearsal_id' in message) return message;
      const text = textOf(message.content);
      const at = this.#given.findIndex((each, index) => index >= from && each.text === text);
      const found = this.#given[at];
      if (!found) return message;
      from = at + 1;
      return { ...message, rehearsal_id: found.id };
    });
  }
}

/** Says what of an agent's request does not fit. */
function misfitIn({ issues: [issue] }: z.ZodError): string {
  const [list, ...place] = issue?.path ?? [];
  if (list === 'messages' && place.length > 1) return `${issue?.path.join('.')}: ${issue?.message}`;
  return 'messages must be a list of at least one message with a role';
}

function refused(message: string): ModelAnswer {
  return { status: 400, body: { error: { message, type: 'invalid_request_error', code: null, param: null } } };
}

/** A finished completion as the events of a stream, for a client that asked for one. */
export function streamed({ choices, usage, ...head }: Completion): string {
  const chunk = { ...head, object: 'chat.completion.chunk' };
  const deltas = choices.flatMap(({ message, finish_reason, ...choice }, at) => {
    const calls = message?.tool_calls?.map((call, index) => ({ index, ...call }));
    const delta = { ...message, ...(calls ? { tool_calls: calls } : {}) };
    const { index = at } = choice;
    return [
      { index, delta, finish_reason: null },
      { ...choice, index, delta: {}, finish_reason },
    ];
  });
  const chunks = [...deltas.map((choice) => ({ ...chunk, choices: [choice] })), { ...chunk, choices: [], usage }];
  return `${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`;
}
