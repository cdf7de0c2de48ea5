import { isObject, type Json, type JsonObject } from './json.ts';

const keywords = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

/** Returns whether arguments can be written as those of a Python call that ACEBench reads: names, and values it repeats. */
export function isPythonCall(given: JsonObject): boolean {
  return Object.entries(given).every(([name, value]) => isName(name) && isRepeated(value));
}

function isName(text: string): boolean {
  return /^[\p{ID_Start}_]\p{ID_Continue}*$/u.test(text) && !keywords.has(text);
}

/** ACEBench takes a dictionary for a call by its first key, whose arguments are the dictionary that is there. */
function isRepeated(value: Json): boolean {
  if (!isObject(value)) return true;
  const [called] = Object.values(value);
  return isObject(called) && Object.values(called).every(isRepeated);
}
