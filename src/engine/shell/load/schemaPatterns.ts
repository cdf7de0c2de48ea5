import { linearPattern, type Pattern, UnsupportedPattern } from '../../core/linearPattern.ts';

/** A pattern in a JSON Schema that is not checked, with the keys that lead to it. */
export type UnsupportedSchemaPattern = {
  readonly path: readonly PropertyKey[];
  readonly pattern: string;
  readonly reason: string;
  /** Whether it is not a regular expression at all. */
  readonly isInvalid: boolean;
};

/** What every compiler of a domain's or a server's JSON Schemas is made with. */
export const schemaSettings = {
  strict: false,
  // An argument named `constructor` that is absent is not the one that every object inherits.
  ownProperties: true,
  validateFormats: false,
  logger: false,
  code: { regExp: Object.assign(patternOf, { code: 'linearPattern' }) },
} as const;

/**
 * Ajv takes two patterns with the same text for one. A pattern that cannot be checked fits every text;
 * `unsupportedPatterns` finds it.
 */
function patternOf(source: string): Pattern & { readonly toString: () => string } {
  const { pattern = { test: () => true } } = schemaPattern(source);
  return { ...pattern, toString: () => source };
}

type SchemaPattern = { readonly pattern?: Pattern; readonly reason: string; readonly isInvalid: boolean };

/** Escapes and counts that Python and others read differently from JavaScript, such as `\Z` and `{,3}`. */
const ambiguous = /(?<!\\)(?:\\\\)*(?:\\[aCeFgGhHiIjJKlLmMNoOqRTUVXyYZ]|\{,\d+\})/;

/** Compiles a pattern of a schema, which may be written for another language. Without `pattern`, it has a `reason`. */
function schemaPattern(source: string): SchemaPattern {
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

/** Returns whether the value of a keyword is data, which may have keys of its own that look like keywords. */
export const isSchemaData = (keyword: string): boolean => ['const', 'enum', 'default', 'examples'].includes(keyword);

/** Returns whether the value of a keyword is a map of schemas by name. */
export const isMapOfSchemas = (keyword: string): boolean =>
  ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'].includes(keyword);

/** The patterns in a JSON Schema that `schemaSettings` does not check, in the order in which they are written. */
export function unsupportedPatterns(schema: unknown): readonly UnsupportedSchemaPattern[] {
  const found: UnsupportedSchemaPattern[] = [];
  const look = (source: string, path: readonly PropertyKey[]) => {
    const { pattern, reason, isInvalid } = schemaPattern(source);
    if (!pattern) found.push({ path, pattern: source, reason, isInvalid });
  };
  const walk = (value: unknown, path: readonly PropertyKey[], isSchema: boolean) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      if (isSchema && isSchemaData(key)) continue;
      const own = [...path, Array.isArray(value) ? Number(key) : key];
      if (isSchema && key === 'pattern' && typeof each === 'string') look(each, own);
      const isMap = isSchema && isMapOfSchemas(key);
      if (isMap && key === 'patternProperties' && typeof each === 'object' && each !== null)
        for (const pattern of Object.keys(each)) look(pattern, [...own, pattern]);
      walk(each, own, !isMap);
    }
  };
  walk(schema, [], true);
  return found;
}
