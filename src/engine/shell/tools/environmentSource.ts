import type * as z from 'zod';
import type { PythonEnvironment } from '../../core/domain/domain.ts';
import type { Tool } from '../../core/domain/tool.ts';
import type { NumberForms } from '../../core/events/message.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { Fault } from '../files/fault.ts';
import { sentArguments } from '../load/exactErrors.ts';
import { environmentCallSchema, parsedSchema } from './bridgeAnswer.ts';
import type { BridgeProcess } from './bridgeProcess.ts';
import type { SourceCallOptions, SourceResult, ToolSource } from './toolSource.ts';

type Called = {
  readonly name: string;
  readonly args: JsonObject;
  readonly forms: NumberForms;
  readonly content: string;
};

/**
 * One rollout's session of an existing environment. When its process was killed because of another rollout, it comes
 * back as the environment declares: from the last snapshot, by the calls made again, or not at all.
 */
export class EnvironmentSource implements ToolSource {
  readonly tools: readonly Tool[];
  readonly #name: string;
  readonly #declared: PythonEnvironment;
  readonly #process: BridgeProcess;
  readonly #session: string;
  #start: Json | null = null;
  #saved: Json | null = null;
  #calls: Called[] = [];

  constructor(
    name: string,
    declared: PythonEnvironment,
    process: BridgeProcess,
    session: string,
    tools: readonly Tool[],
  ) {
    this.#name = name;
    this.#declared = declared;
    this.#process = process;
    this.#session = session;
    this.tools = tools;
  }

  /** Begins the session from the environment's base. */
  async reset(): Promise<void> {
    await this.#request(parsedSchema, 'reset', {});
  }

  async call(name: string, args: JsonObject, options: SourceCallOptions = {}): Promise<SourceResult> {
    const tool = this.tools.find((each) => each.name === name);
    const timeoutMs = options.timeoutMs ?? tool?.timeoutMs ?? this.#declared.timeoutMs;
    const save = this.#declared.state === 'snapshot' && tool?.effect === 'write';
    const { floats, integers, idempotencyKey: key } = options;
    const exact = sentArguments(tool?.parameters ?? {}, args, integers);
    const params = { tool: name, arguments: exact, floats, key, save };
    const ask = () => this.#request(environmentCallSchema, 'call', params, timeoutMs, options.signal);
    let answer = await ask();
    if ('stale' in answer) {
      await this.#comeBack();
      answer = await ask();
    }
    if ('stale' in answer) throw this.#lost('its process forgot the rollout');
    if (tool?.effect === 'write')
      this.#calls.push({ name, args, forms: { floats, integers }, content: answer.content });
    if (answer.snapshot !== undefined) this.#saved = answer.snapshot;
    return answer.isError ? { ...answer, isUnchanged: true } : answer;
  }

  read(): Promise<Json> {
    return this.#again(() => this.#request(parsedSchema, 'read', {}));
  }

  assert(name: string): Promise<Json> {
    return this.#again(() => this.#request(parsedSchema, 'assert', { name }));
  }

  async setUp(data: Json): Promise<void> {
    this.#start = data;
    await this.#request(parsedSchema, 'set_up', { data });
  }

  async snapshot(signal?: AbortSignal): Promise<Json> {
    this.#saved = await this.#again(() =>
      this.#request(parsedSchema, 'snapshot', {}, this.#declared.timeoutMs, signal),
    );
    return this.#saved;
  }

  async restore(snapshot: Json, signal?: AbortSignal): Promise<void> {
    this.#saved = snapshot;
    await this.#request(parsedSchema, 'restore', { snapshot }, this.#declared.timeoutMs, signal);
  }

  async close(): Promise<void> {
    await this.#request(parsedSchema, 'drop', {}).catch(() => undefined);
  }

  /** Asks, and once more after the session came back when its process had lost it. */
  async #again<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Fault) || error.failure.code !== 'environment/stale') throw error;
      await this.#comeBack();
      return ask();
    }
  }

  async #comeBack(): Promise<void> {
    const { state } = this.#declared;
    if (this.#calls.length > 0 && state === 'none')
      throw this.#lost('its process was stopped because of another rollout');
    await this.reset();
    if (this.#start !== null) await this.#request(parsedSchema, 'set_up', { data: this.#start });
    if (state === 'snapshot') {
      if (this.#saved !== null) await this.restore(this.#saved);
      return;
    }
    for (const { name, args, forms, content } of this.#calls) {
      const { parameters = {} } = this.tools.find((each) => each.name === name) ?? {};
      const { floats, integers } = forms;
      const params = { tool: name, arguments: sentArguments(parameters, args, integers), floats };
      const again = await this.#request(environmentCallSchema, 'call', params);
      if ('stale' in again || again.content !== content)
        throw this.#lost(`${name} answered differently when it was made again`);
    }
  }

  #request<T>(
    answer: z.ZodType<T>,
    method: string,
    params: object,
    timeoutMs = this.#declared.timeoutMs,
    signal?: AbortSignal,
  ): Promise<T> {
    const what = method === 'call' ? (params as { tool: string }).tool : method.replace('_', ' ');
    const call = { answer, timeoutMs, what, ...(signal ? { signal } : {}) };
    return this.#process.request(method, { session: this.#session, ...params }, call);
  }

  #lost(why: string): Fault {
    return new Fault({
      who: 'environment',
      code: 'environment/lost',
      message: `the environment "${this.#name}" has lost the state of this rollout: ${why}`,
    });
  }
}
