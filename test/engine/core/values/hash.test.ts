import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { contentHash, textHash, useNativeHash } from '../../../../src/engine/core/values/hash.ts';
import { canonicalJson, type Json } from '../../../../src/engine/core/values/json.ts';

const native = (text: string) => createHash('sha256').update(text).digest('hex');

afterEach(() => useNativeHash(native));

test('the hash is SHA-256 of the UTF-8 text, in plain TypeScript and by the runtime', () => {
  expect(textHash('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => void expect(textHash(text)).toBe(native(text))));
});

test('a runtime function that is not SHA-256 is refused', () => {
  expect(() => useNativeHash((text) => createHash('sha1').update(text).digest('hex'))).toThrow(/needs SHA-256/);
});

test('the order of keys does not matter, everything else does', () => {
  expect(contentHash({ a: 1, b: [true, null] })).toBe(contentHash({ b: [true, null], a: 1 }));
  for (const other of [{ a: 1 }, { a: 1, b: [null, true] }, { a: '1', b: [true, null] }] as Json[]) {
    expect(contentHash(other)).not.toBe(contentHash({ a: 1, b: [true, null] }));
  }
});

test('canonical text is JSON of the same value', () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      (value) => void expect(JSON.parse(canonicalJson(value as Json))).toEqual(JSON.parse(JSON.stringify(value))),
    ),
  );
});

test('a value that JSON does not know is refused', () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1n, () => 1]) {
    expect(() => canonicalJson([value] as unknown as Json)).toThrow(/is not a JSON value/);
  }
});
