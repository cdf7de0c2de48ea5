import type { Phrases } from '../../core/domain/phrases.ts';
import type { Rule } from '../../core/domain/rule.ts';
import type { Diagnostic } from '../files/diagnostic.ts';
import { type Placed, placeOf } from '../source/items.ts';
import { didYouMean } from '../source/nearest.ts';

/**
 * Replaces `phrases.NAME` under the `says` of a rule with the phrases of that list in phrases.yaml. Notes lists that do not
 * exist.
 */
export function bindPhrases(rules: readonly Placed<Rule>[], phrases: Phrases) {
  const diagnostics: Diagnostic[] = [];
  const bound = rules.map((placed): Placed<Rule> => {
    const { value } = placed;
    if (!('says' in value) || value.says === undefined) return placed;
    const isList = typeof value.says !== 'string';
    const written = isList ? (value.says as readonly string[]) : [value.says as string];
    if (!written.some((each) => listNamed(each))) return placed;
    const says = written.flatMap((each, at) => {
      const name = listNamed(each);
      if (name === undefined) return [each];
      if (Object.hasOwn(phrases, name)) return phrases[name] ?? [];
      const names = Object.keys(phrases);
      const otherwise =
        names.length > 0 ? `Its lists are ${names.join(', ')}.` : 'Write its phrases into phrases.yaml.';
      diagnostics.push({
        ...placeOf(placed, 'says', ...(isList ? [at] : [])),
        code: 'rule/unknown-phrases',
        severity: 'error',
        message: `phrases.yaml has no list ${name}.`,
        hint: didYouMean(name, names, otherwise),
      });
      return [each];
    });
    return { ...placed, value: { ...value, says } as Rule };
  });
  return { rules: bound, diagnostics };
}

/** Returns NAME of `phrases.NAME`; undefined for any other text. */
const listNamed = (text: string): string | undefined => /^phrases\.([A-Za-z_]\w*)$/.exec(text)?.[1];
