import type { InWords } from '../../../engine/shell/domain/reasonInWords.ts';
import type { ReadsAt } from '../../../engine/shell/records/stepNotes.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import { exceptionAt } from './exceptionFilters.ts';
import { violationsAt } from './ruleReasons.ts';
import { holdsAt, messageAt, type StopCondition } from './stopCondition.ts';
import { reasonOf, stopsAt, type Target } from './target.ts';

/** Why the debugger stops at a step. `rule` is the one that a breakpoint is on. */
export type Hit = {
  readonly reason: 'breakpoint' | 'exception';
  readonly text: string;
  readonly ids: readonly number[];
  readonly rule?: string;
  /** The kind of exception, named like its filter. */
  readonly exception?: string;
};

/** A breakpoint: what it stops on, and when. */
export type Breakpoint = { readonly target: Target; readonly condition: StopCondition };

/** One that can't be made has a number too: it may be made later. */
type Numbered = { readonly id: number; readonly breakpoint: Breakpoint | null };

/** The breakpoints of a session, of every kind. A client sends each kind whole, so setting one replaces it. */
export class Breakpoints {
  readonly #sets = new Map<string, readonly Numbered[]>();
  #filters: ReadonlySet<string> = new Set();
  #next = 1;
  /** The number of times each breakpoint with a hit count was reached up to each step, by breakpoint number. */
  readonly #reached = new Map<number, { readonly step: Step; readonly times: number }[]>();
  /** Returns what calls read; known once a rollout is open. */
  readsAt: ReadsAt = () => undefined;
  /** Puts reasons of verdicts in the words of the policy; known once a domain is open. */
  inWords: InWords = (_, reason) => reason;

  /** @param kind a source file's path, or another kind of breakpoint. Gives each its number, in order. */
  set(kind: string, given: readonly (Breakpoint | null)[]): readonly number[] {
    const numbered = given.map((breakpoint) => ({ id: this.#next++, breakpoint }));
    this.#sets.set(kind, numbered);
    return numbered.map(({ id }) => id);
  }

  /** Puts another breakpoint in the place of the one with a number. */
  change(id: number, breakpoint: Breakpoint | null): void {
    this.#reached.delete(id);
    for (const [kind, all] of this.#sets)
      this.#sets.set(
        kind,
        all.map((each) => (each.id === id ? { id, breakpoint } : each)),
      );
  }

  stopOn(names: readonly string[]): void {
    this.#filters = new Set(names);
  }

  /**
   * Returns why to stop at a step, or null. A breakpoint goes before an exception, since a person put it there. A rule that
   * is violated without a breakpoint goes before breakpoints on something else: the stop must not look like one where
   * all is well.
   * @param steps those of the rollout, which hit counts are counted in: they are the same however one came here
   */
  hitAt(step: Step, steps: readonly Step[]): Hit | null {
    const reached = this.#reachedAt(step, steps, (condition) => !condition.log);
    const exception = exceptionAt(step, this.#filters, this.inWords);
    if (reached.length === 0)
      return exception && { reason: 'exception', text: exception.text, ids: [], exception: exception.label };
    const violated = violationsAt(step, this.inWords);
    const isViolated = ({ target }: Breakpoint) =>
      target.type === 'rule' && violated.some(({ rule }) => rule === target.id);
    const isExpected = reached.some(isViolated);
    const texts = [
      ...violated.map(({ text }) => text),
      ...reached.filter((each) => !isViolated(each)).map(({ target }) => reasonOf(step, target, this.inWords)),
      ...reached.flatMap(({ problem }) => problem ?? []),
    ];
    const hit = { text: [...new Set(texts)].join('; '), ids: reached.map(({ id }) => id) };
    if (violated.length > 0 && exception && !isExpected)
      return { reason: 'exception', ...hit, exception: exception.label };
    const { target } = reached.find(isViolated) ?? reached[0] ?? {};
    return { reason: 'breakpoint', ...hit, ...(target?.type === 'rule' ? { rule: target.id } : {}) };
  }

  /** Returns what log breakpoints say at a step. */
  logsAt(step: Step, steps: readonly Step[]): readonly string[] {
    return this.#reachedAt(step, steps, ({ log }) => log !== undefined).flatMap(({ condition: { log } }) =>
      log ? [messageAt(log, step)] : [],
    );
  }

  #reachedAt(step: Step, steps: readonly Step[], isAsked: (condition: StopCondition) => boolean) {
    const all = [...this.#sets.values()]
      .flat()
      .flatMap(({ id, breakpoint }) => (breakpoint ? [{ id, ...breakpoint }] : []));
    return all.flatMap((each) => {
      if (!isAsked(each.condition) || !stopsAt(step, each.target, this.readsAt)) return [];
      const holds = holdsAt(each.condition, step);
      const problem = typeof holds === 'string' ? holds : null;
      const { hits } = each.condition;
      const counts = problem !== null || !hits || hits(this.#timesReached(each, step, steps));
      return holds !== false && counts ? [{ ...each, problem }] : [];
    });
  }

  /** Counted once a step: what was counted is as long as the rollout is the one that it was counted in. */
  #timesReached(
    { id, target, condition }: Breakpoint & { readonly id: number },
    { n }: Step,
    steps: readonly Step[],
  ): number {
    const known = this.#reached.get(id) ?? [];
    const counted = steps[known.length - 1] === known.at(-1)?.step ? known : [];
    for (const step of steps.slice(counted.length, n + 1)) {
      const isReached = stopsAt(step, target, this.readsAt) && holdsAt(condition, step) === true;
      counted.push({ step, times: (counted.at(-1)?.times ?? 0) + (isReached ? 1 : 0) });
    }
    this.#reached.set(id, counted);
    return counted[n]?.times ?? 0;
  }
}
