import { counted } from '../engine/core/text/counted.ts';
import type { NotCarried } from './importReport.ts';

/** What an import does not carry over of one domain, gathered while the domain is made. */
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

  /** What of an imported task is not carried over; said once for all tasks that it concerns. */
  ofTask(all: readonly string[]): void {
    for (const what of all) this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** What the domain as a whole does without. */
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
