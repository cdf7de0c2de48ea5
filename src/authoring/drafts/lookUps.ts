import { namesValue } from '../../engine/core/dialogue/dialogue.ts';
import type { Domain } from '../../engine/core/domain/domain.ts';
import type { Task } from '../../engine/core/domain/task.ts';
import { type Tool, worksOnDatabase } from '../../engine/core/domain/tool.ts';
import { readsAsError } from '../../engine/core/events/errorText.ts';
import { binds } from '../../engine/core/rules/seen.ts';
import { wordsOf } from '../../engine/core/text/text.ts';
import { keysIn, leavesOf } from '../../engine/core/text/value.ts';
import { canonicalJson, type Json, type JsonObject, jsonOrText } from '../../engine/core/values/json.ts';
import { madeIn } from '../../engine/shell/audit/goldReplay.ts';
import type { Stage } from '../../engine/shell/audit/stage.ts';
import { isIdLike } from './quotedIds.ts';
import { type KnownValues, type Parameter, parametersOf } from './values.ts';

/** A call that a draft plans, and what it returns on the domain's own database. */
export type Planned = { readonly tool: string; readonly arguments: JsonObject; readonly result: Json | null };

/** The value that a user told last, by the argument that it can be; `all` gives every one, in their order. */
export type Told = ((parameter: Parameter) => string | undefined) & {
  readonly all: (parameter: Parameter) => readonly string[];
};

const deepest = 4;

/** Calls reads of a domain in workers, on its own database; each call is made once. */
export class LookUps {
  readonly domain: Domain;
  readonly #stage: Stage;
  readonly #probe: Task;
  readonly #made = new Map<string, Promise<Json | null>>();

  /** @param probe a task that the stage knows, with nothing in it */
  constructor(stage: Stage, probe: Task) {
    this.domain = stage.supervisor.domain;
    this.#stage = stage;
    this.#probe = probe;
  }

  /** Returns the result of a call; null if it fails. */
  call(tool: string, given: JsonObject): Promise<Json | null> {
    const key = `${tool} ${canonicalJson(given)}`;
    const found = this.#made.get(key) ?? this.#call(tool, given);
    this.#made.set(key, found);
    return found;
  }

  async #call(tool: string, given: JsonObject): Promise<Json | null> {
    const [made] = await this.inTurn([{ tool, arguments: given }]);
    return !made || made.isError || readsAsError(made.content) ? null : jsonOrText(made.content);
  }

  /** Returns what calls return when they are made one after the other; fewer where the domain's code ended. */
  async inTurn(calls: readonly Pick<Planned, 'tool' | 'arguments'>[]): Promise<ReturnType<typeof madeIn>> {
    const toolCalls = calls.map(({ tool, arguments: given }, at) => ({
      id: `look-up-${at}`,
      name: tool,
      arguments: given,
    }));
    const { arrived } = await this.#stage.play({
      task: this.#probe,
      agent: (turn) => (turn === 0 ? { content: null, toolCalls } : { content: 'Thank you.', toolCalls: [] }),
      user: (turn) => ({ content: turn === 0 ? 'Hello.' : 'Bye.', stop: turn === 0 ? null : 'done' }),
    });
    return madeIn(arrived);
  }
}

/** The look-ups before the writes of a draft: those that the rules want, and those that bring what no one told. */
export class Preparation {
  readonly planned: Planned[] = [];
  readonly #lookUps: LookUps;
  readonly #told: Told;

  constructor(lookUps: LookUps, told: Told) {
    this.#lookUps = lookUps;
    this.#told = told;
  }

  /** Plans a call with everything that has to come before it. Says what could not be planned. */
  async plan(tool: Tool, given: JsonObject, depth = 0): Promise<readonly string[]> {
    const lacking = await this.#prepare(tool, given, depth);
    const isRead = tool.effect === 'read';
    const result = isRead ? await this.#lookUps.call(tool.name, given) : null;
    if (isRead && result === null) return [...lacking, `${tool.name} finds nothing with ${JSON.stringify(given)}`];
    this.planned.push({ tool: tool.name, arguments: given, result });
    return lacking;
  }

  /** Whether a value was brought by a look-up. */
  brings(value: string): boolean {
    return this.planned.some(({ result }) => leavesOf(result).includes(value) || keysIn(result).includes(value));
  }

  /**
   * Returns the value of a field of this name in what the look-ups brought, or in what more look-ups bring: where there
   * are several, that of the row which the first text names that names one.
   */
  async valueOf(name: string, texts: readonly string[]): Promise<string | undefined> {
    const isId = (result: Json) => isIdLike(valueIn(result, name, texts) ?? null);
    if (this.found(name) === undefined) await this.#reachBy(isId);
    const brought = this.planned.findLast(({ result }) => fieldNamed(name, [result]) !== undefined);
    return brought && valueIn(brought.result, name, texts);
  }

  /** A value of a field of this name in what the look-ups brought. */
  found(name: string): string | undefined {
    return fieldNamed(
      name,
      this.planned.map(({ result }) => result),
    );
  }

  async #prepare(tool: Tool, given: JsonObject, depth: number): Promise<readonly string[]> {
    const { rules, tools } = this.#lookUps.domain;
    const lacking: string[] = [];
    for (const rule of rules) {
      if (rule.check !== 'before' || !binds(rule.tools, tool.name, tools, rule.require)) continue;
      const same = Object.fromEntries(
        (rule.same ?? []).flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]])),
      );
      if (this.planned.some((each) => rule.require.includes(each.tool) && holds(each.arguments, same))) continue;
      const options = rule.require.flatMap((name) => tools.find((each) => each.name === name) ?? []);
      const filled = options.map((each) => ({ tool: each, given: this.#filled(each, same) }));
      let isPlanned = false;
      for (const each of filled) {
        if (isPlanned || each.given === null || depth >= deepest) continue;
        const before = this.planned.length;
        isPlanned = (await this.plan(each.tool, each.given, depth + 1)).length === 0;
        if (!isPlanned) this.planned.length = before;
      }
      if (!isPlanned)
        lacking.push(
          `the rule ${rule.rule} wants ${rule.require.join(' or ')} before ${tool.name}, and the conversation does not tell with what`,
        );
    }
    return lacking;
  }

  /** Plans reads that bring a value which the user did not tell. False where none does. */
  reach(value: string): Promise<boolean> {
    return this.#reachBy((result) => leavesOf(result).includes(value) || keysIn(result).includes(value));
  }

  async #reachBy(brings: (result: Json) => boolean): Promise<boolean> {
    const first = await this.#bringing([], brings);
    if (first) return this.#planAll([first]);
    for (const step of await this.#reachable([])) {
      const next = await this.#bringing([step.result], brings);
      if (next) return this.#planAll([step, next]);
    }
    return false;
  }

  async #planAll(reads: readonly { readonly tool: Tool; readonly given: JsonObject }[]): Promise<boolean> {
    for (const { tool, given } of reads) if ((await this.plan(tool, given)).length > 0) return false;
    return true;
  }

  async #bringing(more: readonly (Json | null)[], brings: (result: Json) => boolean) {
    const all = await this.#reachable(more);
    return all.find(({ result }) => brings(result));
  }

  /** Every read that can be called with what is known, and what it returns. */
  async #reachable(more: readonly (Json | null)[]) {
    const reads = this.#lookUps.domain.tools.filter(
      (tool) => tool.effect === 'read' && tool.owner === 'agent' && !tool.generic && worksOnDatabase(tool),
    );
    const found: { readonly tool: Tool; readonly given: JsonObject; readonly result: Json }[] = [];
    for (const tool of reads) {
      const given = this.#filled(tool, {}, more);
      if (given === null || Object.keys(given).length === 0) continue;
      const result = await this.#lookUps.call(tool.name, given);
      if (result !== null) found.push({ tool, given, result });
    }
    return found;
  }

  #filled(tool: Tool, fixed: JsonObject, more: readonly (Json | null)[] = []): JsonObject | null {
    const filled: Record<string, Json> = {};
    for (const parameter of parametersOf(tool)) {
      const { name, isRequired } = parameter;
      if (!isRequired && fixed[name] === undefined) continue;
      const value =
        fixed[name] ??
        this.#told(parameter) ??
        fieldNamed(name, [...more, ...this.planned.map(({ result }) => result)]);
      if (value === undefined) return null;
      filled[name] = typedAs(parameter, value);
    }
    return filled;
  }
}

function holds(given: JsonObject, same: JsonObject): boolean {
  return Object.entries(same).every(([key, value]) => canonicalJson(given[key]) === canonicalJson(value));
}

/** A value as the tool's schema wants it. */
export function typedAs({ type }: Parameter, value: Json): Json {
  if (typeof value !== 'string') return value;
  if ((type === 'number' || type === 'integer') && value.trim() !== '' && Number.isFinite(Number(value)))
    return Number(value);
  return type === 'boolean' && /^(?:true|false)$/.test(value) ? value === 'true' : value;
}

function fieldNamed(name: string, results: readonly (Json | null)[]): string | undefined {
  const words = wordsOf(name.replaceAll('_', ' ')).join(' ');
  const look = (value: Json | null): string | undefined => {
    if (typeof value !== 'object' || value === null) return undefined;
    for (const [key, each] of Object.entries(value)) {
      const isScalar = typeof each === 'string' || typeof each === 'number';
      if (isScalar && wordsOf(key.replaceAll('_', ' ')).join(' ') === words) return String(each);
    }
    for (const each of Object.values(value as JsonObject)) {
      const found = look(each);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return results.map(look).findLast((found) => found !== undefined);
}

/** The value of a field in the only row that has it, else in the one that is named; undefined where several could be. */
function valueIn(result: Json | null, name: string, texts: readonly string[]): string | undefined {
  const rows = rowsIn(result).filter((row) => fieldNamed(name, [row]) !== undefined);
  const named = texts.map((text) => rows.filter((row) => leavesOf(row).some((leaf) => namesValue(text, leaf))));
  const found = rows.length > 1 ? (named.find((each) => each.length > 0) ?? []) : rows;
  const [value, ...others] = new Set(found.map((row) => fieldNamed(name, [row])));
  return others.length === 0 ? value : undefined;
}

/** The objects in a result, each without those inside it. */
function rowsIn(result: Json | null): readonly JsonObject[] {
  if (typeof result !== 'object' || result === null) return [];
  const inside = Object.values(result as JsonObject).flatMap(rowsIn);
  const own = Object.entries(result).filter(([, value]) => typeof value !== 'object');
  return Array.isArray(result) ? inside : [Object.fromEntries(own), ...inside];
}

/** Returns what the user's words say about each argument. */
export function toldIn(texts: readonly string[], values: KnownValues): Told {
  const found = new Map<string, readonly string[]>();
  const all = (parameter: Parameter) => {
    const key = `${parameter.name} ${parameter.description}`;
    const known = found.get(key) ?? texts.flatMap((text) => values.named(parameter, text));
    found.set(key, known);
    return known;
  };
  return Object.assign((parameter: Parameter) => all(parameter).at(-1), { all });
}
