import type { Json, JsonObject } from './json.ts';

/** Returns the keys of a JSON Pointer (RFC 6901). */
export function keysOfPointer(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns a key as a part of a JSON Pointer. */
export const pointerKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** Returns what a `$ref` within a schema refers to; undefined for a reference to another place, and for one to nothing. */
export function referredBy(root: JsonObject, reference: Json | undefined): Json | undefined {
  if (typeof reference !== 'string' || !/^#(?:\/|$)/.test(reference)) return undefined;
  return keysOfPointer(reference).reduce<Json | undefined>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined,
    root,
  );
}
