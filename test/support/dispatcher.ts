import { onTestFinished } from 'vitest';

/** Sets the dispatcher of `fetch` until the test has ended. */
export function setDispatcher(made: (Usual: new (options: object) => object) => object): void {
  const symbol = Symbol.for('undici.globalDispatcher.1');
  const globals = globalThis as Record<symbol, { readonly constructor: new (options: object) => object }>;
  new Response();
  const usual = globals[symbol] as NonNullable<(typeof globals)[symbol]>;
  onTestFinished(() => {
    globals[symbol] = usual;
  });
  globals[symbol] = made(usual.constructor) as never;
}
