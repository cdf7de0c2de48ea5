import type { AgentSeat } from '../../core/domain/seatSpec.ts';
import { callArguments, offeredNow, type ToolCall } from '../../core/events/message.ts';
import { withoutThoughts } from '../../core/events/thoughts.ts';
import type { AgentReply } from '../../core/seats/seat.ts';
import { canonicalJson, type JsonObject } from '../../core/values/json.ts';
import { attachmentsOf } from '../../core/values/media.ts';
import { providedBy } from '../../core/values/providerFields.ts';
import { cancelled, Fault } from '../files/fault.ts';
import type { Returned } from '../rollout/effectEvents.ts';
import type { RemoteView } from '../workers/workerMessage.ts';
import { type AgentProgram, openAgentProgram } from './agentProgram.ts';
import type { ChatAnswer } from './chatAnswer.ts';
import { freeId, idsOfCalls } from './chatCalls.ts';
import { chatOf } from './chatRequest.ts';
import { type LentAddress, lendAddress } from './lentAddress.ts';
import { type AskLentModel, LentModel, type ModelAnswer } from './lentModel.ts';
import { isModelCall, joinCalls, type ModelCall } from './modelCall.ts';
import { replyOf } from './openai.ts';

/** The agent's reply, and the requests to its model that led to it. */
export type AgentAnswer = { readonly reply: AgentReply; readonly call?: ModelCall };

/** A message of the lent model, and the calls in it that the agent has not made so far. */
type Announced = { readonly reply: AgentReply; open: readonly ToolCall[] };

/** A call that arrived over MCP: `message` is the model's message that it is in, where there is one. */
type Arrived = {
  readonly call: ToolCall;
  readonly message: Announced | null;
  readonly resolve: (result: Returned) => void;
};

/** The time to wait for calls that the model announced together with the one that arrived, in ms. */
const siblingsMs = 1000;
/** The same for an agent that let that time pass: it makes one call after the other. */
const laterSiblingsMs = 100;
/** The time within which calls that no model announced count as simultaneous, in ms. */
const defaultTogetherMs = 10;

const notNow = 'Error: tools can be called only in the turn of the agent';

/**
 * A custom agent in the seat of one rollout. It is not a second loop: asked for its turn, the program
 * continues until it calls a tool or ends its turn, and that is the seat's reply; a call over MCP waits for its result
 * in the conversation that the seat is shown when it is asked again.
 */
export class AgentSession {
  readonly #seat: AgentSeat;
  readonly #askModel: AskLentModel;
  readonly #program: AgentProgram;
  readonly #closed = new AbortController();
  #address: Promise<LentAddress> | null = null;
  #view: RemoteView | null = null;
  #asked: PromiseWithResolvers<AgentAnswer> | null = null;
  #answered: AgentAnswer | null = null;
  #failure: Fault | null = null;
  /** The turn that the program is at; null between turns. */
  #turn: { text: string | null } | null = null;
  #announced: Announced[] = [];
  #arrived: Arrived[] = [];
  #made = new Map<string, (result: Returned) => void>();
  #modelCalls: ModelCall[] = [];
  /** Since when the lent model is at work, and for how long it was since the seat was asked. */
  #model = { since: [] as number[], ms: 0 };
  #gathering: NodeJS.Timeout | undefined;
  #siblingsMs = siblingsMs;
  readonly #togetherMs: number;
  #deadline: NodeJS.Timeout | undefined;

  /**
   * @param log receives what the program writes to its standard error
   * @param togetherMs how long the session waits for more calls after one that no model announced
   */
  constructor(seat: AgentSeat, askModel: AskLentModel, log: (text: string) => void, togetherMs = defaultTogetherMs) {
    this.#togetherMs = togetherMs;
    this.#seat = seat;
    this.#askModel = askModel;
    this.#program = openAgentProgram(seat, log);
  }

  /** Returns how many messages the agent was shown last. */
  get heard(): number {
    return this.#view?.messages.length ?? 0;
  }

  /** The seat's next reply. Asked again for the same one (its worker has died), it gives the same. */
  async ask(view: RemoteView, signal: AbortSignal): Promise<AgentAnswer> {
    if (this.#answered && view.messages.length === this.heard) return this.#answered;
    const asked = Promise.withResolvers<AgentAnswer>();
    asked.promise.catch(() => undefined);
    this.#view = view;
    this.#answered = null;
    this.#asked = asked;
    this.#model.ms = 0;
    const leave = () => this.#fail(cancelled());
    signal.addEventListener('abort', leave, { once: true });
    try {
      this.#deliver(view);
      this.#expectWithin(this.#seat.timeoutMs, performance.now());
      if (this.#turn) this.#settle();
      else await this.#begin(view);
      return await asked.promise;
    } finally {
      clearTimeout(this.#deadline);
      signal.removeEventListener('abort', leave);
    }
  }

  async close(): Promise<void> {
    this.#failure ??= cancelled();
    this.#closed.abort();
    clearTimeout(this.#gathering);
    const ended = { content: 'Error: the rollout has ended', isError: true };
    for (const resolve of [...this.#made.values(), ...this.#arrived.map((each) => each.resolve)]) resolve(ended);
    await this.#program.close();
    (await this.#address?.catch(() => null))?.close();
  }

  async #begin(view: RemoteView): Promise<void> {
    this.#address ??= this.#lend(view);
    const { rollout, loan } = await this.#address;
    if (this.#failure) return this.#settle();
    const turn = { text: null as string | null };
    this.#turn = turn;
    this.#program.turn({ rollout, messages: chatOf(view), ...loan }, this.#closed.signal).then(
      (text) => {
        turn.text = text;
        this.#settle();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #lend(view: RemoteView): Promise<LentAddress> {
    const { started } = view;
    const shown = () => this.#view ?? view;
    const { model, name } = this.#seat;
    const lent = model && new LentModel(model, this.#askModel, (answer, call) => this.#modelAnswered(answer, call));
    return lendAddress({
      complete: lent && ((request) => this.#complete(lent, request)),
      modelName: model?.model ?? name,
      tools: {
        get tools() {
          return offeredNow(started.tools, shown().messages);
        },
        instructions: started.system,
        call: (tool, args) => this.#called(tool, args),
      },
    });
  }

  /**
   * Answers a request to the lent model. A `Fault` of the model ends the rollout, since it says nothing about the
   * agent; the agent still receives the message.
   */
  async #complete(lent: LentModel, request: unknown): Promise<ModelAnswer> {
    this.#model.since.push(performance.now());
    try {
      return await lent.answer(request, this.#closed.signal);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.#fail(error);
      return {
        status: 502,
        body: { error: { message: error.message, type: 'server_error', code: error.failure.code } },
      };
    } finally {
      const since = this.#model.since.shift() ?? 0;
      this.#model.ms += performance.now() - since;
    }
  }

  #modelAnswered(answer: ChatAnswer, call: ModelCall): void {
    const reply = replyOf(answer, this.heard, this.#takenIds());
    this.#announced.push({ reply, open: reply.toolCalls });
    this.#modelCalls.push(call);
  }

  /** The ids of all calls that were made, announced or are waiting. */
  #takenIds(): readonly string[] {
    return [
      ...idsOfCalls(this.#view?.messages ?? []),
      ...this.#announced.flatMap(({ reply }) => reply.toolCalls.map(({ id }) => id)),
      ...this.#arrived.map(({ call }) => call.id),
      ...this.#made.keys(),
    ];
  }

  #called(name: string, args: JsonObject): Promise<Returned> {
    if (this.#failure || !this.#turn) return Promise.resolve({ content: notNow, isError: true });
    const { promise, resolve } = Promise.withResolvers<Returned>();
    const given = callArguments(JSON.stringify(args));
    const wanted = canonicalJson(given.arguments);
    const isIt = (call: ToolCall) => call.name === name && canonicalJson(call.arguments) === wanted;
    const message = this.#announced.findLast(({ open }) => open.some(isIt)) ?? null;
    const announced = message?.open.find(isIt);
    if (message) message.open = message.open.filter((each) => each !== announced);
    const id = announced?.id ?? freeId(`mcp_${this.heard}_${this.#arrived.length}`, new Set(this.#takenIds()));
    this.#arrived.push({ call: { id, name, ...given }, message, resolve });
    this.#settle();
    return promise;
  }

  /** Results that are in the conversation go to the calls that wait for them. */
  #deliver({ messages }: RemoteView): void {
    for (const message of messages) {
      if (message.role !== 'tool') continue;
      const { callId, content, isError } = message;
      this.#made.get(callId)?.({ content, isError, ...attachmentsOf(message) });
      this.#made.delete(message.callId);
    }
  }

  /** Answers who asked, as soon as there is something to say. */
  #settle(): void {
    if (!this.#asked) return;
    const [first] = this.#arrived;
    clearTimeout(this.#gathering);
    if (this.#failure) this.#fail(this.#failure);
    else if (first) {
      const isWhole = this.#turn?.text !== null || (first.message !== null && first.message.open.length === 0);
      if (isWhole) this.#answerCalls(first.message);
      else
        this.#gathering = setTimeout(
          () => {
            if (first.message) this.#siblingsMs = laterSiblingsMs;
            this.#answerCalls(first.message);
          },
          first.message ? this.#siblingsMs : this.#togetherMs,
        );
    } else if (this.#turn && this.#turn.text !== null) this.#answerText(this.#turn.text);
  }

  /** Calls of one message of the model go together; what a model did not announce is its own message. */
  #answerCalls(message: Announced | null): void {
    const together = this.#arrived.filter((each) => each.message === message);
    this.#arrived = this.#arrived.filter((each) => each.message !== message);
    const place = ({ call }: Arrived) => message?.reply.toolCalls.findIndex(({ id }) => id === call.id) ?? 0;
    together.sort((a, b) => place(a) - place(b));
    for (const { call, resolve } of together) this.#made.set(call.id, resolve);
    const toolCalls = together.map(({ call }) => call);
    const isWhole = message !== null && toolCalls.length === message.reply.toolCalls.length;
    const { content = null, reasoning, brokenEnd, messageId } = message?.reply ?? {};
    this.#answer({
      content: content === '' ? null : content,
      toolCalls,
      ...providedBy({ reasoning, brokenEnd }),
      ...(isWhole && messageId !== undefined ? { messageId } : {}),
    });
  }

  #answerText(text: string): void {
    const { content, thoughts } = withoutThoughts(text);
    const said = this.#announced.findLast(({ reply }) => reply.content === content && reply.toolCalls.length === 0);
    this.#turn = null;
    this.#announced = [];
    const reasoning = said?.reply.reasoning ?? thoughts ?? undefined;
    this.#answer({ ...said?.reply, ...providedBy({ reasoning }), content, toolCalls: [] });
  }

  #answer(reply: AgentReply): void {
    const call = joinCalls(this.#modelCalls);
    this.#modelCalls = [];
    this.#answered = { reply, ...(call ? { call } : {}) };
    this.#asked?.resolve(this.#answered);
    this.#asked = null;
  }

  #fail(error: unknown): void {
    if (error instanceof Fault) {
      const calls = [...this.#modelCalls, error.note].filter(isModelCall);
      this.#failure ??= new Fault(error.failure, { reason: error.reason, note: joinCalls(calls) ?? error.note });
    }
    this.#asked?.reject(this.#failure ?? error);
    this.#asked = null;
  }

  /** The time that the lent model takes is not the agent's. */
  #expectWithin(ms: number, from: number): void {
    this.#deadline = setTimeout(() => {
      const now = performance.now();
      const [since] = this.#model.since;
      const model = this.#model.ms + (since === undefined ? 0 : now - since);
      const left = this.#seat.timeoutMs - (now - from - model);
      if (left > 1) return this.#expectWithin(left, from);
      const { name, timeoutMs } = this.#seat;
      const message = `the agent "${name}" neither called a tool nor ended its turn within ${timeoutMs / 1000} s`;
      this.#fail(new Fault({ who: 'agent', code: 'agent/timeout', message }));
    }, ms);
  }
}
