import { visibleTo } from '../../core/domain/simulatedTool.ts';
import { sourceOf } from '../../core/domain/sources/sources.ts';
import { externalSource } from '../../core/domain/tool.ts';
import { numberFormsOf, resultsSoFar } from '../../core/events/message.ts';
import { isFilled } from '../../core/events/quotedResults.ts';
import { canonicalJson, type Json, type JsonObject } from '../../core/values/json.ts';
import { randomStream, rolloutKey } from '../../core/values/random.ts';
import { calledTool, setUpOf, viewOf } from '../rollout/driver.ts';
import { openSource } from '../rollout/verification.ts';
import type { Question } from '../workers/workerMessage.ts';
import type { CallUnderWay } from './callUnderWay.ts';
import { askedCall, type CalledTool, type CheckedQuestion } from './checkedQuestion.ts';
import type { FoldedRollout } from './foldedRollout.ts';
import { ForgedMessage } from './forgedMessage.ts';

/**
 * The most times that a worker may ask the same question at one step: a model that simulates a tool is asked again after
 * an answer that does not fit, and a new Python process after a stale one. Questions that cost nothing have no limit.
 */
const asksPerStep: Partial<Record<Question['type'], number>> = {
  agent: 1,
  user: 1,
  judge: 1,
  tool: 1,
  python: 2,
  simulated: 3,
};

/** The questions that a worker may ask, by the effect of the fold and by how often it asked. */
export class AskableQuestions {
  readonly #rollout: FoldedRollout;
  readonly #call: CallUnderWay;
  #asked: { step: number; count: number } = { step: -1, count: 0 };

  constructor(rollout: FoldedRollout, call: CallUnderWay) {
    this.#rollout = rollout;
    this.#call = call;
  }

  /** Returns a question as it may be asked. Throws `ForgedMessage` where nothing in the rollout waits for its answer. */
  ask(about: Question): CheckedQuestion {
    const checked = this.#checked(about);
    const { next: step, effect } = this.#rollout;
    this.#asked = { step, count: this.#asked.step === step ? this.#asked.count + 1 : 1 };
    // Gold actions in Python are all played at the step that verifies.
    const limit = effect?.type === 'verify' ? undefined : asksPerStep[about.type];
    if (limit !== undefined && this.#asked.count > limit)
      throw new ForgedMessage(`it asked ${this.#asked.count} times for one ${about.type} step`);
    return checked;
  }

  /** Lets another worker repeat the questions of this step. */
  resume(): void {
    this.#asked = { step: -1, count: 0 };
  }

  #checked(about: Question): CheckedQuestion {
    const { effect, state, setting, task, seats } = this.#rollout;
    const { now } = state.started;
    switch (about.type) {
      case 'agent':
      case 'user': {
        if (effect?.type !== (about.type === 'agent' ? 'askAgent' : 'askUser') || seats[about.type] !== 'remote') break;
        const { domain: _domain, random: _random, ...view } = viewOf({ setting, task }, state, about.type);
        return { type: about.type, view };
      }
      case 'judge':
        if (effect?.type !== 'askJudge') break;
        return { type: 'judge', question: effect.question };
      case 'simulated': {
        const { called } = this.#call;
        const simulation = called && sourceOf(called.tool).simulation;
        if (!simulation) break;
        const { tool, asked } = called;
        if (this.#call.isAnswered) throw new ForgedMessage(`it asked for ${asked.name} again`);
        const visible = visibleTo(simulation, asked.arguments, state.world[tool.owner]);
        return { ...asked, type: 'simulated', problem: this.#call.problem, now, visible };
      }
      case 'tool': {
        const { called } = this.#call;
        const source = called && externalSource(called.tool);
        if (!called || !source) break;
        return { ...called.asked, type: 'tool', source };
      }
      case 'python': {
        const called = this.#call.called ?? this.#goldAction(about.step, about.filled);
        if (!called || sourceOf(called.tool).runs !== 'inPython') break;
        const { asked, random } = called;
        const seed = `${random.integer(1 << 30)}-${random.integer(1 << 30)}`;
        return { ...about, ...asked, type: 'python', now, seed };
      }
      case 'hosted': {
        const due = this.#hostedParams(about.method, about.params);
        if (about.environment !== setting.domain.hosted?.name || !due) break;
        return { ...about, params: due };
      }
      case 'source':
        if (effect?.type === 'verify' && openSource(task, state)?.source === about.source) return about;
    }
    throw new ForgedMessage(`it asked for ${about.type}, which nothing waits for`);
  }

  /**
   * A gold action, which is played where the rollout is verified.
   * @param given its arguments with the results that it quotes
   */
  #goldAction(index: number, given: Json = {}): CalledTool | null {
    const { effect, isClosed, setting, task, state } = this.#rollout;
    if (effect?.type !== 'verify' && !isClosed) return null;
    const action = task.actions[index];
    const tool = action && calledTool(setting.domain, action.tool, action.by);
    if (!action || !tool) return null;
    const written = action.arguments as JsonObject;
    const values = isFilled(written, given) ? (given as JsonObject) : written;
    const call = { id: '', name: action.tool, arguments: values, ...numberFormsOf(action) };
    const random = randomStream(...rolloutKey(state.started), 'gold', index);
    return { tool, asked: askedCall(call, index), random };
  }

  /** Returns what the environment on the domain's database is asked with, where the worker asks exactly that. */
  #hostedParams(
    method: Extract<Question, { readonly type: 'hosted' }>['method'],
    params: JsonObject,
  ): JsonObject | null {
    const { setting, task, state } = this.#rollout;
    const effect = this.#rollout.effect?.type;
    const isVerifying = effect === 'verify';
    const due: Json[] = [];
    if (method === 'sync' && (isVerifying || effect === 'sync')) due.push({});
    if (method === 'set_up' && effect === 'prepareWorld') due.push({ data: setUpOf(setting.domain, task) ?? null });
    if (method === 'ask' && isVerifying) {
      const { tool, by, arguments: given } = openSource(task, state)?.assertion.call ?? {};
      if (tool !== undefined) due.push({ tool, by, arguments: given } as Json);
    }
    if (method === 'call') {
      const earlier = resultsSoFar(state.messages);
      const { called } = this.#call;
      const more = called && earlier.length > 0 ? { earlier } : {};
      const filled = params['arguments'];
      const all = called ? [called] : task.actions.flatMap((_, index) => this.#goldAction(index, filled) ?? []);
      for (const { tool, asked } of all) {
        const { name: _, step: __, ...given } = asked;
        due.push({ tool: tool.name, by: tool.owner, ...given, ...more } as Json);
      }
    }
    const text = canonicalJson(params);
    return (due.find((each) => canonicalJson(each) === text) as JsonObject | undefined) ?? null;
  }
}
