import type { DebugProtocol } from '@vscode/debugprotocol';
import { didYouMean } from '../../../engine/shell/source/nearest.ts';
import { type Completed, UsageError } from '../../terminal/io.ts';
import { completedInConsole, completedRow, lastWordOf } from './completion.ts';
import { rowExpression } from './edit.ts';
import type { InProcessClient } from './inProcessClient.ts';

type TypedBreakpoint = {
  readonly number: number;
  readonly shown: string;
  readonly name: string;
  readonly condition?: string;
};
type BreakpointsAnswer = { readonly breakpoints: readonly DebugProtocol.Breakpoint[] };

/** Kinds that a function breakpoint names in the same way, with what follows them. */
const named: ReadonlyMap<string, string> = new Map([
  ['rule', 'ID'],
  ['tool', 'NAME'],
  ['turn', 'N'],
  ['task', 'ID'],
  ['persona', 'ID'],
  ['role', 'user|agent'],
  ['verifier', 'NAME'],
]);

/** Kinds that name a value of the database, and the access that stops there. */
const accesses: ReadonlyMap<string, string> = new Map([
  ['row', 'write'],
  ['read', 'read'],
]);

/** The breakpoints that were typed in a terminal. The adapter receives each kind whole, as from every client. */
export class TerminalBreakpoints {
  readonly #client: InProcessClient;
  #typed: readonly TypedBreakpoint[] = [];
  #filters: readonly DebugProtocol.ExceptionBreakpointsFilter[] = [];
  #active: readonly string[] = [];
  #last = 0;

  constructor(client: InProcessClient) {
    this.#client = client;
  }

  /** Sets the filters that are active by default, as an editor does. */
  async begin(filters: readonly DebugProtocol.ExceptionBreakpointsFilter[]): Promise<void> {
    this.#filters = filters;
    await this.#stopOn(filters.filter((each) => each.default).map(({ filter }) => filter));
  }

  /** Lists the breakpoints, each with the name by which it is deleted. */
  list(): string {
    const rows = [
      ...this.#typed.map(({ number, shown }) => `  ${String(number).padEnd(12)}${shown}`),
      ...this.#filters
        .filter(({ filter }) => this.#active.includes(filter))
        .map(({ filter, description }) => `  ${filter.padEnd(12)}${description}`),
    ];
    return rows.length > 0 ? rows.join('\n') : '  there are no breakpoints';
  }

  /**
   * Sets the breakpoint that a text describes, such as `tool get_order if turn > 3`. Returns what to print. Throws a
   * `UsageError` for a kind, a name or a condition that does not exist.
   */
  async add(text: string): Promise<string> {
    const [, shown = '', condition] = /^(.*?)(?:\s+if\s+(.+))?$/s.exec(text) ?? [];
    const [kind = '', ...words] = shown.split(/\s+/);
    if (words.length === 0 && !this.#isKind(kind)) {
      const alone = await this.#addNamed(kind, text);
      if (alone !== null) return alone;
    }
    const filter = this.#filters.find((each) => each.filter === kind);
    if (filter && words.length === 0 && condition === undefined) {
      await this.#stopOn([...new Set([...this.#active, kind])]);
      return `breakpoint ${kind}: ${filter.description}`;
    }
    const name = await this.#nameOf(kind, words.join(' '));
    const number = this.#last + 1;
    const typed = { number, shown: text, name, ...(condition === undefined ? {} : { condition }) };
    const answer = await this.#set([...this.#typed, typed]);
    const { verified, message } = answer.breakpoints.at(-1) ?? { verified: false };
    if (!verified) {
      await this.#set(this.#typed.filter((each) => each !== typed));
      // The adapter names the kinds as an editor writes them, with a colon.
      if (message?.includes('is not a breakpoint'))
        throw new UsageError(
          `"${shown}" is not a breakpoint: write break ${kind} ${named.get(kind) ?? 'TABLE[/ID[/FIELD]]'}`,
        );
      throw new UsageError(message ?? `the breakpoint "${text}" was refused`);
    }
    this.#last = number;
    return `breakpoint ${number}: ${text}${message ? ` (${message})` : ''}`;
  }

  /** Returns what completes the text behind `break`: kinds, and names of the domain. */
  async completed(text: string): Promise<Completed> {
    const condition = /\sif\s+(.*)$/s.exec(text)?.[1];
    if (condition !== undefined) return completedInConsole(this.#client, condition);
    const [, kind, rest = ''] = /^(\S+)\s+(.*)$/s.exec(text) ?? [];
    if (kind !== undefined && accesses.has(kind)) return completedRow(this.#client, rest);
    const names = await this.#client.request<Readonly<Record<string, readonly string[]>>>('rehearsal/names');
    if (kind !== undefined) return lastWordOf(rest, names[kind] ?? []);
    const kinds = [...named.keys(), ...accesses.keys(), ...this.#filters.map(({ filter }) => filter)];
    return lastWordOf(text, [...kinds, ...(names['rule'] ?? []), ...(names['tool'] ?? [])]);
  }

  /** Returns the names that `delete` takes. */
  names(): readonly string[] {
    return [...this.#typed.map(({ number }) => String(number)), ...this.#active, 'all'];
  }

  /** Sets a breakpoint on the rule, or else the tool, of a name that is typed without its kind. Null where neither exists. */
  async #addNamed(name: string, text: string): Promise<string | null> {
    for (const kind of ['rule', 'tool']) {
      try {
        return await this.add(`${kind} ${text}`);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
      }
    }
    if (!/:\d+$/.test(name)) return null;
    throw new UsageError(`${name} is a line. In a terminal, name what is on it, such as rule ID or tool NAME.`);
  }

  #isKind(word: string): boolean {
    return named.has(word) || accesses.has(word) || this.#filters.some(({ filter }) => filter === word);
  }

  /** Deletes a breakpoint by its number, a filter by its name, or all. Throws a `UsageError` if it is not set. */
  async delete(text: string): Promise<string> {
    const breakpoints = this.#typed.filter(({ number }) => text !== 'all' && String(number) !== text);
    const active = this.#active.filter((each) => text !== 'all' && each !== text);
    const count = this.#typed.length + this.#active.length - breakpoints.length - active.length;
    if (count === 0 && text !== 'all')
      throw new UsageError(`there is no breakpoint "${text}". These are set:\n${this.list()}`);
    await this.#set(breakpoints);
    await this.#stopOn(active);
    return text === 'all' ? 'all breakpoints are deleted' : `breakpoint ${text} is deleted`;
  }

  /** The name of a function breakpoint. */
  async #nameOf(kind: string, rest: string): Promise<string> {
    const access = accesses.get(kind);
    const what = named.get(kind) ?? (access && 'TABLE[/ID[/FIELD]]');
    if (what === undefined) {
      const kinds = [...named.keys(), ...accesses.keys()];
      const filters = this.#filters.map(({ filter }) => filter);
      const otherwise = `Expected ${kinds.join(', ')}, or one of ${filters.join(', ')}`;
      throw new UsageError(
        `"${kind}" is not a kind of breakpoint. ${didYouMean(kind, [...kinds, ...filters], otherwise)}`,
      );
    }
    if (rest === '') throw new UsageError(`write break ${kind} ${what}`);
    return access ? `${access}:${await rowExpression(this.#client, rest)}` : `${kind}:${rest}`;
  }

  async #set(breakpoints: readonly TypedBreakpoint[]): Promise<BreakpointsAnswer> {
    this.#typed = breakpoints;
    const wanted = breakpoints.map(({ name, condition }) => ({ name, ...(condition ? { condition } : {}) }));
    return this.#client.request<BreakpointsAnswer>('setFunctionBreakpoints', { breakpoints: wanted });
  }

  async #stopOn(filters: readonly string[]): Promise<void> {
    this.#active = filters;
    await this.#client.request('setExceptionBreakpoints', { filters });
  }
}
