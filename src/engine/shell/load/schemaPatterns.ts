import { linearPattern, type Pattern, UnsupportedPattern } from '../../core/linearPattern.ts';

/** A pattern in a JSON Schema that is not checked, with the keys that lead to it. */
export type UnsupportedSchemaPattern = {
  readonly path: readonly PropertyKey[];
  readonly pattern: string;
  readonly reason: string;
};

/** What every compiler of a domain's or a server's JSON Schemas is made with. */
export const schemaSettings = {
  strict: false,
  validateFormats: false,
  logger: false,
  code: { regExp: Object.assign(patternOf, { code: 'linearPattern' }) },
} as const;

/**
 * Ajv takes two patterns with the same text for one. A pattern that does not run in linear time fits every text;
 * `unsupportedPatterns` finds it.
 */
function patternOf(source: string): Pattern & { readonly toString: () => string } {
  const named = { toString: () => source };
  try {
    return { ...linearPattern(source), ...named };
  } catch (error) {
    if (error instanceof UnsupportedPattern) return { test: () => true, ...named };
    throw error;
  }
}

/** Keys of a schema whose values are data, and may have a key `pattern` of their own. */
const dataKeys: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/** The patterns in a JSON Schema that `schemaSettings` does not check, in the order in which they are written. */
export function unsupportedPatterns(schema: unknown): readonly UnsupportedSchemaPattern[] {
  const found: UnsupportedSchemaPattern[] = [];
  const look = (pattern: string, path: readonly PropertyKey[]) => {
    try {
      linearPattern(pattern);
    } catch (error) {
      if (error instanceof UnsupportedPattern) found.push({ path, pattern, reason: error.message });
    }
  };
  const walk = (value: unknown, path: readonly PropertyKey[], isSchema: boolean) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      if (isSchema && dataKeys.has(key)) continue;
      const own = [...path, Array.isArray(value) ? Number(key) : key];
      if (isSchema && key === 'pattern' && typeof each === 'string') look(each, own);
      const isMap = isSchema && (key === 'properties' || key === 'patternProperties' || key === '$defs');
      if (isMap && key === 'patternProperties' && typeof each === 'object' && each !== null)
        for (const pattern of Object.keys(each)) look(pattern, [...own, pattern]);
      walk(each, own, !isMap);
    }
  };
  walk(schema, [], true);
  return found;
}
