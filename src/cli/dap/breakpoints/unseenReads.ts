import type { Debuggee } from '../rollout/debuggee.ts';

/** Why a breakpoint on reads may miss some, in words, and whether it misses all so far. */
export type UnseenReads = { readonly message: string; readonly isAll: boolean };

/** Returns what is unknown about reads; null where every call says what it read. */
export function unseenReads(debuggee: Pick<Debuggee, 'steps' | 'readsAt' | 'domain'>): UnseenReads | null {
  const { steps, domain } = debuggee;
  const results = steps.filter(({ event }) => event.type === 'toolReturned');
  const unsaid = results.filter(({ n }) => debuggee.readsAt(n) === undefined).length;
  if (unsaid > 0)
    return {
      message: `the reads of ${unsaid} of the ${results.length} calls recorded so far are unknown, so this breakpoint skips them: reads are recorded while you debug, for tools in TypeScript and simulated tools. A fork from here records them`,
      isAll: unsaid === results.length,
    };
  if (domain.pythonFile === null) return null;
  return { message: 'the reads of tools in Python are unknown, so this breakpoint skips their calls', isAll: false };
}
