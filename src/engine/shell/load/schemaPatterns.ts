import { randomUUID } from 'node:crypto';
import { mostSteps } from '../../core/values/linearPattern.ts';
import { patternOf, schemaPattern } from '../../core/values/schemaPattern.ts';

/** A pattern in a JSON Schema that is not checked, with the keys that lead to it. */
export type UnsupportedSchemaPattern = {
  readonly path: readonly PropertyKey[];
  readonly pattern: string;
  readonly reason: string;
  /** Whether it is not a regular expression at all. */
  readonly isInvalid: boolean;
};

/** Thrown where the patterns of a schema take too many steps for one value. */
export class TooManySteps extends Error {}

let steps = 0;

/** Begins to count the steps of patterns for another value. */
export function countStepsAnew(): void {
  steps = 0;
}

function countedPatternOf(source: string): ReturnType<typeof patternOf> {
  const pattern = patternOf(source);
  const test = (text: string) => {
    steps += pattern.stepsFor(text);
    if (steps > mostSteps) throw new TooManySteps();
    return pattern.test(text);
  };
  return { ...pattern, test };
}

/** The settings of every compiler for a domain's or a server's JSON Schemas. */
export const schemaSettings = {
  strict: false,
  // An argument named `constructor` that is absent is not the one that every object inherits.
  ownProperties: true,
  validateFormats: false,
  logger: false,
  code: { regExp: Object.assign(countedPatternOf, { code: 'linearPattern' }) },
} as const;

/** The keyword of this program for what a JavaScript number cannot hold. It is random, so no schema of a server has it. */
export const exactName = `rehearsal-exact-${randomUUID()}`;

/** Returns whether the value of a keyword is data, which may have its own keys that look like keywords. */
export const isSchemaData = (keyword: string): boolean =>
  ['const', 'enum', 'default', 'examples', exactName].includes(keyword);

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
