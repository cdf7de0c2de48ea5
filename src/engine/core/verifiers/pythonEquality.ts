import { isObject, type Json } from '../values/json.ts';

/** Equality as Python knows it: true is 1. */
export function sameValue(one: Json | undefined, other: Json | undefined): boolean {
  if (typeof one === 'boolean' || typeof other === 'boolean')
    return typeof one !== 'string' && typeof other !== 'string' && isPlain(one) && isPlain(other)
      ? Number(one) === Number(other)
      : false;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((each, at) => sameValue(each, other[at]));
  if (isObject(one) && isObject(other)) {
    const keys = Object.keys(one);
    return (
      keys.length === Object.keys(other).length &&
      keys.every((key) => Object.hasOwn(other, key) && sameValue(one[key], other[key]))
    );
  }
  return one === other;
}

const isPlain = (value: Json | undefined) => typeof value === 'boolean' || typeof value === 'number';
