import type { Phrases } from '../../core/domain/phrases.ts';
import type { Rule } from '../../core/domain/rule.ts';
import type { Diagnostic } from '../files/diagnostic.ts';
import { type Placed, placeOf } from '../source/items.ts';
import { didYouMean } from '../source/nearest.ts';

/** The keys of rules that hold phrases. */
const keys = ['says', 'asks', 'yes', 'no'] as const;

/**
 * Replaces `phrases.NAME` under the keys of a rule that hold phrases with those of that list in phrases.yaml. Notes lists
 * that do not exist.
 */
export function bindPhrases(rules: readonly Placed<Rule>[], phrases: Phrases) {
  const diagnostics: Diagnostic[] = [];
  const bind = (placed: Placed<Rule>, key: (typeof keys)[number]): Placed<Rule> => {
    const given = (placed.value as Partial<Record<typeof key, string | readonly string[]>>)[key];
    if (given === undefined) return placed;
    const isList = typeof given !== 'string';
    const written = isList ? given : [given];
    if (!written.some((each) => listNamed(each))) return placed;
    const found = written.flatMap((each, at) => {
      const name = listNamed(each);
      if (name === undefined) return [each];
      if (Object.hasOwn(phrases, name)) return phrases[name] ?? [];
      const names = Object.keys(phrases);
      const otherwise =
        names.length > 0 ? `Its lists are ${names.join(', ')}.` : 'Write its phrases into phrases.yaml.';
      diagnostics.push({
        ...placeOf(placed, key, ...(isList ? [at] : [])),
        code: 'rule/unknown-phrases',
        severity: 'error',
        message: `phrases.yaml has no list ${name}.`,
        hint: didYouMean(name, names, otherwise),
      });
      return [each];
    });
    return { ...placed, value: { ...placed.value, [key]: found } as Rule };
  };
  return { rules: rules.map((rule) => keys.reduce(bind, rule)), diagnostics };
}

/** Returns NAME of `phrases.NAME`; undefined for any other text. */
const listNamed = (text: string): string | undefined => /^phrases\.([A-Za-z_]\w*)$/.exec(text)?.[1];
