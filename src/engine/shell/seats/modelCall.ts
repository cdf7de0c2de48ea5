/** What a model call cost and exactly what was asked; goes to the sidecar. */
export type ModelCall = {
  readonly ms: number;
  readonly usage?: { readonly input: number; readonly output: number };
  /** The body that was sent; null where the model was not asked after all. */
  readonly request: unknown;
  /** Bodies sent before it for the same answer: a seat may ask its model more than once. */
  readonly earlier?: readonly unknown[];
};

/** Several calls for one answer, as one: times and tokens add up, and every body is kept. */
export function joined(calls: readonly ModelCall[]): ModelCall | undefined {
  const last = calls.at(-1);
  if (!last || calls.length === 1) return last;
  const usages = calls.flatMap(({ usage }) => usage ?? []);
  const sum = (of: (usage: { readonly input: number; readonly output: number }) => number) =>
    usages.reduce((total, usage) => total + of(usage), 0);
  return {
    ms: calls.reduce((total, { ms }) => total + ms, 0),
    ...(usages.length > 0 ? { usage: { input: sum(({ input }) => input), output: sum(({ output }) => output) } } : {}),
    request: last.request,
    earlier: [
      ...calls.slice(0, -1).flatMap(({ earlier = [], request }) => [...earlier, request]),
      ...(last.earlier ?? []),
    ],
  };
}
