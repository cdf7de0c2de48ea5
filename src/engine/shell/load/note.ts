import type { JsonObject } from '../../core/json.ts';
import type { Tool } from '../../core/tool.ts';
import type { Location, Severity } from '../diagnostic.ts';
import { type Placed, placeOf } from './items.ts';
import { didYouMean } from './nearest.ts';

export type Bases = { readonly agent: JsonObject; readonly user: JsonObject };

/** What is known of the tools: their names alone, or everything once they are described. */
export type KnownTools = {
  readonly names: ReadonlySet<string>;
  /** Whether a name that is not here is no tool. */
  readonly complete: boolean;
  readonly tools: ReadonlyMap<string, Tool>;
};

/** Collects findings; the place comes first because every finding has one. */
export type Note = (at: Location, severity: Severity, code: string, message: string, hint: string) => void;

/** Notes a name that is no tool; says whether it is one as far as is known. */
export function checkToolName(
  name: string,
  at: Location,
  kind: 'task' | 'rule' | 'domain',
  known: KnownTools,
  note: Note,
): boolean {
  if (known.names.has(name)) return true;
  if (known.complete) {
    const names = [...known.names];
    const all = names.length === 0 ? 'This domain has no tools.' : `The tools are ${names.join(', ')}.`;
    note(at, 'error', `${kind}/unknown-tool`, `There is no tool ${name}.`, didYouMean(name, names, all));
  }
  return false;
}

/** Notes every id that an earlier item has. */
export function checkDuplicates(
  items: readonly Placed<{ readonly id: string }>[],
  kind: 'persona' | 'task',
  note: Note,
): void {
  const first = new Map<string, Placed<unknown>>();
  for (const item of items) {
    const { id } = item.value;
    const earlier = first.get(id);
    if (!earlier) first.set(id, item);
    else {
      const { file, line } = placeOf(earlier);
      note(
        placeOf(item, 'id'),
        'error',
        `${kind}/duplicate-id`,
        `The ${kind} id ${id} is taken by ${file}:${line}.`,
        'Give one of the two another id.',
      );
    }
  }
}

/** Names of a tool's arguments. */
export function argumentsOf({ parameters }: Tool): readonly string[] {
  const { properties } = parameters;
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}
