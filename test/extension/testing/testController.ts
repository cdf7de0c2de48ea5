import type * as vscode from 'vscode';

class Items {
  readonly #items = new Map<string, Item>();

  get size(): number {
    return this.#items.size;
  }

  get(id: string): Item | undefined {
    return this.#items.get(id);
  }

  add(item: Item): void {
    this.#items.set(item.id, item);
  }

  replace(items: readonly Item[]): void {
    this.#items.clear();
    for (const item of items) this.add(item);
  }

  *[Symbol.iterator](): Iterator<[string, Item]> {
    yield* this.#items;
  }
}

class Item {
  readonly id: string;
  label: string;
  readonly uri: unknown;
  readonly children = new Items();
  error: unknown;

  constructor(id: string, label: string, uri: unknown) {
    this.id = id;
    this.label = label;
    this.uri = uri;
  }
}

/** A controller of tests in memory. */
export function testController(): {
  readonly controller: vscode.TestController;
  /** The last state that runs reported for each test. */
  readonly states: Map<unknown, string>;
  /** Names of the runs that have ended. */
  readonly ended: string[];
  /** The output of all runs. */
  readonly outputs: string[];
} {
  const states = new Map<unknown, string>();
  const ended: string[] = [];
  const outputs: string[] = [];
  const note = (state: string) => (item: Item) => {
    states.set(item, state);
  };
  const controller = {
    items: new Items(),
    createTestItem: (id: string, label: string, uri: unknown) => new Item(id, label, uri),
    createTestRun: (_: unknown, name = '') => ({
      token: { onCancellationRequested: () => ({ dispose: () => undefined }) },
      enqueued: note('enqueued'),
      started: note('started'),
      passed: note('passed'),
      failed: note('failed'),
      errored: note('errored'),
      skipped: note('skipped'),
      appendOutput: (text: string) => outputs.push(text),
      end: () => ended.push(name),
    }),
  };
  return { controller: controller as unknown as vscode.TestController, states, ended, outputs };
}
