import type { SideNote } from '../files/sideNote.ts';

/** The cost of a model call and its exact request; written to the sidecar. */
export type ModelCall = SideNote & { readonly ms: number; readonly request: unknown };

/** Whether a note is of a model that was asked. */
export function isModelCall(note: SideNote | null): note is ModelCall {
  return note?.request !== undefined && note.ms !== undefined;
}

/**
 * Returns several calls for one answer as one: times and tokens add up, and every body and how each answer ended are kept.
 * Where one does not say what it used, the sum does not either.
 */
export function joinCalls(calls: readonly ModelCall[]): ModelCall | undefined {
  const last = calls.at(-1);
  if (!last || calls.length === 1) return last;
  const sum = (of: (call: ModelCall) => number | undefined) =>
    calls.reduce((total, call) => total + (of(call) ?? 0), 0);
  const retries = sum((call) => call.retries);
  const adapted = [...new Set(calls.flatMap((call) => call.adapted ?? []))];
  const hasUsage = calls.every(({ usage }) => usage !== undefined);
  const { usage: _, ...note } = last;
  return {
    ...note,
    ms: sum(({ ms }) => ms),
    ...(hasUsage
      ? { usage: { input: sum(({ usage }) => usage?.input), output: sum(({ usage }) => usage?.output) } }
      : {}),
    ...(retries > 0 ? { retries } : {}),
    ...(adapted.length > 0 ? { adapted } : {}),
    earlier: [
      ...calls.slice(0, -1).flatMap(({ earlier = [], request }) => [...earlier, request]),
      ...(last.earlier ?? []),
    ],
    earlierEnds: [...calls.slice(0, -1).flatMap(endsOf), ...(last.earlierEnds ?? [])],
  };
}

/** Returns how the answers of a call ended. An end that the provider does not describe is empty: each answer counts. */
function endsOf(call: ModelCall): NonNullable<SideNote['earlierEnds']> {
  const { earlierEnds = [], finishReason, refusal, brokenEnd } = call;
  const end = {
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(refusal === undefined ? {} : { refusal }),
    ...(brokenEnd === undefined ? {} : { brokenEnd }),
  };
  return [...earlierEnds, end];
}
