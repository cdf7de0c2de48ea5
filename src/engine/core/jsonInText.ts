import { type JsonObject, jsonOf } from './json.ts';
import { isTooDeep } from './nesting.ts';

/** Braces that open no object, after which a text is given up: each of them is followed to the end of the text. */
const mostFailures = 200;
const longestText = 1_000_000;

/**
 * Returns the JSON objects in a text that has words, fences or quotes around them, in their order and without those
 * inside of others. Braces within strings do not count. Of a very long text, only the end is read.
 */
export function objectsInText(text: string): readonly JsonObject[] {
  const last = text.slice(-longestText);
  const found: JsonObject[] = [];
  let failures = 0;
  for (let at = last.indexOf('{'); at >= 0 && failures < mostFailures; ) {
    const end = endOfObject(last, at);
    const value = end < 0 ? undefined : jsonOf(last.slice(at, end));
    if (value === undefined) failures += 1;
    else if (!isTooDeep(value)) found.push(value as JsonObject);
    at = last.indexOf('{', value === undefined ? at + 1 : end);
  }
  return found;
}

/** Where the braces that open at `from` are closed again, one past the last; -1 where they are not. */
function endOfObject(text: string, from: number): number {
  let depth = 0;
  let isString = false;
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (isString) {
      if (character === '\\') at += 1;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}
