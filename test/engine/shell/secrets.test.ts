import { assert, constantFrom, property, record, string, tuple } from 'fast-check';
import { expect, test } from 'vitest';
import { keptSecret, redactedValue } from '../../../src/engine/shell/secrets.ts';

const text = string({ unit: 'grapheme', maxLength: 30 });

test('a secret stands nowhere in what is recorded, in whatever form it is told', () => {
  const secret = string({ unit: 'grapheme', minLength: 8, maxLength: 30 }).filter(
    (value) => value.length >= 8 && !'["", key]'.includes(value),
  );
  const form = constantFrom(
    (value: string) => value,
    (value: string) => JSON.stringify(value),
    (value: string) => encodeURIComponent(value.toWellFormed()),
    (value: string) => Buffer.from(value).toString('base64'),
  );
  assert(
    property(secret, form, tuple(text, text), (value, told, [before, after]) => {
      const said = `${before}${told(keptSecret('key', value))}${after}`;
      const kept = JSON.stringify(redactedValue({ said, list: [said], [said]: 1 }));
      expect(kept).toContain('[key]');
      expect(kept).not.toContain(JSON.stringify(value).slice(1, -1));
    }),
  );
});

test('a value without a secret is given back itself', () => {
  keptSecret('key', 'sk-4711-never-told');
  assert(
    property(record({ said: string({ unit: constantFrom(...'sk-4711') }) }), (value) => {
      expect(redactedValue(value)).toBe(value);
    }),
  );
});

test('a key that is used again is remembered, however many others were lent in between', () => {
  keptSecret('kept', 'sk-a-key-of-a-person');
  for (let lent = 0; lent < 2000; lent += 1) {
    keptSecret('lent', `lent-to-a-rollout-${lent}`);
    keptSecret('kept', 'sk-a-key-of-a-person');
  }
  expect(redactedValue('it is sk-a-key-of-a-person')).toBe('it is [kept]');
  expect(redactedValue('lent-to-a-rollout-1999, lent-to-a-rollout-0')).toBe('[lent], lent-to-a-rollout-0');
});
