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
      message: `${unsaid} of the ${results.length} calls recorded so far do not say what they read, so they are passed: reads are kept while debugging, of tools in TypeScript and of simulated ones. What is forked from here keeps them`,
      isAll: unsaid === results.length,
    };
  if (domain.pythonFile === null) return null;
  return { message: 'tools in Python do not say what they read, so their calls are passed', isAll: false };
}
