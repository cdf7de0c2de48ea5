import { resultSlots } from '../../core/seats/template.ts';
import type { LoadedDomain } from '../load/loadedDomain.ts';
import { placeOf } from '../source/items.ts';
import type { Note } from '../source/note.ts';
import { madeIn, type Replayed, undecided } from './goldReplay.ts';

/**
 * Notes `done` sentences of the lexicon that quote a field which no result of their tool had in the gold rollouts, so that
 * the gold seat never says them.
 */
export function noteUnfilledSentences(
  { file, parts, diagnostics }: LoadedDomain,
  replayed: readonly Replayed[],
  note: Note,
): void {
  const made = replayed.filter(({ first }) => undecided(first) === null).flatMap(({ first }) => madeIn(first.arrived));
  for (const [tool, { done }] of Object.entries(file.lexicon.tools)) {
    const results = made.flatMap(({ call, content, isError }) =>
      call.name === tool && !isError ? [resultSlots(content)] : [],
    );
    if (results.length === 0) continue;
    for (const [index, sentence] of done.entries()) {
      const quoted = [...sentence.matchAll(/\{(result\.[\w.]+)\}/g)].map(([, slot = '']) => slot);
      const missing = quoted.find((slot) => !results.some((slots) => Object.hasOwn(slots, slot)));
      const at = placeOf(parts.file, 'lexicon', 'tools', tool, 'done', index);
      const isKnown = diagnostics.some((each) => each.file === at.file && each.line === at.line);
      if (missing === undefined || isKnown) continue;
      const fields = [...new Set(results.flatMap(Object.keys))].filter((slot) => slot !== 'result');
      note(
        at,
        'warning',
        'domain/unknown-field',
        `No result of ${tool} in the gold rollouts has ${missing.replace('result.', '')}, so the gold seat never says this sentence.`,
        fields.length === 0
          ? 'Its results are texts: write {result}, or take the slot out.'
          : `Its results have ${fields.map((slot) => `{${slot}}`).join(', ')}.`,
      );
    }
  }
}
