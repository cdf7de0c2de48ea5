import type { Variable } from './variables.ts';

/**
 * Numbers under which a client asks for children. A number is never used twice: a row of the Debug Console that is
 * opened late must not show what another row had.
 */
export class References {
  #next = 1;
  #stopped = new Map<number, Children>();
  readonly #kept = new Map<number, Children>();

  /** A number that lives until the rollout goes on. Children are made when they are first asked for. */
  refer(children: () => readonly Variable[]): number {
    return this.#add(this.#stopped, children);
  }

  /** A number that lives as long as the session, for the Debug Console. */
  keep(children: () => readonly Variable[]): number {
    return this.#add(this.#kept, children);
  }

  /** The children behind a number; none for one that is gone. Those of a kept number are to be kept as well. */
  find(reference: number): { readonly variables: readonly Variable[]; readonly isKept: boolean } {
    const isKept = this.#kept.has(reference);
    const children = this.#kept.get(reference) ?? this.#stopped.get(reference);
    return { variables: children?.() ?? [], isKept };
  }

  /** Whether a number was given at a stop that is over. */
  isGone(reference: number): boolean {
    return reference < this.#next && !this.#stopped.has(reference) && !this.#kept.has(reference);
  }

  /** What was shown at the last stop is gone. */
  forget(): void {
    this.#stopped = new Map();
  }

  #add(map: Map<number, Children>, children: Children): number {
    let made: readonly Variable[] | undefined;
    const reference = this.#next++;
    map.set(reference, () => {
      made ??= children();
      return made;
    });
    return reference;
  }
}

type Children = () => readonly Variable[];
