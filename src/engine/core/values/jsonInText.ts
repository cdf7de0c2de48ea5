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
  return objectTextsIn(text).map((each) => JSON.parse(each) as JsonObject);
}

/** Returns the same objects as they are written. */
export function objectTextsIn(text: string): readonly string[] {
  return placedObjects(text).map(({ written }) => written);
}

/** An object in a text, as it is written, with where it is. */
export type PlacedObject = { readonly written: string; readonly span: Span };

/** Returns the same objects with their places. */
export function placedObjects(text: string): readonly PlacedObject[] {
  return scanned(text).placed;
}

/** Returns where the JSON objects in a text begin and end, as `objectsInText` finds them. */
export function objectSpans(text: string): readonly Span[] {
  return scanned(text).spans;
}

export type Span = readonly [from: number, end: number];

/** Whether an object begins behind the last JSON object of a text and is not closed: its writer was cut off. */
export function endsInsideObject(text: string): boolean {
  const { rest } = scanned(text);
  const begins = [...rest.matchAll(/\{\s*(?:["']|$)/g)].slice(0, mostFailures);
  return begins.some(({ index }) => endOfObject(rest, index) < 0);
}

/** Returns the last object that can be an answer; undefined if no object can, and `differing` if two of them differ. */
export function answerAmong<Answer extends { readonly value: JsonObject }>(
  objects: readonly Answer[],
  isSame: (one: JsonObject, other: JsonObject) => boolean,
): Answer | 'differing' | undefined {
  const last = objects.at(-1);
  return last && objects.some(({ value }) => !isSame(value, last.value)) ? 'differing' : last;
}

type Scanned = { readonly placed: readonly PlacedObject[]; readonly spans: readonly Span[]; readonly rest: string };

function scanned(text: string): Scanned {
  const last = text.slice(-longestText);
  const before = text.length - last.length;
  const placed: PlacedObject[] = [];
  const spans: Span[] = [];
  let failures = 0;
  let from = 0;
  for (let at = last.indexOf('{'); at >= 0 && failures < mostFailures; ) {
    const end = endOfObject(last, at);
    const written = last.slice(at, end);
    const value = end < 0 ? undefined : jsonOf(written);
    if (value === undefined) failures += 1;
    else {
      const span = [before + at, before + end] as const;
      if (!isTooDeep(value)) placed.push({ written, span });
      spans.push(span);
      from = end;
    }
    at = last.indexOf('{', value === undefined ? at + 1 : end);
  }
  return { placed, spans, rest: last.slice(from) };
}

/** Returns where the braces that open at `from` are closed again, one past the last; -1 where they are not. */
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
