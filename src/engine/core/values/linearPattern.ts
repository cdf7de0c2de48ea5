import { RE2JS } from 're2js';

/** The part of a regular expression that the engine uses. */
export type Pattern = { readonly test: (text: string) => boolean };

/** A compiled pattern, with its named groups. */
export type CompiledPattern = Pattern & {
  /** The texts of the named groups of the first match; null where nothing matches. */
  readonly groups: (text: string) => Readonly<Record<string, string>> | null;
  readonly groupNames: readonly string[];
  /** Returns the most steps that a search in a text takes: the instructions of the pattern for each character. */
  readonly stepsFor: (text: string) => number;
};

/** The limit of the steps for one value, which take a few seconds: linear time is still long for a long pattern. */
export const mostSteps = 50_000_000;

/** A construct of JavaScript's regular expressions that does not run in linear time. */
export class UnsupportedPattern extends Error {}

/** RE2's translation of JavaScript's syntax would read a reference to a named group as letters. */
const namedReference = /(?<!\\)(?:\\\\)*\\k</;

/**
 * Compiles a pattern of a domain, a schema or a server. RE2 matches it in time linear in the text, whatever the pattern;
 * JavaScript's own engine can take exponential time. See https://github.com/google/re2/wiki/Syntax.
 *
 * Throws a `SyntaxError` where it is not a regular expression, and an `UnsupportedPattern` where only RE2 cannot run it:
 * backreferences, lookahead, lookbehind, and counts above 1000.
 */
export function linearPattern(source: string): CompiledPattern {
  if (namedReference.test(source)) throw new UnsupportedPattern(reasonOf(source));
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source));
    const groupNames = Object.keys(compiled.namedGroups());
    const size = compiled.programSize();
    return {
      stepsFor: (text) => size * text.length,
      test: (text) => compiled.matcher(text).find(),
      groups: (text) => {
        const matcher = compiled.matcher(text);
        if (!matcher.find()) return null;
        return Object.fromEntries(groupNames.map((name) => [name, matcher.group(name) ?? '']));
      },
      groupNames,
    };
  } catch {
    // Throws a `SyntaxError` where the pattern is not a regular expression of JavaScript.
    new RegExp(source, 'u');
    throw new UnsupportedPattern(reasonOf(source));
  }
}

function reasonOf(source: string): string {
  if (/\(\?<?[=!]/.test(source)) return 'it uses lookahead or lookbehind';
  if (/\\(?:[1-9]|k<)/.test(source)) return 'it uses a backreference';
  if (/\{\d*,?\d{4,}\}/.test(source)) return 'it counts above 1000';
  return 'RE2 does not know one of its constructs';
}
