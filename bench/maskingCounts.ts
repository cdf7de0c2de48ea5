import { maskerOf } from '../src/authoring/masking/masker.ts';
import type { Span } from '../src/authoring/masking/text/valueIndex.ts';
import type { Labelled } from './maskingSentences.ts';

const words = (text: string): readonly string[] => text.match(/\p{L}[\p{L}\p{M}]*/gu) ?? [];

/** Returns the words of a sentence that masking replaced. */
export function replacedIn(text: string, recognised?: (text: string) => readonly Span[]): readonly string[] {
  const piece = { value: text };
  const masker = maskerOf({ seed: 'bench', ...(recognised ? { recognised } : {}) });
  const left = new Set(words(masker.conversation([piece]).text(text)));
  return words(text).filter((word) => !left.has(word));
}

/** The number of words found, the number of these that belong to names, and the number of words in names. */
type Counts = { readonly found: number; readonly right: number; readonly labelled: number };

/** Counts the different words that were found in each sentence. */
export function countsOf(sentences: readonly Labelled[], found: readonly (readonly string[])[]): Counts {
  return sentences.reduce(
    (sum, { names }, at) => {
      const own = [...new Set(found[at])];
      const labelled = new Set(names.flatMap(words));
      return {
        found: sum.found + own.length,
        right: sum.right + own.filter((word) => labelled.has(word)).length,
        labelled: sum.labelled + labelled.size,
      };
    },
    { found: 0, right: 0, labelled: 0 },
  );
}
