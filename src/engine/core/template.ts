import type { Random } from './random.ts';

/** One of these templates of a lexicon whose every `{slot}` has a value, filled in; null where there is none. */
export function fromTemplate(
  templates: readonly string[] | undefined,
  values: Readonly<Record<string, string>>,
  random: Random,
): string | null {
  const usable = (templates ?? []).filter((template) =>
    [...template.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => Object.hasOwn(values, name)),
  );
  if (usable.length === 0) return null;
  return random.pick(usable).replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
