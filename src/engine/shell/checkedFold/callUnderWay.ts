import { sourceOf } from '../../core/domain/sources/sources.ts';
import { runsInWorker, type Side, type Tool } from '../../core/domain/tool.ts';
import { type CallFault, callFaults } from '../../core/events/callFaults.ts';
import type { RolloutEvent, Writes } from '../../core/events/event.ts';
import { numberFormsOf, type ToolCall } from '../../core/events/message.ts';
import type { Effect } from '../../core/rollout/effect.ts';
import { contentHash } from '../../core/values/hash.ts';
import { impossible } from '../../core/values/impossible.ts';
import { canonicalJson, type Json } from '../../core/values/json.ts';
import { type Attachments, attachmentsOf } from '../../core/values/media.ts';
import { randomStream, rolloutKey } from '../../core/values/random.ts';
import { calledTool, refusalOf } from '../rollout/driver.ts';
import { type Returned, toolReturned } from '../rollout/effectEvents.ts';
import { callUnderFaults, resultByFaults, resultUnderFaults } from '../rollout/seededFaults.ts';
import { simulatedOutcome } from '../workers/externalCalls.ts';
import type { Answer, SimulatedAnswer } from '../workers/workerMessage.ts';
import { type AskedCall, askedCall, type CalledTool, type CheckedQuestion } from './checkedQuestion.ts';
import type { FoldedRollout } from './foldedRollout.ts';
import { ForgedMessage, shortened } from './forgedMessage.ts';

/** The call of a tool that is under way: its seeded faults, its answer, and the events that may follow from both. */
export class CallUnderWay {
  readonly #rollout: FoldedRollout;
  /** The seeded faults of the call, and those that are still due. */
  #seeded: { readonly step: number; readonly faults: readonly CallFault[]; left: CallFault[] } | null = null;
  /** The answer of a tool outside the worker to the call in progress. */
  #result: ({ readonly step: number; readonly saved: Json; readonly writes?: Writes } & Returned) | null = null;
  /** The problem with the last answer of a model that simulates the tool of the call in progress. */
  #problem: { readonly step: number; readonly text: string } | null = null;
  /** Answers to reads that a worker may keep until something is written, by call. */
  readonly #reads = new Map<string, Returned>();

  constructor(rollout: FoldedRollout) {
    this.#rollout = rollout;
  }

  /** Whether a tool outside the worker answered the call in progress. */
  get isAnswered(): boolean {
    return this.#result?.step === this.#rollout.callStep;
  }

  /** The problem with the last answer of a model that simulates the tool; null without one. */
  get problem(): string | null {
    return this.#problem?.step === this.#rollout.callStep ? this.#problem.text : null;
  }

  /** The call as it reaches its tool; null where none does. */
  get called(): CalledTool | null {
    const { effect, state, setting, callStep: step } = this.#rollout;
    if (effect?.type !== 'finishCall') return null;
    const { call, by } = effect;
    const tool = calledTool(setting.domain, call.name, by);
    const given = this.#reached(call, tool, by);
    if (!tool || 'content' in given) return null;
    const random = randomStream(...rolloutKey(state.started), `tool:${call.name}`, step);
    return { tool, asked: askedCall(given, step), random };
  }

  /** Forgets the answer before the worker asks again. */
  forgetResult(): void {
    this.#result = null;
  }

  /** Forgets the answers to reads, after something was written. */
  forgetReads(): void {
    this.#reads.clear();
  }

  /** Lets another worker repeat the call. */
  resume(): void {
    this.#result = null;
    this.#problem = null;
  }

  /** Accepts the answer to a question about the call. */
  answered(asked: CheckedQuestion, value: Answer): void {
    const { effect, callStep: step } = this.#rollout;
    if (effect?.type !== 'finishCall') return;
    if (asked.type === 'simulated') {
      const outcome = this.#simulated(asked, value as SimulatedAnswer);
      this.#problem = 'problem' in outcome ? { step, text: outcome.problem } : null;
      if ('problem' in outcome) return;
      const { content, isError, writes } = outcome;
      this.#result = { step, content, isError, saved: null, writes };
    }
    const result = resultOf(value);
    if (result === null) return;
    const saved = ('saved' in value ? (value.saved as Json | undefined) : undefined) ?? null;
    this.#result ??= { step, ...result, saved };
    if ('arguments' in asked && !result.isError) this.#reads.set(callKey(asked), result);
  }

  #simulated({ name, arguments: given }: AskedCall, answer: SimulatedAnswer): ReturnType<typeof simulatedOutcome> {
    const { tool } = this.called ?? {};
    if (!tool) throw new ForgedMessage(`it continued before ${name} was answered`);
    return simulatedOutcome(tool, given, this.#rollout.state.world, answer);
  }

  /** Returns the event of the call that is due where this one came. Throws `ForgedMessage` where none can be due. */
  due({ call, by }: Extract<Effect, { type: 'finishCall' }>, event: RolloutEvent): RolloutEvent {
    const tool = calledTool(this.#rollout.setting.domain, call.name, by);
    const { faults, left } = this.#faultsOf(call.name);
    if ('callId' in event && event.callId !== call.id)
      throw new ForgedMessage(`${event.type} refers to a call other than ${call.id}`);
    switch (event.type) {
      case 'faultInjected': {
        const due = left.shift();
        if (!due) throw new ForgedMessage(`the call of ${call.name} has no such fault`);
        return { type: 'faultInjected', callId: call.id, index: due.index, fault: due.fault };
      }
      case 'sourceSaved': {
        const { source, snapshot } = event;
        if (canonicalJson({ source, snapshot } as Json) !== canonicalJson(this.#result?.saved ?? null))
          throw new ForgedMessage(`the snapshot of ${source} is not what was saved`);
        return event;
      }
      case 'databaseWritten':
        if (!this.#mayWrite(call, tool, by, event.writes))
          throw new ForgedMessage(`${call.name} may not write what it wrote`);
        return event;
      case 'toolReturned': {
        if (left.length > 0) throw new ForgedMessage(`a fault of the call of ${call.name} is missing`);
        if ((event.by ?? 'agent') !== by) throw new ForgedMessage(`${call.name} was called by the other side`);
        const reached = this.#reached(call, tool, by);
        if ('content' in reached) return toolReturned(call.id, by, reached);
        const seeded = faults.map(({ fault }) => fault);
        if (tool && runsInWorker(tool)) {
          const content = event.isError ? null : resultByFaults(seeded);
          return toolReturned(call.id, by, { content: content ?? event.content, isError: event.isError });
        }
        const answer = this.#answerTo(reached, tool);
        const due = answer && resultUnderFaults(seeded, answer);
        if (!due || resultKey(due) !== resultKey(event))
          throw new ForgedMessage(`${call.name} did not answer ${shortened(event.content)}`);
        return event;
      }
      default:
        throw new ForgedMessage(`${event.type} is not part of a call`);
    }
  }

  #faultsOf(name: string): { readonly faults: readonly CallFault[]; readonly left: CallFault[] } {
    const { state, task } = this.#rollout;
    const step = state.messages.length;
    if (this.#seeded?.step !== step) {
      const faults = callFaults(task, state, name);
      this.#seeded = { step, faults, left: [...faults] };
    }
    return this.#seeded;
  }

  /** The call as it reaches its tool, or its result where seeded faults or its arguments keep it from that. */
  #reached(call: ToolCall, tool: Tool | undefined, by: Side): ToolCall | Returned {
    const faults = this.#faultsOf(call.name).faults.map(({ fault }) => fault);
    const given = callUnderFaults(faults, call, tool?.timeoutMs ?? 0);
    if ('content' in given) return given;
    const refusal = refusalOf(given, tool, by, this.#rollout.state);
    return refusal === null ? given : { content: `Error: ${refusal}`, isError: true };
  }

  /** Returns what a tool outside the worker answered: to the call under way, or to the same read before it. */
  #answerTo(call: ToolCall, tool: Tool | undefined): Returned | undefined {
    if (this.#result && this.isAnswered) return this.#result;
    return tool?.cache === true && tool.effect === 'read' ? this.#reads.get(callKey(call)) : undefined;
  }

  /**
   * A tool in code writes on its owner's side only, and a read writes nothing; a benchmark's environment decides itself,
   * and a model that simulates a tool what it answered.
   */
  #mayWrite(call: ToolCall, tool: Tool | undefined, by: Side, writes: Writes): boolean {
    if (!tool || 'content' in this.#reached(call, tool, by)) return false;
    const { runs } = sourceOf(tool);
    switch (runs) {
      case 'inPython':
        return true;
      case 'inWorker':
        return tool.effect === 'write' && writes.every(({ side }) => side === tool.owner);
      case 'byModel':
        return this.isAnswered && isSame(this.#result?.writes, writes);
      case 'atSource':
        return false;
      default:
        return impossible('place of calls', runs);
    }
  }
}

/** A call by what its tool gets. */
function callKey(call: Pick<ToolCall, 'name' | 'arguments' | 'floats' | 'integers'>): string {
  return canonicalJson([call.name, call.arguments, numberFormsOf(call) as Json]);
}

const isSame = (one: unknown, other: unknown) =>
  one !== undefined && canonicalJson(one as Json) === canonicalJson(other as Json);

/** Returns what a tool outside the worker is known to have said. */
function resultOf(value: Answer): Returned | null {
  if ('refusal' in value) return { content: value.refusal, isError: true };
  if ('rows' in value) return { content: value.content ?? '', isError: value.isError ?? false };
  if (!('isError' in value) || !('content' in value)) return null;
  const { content = '', isError = false } = value;
  return { content, isError, ...attachmentsOf(value as Attachments) };
}

const resultKey = ({ content, isError, ...attached }: Returned) =>
  contentHash([content, isError, attachmentsOf(attached) as Json]);
