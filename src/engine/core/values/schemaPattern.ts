import { type CompiledPattern, linearPattern, mostSteps, UnsupportedPattern } from './linearPattern.ts';

type SchemaPattern = { readonly pattern?: CompiledPattern; readonly reason: string; readonly isInvalid: boolean };

/** Escapes and counts that Python and others read differently from JavaScript, such as `\Z` and `{,3}`. */
const ambiguous = /(?<!\\)(?:\\\\)*(?:\\[aCeFgGhHiIjJKlLmMNoOqRTUVXyYZ]|\{,\d+\})/;

/** Compiles a pattern of a schema, which may be written for another language. Without `pattern`, it has a `reason`. */
export function schemaPattern(source: string): SchemaPattern {
  if (ambiguous.test(source))
    return { reason: 'regular expressions of other languages read it differently', isInvalid: false };
  try {
    return { pattern: linearPattern(source), reason: '', isInvalid: false };
  } catch (error) {
    if (error instanceof UnsupportedPattern)
      return { reason: `${error.message}, which does not run in linear time`, isInvalid: false };
    return { reason: (error as Error).message, isInvalid: true };
  }
}

type FittingPattern = Pick<CompiledPattern, 'test' | 'stepsFor'> & { readonly toString: () => string };

/** Compiles a pattern of a schema. One that cannot be checked, or takes too many steps on a text, fits the text. */
export function patternOf(source: string): FittingPattern {
  const { pattern } = schemaPattern(source);
  return {
    test: (text) => !pattern || pattern.stepsFor(text) > mostSteps || pattern.test(text),
    stepsFor: (text) => pattern?.stepsFor(text) ?? 0,
    // Ajv tells two patterns apart by their text.
    toString: () => source,
  };
}
