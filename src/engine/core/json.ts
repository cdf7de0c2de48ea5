export type JsonScalar = string | number | boolean | null;
export type JsonObject = { readonly [key: string]: Json };
/** A JSON value. Read-only: whoever changes one makes a new one. */
export type Json = JsonScalar | readonly Json[] | JsonObject;

/** Where a value stands inside another one, from the root. */
export type Path = readonly (string | number)[];

/** `orders["#W1"].items[0]`, as a person would write it. */
export function showPath(path: Path): string {
  const text = path.map((key) => {
    if (typeof key === 'number') return `[${key}]`;
    return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return text.join('').replace(/^\./, '') || 'the database';
}

/**
 * Sets an own property, whatever its name: a plain assignment to `__proto__` would set the prototype instead.
 * For values under construction only.
 */
export function put<T>(object: Record<string, T>, key: string, value: T): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** JSON text with sorted keys and no space: equal values have equal text. Keys without a value are left out. */
export function canonicalJson(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return scalarText(value);
  const object = value as JsonObject;
  const entries = Object.keys(object)
    .sort()
    .flatMap((key) => (object[key] === undefined ? [] : [`${JSON.stringify(key)}:${canonicalJson(object[key])}`]));
  return `{${entries.join(',')}}`;
}

/** JSON text of a scalar. Throws on what JSON does not know: it would silently become another value. */
export function scalarText(value: unknown): string {
  const isJson =
    typeof value === 'number'
      ? Number.isFinite(value)
      : value === null || typeof value === 'string' || typeof value === 'boolean';
  if (!isJson) throw new TypeError(`${String(value)} is not a JSON value`);
  return JSON.stringify(value);
}
