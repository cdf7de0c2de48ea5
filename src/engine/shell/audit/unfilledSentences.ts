import { objectsIn } from '../../core/seats/seenRows.ts';
import { resultSlots } from '../../core/seats/template.ts';
import { type Json, type JsonObject, jsonOf } from '../../core/values/json.ts';
import type { Location } from '../files/diagnostic.ts';
import type { LoadedDomain } from '../load/loadedDomain.ts';
import { placeOf } from '../source/items.ts';
import type { Note } from '../source/note.ts';
import { type Made, madeIn, type Replayed, undecided } from './goldReplay.ts';

/** The calls of each gold rollout that was decided. */
type Rollouts = readonly (readonly Made[])[];

/**
 * Notes sentences of the lexicon that the gold seat never says, because no gold rollout has what they quote: a field of the
 * result of their tool, or a field that a result before the call has next to an argument.
 */
export function noteUnfilledSentences(loaded: LoadedDomain, replayed: readonly Replayed[], note: Note): void {
  const decided = replayed.filter(({ first }) => undecided(first) === null);
  const rollouts = decided.map(({ first }) => madeIn(first.arrived));
  for (const [tool, { propose, done }] of Object.entries(loaded.file.lexicon.tools)) {
    noteProposals(loaded, tool, propose, rollouts, note);
    noteReports(loaded, tool, done, rollouts, note);
  }
}

function noteProposals(
  { parts, diagnostics }: LoadedDomain,
  tool: string,
  sentences: readonly string[],
  rollouts: Rollouts,
  note: Note,
): void {
  const beside = rollouts.flatMap((made) => besideArguments(made, tool));
  for (const [index, sentence] of sentences.entries()) {
    const slots = [...sentence.matchAll(/\{(\w+)\.(\w+)\}/g)];
    const missing = slots.find(
      ([, argument = '', field = '']) =>
        beside.some((each) => each.has(argument)) && !beside.some((each) => each.get(argument)?.has(field)),
    );
    const at = placeOf(parts.file, 'lexicon', 'tools', tool, 'propose', index);
    if (!missing || hasFinding(diagnostics, at)) continue;
    const [, argument = '', field = ''] = missing;
    const found = new Set(beside.flatMap((each) => [...(each.get(argument) ?? [])]));
    const known = [...found].filter((each) => each !== argument);
    note(
      at,
      'warning',
      'domain/unknown-field',
      found.size > 0
        ? `No result in the gold rollouts has ${field} next to ${argument}, so the gold seat never says this sentence.`
        : `No result before ${tool} in the gold rollouts has the value of ${argument} in a field, so {${argument}.${field}} is empty and the gold seat never says this sentence.`,
      known.length > 0
        ? `Next to it are ${known.map((each) => `{${argument}.${each}}`).join(', ')}.`
        : `Let a tool that is called before return the row with ${argument} as one of its fields, or write {${argument}}.`,
    );
  }
}

function noteReports(
  { parts, diagnostics }: LoadedDomain,
  tool: string,
  sentences: readonly string[],
  rollouts: Rollouts,
  note: Note,
): void {
  const results = rollouts
    .flat()
    .flatMap(({ call, content, isError }) => (call.name === tool && !isError ? [resultSlots(content)] : []));
  if (results.length === 0) return;
  for (const [index, sentence] of sentences.entries()) {
    const quoted = [...sentence.matchAll(/\{(result\.[\w.]+)\}/g)].map(([, slot = '']) => slot);
    const missing = quoted.find((slot) => !results.some((slots) => Object.hasOwn(slots, slot)));
    const at = placeOf(parts.file, 'lexicon', 'tools', tool, 'done', index);
    if (missing === undefined || hasFinding(diagnostics, at)) continue;
    const fields = [...new Set(results.flatMap(Object.keys))].filter((slot) => slot !== 'result');
    note(
      at,
      'warning',
      'domain/unknown-field',
      `No result of ${tool} in the gold rollouts has ${missing.replace('result.', '')}, so the gold seat never says this sentence.`,
      fields.length === 0
        ? 'Its results are texts: write {result}, or remove the slot.'
        : `Its results have ${fields.map((slot) => `{${slot}}`).join(', ')}.`,
    );
  }
}

const hasFinding = (diagnostics: LoadedDomain['diagnostics'], at: Location) =>
  diagnostics.some(({ file, line }) => file === at.file && line === at.line);

/** Returns the fields that earlier results have next to the arguments of each call of a tool; none where no result has these. */
function besideArguments(made: readonly Made[], tool: string): readonly ReadonlyMap<string, ReadonlySet<string>>[] {
  const seen: JsonObject[] = [];
  return made.flatMap(({ call, content, isError }) => {
    const rows = [...seen];
    seen.push(...objectsIn((jsonOf(content) ?? null) as Json));
    if (call.name !== tool || isError || typeof call.arguments === 'string') return [];
    const beside = Object.entries(call.arguments).map(([argument, value]) => {
      const own = rows.filter((row) => Object.values(row).includes(value as Json));
      return [argument, new Set(own.flatMap((row) => Object.keys(row)))] as const;
    });
    return [new Map(beside)];
  });
}
