import { counted } from '../engine/core/text/counted.ts';
import type { NotCarried } from './importReport.ts';

/** The parts of one domain that an import does not carry over, collected while the domain is made. */
export class NotCarriedList {
  readonly #domain: string;
  readonly #wholes: NotCarried[] = [];
  readonly #tasks = new Map<string, NotCarried>();
  readonly #counts = new Map<string, number>();

  constructor(domain: string) {
    this.#domain = domain;
  }

  /** A task that is not imported, by its id in the benchmark. The first reason stays. */
  task(task: string, what: string): void {
    if (!this.#tasks.has(task)) this.#tasks.set(task, { domain: this.#domain, task, what });
  }

  hasTask(task: string): boolean {
    return this.#tasks.has(task);
  }

  /**
   * Adds the parts of an imported task that are not carried over. Each is reported once for all tasks that it concerns.
   */
  ofTask(all: readonly string[]): void {
    for (const what of all) this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** Adds a part of the whole domain that is not carried over. */
  ofDomain(what: string): void {
    this.#wholes.push({ domain: this.#domain, what });
  }

  list(): readonly NotCarried[] {
    const sums = [...this.#counts].map(([what, count]) => ({
      domain: this.#domain,
      what: `${what} (${counted(count, 'task')})`,
    }));
    return [...this.#wholes, ...this.#tasks.values(), ...sums];
  }
}
