import type { Verdict } from '../event.ts';
import { utterancesOf } from '../message.ts';
import type { RolloutState } from '../state.ts';

/** Whether the agent said each of the texts to the user; case and commas of numbers do not matter (after tau2-bench). */
export function communicateVerdict(texts: readonly string[], state: RolloutState): Verdict {
  const said = utterancesOf(state.messages).filter(({ role }) => role === 'agent');
  const plain = (text: string) => text.toLowerCase().replaceAll(',', '');
  const missing = texts.filter((text) => !said.some(({ content }) => plain(content).includes(plain(text))));
  return {
    verifier: 'communicate',
    held: missing.length === 0,
    detail:
      missing.length === 0
        ? 'everything that had to be said was said'
        : `the agent never said ${missing.map((text) => `"${text}"`).join(', ')}`,
    evidence: said.slice(-1).map(({ step }) => step),
    met: texts.length - missing.length,
    of: texts.length,
  };
}
