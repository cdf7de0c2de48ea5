import type { Tool } from '../../core/domain/tool.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import { schemaParts } from '../../core/values/largeIntegers.ts';
import { type Diagnostic, type Fix, type Location, pathFrom, placeAt, type Severity } from '../files/diagnostic.ts';
import { replacing } from './edit.ts';
import { type Placed, placeOf } from './items.ts';
import { didYouMean, nearest } from './nearest.ts';
import type { Declared } from './scan.ts';

export type Bases = { readonly agent: JsonObject; readonly user: JsonObject };

/** The known facts about the tools: their names alone, or everything once they are described. */
export type KnownTools = {
  readonly names: ReadonlySet<string>;
  /** Whether a name that is not here is not a tool. */
  readonly complete: boolean;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Their known behaviour: from the description, or else from the words of the source. */
  readonly declared: ReadonlyMap<string, Declared>;
};

/** Returns what is known of tools by their descriptions, and by a scan where there are none yet. */
export function declaredTools(
  scanned: ReadonlyMap<string, Declared>,
  described: ReadonlyMap<string, Tool>,
): ReadonlyMap<string, Declared> {
  const known = [...described].map(
    ([name, { effect, owner, generic = false, handsOff = false }]) =>
      [name, { effectAt: null, ...scanned.get(name), effect, owner, generic, handsOff }] as const,
  );
  return new Map([...scanned, ...known]);
}

/** Collects findings; the place comes first because every finding has one. */
export type Note = (
  at: Location,
  severity: Severity,
  code: string,
  message: string,
  hint: string,
  fix?: Fix | undefined,
) => void;

/** A note that keeps what it receives. */
export function notebook(): { readonly found: readonly Diagnostic[]; readonly note: Note } {
  const found: Diagnostic[] = [];
  const note: Note = (at, severity, code, message, hint, fix) => {
    found.push({ ...placeAt(at), code, severity, message, hint, ...(fix ? { fix } : {}) });
  };
  return { found, note };
}

/** Notes a name that is not a tool; says whether it is one as far as is known. */
export function checkToolName(
  name: string,
  at: Location,
  kind: 'task' | 'rule' | 'domain',
  known: KnownTools,
  note: Note,
  severity: Severity = 'error',
): boolean {
  if (known.names.has(name)) return true;
  if (known.complete) {
    const names = [...known.names];
    const all = names.length === 0 ? 'This domain has no tools.' : `The tools are ${names.join(', ')}.`;
    const meant = nearest(name, names);
    const fix = meant === undefined ? undefined : replacing(at, name, meant);
    note(at, severity, `${kind}/unknown-tool`, `There is no tool ${name}.`, didYouMean(name, names, all), fix);
  }
  return false;
}

/** Notes every id that an earlier item has, or that many a disk takes for the id of one: files are named after it. */
export function checkDuplicates(
  items: readonly Placed<{ readonly id: string }>[],
  kind: 'persona' | 'task',
  note: Note,
): void {
  const first = new Map<string, Placed<{ readonly id: string }>>();
  for (const item of items) {
    const { id } = item.value;
    const earlier = first.get(id.toLowerCase());
    if (!earlier) {
      first.set(id.toLowerCase(), item);
      continue;
    }
    const at = placeOf(item, 'id');
    const taken = `${pathFrom(at, earlier.file)}:${placeOf(earlier).line}`;
    if (earlier.value.id !== id) {
      note(
        at,
        'warning',
        `${kind}/same-file`,
        `The ${kind} id ${id} differs from ${earlier.value.id} (${taken}) only in case: on many disks both would be recorded in one file.`,
        'Give one of the two another id.',
      );
    } else {
      note(
        at,
        'error',
        `${kind}/duplicate-id`,
        `The ${kind} id ${id} is taken by ${taken}.`,
        'Give one of the two another id.',
      );
    }
  }
}

/** Returns the names of a tool's arguments, also those that only some forms of its schema have. */
export function argumentsOf({ parameters }: Pick<Tool, 'parameters'>): readonly string[] {
  const names = schemaParts(parameters, parameters).flatMap(({ properties = null, required }) => [
    ...(isObject(properties) ? Object.keys(properties) : []),
    ...(Array.isArray(required) ? required.map(String) : []),
  ]);
  return [...new Set(names)];
}
