import type { CodeTool, Sync } from '../../authoring.ts';
import type { Tool } from '../../core/domain/tool.ts';
import type { Writes } from '../../core/events/event.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { FileLine } from '../files/diagnostic.ts';
import { Fault } from '../files/fault.ts';
import type { ToolContext, ToolOutcome } from '../rollout/ports.ts';
import { callCodeTool, callSync } from './codeTools.ts';
import type { MarkedCalls } from './markedCalls.ts';
import type { ReadObserver } from './readObserver.ts';
import type { WorkerWriter } from './workerChannel.ts';
import type { WorkerInspector } from './workerInspector.ts';

export type DomainCodeOptions = {
  readonly folder: string;
  readonly tools: ReadonlyMap<string, CodeTool>;
  /** Keeps both sides of the world in step, if the domain has such a function. */
  readonly sync: Sync | null;
  /** Milliseconds until the domain's `sync` counts as hung. */
  readonly timeoutMs: number;
  readonly writer: WorkerWriter;
  readonly inspector: WorkerInspector;
};

/** The domain's own functions: its tools, its verifiers and its `sync`. */
export class DomainCode {
  readonly #options: DomainCodeOptions;
  readonly #calls: MarkedCalls;
  /** The places of the tools, for errors. */
  places: Readonly<Record<string, FileLine>> = {};

  constructor(options: DomainCodeOptions, calls: MarkedCalls) {
    this.#options = options;
    this.#calls = calls;
  }

  get hasSync(): boolean {
    return this.#options.sync !== null;
  }

  /** Calls a tool or a verifier. Throws a `Fault` where the code has none of this name. */
  call(
    rollout: number,
    tool: Tool,
    values: JsonObject,
    context: ToolContext,
    observer: ReadObserver | null = null,
  ): ToolOutcome | Promise<ToolOutcome> {
    const { folder, tools, writer, inspector } = this.#options;
    const code = tools.get(tool.name);
    if (!code)
      throw new Fault({
        who: 'environment',
        code: 'tool/missing',
        message: `the domain's code exports no tool named ${tool.name}`,
      });
    const call = { rollout, tool: tool.name, timeoutMs: tool.timeoutMs };
    const guard = this.#calls.guard(call);
    const log = (text: string) => writer.send({ type: 'log', rollout, text });
    const prepared = inspector.prepared(rollout, code);
    const asked = { name: tool.name, tool: prepared, arguments: values, context, folder };
    const outcome = callCodeTool({ ...asked, guard, log, observer });
    if (!(outcome instanceof Promise)) return outcome;
    return this.#calls.awaiting(call, inspector.isOpen ? outcome : inTime(outcome, tool, this.places[tool.name]));
  }

  /** Calls `sync`, which the domain must have. */
  sync(rollout: number, { world, now }: Pick<ToolContext, 'world' | 'now'>): Writes {
    const { folder, sync, timeoutMs } = this.#options;
    if (!sync) throw new Error('the domain has no sync');
    return callSync({ sync, world, now, folder, guard: this.#calls.guard({ rollout, tool: 'sync', timeoutMs }) });
  }
}

/** The promise of a call that never settles ends its rollout; the worker continues. */
async function inTime(outcome: Promise<ToolOutcome>, tool: Tool, place?: FileLine): Promise<ToolOutcome> {
  let timer: NodeJS.Timeout | undefined;
  const timeOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const message = `the tool ${tool.name} gave no result within ${tool.timeoutMs} ms; declare a longer timeoutMs, or find the promise that never settles`;
      reject(new Fault({ who: 'environment', code: 'tool/hung', message, ...place }));
    }, tool.timeoutMs);
  });
  try {
    return await Promise.race([outcome, timeOut]);
  } finally {
    clearTimeout(timer);
  }
}
