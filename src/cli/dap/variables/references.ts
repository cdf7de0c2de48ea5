import { listed, type Rows, type Variable } from './rows.ts';

/**
 * Numbers under which a client asks for children. A number is never used twice: a row of the Debug Console that is
 * opened late must not show what another row had.
 */
export class References {
  #next = 1;
  #stopped = new Map<number, () => Rows>();
  #before = new Map<number, () => Rows>();
  readonly #kept = new Map<number, () => Rows>();
  readonly #prepare = new Map<number, () => Promise<unknown>>();

  /** Returns a number that is valid until the stop after the next one. Children are made when first requested. */
  refer(children: Children, prepare?: () => Promise<unknown>): number {
    const reference = this.#add(this.#stopped, children);
    if (prepare) this.#prepare.set(reference, prepare);
    return reference;
  }

  /** Waits until the children behind a number can be made. */
  async ready(reference: number): Promise<void> {
    const prepare = this.#prepare.get(reference);
    this.#prepare.delete(reference);
    await prepare?.();
  }

  /** A number that lives as long as the session, for the Debug Console. */
  keep(children: Children): number {
    return this.#add(this.#kept, children);
  }

  /**
   * Returns the children behind a number; empty if it is no longer valid. Those of a kept number must be kept as well.
   */
  find(reference: number): { readonly rows: Rows; readonly isKept: boolean } {
    const isKept = this.#kept.has(reference);
    const children = this.#kept.get(reference) ?? this.#stopped.get(reference) ?? this.#before.get(reference);
    return { rows: children?.() ?? listed([]), isKept };
  }

  /** Whether a number was given, and its value is no longer known. */
  isGone(reference: number): boolean {
    const maps = [this.#kept, this.#stopped, this.#before];
    return reference < this.#next && !maps.some((map) => map.has(reference));
  }

  /** Whether a number was given at the stop before this one, which a client may still show for a moment. */
  isOfBefore(reference: number): boolean {
    return this.#before.has(reference);
  }

  /** A new stop of the same rollout. */
  forget(): void {
    this.#before = this.#stopped;
    this.#stopped = new Map();
  }

  /** Forgets all references after a fork, because they belong to another rollout. */
  forgetAll(): void {
    this.forget();
    this.forget();
  }

  #add(map: Map<number, () => Rows>, children: Children): number {
    let made: Rows | undefined;
    const reference = this.#next++;
    map.set(reference, () => {
      made ??= rowsIn(children());
      return made;
    });
    return reference;
  }
}

/** The children behind a reference: all of them or, if there are many, a page at a time. */
type Children = () => readonly Variable[] | Rows;

const rowsIn = (children: readonly Variable[] | Rows): Rows => ('page' in children ? children : listed(children));
